/* SPDX-License-Identifier: Apache-2.0 */
#include "network/pattern/pattern.h"

#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/model/network.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512 }; /* rows that are summed at once */
enum { MAX_STEPS = 60, POWER_STEPS = 60 };
/* Draws that look for the sample of largest leverage, and how many samples they propose: one of
 * leverage 1 - e is among them unless others have, by chance, all draws below its sqrt(e). */
enum { PROBES = 4, PROPOSED = 8 };

/* The squared change of w at which the power method ends: on the way to a fixed point a rough w
 * does. Ten times larger: more steps of the pattern, of cheaper power methods. */
static const double ROUGH = 1e-8;
/* Largest change of an entry of v at which a damped step (f = t^q) stands still. Pace: one step
 * more follows, rho judges what it leads to, and Gauss-Newton makes it exact. */
static const double STILL = 10 * UR_ROUNDING;
/* Cosine above which a run is on its way to a row that is known. Nearer to 1: more runs end where
 * others did; farther: runs to a neuron beside it are lost. */
static const double NEAR = 0.95;
struct ur_pattern_room {
    unsigned char *in, *next; /* n: pattern, and the one after it */
    double *t;                /* n: v x */
    double *xs, *ys;          /* BLOCK rows of x and y that are gathered */
    double *G, *C;            /* sums over S: x x' (p x p), x y' (p x k) */
    double *L, *B;            /* G = L L', B = L^-1 C */
    double *M, *E;            /* B'B and I - B'B (k x k) */
    double *top;              /* 2 x k: eigenvectors of the two largest eigenvalues of M */
    ur_top_room eigen;        /* for them */
    double *g, *rest, *fit;   /* n x PROBES: draws, what the equations leave of them, scratch */
    double *gx, *gy;          /* p, k x PROBES */
    double *squares;          /* n: of what is left */
    int drawn;                /* whether g is */
    double *z, *old;          /* p, k */
};

ur_pattern_room *ur_pattern_room_in(ur_arena *arena, const ur_pattern *q)
{
    size_t n = q->n, p = q->p, k = q->k, number = sizeof(double);
    ur_pattern_room *r = ur_take(arena, 1, sizeof *r);
    if (r)
        *r = (ur_pattern_room){.in = ur_take(arena, n, 1),
                               .next = ur_take(arena, n, 1),
                               .t = ur_take(arena, n, number),
                               .xs = ur_take(arena, BLOCK, p * number),
                               .ys = ur_take(arena, BLOCK, k * number),
                               .G = ur_take(arena, p, p * number),
                               .L = ur_take(arena, p, p * number),
                               .C = ur_take(arena, p, k * number),
                               .B = ur_take(arena, p, k * number),
                               .M = ur_take(arena, k, k * number),
                               .E = ur_take(arena, k, k * number),
                               .top = ur_take(arena, 2, k * number),
                               .eigen = ur_top_room_in(arena, k),
                               .g = ur_take(arena, n, PROBES * number),
                               .rest = ur_take(arena, n, PROBES * number),
                               .fit = ur_take(arena, n, PROBES * number),
                               .gx = ur_take(arena, p, PROBES * number),
                               .gy = ur_take(arena, k, PROBES * number),
                               .squares = ur_take(arena, n, number),
                               .z = ur_take(arena, p, number),
                               .old = ur_take(arena, k, number)};
    return r;
}

/* next = {v x > kink}; how many rows differ from `in` goes to changed */
static size_t classify(const ur_pattern *q, ur_pattern_room *r, const double *v, double kink,
                       size_t *changed)
{
    size_t active = 0, differ = 0;
    ur_gemv(UR_PLAIN, q->n, q->p, 1, q->x, q->p, v, 0, r->t);
    for (size_t i = 0; i < q->n; i++) {
        r->next[i] = r->t[i] > kink;
        active += r->next[i];
        differ += r->next[i] != r->in[i];
    }
    *changed = differ;
    return active;
}

