/* SPDX-License-Identifier: Apache-2.0 */
#include "network/newton/newton_work.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { DENSE = 250 }; /* largest k p for which H is formed */

unrelu_status ur_newton_model_open(const ur_newton_work *w, ur_arena *arena, ur_newton_model *model,
                                   unrelu_error *err)
{
    size_t kp = w->kp, k = w->k, q = w->q;
    int dense = kp <= DENSE;
    *model = (ur_newton_model){.dense = dense,
                               .gauge = ur_activation_degree(w->problem->f) > 0,
                               .C = ur_take(arena, k, k * sizeof(double)),
                               .t = ur_take(arena, k, sizeof(double)),
                               .hold = ur_take(arena, k, sizeof(double)),
                               .M = ur_take(arena, kp, (dense ? kp : w->p) * sizeof(double))};
    size_t H = dense ? kp * kp : kp * w->p;
    model->H = ur_take(arena, H + q * kp, sizeof(double));
    model->room = ur_take(arena, dense ? q * kp : (q + 4) * kp + 2 * q * k, sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    model->Y = model->H + H;
    return UNRELU_OK;
}

/* block (j, l) of H, its rows `stride` apart */
static double *block(const ur_newton_work *w, const ur_newton_model *model, double *H, size_t j,
                     size_t l, size_t *stride)
{
    *stride = model->dense ? w->kp : w->p;
    return model->dense ? H + j * w->p * w->kp + l * w->p : H + j * w->p * w->p;
}

/* trace of the diagonal block j, over p */
static double mean_diagonal(const ur_newton_work *w, const ur_newton_model *model, size_t j)
{
    size_t stride;
    const double *H = block(w, model, model->H, j, j, &stride);
    double sum = 0;
    for (size_t a = 0; a < w->p; a++)
        sum += H[a * (stride + 1)];
    return sum / (double)w->p;
}

unrelu_status ur_newton_model_form(const ur_newton_work *w, ur_newton_model *model,
                                   unrelu_error *err)
{
    size_t k = w->k, p = w->p, kp = w->kp, q = w->q;
    UR_TRY(model->dense ? ur_newton_gram(w, &w->now, model->H, err)
                        : ur_newton_gram_large(w, &w->now, 0, model->H, model->Y, err));
    ur_gram(w->k, w->m, w->now.B, model->C);
    double top = 0;
    for (size_t j = 0; j < w->k; j++) {
        model->hold[j] = model->C[j * w->k + j] * mean_diagonal(w, model, j);
        top = fmax(top, model->hold[j]);
    }
    memcpy(model->room, model->Y, q * kp * sizeof(double)); /* H <- H - Y'Y */
    ur_multiply(q, q, kp, w->now.K, model->room, model->Y);
    if (model->dense)
        ur_syrk(UR_LOWER, UR_TURNED, kp, q, -1, model->Y, kp, 1, model->H, kp);
    for (size_t j = 0; j < k && !model->dense; j++)
        ur_syrk(UR_LOWER, UR_TURNED, p, q, -1, model->Y + j * p, kp, 1, model->H + j * p * p, p);
    for (size_t j = 0; j < k; j++)
        for (size_t l = model->dense ? 0 : j; l <= j; l++) {
            size_t stride;
            double *H = block(w, model, model->H, j, l, &stride), C = model->C[j * k + l];
            for (size_t a = 0; a < p; a++)
                for (size_t b = 0; b < p; b++)
                    H[a * stride + b] *= C;
        }
    for (size_t j = 0; j < w->k; j++) {
        double t = mean_diagonal(w, model, j), before = model->hold[j];
        int empty = !(t > UR_ROUNDING * before); /* once U and e are eliminated: it is held */
        model->t[j] = empty ? 0 : t;
        model->hold[j] = empty ? (top > 0 ? top : 1) : 0;
    }
    return UNRELU_OK;
}

/* ---- conjugate gradients ---- */

/* Preconditioned by the diagonal blocks. H s in one pass over rows:
 * T = D .* (X s') - F (F'F)^-1 F'(D .* X s'), (H s)' = X'(D .* T U'U), where F'(D_l .* X s_l) = Z_l
 * s_l needs no rows. Solved to a relative residual that falls with the residual of the fit and with
 * the gradient, so that the last steps stay Newton steps. */
enum { STEPS = 60, SHARP_STEPS = 400 };

/* The relative residual that conjugate gradients end at: between these, or rounding where they
 * shall be sharp. A larger ROUGHEST makes cheaper steps and more of them; below FINEST nothing is
 * gained, as the next model differs by more. */
static const double ROUGHEST = .1, FINEST = 1e-9;

typedef struct {
    const double *s; /* k x p */
    const double *N; /* q x k: (F'F)^-1 Z_l s_l in column l */
    const double *C; /* k x k: U'U */
} factors;

static void add_product(const void *context, size_t first, size_t rows, double *scratch,
                        double *sum)
{
    const ur_newton_input *input = context;
    const ur_newton_work *w = input->w;
    const factors *in = input->more;
    size_t k = w->k, q = w->q, p = w->p;
    const double *x = w->problem->x + first * p;
    const double *F = w->now.F + first * q, *D = w->now.D + first * q;
    double *T = scratch, *E = scratch + rows * k;
    ur_gemm(UR_PLAIN, UR_TURNED, rows, k, p, 1, x, p, in->s, p, 0, T, k);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++)
            T[i * k + j] *= D[i * q + j];
    ur_gemm(UR_PLAIN, UR_PLAIN, rows, k, q, -1, F, q, in->N, k, 1, T, k);
    ur_multiply(rows, k, k, T, in->C, E);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++)
            E[i * k + j] *= D[i * q + j];
    ur_gemm(UR_TURNED, UR_PLAIN, k, p, rows, 1, E, k, x, p, 1, sum, p);
}

