/* SPDX-License-Identifier: Apache-2.0 */
/* A neuron that is on for every sample, and a pair v, -v with output weights u, -u, are linear in
 * x: no pattern shows them. One regression of the labels on [f(V x), x] (and 1 where e is fitted)
 * tells whether such a map is all that is missing; its values at the samples give its rank, without
 * the directions that are no more than what the labels are rounded by. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/exact/exact.h"

#include <math.h>
#include <string.h>

/* Share of the labels below which a linear part, or a direction of it, is rounding: labels of 16
 * digits leave 1e-13 to 1e-10 of it. */
static const double LINEAR_SHARE = 1e-8;
/* Of the floor of the labels: below it a direction may be their rounding, which least squares
 * spreads over all of them, and leaving it out keeps the labels met. The floor is four to twenty
 * times the rounding. Larger, and what is left out may be missed there; smaller, and labels in
 * single precision with one linear direction get as many pairs v, -v as there are inputs. */
static const double FLOOR_SHARE = .25;

unrelu_status ur_linear_part(const ur_frame *frame, size_t k, const double *V, unrelu_activation f,
                             double floor, size_t *rank, double *rows, unrelu_error *err)
{
    size_t n = frame->n, p = frame->p, m = frame->m;
    size_t wide = k + p + (frame->terms.constant && !frame->terms.hidden ? 1 : 0);
    int affine = frame->terms.constant && frame->terms.hidden; /* the ones are among x */
    double rss = 0, size = 0, longest = 0;
    *rank = 0;
    if (wide + frame->d > n) /* it would fit anything */
        return UNRELU_OK;
    UR_ARENA(arena);
    double *t = ur_take(&arena, n, k * sizeof *t), *Z = ur_take(&arena, n, wide * sizeof *Z);
    double *beta = ur_take(&arena, wide, m * sizeof *beta);
    double *map = ur_take(&arena, n, m * sizeof *map), *Q = ur_take(&arena, n, m * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_nt(n, p, k, frame->x, V, t);
    ur_activation_apply(f, n * k, t, t, NULL);
    for (size_t i = 0; i < n; i++) { /* f(V x), x, 1 */
        double *z = Z + i * wide;
        memcpy(z, t + i * k, k * sizeof *z);
        memcpy(z + k, frame->x + i * p, p * sizeof *z);
        if (wide > k + p)
            z[k + p] = 1;
    }
    UR_TRY(ur_least_squares(n, wide, m, Z, frame->a, UR_ROUNDING, beta, NULL, err));
    ur_multiply(n, wide, m, Z, beta, map);
    for (size_t i = 0; i < n * m; i++) {
        double miss = frame->a[i] - map[i];
        rss += miss * miss;
    }
    if (!(sqrt(rss / frame->size) <= floor))
        return UNRELU_OK;
    ur_multiply(n, p, m, frame->x, beta + k * m, map);
    for (size_t j = 0; j < m && affine; j++) { /* the mean is a matter of e */
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += map[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            map[i * m + j] -= mean;
    }
    for (size_t i = 0; i < n * m; i++)
        size += map[i] * map[i];
    if (sqrt(size / frame->size) < fmax(LINEAR_SHARE, FLOOR_SHARE * floor))
        return UNRELU_OK;
    for (size_t j = 0; j < m; j++)
        longest = fmax(longest, ur_norm_steps(n, map + j, m));
    double least = fmax(LINEAR_SHARE, FLOOR_SHARE * floor * sqrt(frame->size) / longest);
    UR_TRY(ur_qr_pivoted(n, m, map, least, rank, Q, NULL, NULL, err));
    ur_multiply_tn(n, *rank, p, Q, frame->x, rows); /* x'Q / n, at unit length */
    ur_unit_rows(*rank, p, rows);
    return UNRELU_OK;
}
