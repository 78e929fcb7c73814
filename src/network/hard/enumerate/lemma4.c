/* SPDX-License-Identifier: Apache-2.0 */
/* Lemma 4 and Corollary 1: where U and V have rank k and every half-space through 0 has a share of
 * the inputs with inf_v P(v x > 0) > 10 k log(k / delta) / n, labels have rank k, which Theorem 1
 * needs, with probability 1 - O(delta). Solved for delta, the share as the samples show it. The
 * infimum over all v is a hard problem of its own (the depth of 0 among the samples); the proof
 * needs it for the rows of V alone, where it is counted; the columns of the inputs and the plane
 * that leaves most samples behind it by least squares are looked at beside these. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/enumerate/enumerate.h"

#include <math.h>
#include <string.h>

double ur_rank_delta(double share, size_t n, size_t k)
{
    double wide = (double)k;
    return fmin(1, wide * exp(-share * (double)n / (10 * wide)));
}

/* the smaller of the shares before and behind the plane of v; rows on it are on neither side */
static double smaller_side(const ur_data *data, const double *v, int both)
{
    size_t before = 0, behind = 0;
    for (size_t i = 0; i < data->n; i++) {
        double t = ur_short_dot(data->d, v, data->x + i * data->d);
        before += t > 0;
        behind += t < 0;
    }
    return (double)(both && behind < before ? behind : before) / (double)data->n;
}

unrelu_status ur_least_share(const ur_data *data, size_t k, const double *V, double *share,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = data->n, d = data->d;
    double *ones = ur_take(&arena, n, sizeof *ones), *v = ur_take(&arena, d, sizeof *v);
    UR_TRY(ur_arena_status(&arena, err));
    *share = 1;
    for (size_t j = 0; j < k; j++)
        *share = fmin(*share, smaller_side(data, V + j * d, 0));
    for (size_t j = 0; j < d; j++) {
        memset(v, 0, d * sizeof *v);
        v[j] = 1;
        *share = fmin(*share, smaller_side(data, v, 1));
    }
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    UR_TRY(ur_least_squares(n, d, 1, data->x, ones, UR_ROUNDING, v, NULL, err));
    *share = fmin(*share, smaller_side(data, v, 1));
    return UNRELU_OK;
}