/* y = (H + damping) s; room: 2 q k */
static unrelu_status product(const ur_newton_work *w, const ur_newton_model *model, double lambda,
                             const double *s, double *y, double *room, unrelu_error *err)
{
    size_t k = w->k, q = w->q, p = w->p, kp = w->kp;
    double *YS = room, *N = room + q * k;
    for (size_t l = 0; l < k; l++)
        ur_gemv_steps(q, p, model->Y + l * p, kp, s + l * p, YS + l, k);
    ur_multiply_tn(q, q, k, w->now.K, YS, N);
    const ur_blocks pass = {.add = add_product, .len = kp, .scratch = 2 * k};
    const ur_newton_input input = {.w = w, .more = &(factors){s, N, model->C}};
    UR_TRY(ur_newton_sum(pass, 4 * k * (p + q), input, y, err));
    for (size_t j = 0; j < k; j++) {
        const double *v = w->now.V + j * p, *sj = s + j * p;
        double along = model->gauge ? ur_dot(p, v, sj) : 0;
        for (size_t a = 0; a < p; a++)
            y[j * p + a] += model->t[j] * (lambda * sj[a] + along * v[a]) + model->hold[j] * sj[a];
    }
    return UNRELU_OK;
}

/* z = M^-1 r */
static void precondition(const ur_newton_work *w, const ur_newton_model *model, const double *r,
                         double *z)
{
    size_t p = w->p;
    memcpy(z, r, w->kp * sizeof *z);
    for (size_t j = 0; j < w->k; j++) {
        const double *L = model->M + j * p * p;
        ur_trsv(UR_LOWER, UR_PLAIN, p, L, p, z + j * p);
        ur_trsv(UR_LOWER, UR_TURNED, p, L, p, z + j * p);
    }
}