/* of the features of row i, beside x */
static double slope(const ur_pattern *q, const ur_pattern_room *r, size_t i)
{
    return q->degree == 1 ? 1 : pow(r->t[i], q->degree - 1);
}

/* G and C get the rows that are gathered, times sign */
static void add_block(const ur_pattern *q, ur_pattern_room *r, size_t rows, double sign)
{
    size_t p = q->p, k = q->k;
    if (rows == 0)
        return;
    ur_syrk(UR_LOWER, UR_TURNED, p, rows, sign, r->xs, p, 1, r->G, p);
    if (k > 0)
        ur_gemm(UR_TURNED, UR_PLAIN, p, k, rows, sign, r->xs, p, r->ys, k, 1, r->C, k);
}

/* G and C get the rows with in = from and next = to, times sign; for f = t^q features are
 * (v x)^(q-1) x */
static void add_rows(const ur_pattern *q, ur_pattern_room *r, int from, int to, double sign)
{
    size_t p = q->p, k = q->k, rows = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (r->in[i] != from || r->next[i] != to)
            continue;
        double factor = slope(q, r, i);
        for (size_t j = 0; j < p; j++)
            r->xs[rows * p + j] = factor * q->x[i * p + j];
        if (k > 0)
            memcpy(r->ys + rows * k, q->y + i * k, k * sizeof *r->ys);
        if (++rows == BLOCK) {
            add_block(q, r, rows, sign);
            rows = 0;
        }
    }
    add_block(q, r, rows, sign);
}

/* sums over next, from those over in where few rows changed and features did not; then in = next */
static void move_pattern(const ur_pattern *q, ur_pattern_room *r, size_t active, size_t changed)
{
    int anew = q->degree != 1 || changed >= active;
    if (anew) {
        memset(r->G, 0, q->p * q->p * sizeof *r->G);
        memset(r->C, 0, q->p * q->k * sizeof *r->C);
        memset(r->in, 0, q->n);
    }
    add_rows(q, r, 0, 1, 1);
    if (!anew)
        add_rows(q, r, 1, 0, -1);
    memcpy(r->in, r->next, q->n);
}

/* M = B'B with B = L^-1 C; returns the spread of the squared pivots, 0 where G is singular */
static double reduce(const ur_pattern *q, ur_pattern_room *r)
{
    size_t p = q->p, k = q->k;
    double least = INFINITY, most = 0;
    memcpy(r->L, r->G, p * p * sizeof *r->L);
    memcpy(r->B, r->C, p * k * sizeof *r->B);
    if (!ur_cholesky_in_place(p, r->L))
        return 0;
    for (size_t i = 0; i < p; i++) {
        double square = r->L[i * p + i] * r->L[i * p + i];
        least = fmin(least, square);
        most = fmax(most, square);
    }
    if (k > 0) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, p, k, r->L, p, r->B, k);
        ur_gemm(UR_TURNED, UR_PLAIN, k, k, p, 1, r->B, k, r->B, k, 0, r->M, k);
    }
    return least / most;
}

/* Top eigenvector of M by the power method from w: on the way to a fixed point a rough one does */
static double top_roughly(const ur_pattern *q, ur_pattern_room *r, double *w)
{
    size_t k = q->k;
    double rho = 0;
    for (int step = 0; step < POWER_STEPS; step++) {
        memcpy(r->old, w, k * sizeof *w);
        ur_gemv(UR_PLAIN, k, k, 1, r->M, k, r->old, 0, w);
        rho = ur_norm(k, w);
        if (!(rho > 0))
            return 0;
        double change = 0;
        for (size_t j = 0; j < k; j++) {
            w[j] /= rho;
            change += (w[j] - r->old[j]) * (w[j] - r->old[j]);
        }
        if (change < ROUGH)
            break;
    }
    return rho;
}

/* v from w: z = L^-T B w, signed so that w y is positive on S where v x is large, and joined with
 * the old v as the degree asks; returns how far v moved */
