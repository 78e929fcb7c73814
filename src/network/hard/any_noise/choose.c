/* SPDX-License-Identifier: Apache-2.0 */
/* Step 4 of Algorithm 8 without trying all: with G = F'F and C = F'A of all candidates' features
 * the regression on any k of them needs no further pass over the samples. n c (c + m) operations
 * for the products, k c (c + m) for a choice. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512 };
static const double DEPENDENT = 1e-8; /* share of a feature's square that others leave */

void ur_any_features_free(ur_any_features *q)
{
    free(q->G);
    free(q->C);
    memset(q, 0, sizeof *q);
}

static void features(size_t rows, size_t p, size_t c, const double *x, const double *W, double *F)
{
    ur_gemm(UR_PLAIN, UR_TURNED, rows, c, p, 1, x, p, W, p, 0, F, c);
    for (size_t i = 0; i < rows * c; i++)
        F[i] = F[i] > 0 ? F[i] : 0;
}

/* G and C of deviations from the means */
static void take_means_off(size_t n, ur_any_features *q, const double *sum_f, const double *sum_a)
{
    for (size_t i = 0; i < q->c; i++) {
        for (size_t j = 0; j < q->c; j++)
            q->G[i * q->c + j] -= sum_f[i] * sum_f[j] / (double)n;
        for (size_t j = 0; j < q->m; j++)
            q->C[i * q->m + j] -= sum_f[i] * sum_a[j] / (double)n;
    }
}

unrelu_status ur_any_features_make(size_t n, size_t p, size_t m, const double *x, const double *a,
                                   size_t c, const double *W, int constant, ur_any_features *q,
                                   unrelu_error *err)
{
    double *F = ur_alloc(ROWS, c * sizeof *F), *sum_f = ur_doubles(c), *sum_a = ur_doubles(m);
    *q = (ur_any_features){.c = c, .m = m};
    q->G = ur_alloc(c, c * sizeof *q->G);
    q->C = ur_alloc(c, m * sizeof *q->C);
    unrelu_status status = UNRELU_OK;
    if (!F || !sum_f || !sum_a || !q->G || !q->C) {
        status = ur_fail_memory(err, c * (c + ROWS), "numbers of a regression");
        goto done;
    }
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        features(rows, p, c, x + first * p, W, F);
        ur_syrk(UR_LOWER, UR_TURNED, c, rows, 1, F, c, 1, q->G, c);
        ur_gemm(UR_TURNED, UR_PLAIN, c, m, rows, 1, F, c, a + first * m, m, 1, q->C, m);
        for (size_t i = 0; i < rows; i++) {
            ur_add(c, 1, F + i * c, sum_f);
            ur_add(m, 1, a + (first + i) * m, sum_a);
        }
    }
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < i; j++)
            q->G[j * c + i] = q->G[i * c + j];
    if (constant)
        take_means_off(n, q, sum_f, sum_a);
done:
    free(F);
    free(sum_f);
    free(sum_a);
    return status;
}

unrelu_status ur_any_explained(const ur_any_features *q, size_t k, const size_t *which,
                               double *explained, unrelu_error *err)
{
    double *L = ur_alloc(k, k * sizeof *L), *B = ur_alloc(k, q->m * sizeof *B);
    unrelu_status status = L && B ? UNRELU_OK : ur_fail_memory(err, k * k, "numbers");
    *explained = 0;
    for (size_t i = 0; i < k && status == UNRELU_OK; i++) {
        for (size_t j = 0; j <= i; j++)
            L[i * k + j] = q->G[which[i] * q->c + which[j]];
        L[i * k + i] *= 1 + DEPENDENT;
        memcpy(B + i * q->m, q->C + which[i] * q->m, q->m * sizeof *B);
    }
    if (status == UNRELU_OK && ur_cholesky_in_place(k, L)) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, k, q->m, L, k, B, q->m);
        *explained = ur_dot((k * q->m), B, B);
    }
    free(L);
    free(B);
    return status;
}

/* feature j projected out of all others: what is left of G and C */
static void sweep(ur_any_features *q, size_t j)
{
    size_t c = q->c, m = q->m;
    double pivot = q->G[j * c + j];
    for (size_t i = 0; i < c; i++) {
        double share = q->G[i * c + j] / pivot;
        if (i == j || share == 0)
            continue;
        ur_add(c, -share, q->G + j * c, q->G + i * c);
        ur_add(m, -share, q->C + j * m, q->C + i * m);
    }
    q->G[j * c + j] = 0;
}

void ur_any_choose(ur_any_features *q, size_t k, size_t *which)
{
    size_t c = q->c, m = q->m;
    double top = 0;
    for (size_t i = 0; i < c; i++)
        top = fmax(top, q->G[i * c + i]);
    for (size_t t = 0; t < k; t++) {
        double most = -1;
        which[t] = t % c;
        for (size_t i = 0; i < c; i++) {
            double left = q->G[i * c + i];
            if (!(left > DEPENDENT * top))
                continue;
            double gain = ur_dot(m, q->C + i * m, q->C + i * m) / left;
            if (gain > most) {
                most = gain;
                which[t] = i;
            }
        }
        if (most >= 0)
            sweep(q, which[t]);
    }
}
