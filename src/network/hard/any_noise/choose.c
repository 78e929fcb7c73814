/* SPDX-License-Identifier: Apache-2.0 */
/* Step 4 of Algorithm 8 without trying all: with G = F'F and C = F'A of all candidates' features
 * the regression on any k of them needs no further pass over the samples. n c (c + m) operations
 * for the products, k c (c + m) for a choice. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <string.h>

enum { ROWS = 512 }; /* whose features are held at a time */
/* Share of a feature's square that others leave: below, it is spanned, and rounding decides what it
 * explains. */
static const double DEPENDENT = 1e-8;

unrelu_status ur_any_features_make(size_t n, size_t p, size_t m, const double *x, const double *a,
                                   size_t c, const double *W, int constant, ur_arena *arena,
                                   ur_any_features *out, unrelu_error *err)
{
    UR_ARENA(own);
    double *F = ur_take(&own, ROWS, c * sizeof *F), *sum_f = ur_take(&own, c, sizeof *sum_f);
    double *sum_a = ur_take(&own, m, sizeof *sum_a);
    *out = (ur_any_features){.c = c,
                             .m = m,
                             .G = ur_take(arena, c, c * sizeof *out->G),
                             .C = ur_take(arena, c, m * sizeof *out->C)};
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        ur_gemm(UR_PLAIN, UR_TURNED, rows, c, p, 1, x + first * p, p, W, p, 0, F, c);
        for (size_t i = 0; i < rows * c; i++)
            F[i] = F[i] > 0 ? F[i] : 0;
        ur_syrk(UR_LOWER, UR_TURNED, c, rows, 1, F, c, 1, out->G, c);
        ur_gemm(UR_TURNED, UR_PLAIN, c, m, rows, 1, F, c, a + first * m, m, 1, out->C, m);
        for (size_t i = 0; i < rows; i++) {
            ur_add(c, 1, F + i * c, sum_f);
            ur_add(m, 1, a + (first + i) * m, sum_a);
        }
    }
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < i; j++)
            out->G[j * c + i] = out->G[i * c + j];
    for (size_t i = 0; i < c && constant; i++) { /* deviations from the means */
        for (size_t j = 0; j < c; j++)
            out->G[i * c + j] -= sum_f[i] * sum_f[j] / (double)n;
        for (size_t j = 0; j < m; j++)
            out->C[i * m + j] -= sum_f[i] * sum_a[j] / (double)n;
    }
    return UNRELU_OK;
}

unrelu_status ur_any_explained(const ur_any_features *f, size_t k, const size_t *which,
                               double *explained, unrelu_error *err)
{
    UR_ARENA(arena);
    double *L = ur_take(&arena, k, k * sizeof *L), *B = ur_take(&arena, k, f->m * sizeof *B);
    UR_TRY(ur_arena_status(&arena, err));
    *explained = 0;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++)
            L[i * k + j] = f->G[which[i] * f->c + which[j]];
        L[i * k + i] *= 1 + DEPENDENT;
        memcpy(B + i * f->m, f->C + which[i] * f->m, f->m * sizeof *B);
    }
    if (ur_cholesky_in_place(k, L)) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, k, f->m, L, k, B, f->m);
        *explained = ur_dot(k * f->m, B, B);
    }
    return UNRELU_OK;
}

void ur_any_choose(ur_any_features *f, size_t k, size_t *which)
{
    size_t c = f->c, m = f->m;
    double top = 0;
    for (size_t i = 0; i < c; i++)
        top = fmax(top, f->G[i * c + i]);
    for (size_t t = 0; t < k; t++) {
        double most = -1;
        which[t] = t % c;
        for (size_t i = 0; i < c; i++) {
            double left = f->G[i * c + i];
            if (!(left > DEPENDENT * top))
                continue;
            double gain = ur_dot(m, f->C + i * m, f->C + i * m) / left;
            if (gain > most) {
                most = gain;
                which[t] = i;
            }
        }
        if (most < 0)
            continue;
        size_t j = which[t]; /* projected out of all others: what is left of G and C */
        double pivot = f->G[j * c + j];
        for (size_t i = 0; i < c; i++) {
            double share = f->G[i * c + j] / pivot;
            if (i == j || share == 0)
                continue;
            ur_add(c, -share, f->G + j * c, f->G + i * c);
            ur_add(m, -share, f->C + j * m, f->C + i * m);
        }
        f->G[j * c + j] = 0;
    }
}