static double step_to(const ur_pattern *q, ur_pattern_room *r, double *w, double *v)
{
    size_t p = q->p, k = q->k;
    ur_gemv(UR_PLAIN, p, k, 1, r->B, k, w, 0, r->z);
    ur_trsv(UR_LOWER, UR_TURNED, p, r->L, p, r->z);
    double along = 0, moved = 0; /* v'C w = sum over S of (v x)(w y) */
    for (size_t j = 0; j < q->p; j++)
        along += v[j] * ur_dot(k, r->C + j * q->k, w);
    double norm = ur_norm(p, r->z), sign = along < 0 ? -1 : 1;
    ur_scale(k, sign, w);
    for (size_t j = 0; j < q->p; j++)
        r->z[j] = (sign * r->z[j] / norm + (q->degree - 1) * v[j]) / q->degree;
    ur_scale(p, 1 / ur_norm(p, r->z), r->z);
    for (size_t j = 0; j < q->p; j++) {
        moved = fmax(moved, fabs(r->z[j] - v[j]));
        v[j] = r->z[j];
    }
    return moved;
}

static int is_near(const ur_pattern *q, const double *stop, size_t stops, const double *v)
{
    for (size_t j = 0; j < stops; j++)
        if (ur_dot(q->p, stop + j * q->p, v) > NEAR)
            return 1;
    return 0;
}

/* sums, factor and eigenvectors of the pattern of v, afresh and to rounding: for the end of a run
 */
static ur_pattern_end measure(const ur_pattern *q, ur_pattern_room *r, const double *v, double kink,
                              double *w)
{
    size_t changed, k = q->k;
    double values[2] = {0};
    ur_pattern_end end = {.active = classify(q, r, v, kink, &changed)};
    move_pattern(q, r, end.active, end.active + 1);
    end.spread = reduce(q, r);
    if (!(end.spread > UR_PATTERN_FLAT) || k == 0)
        return end;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            r->E[i * k + j] = (i == j) - r->M[i * k + j];
    if (!ur_eigen_top(k, r->M, values, r->top, &r->eigen))
        return end;
    memcpy(w, r->top, k * sizeof *w);
    end.rho = values[0];
    end.second = values[1];
    return end;
}

/* ---- leverage ---- */

/* The normal matrix [[I, -C'], [-C, G]] of the equations of a neuron has E^+ = (I - B'B)^+ as the
 * block of w, the eigenvector of rho = 1 left out. So a row of S has the leverage |L^-1 x|^2 +
 * s'E^+ s, s = y - B'L^-1 x, and one outside y'E^+ y. E holds the factor of E + w w'. */
static double leverage_of(const ur_pattern *q, ur_pattern_room *r, size_t i)
{
    size_t p = q->p, k = q->k;
    double sum = 0, along;
    memcpy(r->old, q->y + i * k, k * sizeof *r->old);
    if (r->in[i]) {
        memcpy(r->z, q->x + i * p, p * sizeof *r->z);
        ur_scale(p, slope(q, r, i), r->z);
        ur_trsv(UR_LOWER, UR_PLAIN, p, r->L, p, r->z);
        sum = ur_dot(p, r->z, r->z);
        ur_gemv(UR_TURNED, p, k, -1, r->B, k, r->z, 1, r->old);
    }
    along = ur_dot(k, r->top, r->old);
    ur_trsv(UR_LOWER, UR_PLAIN, k, r->E, k, r->old);
    return sum + ur_dot(k, r->old, r->old) - along * along;
}

/* Normal draws, and their least squares by the equations: what that leaves of them is, at a sample
 * of leverage 1 - e, normal with variance e. squares: summed over the draws. */
