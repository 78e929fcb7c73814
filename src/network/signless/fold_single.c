/* SPDX-License-Identifier: Apache-2.0 */
/* The Gauss-Newton matrix and its factor in single precision, for steps from afar: gradient and
 * residual stay in doubles, so that a step that is off by 1e-6 of its length costs nothing while
 * the model itself is off by more. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"

#include <math.h>

enum { ROWS = 256 };

/* W (rows x kp) and F (rows x q) of rows first, first + 1, ... */
static void set_rows(const ur_folds *folds, const ur_fold_state *s, size_t first, size_t rows,
                     float *W, float *F)
{
    size_t p = folds->p, k = s->k, q = s->q;
    for (size_t i = first; i < first + rows; i++) {
        const double *z = folds->z + i * p;
        for (size_t j = 0; j < k; j++, W += p) {
            double sign = s->S[i * k + j];
            for (size_t c = 0; c < p; c++)
                W[c] = (float)(sign * z[c]);
        }
        for (size_t j = 0; j < q; j++)
            *F++ = (float)(s->F[i * q + j] * s->scale[j]);
    }
}

unrelu_status ur_fold_single_form(const ur_folds *folds, const ur_fold_state *s, float *H,
                                  unrelu_error *err)
{
    size_t n = folds->n, q = s->q, kp = s->k * folds->p;
    UR_ARENA(arena);
    float *W = ur_take(&arena, ROWS, kp * sizeof *W), *F = ur_take(&arena, ROWS, q * sizeof *F);
    float *Y = ur_take(&arena, q, kp * sizeof *Y), *L = ur_take(&arena, q, q * sizeof *L);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_fold_squares(folds, s, NULL, H, err));
    for (size_t i = 0; i < q * q; i++)
        L[i] = (float)s->L[i];
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        float old = first > 0 ? 1 : 0;
        set_rows(folds, s, first, rows, W, F);
        ur_single_gemm_tn(q, kp, rows, F, q, W, kp, old, Y, kp);
    }
    ur_single_trsm_lower(q, kp, L, q, Y, kp);
    ur_single_syrk(kp, q, -1, Y, kp, 1, H, kp);
    return UNRELU_OK;
}

int ur_fold_single_solve(size_t kp, float *M, const double *g, float *room, double *step)
{
    double largest = 0;
    for (size_t i = 0; i < kp; i++)
        largest = fmax(largest, fabs(g[i]));
    if (!(largest > 0) || !ur_single_cholesky_in_place(kp, M))
        return 0;
    for (size_t i = 0; i < kp; i++)
        room[i] = (float)(g[i] / largest);
    ur_single_trsv_lower(UR_PLAIN, kp, M, kp, room);
    ur_single_trsv_lower(UR_TURNED, kp, M, kp, room);
    for (size_t i = 0; i < kp; i++)
        step[i] = largest * (double)room[i];
    return 1;
}
