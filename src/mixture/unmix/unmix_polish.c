/* SPDX-License-Identifier: Apache-2.0 */
/* Normals from noisy samples, without the bias that a band of samples near the facet has.
 *
 * With s^2 = u'N u the noise of h = y u, and z = y - (N u / s^2) h, the part of y whose noise is
 * independent of that of h, u solves
 *   sum z psi(h / s) = 0,   psi(t) = t for |t| < 3, -K (t - 3) for 3 < t < 6, else 0.
 * Samples where the unit is off have h = s N(0, 1): t for |t| < 3 has mean 0. Those where it is
 * just on have the density f0 Phi(h / s); the second branch with K = 4.0025 / 4.4999 gives psi
 * the mean 0 there too, whatever f0 is and however it depends on z. What is left is of order
 * s^3, where the null vector of the samples in the band |t| < 3 errs by order s^2: more than its
 * standard error from n = 1000 on at 3 % noise.
 *
 * The errors are those of an M-estimator: du_k = -G_k^-1 sum_j z_jk psi_jk with G_k the sum of
 * z z' over samples that are off, that is of those in the band less those in 3 < t < 6. With
 * a_i the columns of U^-1, da_i = -sum_k a_k (du_k a_i), and the sum over samples of its square
 * is the variance. Beyond the span A errs as a regression on M does, sigma^2 (M'M)^-1. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

#define BAND   UR_NOISE_BAND
#define BEYOND UR_NOISE_BEYOND
/* the integral of t Phi(t) over |t| < 3, over that of (t - 3) Phi(t) from 3 to 6 */
static const double K = 4.0025 / 4.4999;
/* of the mean of psi(t + m) in m at 0, which is .9973 - 6 phi(3), over the share in the band */
static const double SLOPE = 0.9707 / 0.9973;
/* step of u in deviations of the noise, a millionth of what A's error can show */
static const double SETTLED = 1e-6;
/* of a sample; a larger one counts as this, so that a sample alone on its facet keeps an error */
static const double MOST_LEVERAGE = 0.95;
/* cosine between the polished normal and the one found: below it another facet was reached */
static const double SAME_FACET = 0.9;

enum { STEPS = 30, BLOCK = 1024 };

static double psi(double t)
{
    return fabs(t) < BAND ? t : t > BAND && t < BEYOND ? -K * (t - BAND) : 0;
}

/* ---- one normal ---- */

typedef struct {
    const ur_cone *cone;
    double *U;               /* p x p */
    ur_influence *influence; /* response: the inverses of G; score: s psi, over 1 - its leverage */
} polishing;

typedef struct {
    double *Z;  /* block x p */
    double *G;  /* p x p, lower */
    double *g;  /* p */
    double *Nu; /* p: N u / s^2 */
    double s;
} sums;

static void set_noise(const ur_cone *c, const double *u, sums *w)
{
    w->s = ur_cone_noise(c, u);
    for (size_t i = 0; i < c->p; i++)
        w->Nu[i] = c->noise[i * c->p + i] * u[i] / (w->s * w->s);
}

/* G = SLOPE (sum z z' over the band - that over 3 < t < 6), g = s sum z psi */
static void add_up(const ur_cone *c, const double *u, sums *w)
{
    size_t p = c->p;
    memset(w->G, 0, p * p * sizeof *w->G);
    memset(w->g, 0, p * sizeof *w->g);
    set_noise(c, u, w);
    for (int outer = 0; outer < 2; outer++) {
        size_t filled = 0;
        for (size_t i = 0; i < c->n; i++) {
            const double *y = c->y + i * p;
            double h = ur_dot(p, y, u), t = h / w->s;
            if (outer ? t > BAND && t < BEYOND : fabs(t) < BAND) {
                double *z = w->Z + p * filled++;
                for (size_t j = 0; j < p; j++)
                    z[j] = y[j] - w->Nu[j] * h;
                ur_add(p, w->s * psi(t), z, w->g);
            }
            if (filled == BLOCK || (i + 1 == c->n && filled > 0)) {
                ur_syrk(UR_LOWER, UR_TURNED, p, filled, outer ? -SLOPE : SLOPE, w->Z, p, 1, w->G,
                        p);
                filled = 0;
            }
        }
    }
}

