/* SPDX-License-Identifier: Apache-2.0 */
#include "network/newton/newton_model.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

unrelu_status ur_newton_model_open(const ur_newton_work *w, ur_arena *arena, ur_newton_model *model,
                                   unrelu_error *err)
{
    size_t kp = w->kp, k = w->k, q = w->q;
    int dense = kp <= UR_NEWTON_DENSE;
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

static void scale_blocks(const ur_newton_work *w, ur_newton_model *model)
{
    for (size_t j = 0; j < w->k; j++)
        for (size_t l = model->dense ? 0 : j; l <= j; l++) {
            size_t stride;
            double *H = block(w, model, model->H, j, l, &stride), C = model->C[j * w->k + l];
            for (size_t a = 0; a < w->p; a++)
                for (size_t b = 0; b < w->p; b++)
                    H[a * stride + b] *= C;
        }
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

/* H <- H - Y'Y */
static void project(const ur_newton_work *w, ur_newton_model *model)
{
    size_t p = w->p, kp = w->kp, q = w->q;
    memcpy(model->room, model->Y, q * kp * sizeof(double));
    ur_multiply(q, q, kp, w->now.K, model->room, model->Y);
    if (model->dense)
        ur_syrk(UR_LOWER, UR_TURNED, kp, q, -1, model->Y, kp, 1, model->H, kp);
    for (size_t j = 0; j < w->k && !model->dense; j++)
        ur_syrk(UR_LOWER, UR_TURNED, p, q, -1, model->Y + j * p, kp, 1, model->H + j * p * p, p);
}

unrelu_status ur_newton_model_form(const ur_newton_work *w, ur_newton_model *model,
                                   unrelu_error *err)
{
    UR_TRY(model->dense ? ur_newton_gram(w, &w->now, model->H, err)
                        : ur_newton_gram_large(w, &w->now, 0, model->H, model->Y, err));
    ur_gram(w->k, w->m, w->now.B, model->C);
    double top = 0;
    for (size_t j = 0; j < w->k; j++) {
        model->hold[j] = model->C[j * w->k + j] * mean_diagonal(w, model, j);
        top = fmax(top, model->hold[j]);
    }
    project(w, model);
    scale_blocks(w, model);
    for (size_t j = 0; j < w->k; j++) {
        double t = mean_diagonal(w, model, j), before = model->hold[j];
        int empty = !(t > UR_ROUNDING * before); /* once U and e are eliminated: it is held */
        model->t[j] = empty ? 0 : t;
        model->hold[j] = empty ? (top > 0 ? top : 1) : 0;
    }
    return UNRELU_OK;
}

/* M = H + diag_j (t_j (lambda I + v_j v_j') + hold_j I), lower triangles */
static void damp(const ur_newton_work *w, const ur_newton_model *model, double lambda)
{
    size_t p = w->p;
    memcpy(model->M, model->H, w->kp * (model->dense ? w->kp : p) * sizeof(double));
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
}

/* a matrix that overflowed would be an error to LAPACK, not a step to refuse */
static int finite_diagonal(const ur_newton_work *w, const ur_newton_model *model)
{
    for (size_t j = 0; j < w->k; j++)
        if (!isfinite(mean_diagonal(w, model, j)) || !isfinite(model->t[j]))
            return 0;
    return 1;
}

static unrelu_status factor(const ur_newton_work *w, ur_newton_model *model, int *positive,
                            unrelu_error *err)
{
    size_t p = w->p;
    *positive = finite_diagonal(w, model);
    if (*positive && model->dense)
        return ur_cholesky(w->kp, model->M, model->M, positive, err);
    for (size_t j = 0; j < w->k && *positive; j++)
        UR_TRY(ur_cholesky(p, model->M + j * p * p, model->M + j * p * p, positive, err));
    return UNRELU_OK;
}

unrelu_status ur_newton_model_step(const ur_newton_work *w, ur_newton_model *model, double lambda,
                                   int sharp, double *s, double *gain, int *positive,
                                   unrelu_error *err)
{
    size_t p = w->p, kp = w->kp;
    damp(w, model, lambda);
    UR_TRY(factor(w, model, positive, err));
    if (!*positive)
        return UNRELU_OK;
    if (model->dense) {
        memcpy(s, w->now.g, kp * sizeof *s);
        ur_trsv(UR_LOWER, UR_PLAIN, kp, model->M, kp, s);
        ur_trsv(UR_LOWER, UR_TURNED, kp, model->M, kp, s);
    } else {
        UR_TRY(ur_newton_cg(w, model, lambda, sharp, s, positive, err));
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