static unrelu_status conjugate_gradients(const ur_newton_work *w, ur_newton_model *model,
                                         double lambda, int sharp, double *s, unrelu_error *err)
{
    size_t kp = w->kp;
    double *r = model->room, *z = r + kp, *d = z + kp, *y = d + kp, *room = y + kp;
    memset(s, 0, w->kp * sizeof *s);
    memcpy(r, w->now.g, w->kp * sizeof *r);
    precondition(w, model, r, z);
    memcpy(d, z, w->kp * sizeof *d);
    double rz = ur_dot(kp, r, z), size = sqrt(rz);
    if (model->first == 0)
        model->first = size;
    double misfit = sqrt(w->now.rss / w->norm), slope = size / model->first;
    double end = size * (sharp ? UR_ROUNDING : fmin(ROUGHEST, fmax(FINEST, fmin(misfit, slope))));
    for (int step = 0; step < (sharp ? SHARP_STEPS : STEPS) && sqrt(rz) > end; step++) {
        if (ur_cancelled(&w->exec))
            return ur_fail_cancelled(err);
        UR_TRY(product(w, model, lambda, d, y, room, err));
        double curvature = ur_dot(kp, d, y);
        if (!(curvature > 0) || !isfinite(curvature))
            break;
        ur_add(kp, rz / curvature, d, s);
        ur_add(kp, -rz / curvature, y, r);
        precondition(w, model, r, z);
        double next = ur_dot(kp, r, z);
        ur_scale(kp, next / rz, d);
        ur_add(kp, 1, z, d);
        rz = next;
    }
    return UNRELU_OK;
}

/* ---- the step ---- */

unrelu_status ur_newton_model_step(const ur_newton_work *w, ur_newton_model *model, double lambda,
                                   int sharp, double *s, double *gain, int *positive,
                                   unrelu_error *err)
{
    size_t p = w->p, kp = w->kp;
    /* M = H + diag_j (t_j (lambda I + v_j v_j') + hold_j I), lower triangles */
    memcpy(model->M, model->H, kp * (model->dense ? kp : p) * sizeof(double));
    for (size_t j = 0; j < w->k; j++) {
        size_t stride;
        double *M = block(w, model, model->M, j, j, &stride), t = model->t[j];
        const double *v = w->now.V + j * p;
        for (size_t a = 0; a < p; a++) {
            M[a * (stride + 1)] += lambda * t + model->hold[j];
            for (size_t b = 0; b <= a && model->gauge; b++)
                M[a * stride + b] += t * v[a] * v[b];
        }
    }
    *positive = 1; /* a matrix that overflowed would be an error to LAPACK, not a step to refuse */
    for (size_t j = 0; j < w->k; j++)
        *positive &= isfinite(mean_diagonal(w, model, j)) && isfinite(model->t[j]);
    if (*positive && model->dense)
        UR_TRY(ur_cholesky(kp, model->M, model->M, positive, err));
    for (size_t j = 0; j < w->k && *positive && !model->dense; j++)
        UR_TRY(ur_cholesky(p, model->M + j * p * p, model->M + j * p * p, positive, err));
    if (!*positive)
        return UNRELU_OK;
    if (model->dense) {
        memcpy(s, w->now.g, kp * sizeof *s);
        ur_trsv(UR_LOWER, UR_PLAIN, kp, model->M, kp, s);
        ur_trsv(UR_LOWER, UR_TURNED, kp, model->M, kp, s);
    } else {
        UR_TRY(conjugate_gradients(w, model, lambda, sharp, s, err));
    }
    /* 2 g's - s'H s, with H s = g less the damping */
    *gain = ur_dot(kp, w->now.g, s);
    for (size_t j = 0; j < w->k; j++) {
        double along = ur_dot(p, w->now.V + j * p, s + j * p);
        double size = ur_dot(p, s + j * p, s + j * p);
        *gain += model->t[j] * (lambda * size + (model->gauge ? along * along : 0));
    }
    return UNRELU_OK;
}