/* the inverse of G on the space orthogonal to u; *good = 0 where it has none */
static unrelu_status invert(size_t p, const double *u, double *G, double *inverse, int *good,
                            unrelu_error *err)
{
    double trace = 0;
    for (size_t i = 0; i < p; i++) {
        trace += G[i * p + i];
        for (size_t j = 0; j < i; j++)
            G[j * p + i] = G[i * p + j];
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            G[i * p + j] += trace * u[i] * u[j];
            inverse[i * p + j] = i == j;
        }
    *good = 0;
    if (!(trace > 0))
        return UNRELU_OK;
    UR_TRY(ur_solve_positive(p, p, G, inverse, good, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            inverse[i * p + j] -= u[i] * u[j] / trace;
    return UNRELU_OK;
}

static unrelu_status polish(void *context, size_t k, unrelu_error *err)
{
    const polishing *to = context;
    const ur_cone *c = to->cone;
    size_t p = c->p;
    if (p == 1)
        return UNRELU_OK; /* nothing to turn, and no error of it */
    double *u = to->U + k * p, *inverse = to->influence->response + k * p * p;
    UR_ARENA(arena);
    sums w = {.Z = ur_take(&arena, BLOCK, p * sizeof *w.Z),
              .G = ur_take(&arena, p, p * sizeof *w.G),
              .g = ur_take(&arena, p, sizeof *w.g),
              .Nu = ur_take(&arena, p, sizeof *w.Nu)};
    double *step = ur_take(&arena, p, sizeof *step), *start = ur_take(&arena, p, sizeof *start);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(start, u, p * sizeof *u);
    int good = 1;
    for (int i = 0; i < STEPS && good; i++) {
        add_up(c, u, &w);
        UR_TRY(invert(p, u, w.G, inverse, &good, err));
        if (!good)
            break;
        ur_multiply(p, p, 1, inverse, w.g, step);
        double length = ur_norm(p, step);
        if (i + 1 == STEPS || length < SETTLED * w.s)
            break;
        ur_add(p, -1, step, u);
        ur_scale(p, 1 / ur_norm(p, u), u);
        good = ur_dot(p, u, start) > SAME_FACET;
    }
    if (!good) { /* too few samples near this facet: the normal that was found, without errors */
        memcpy(u, start, p * sizeof *u);
        for (size_t i = 0; i < p * p; i++)
            inverse[i] = NAN;
    }
    /* The residual of a sample that u was fitted to is too small by its leverage z'G^-1 z; dividing
     * by 1 - leverage makes up for it, in the variance more than that (HC3), as few samples ask
     * for. */
    double *z = w.Z, *Gz = w.Z + p;
    set_noise(c, u, &w);
    for (size_t i = 0; i < c->n; i++) {
        const double *y = c->y + i * p;
        double h = ur_dot(p, y, u), t = h / w.s, leverage = 0;
        if (fabs(t) < BAND) {
            for (size_t j = 0; j < p; j++)
                z[j] = y[j] - w.Nu[j] * h;
            ur_multiply(p, p, 1, inverse, z, Gz);
            leverage = ur_dot(p, z, Gz);
        }
        to->influence->score[i * p + k] =
            w.s * psi(t) / (1 - fmax(0, fmin(leverage, MOST_LEVERAGE)));
    }
    return UNRELU_OK;
}

unrelu_status ur_unmix_polish(const ur_cone *cone, const unrelu_exec *exec, double *U,
                              ur_influence *influence, unrelu_error *err)
{
    polishing to = {cone, U, influence};
    return ur_each(exec, "polishing facets", cone->p, polish, &to, err);
}

/* ---- errors of A ---- */

typedef struct {
    const ur_cone *cone;
    const ur_units *units;
    const ur_influence *influence;
    double *A_se; /* d x p */
} errors;

static unrelu_status unit_errors(void *context, size_t i, unrelu_error *err)
{
    const errors *e = context;
    const ur_cone *c = e->cone;
    const ur_units *units = e->units;
    size_t n = c->n, p = c->p, d = c->d, row = p * sizeof(double);
    UR_ARENA(arena);
    double *T = ur_take(&arena, p, row);   /* p x p: column k is t_k = G_k^-1 a_i */
    double *NuT = ur_take(&arena, 1, row); /* (N u_k / s_k^2) t_k */
    double *H = ur_take(&arena, BLOCK, row), *Q = ur_take(&arena, BLOCK, row);
    double *sum = ur_take(&arena, p, row); /* Q'Q */
    double *side = ur_take(&arena, 1, row), *along = ur_take(&arena, 1, row);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t k = 0; k < p; k++) {
        const double *u = units->U + k * p;
        double s = ur_cone_noise(c, u);
        for (size_t r = 0; r < p; r++) {
            const double *response = e->influence->response + (k * p + r) * p;
            double t = ur_dot_steps(p, response, 1, units->inverse + i, p);
            T[r * p + k] = t;
            NuT[k] += c->noise[r * p + r] * u[r] / (s * s) * t;
        }
    }
    for (size_t first = 0; first < n; first += BLOCK) { /* Q_jk = (z_jk t_k) score_jk */
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        ur_multiply_nt(rows, p, p, c->y + first * p, units->U, H);
        ur_multiply(rows, p, p, c->y + first * p, T, Q);
        for (size_t l = 0; l < rows * p; l++)
            Q[l] = (Q[l] - H[l] * NuT[l % p]) * e->influence->score[first * p + l];
        ur_syrk(UR_LOWER, UR_TURNED, p, rows, 1, Q, p, 1, sum, p);
    }
    for (size_t k = 0; k < p; k++)
        for (size_t l = 0; l < k; l++)
            sum[l * p + k] = sum[k * p + l];
    const double *a = units->G + i * d;
    double length = ur_norm(d, a), norm = 0;
    for (size_t k = 0; k < p; k++) {
        along[k] = ur_dot(d, units->G + k * d, a) / length / length;
        norm += units->inverse[k * p + i] * units->inverse[k * p + i];
    }
    for (size_t j = 0; j < d; j++) {
        double inside = 0;
        for (size_t k = 0; k < p; k++) { /* columns of A, not scaled, less their part along a_i */
            side[k] = (units->G[k * d + j] - along[k] * a[j]) / length;
            inside += c->B[j * p + k] * c->C[k * d + j];
        }
        /* the part beyond the span: M'M = n L U U' L */
        double variance =
            c->sigma * c->sigma * fmax(0, 1 - inside) * norm / ((double)n * length * length);
        for (size_t k = 0; k < p; k++)
            variance += side[k] * ur_dot(p, sum + k * p, side);
        e->A_se[j * p + i] = sqrt(variance);
    }
    return UNRELU_OK;
}

unrelu_status ur_unmix_errors(const ur_cone *cone, const unrelu_exec *exec, const ur_units *units,
                              const ur_influence *influence, double *A_se, unrelu_error *err)
{
    errors e = {cone, units, influence, A_se};
    return ur_each(exec, "errors of A", cone->p, unit_errors, &e, err);
}
