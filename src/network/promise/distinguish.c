/* SPDX-License-Identifier: Apache-2.0 */
/* The augmented distinguishing matrix of Definition 10, of the inputs and the rows of V that were
 * found: its columns are E[(v_i x)(v_j x) xx' 1{(v_i x)(v_j x) <= 0}] for i < j, and E[xx'].
 * Theorem 8 takes time polynomial in 1 / sigma_min of it. Columns of unit length, inputs in units
 * of their root mean squares. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/promise/promise.h"

#include <math.h>

/* multiply-adds: a second or so */
static const double WORK = 1e9;

unrelu_status ur_distinguishing(const ur_data *data, const ur_weights *weights, double *ratio,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = data->d, k = weights->k, pairs = k * (k - 1) / 2, wide = pairs + 1;
    size_t tall = d * (d + 1) / 2;
    double most = WORK / ((double)wide * (double)tall);
    size_t n = (double)data->n < most ? data->n : (size_t)most, least = tall < wide ? tall : wide;
    *ratio = NAN;
    if (n < 2 * wide)
        return UNRELU_OK;
    double *M = ur_take(&arena, wide, tall * sizeof *M), *x = ur_take(&arena, d, sizeof *x);
    double *t = ur_take(&arena, k, sizeof *t), *xx = ur_take(&arena, tall, sizeof *xx);
    double *s = ur_take(&arena, least, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        const double *row = data->x + (size_t)((double)i * ((double)data->n / (double)n)) * d;
        for (size_t a = 0; a < d; a++)
            x[a] = data->input_rms[a] > 0 ? row[a] / data->input_rms[a] : 0;
        for (size_t a = 0, at = 0; a < d; a++)
            for (size_t b = a; b < d; b++) /* off the diagonal twice, in length */
                xx[at++] = (a == b ? 1 : sqrt(2)) * x[a] * x[b];
        for (size_t j = 0; j < k; j++)
            t[j] = ur_short_dot(d, weights->V + j * d, row);
        double *column = M;
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < j; l++, column += tall)
                for (size_t at = 0; at < tall && t[j] * t[l] < 0; at++)
                    column[at] += t[j] * t[l] * xx[at];
        for (size_t at = 0; at < tall; at++)
            column[at] += xx[at];
    }
    ur_unit_rows(wide, tall, M);
    UR_TRY(ur_svd(wide, tall, M, NULL, s, NULL, err));
    *ratio = wide <= tall ? s[wide - 1] / s[0] : 0;
    return UNRELU_OK;
}
