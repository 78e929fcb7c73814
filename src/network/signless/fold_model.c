/* SPDX-License-Identifier: Apache-2.0 */
/* n (kp)^2 / 2 + (kp)^2 q operations for H, rows taken in blocks so that W is never whole. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 }; /* of W at a time */

unrelu_status ur_fold_model_open(const ur_folds *folds, size_t k, ur_arena *arena,
                                 ur_fold_model *model, unrelu_error *err)
{
    *model = (ur_fold_model){.arena = arena};
    model->g = ur_take(arena, k * folds->p, sizeof *model->g);
    model->h = ur_take(arena, k, sizeof *model->h);
    return ur_arena_status(arena, err);
}

/* g_j = sum_i S_ij (R_i b_j) z_i; room: n x k */
static void set_gradient(const ur_folds *folds, const ur_fold_state *s, double *room, double *g)
{
    size_t n = folds->n, k = s->k;
    ur_multiply_nt(n, folds->m, k, s->R, s->B, room);
    for (size_t i = 0; i < n * k; i++)
        room[i] *= s->S[i];
    ur_multiply_tn(n, k, folds->p, room, folds->z, g);
}

/* W (rows x kp) of rows first, first + 1, ... */
static void set_turned(const ur_folds *folds, const ur_fold_state *s, size_t first, size_t rows,
                       double *W)
{
    size_t p = folds->p, k = s->k;
    for (size_t i = first; i < first + rows; i++) {
        const double *z = folds->z + i * p;
        for (size_t j = 0; j < k; j++, W += p) {
            double sign = s->S[i * k + j];
            for (size_t c = 0; c < p; c++)
                W[c] = sign * z[c];
        }
    }
}

/* H = W'W - (Q'W)'(Q'W), before the factors b_j b_l */
static unrelu_status set_matrix(const ur_folds *folds, const ur_fold_state *s, double *H,
                                unrelu_error *err)
{
    size_t n = folds->n, q = s->q, kp = s->k * folds->p;
    UR_ARENA(arena);
    double *W = ur_take(&arena, ROWS, kp * sizeof *W), *Y = ur_take(&arena, q, kp * sizeof *Y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_fold_squares(folds, s, H, NULL, err));
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        double old = first > 0 ? 1 : 0;
        set_turned(folds, s, first, rows, W);
        ur_gemm(UR_TURNED, UR_PLAIN, q, kp, rows, 1, s->F + first * q, q, W, kp, old, Y, kp);
    }
    for (size_t j = 0; j < q; j++)
        ur_scale(kp, s->scale[j], Y + j * kp);
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, kp, s->L, q, Y, kp);
    ur_syrk(UR_LOWER, UR_TURNED, kp, q, -1, Y, kp, 1, H, kp);
    return UNRELU_OK;
}

/* the factors b_j b_l, and h; C (k x k): their products */
static void weigh(size_t k, size_t p, const double *C, ur_fold_model *model)
{
    memset(model->h, 0, k * sizeof *model->h);
    for (size_t r = 0; r < k * p; r++) {
        size_t j = r / p, first = r * k * p;
        for (size_t l = 0; l <= j; l++) {
            size_t at = first + l * p, end = l < j ? at + p : first + r + 1;
            double factor = C[j * k + l];
            for (; at < end && !model->single; at++)
                model->H[at] *= factor;
            for (; at < end; at++)
                model->low[at] *= (float)factor;
        }
        model->h[j] +=
            (model->single ? (double)model->low[first + r] : model->H[first + r]) / (double)p;
    }
}

unrelu_status ur_fold_model_form(const ur_folds *folds, const ur_fold_state *s,
                                 ur_fold_model *model, unrelu_error *err)
{
    size_t k = s->k, m = folds->m, kp = k * folds->p;
    UR_ARENA(arena);
    double *room = ur_take(&arena, folds->n, k * sizeof *room);
    double *C = ur_take(&arena, k, k * sizeof *C);
    if (model->single && !model->low)
        model->low = ur_take(model->arena, kp, kp * sizeof *model->low);
    if (!model->single && !model->H)
        model->H = ur_take(model->arena, kp, kp * sizeof *model->H);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(model->arena, err));
    set_gradient(folds, s, room, model->g);
    UR_TRY(model->single ? ur_fold_single_form(folds, s, model->low, err)
                         : set_matrix(folds, s, model->H, err));
    ur_gram(k, m, s->B, C);
    weigh(k, folds->p, C, model);
    return UNRELU_OK;
}