static void probe(const ur_pattern *q, ur_pattern_room *r)
{
    size_t n = q->n, p = q->p, k = q->k;
    if (!r->drawn)
        ur_random_normals(0, UR_STREAM_PROBE, 0, n * PROBES, r->g);
    r->drawn = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < PROBES; s++)
            r->rest[i * PROBES + s] = r->in[i] ? slope(q, r, i) * r->g[i * PROBES + s] : 0;
    ur_multiply_tn(n, p, PROBES, q->x, r->rest, r->gx);
    ur_multiply_tn(n, k, PROBES, q->y, r->g, r->gy);
    /* w = E^+ (gy - B' L^-1 gx), v = L^-T (B w - L^-1 gx) */
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, p, PROBES, r->L, p, r->gx, PROBES);
    ur_gemm(UR_TURNED, UR_PLAIN, k, PROBES, p, -1, r->B, k, r->gx, PROBES, 1, r->gy, PROBES);
    for (size_t s = 0; s < PROBES; s++) {
        double along = ur_dot_steps(k, r->top, 1, r->gy + s, PROBES);
        ur_add_steps(k, -along, r->top, 1, r->gy + s, PROBES);
    }
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, k, PROBES, r->E, k, r->gy, PROBES);
    ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, k, PROBES, r->E, k, r->gy, PROBES);
    ur_gemm(UR_PLAIN, UR_PLAIN, p, PROBES, k, 1, r->B, k, r->gy, PROBES, -1, r->gx, PROBES);
    ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, p, PROBES, r->L, p, r->gx, PROBES);
    ur_multiply(n, p, PROBES, q->x, r->gx, r->fit);
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < PROBES; s++)
            r->rest[i * PROBES + s] =
                r->g[i * PROBES + s] + (r->in[i] ? slope(q, r, i) * r->fit[i * PROBES + s] : 0);
    ur_gemm(UR_PLAIN, UR_PLAIN, n, PROBES, k, -1, q->y, k, r->gy, PROBES, 1, r->rest, PROBES);
    for (size_t i = 0; i < n; i++)
        r->squares[i] = ur_short_dot(PROBES, r->rest + i * PROBES, r->rest + i * PROBES);
}

/* the largest leverage of the samples with the smallest squares, which are destroyed */
static double largest_leverage(const ur_pattern *q, ur_pattern_room *r)
{
    double most = 0;
    for (size_t t = 0; t < PROPOSED && t < q->n; t++) {
        size_t least = 0;
        for (size_t i = 1; i < q->n; i++)
            if (r->squares[i] < r->squares[least])
                least = i;
        r->squares[least] = INFINITY;
        most = fmax(most, leverage_of(q, r, least));
    }
    return most;
}

ur_pattern_end ur_pattern_look(const ur_pattern *q, ur_pattern_room *r, const double *v,
                               double kink)
{
    size_t k = q->k;
    ur_pattern_end end = measure(q, r, v, kink, r->old);
    if (!(end.rho > 0))
        return end;
    ur_ger(k, k, 1, r->top, r->top, r->E, k);
    end.leverage = 1; /* where another direction has the pattern, one sample decides on it */
    if (!ur_cholesky_in_place(k, r->E))
        return end;
    probe(q, r);
    end.leverage = largest_leverage(q, r);
    return end;
}

ur_pattern_end ur_pattern_run(const ur_pattern *q, ur_pattern_room *r, const double *stop,
                              size_t stops, double *v, double *w)
{
    static const ur_pattern_end nowhere = {0};
    double moved = 1;
    memset(r->in, 0, q->n);
    for (size_t j = 0; j < q->k; j++)
        w[j] = 1 / sqrt((double)q->k);
    for (int step = 0; step < MAX_STEPS; step++) {
        size_t changed, active = classify(q, r, v, 0, &changed);
        if (active < q->p)
            return nowhere;
        if (changed == 0 && (q->degree == 1 || moved < STILL)) {
            ur_pattern_end end = measure(q, r, v, 0, w);
            if (!(end.rho > 0))
                return nowhere;
            step_to(q, r, w, v);
            classify(q, r, v, 0, &changed);
            if (changed == 0)
                return end;
            continue;
        }
        move_pattern(q, r, active, changed);
        if (!(reduce(q, r) > UR_PATTERN_FLAT) || !(top_roughly(q, r, w) > 0))
            return nowhere;
        moved = step_to(q, r, w, v);
        if (stops > 0 && is_near(q, stop, stops, v))
            return nowhere;
    }
    return measure(q, r, v, 0, w);
}
