/* SPDX-License-Identifier: Apache-2.0 */
/* Step 4 of Algorithm 8 without trying all: with G = F'F and C = F'A of all candidates' features
 * the regression on any k of them needs no further pass over the samples. n c (c + m) operations
 * for the products, k c (c + m) for a choice of k, 2^k regressions for one of signs. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <string.h>

enum { ROWS = 512 }; /* whose features are held at a time */

/* of the features f(w x) of c rows with each other and with labels; the constant is projected out
 * where it is fitted */
typedef struct {
    double *G, *C; /* c x c, c x m */
} products;

static unrelu_status sum_products(const ur_any_rows *s, size_t c, const double *W, ur_arena *arena,
                                  products *out, unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = s->n, p = s->p, m = s->m;
    double *F = ur_take(&own, ROWS, c * sizeof *F), *sum_f = ur_take(&own, c, sizeof *sum_f);
    double *sum_a = ur_take(&own, m, sizeof *sum_a);
    double *G = out->G = ur_take(arena, c, c * sizeof *G);
    double *C = out->C = ur_take(arena, c, m * sizeof *C);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        const double *a = s->b + first * m;
        ur_multiply_nt(rows, p, c, s->x + first * p, W, F);
        for (size_t i = 0; i < rows * c; i++)
            F[i] = F[i] > 0 ? F[i] : 0;
        ur_syrk(UR_LOWER, UR_TURNED, c, rows, 1, F, c, 1, G, c);
        ur_gemm(UR_TURNED, UR_PLAIN, c, m, rows, 1, F, c, a, m, 1, C, m);
        for (size_t i = 0; i < rows; i++) {
            ur_add(c, 1, F + i * c, sum_f);
            ur_add(m, 1, a + i * m, sum_a);
        }
    }
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < i; j++)
            G[j * c + i] = G[i * c + j];
    for (size_t i = 0; i < c && s->frame->terms.constant; i++) { /* deviations from the means */
        ur_add(c, -sum_f[i] / (double)n, sum_f, G + i * c);
        ur_add(m, -sum_f[i] / (double)n, sum_a, C + i * m);
    }
    return UNRELU_OK;
}

unrelu_status ur_any_choose(const ur_any_rows *rows, size_t c, const double *W, size_t k, double *V,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    products f;
    size_t m = rows->m, p = rows->p;
    double top = 0;
    UR_TRY(sum_products(rows, c, W, &arena, &f, err));
    for (size_t i = 0; i < c; i++)
        top = fmax(top, f.G[i * c + i]);
    for (size_t t = 0; t < k; t++) {
        double most = -1;
        size_t j = t % c; /* where nothing is left of any */
        for (size_t i = 0; i < c; i++) {
            double left = f.G[i * c + i];
            if (!(left > UR_ROUNDING * top))
                continue;
            double gain = ur_dot(m, f.C + i * m, f.C + i * m) / left;
            if (gain > most) {
                most = gain;
                j = i;
            }
        }
        memcpy(V + t * p, W + j * p, p * sizeof *V);
        /* projected out of all others: what is left of G and C */
        for (size_t i = 0; i < c && most >= 0; i++) {
            double share = f.G[i * c + j] / f.G[j * c + j];
            if (i == j || share == 0)
                continue;
            ur_add(c, -share, f.G + j * c, f.G + i * c);
            ur_add(m, -share, f.C + j * m, f.C + i * m);
        }
        f.G[j * c + j] = 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_any_choose_signs(const ur_any_rows *rows, size_t k, double *V, unrelu_error *err)
{
    UR_ARENA(arena);
    products f; /* of V, then of -V */
    size_t p = rows->p, m = rows->m, c = 2 * k, best = 0;
    double most = -1, *both = ur_take(&arena, c, p * sizeof *both);
    double *L = ur_take(&arena, k, k * sizeof *L), *B = ur_take(&arena, k, m * sizeof *B);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < k * p; i++) {
        both[i] = V[i];
        both[k * p + i] = -V[i];
    }
    UR_TRY(sum_products(rows, c, both, &arena, &f, err));
    for (size_t signs = 0; signs < (size_t)1 << k; signs++) {
        for (size_t i = 0; i < k; i++) {
            size_t at = i + (signs >> i & 1) * k;
            for (size_t j = 0; j <= i; j++)
                L[i * k + j] = f.G[at * c + j + (signs >> j & 1) * k];
            L[i * k + i] *= 1 + UR_ROUNDING;
            memcpy(B + i * m, f.C + at * m, m * sizeof *B);
        }
        if (!ur_cholesky_in_place(k, L))
            continue;
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, k, m, L, k, B, m);
        double explained = ur_dot(k * m, B, B); /* of the squares, by the regression on these */
        if (explained > most) {
            most = explained;
            best = signs;
        }
    }
    for (size_t i = 0; i < k * p; i++)
        if (best >> (i / p) & 1)
            V[i] = -V[i];
    return UNRELU_OK;
}
