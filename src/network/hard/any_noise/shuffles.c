/* SPDX-License-Identifier: Apache-2.0 */
/* How many neurons labels with noise show. For E independent of x the moments of the labels with
 * any features of x are U times those of the neurons, so that their rank is at most k: features
 * are x and, for up to 30 inputs, its products (where U f is nearly even in x, x alone sees
 * little). Labels with cut tails are not U f any more, but their moments with x alone have the rows
 * of V as row space: these are looked at too where tails are heavy, and the larger number counts.
 * Shuffling the rows of the labels leaves all but the dependence on x. A singular value counts
 * where it exceeds, beside the ones before it, those of all 20 shuffles and their mean by four
 * deviations. Noise of any law, over rows and labels, is as likely in the shuffles as in the data
 * where the rows of x are exchangeable. 21 n m q operations for q features. Finds at most m, and
 * less where a neuron adds less than sqrt((m + q) / n) of the noise. */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <string.h>

enum {
    SHUFFLES = 20,
    PRODUCTS_P = 30,      /* inputs up to which products are features */
    MOST_CELLS = 4000000, /* of the features; */
    LEAST_ROWS = 1000     /* so many rows in any case */
};
static const double DEVIATIONS = 4; /* of the shuffles: 1 in 30000 by chance, if normal */

/* How many eigenvalues of G stand out from those of the shuffles' `shuffled` (SHUFFLES, m, m),
 * which are spoiled. They are squares: singular values below 3e-7 of the largest are rounding. */
static unrelu_status count_clear(size_t m, const double *G, double *shuffled, size_t *k,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    double *values = ur_take(&arena, m, sizeof *values);
    double *vectors = ur_take(&arena, m, m * sizeof *vectors);
    double *theirs = ur_take(&arena, m, sizeof *theirs), *u = ur_take(&arena, m, sizeof *u);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_eigen_symmetric(m, G, values, vectors, err));
    for (*k = 0; *k < m; ++*k) {
        size_t at = m - 1 - *k;
        double sum = 0, squares = 0, most = 0;
        for (size_t t = 0; t < SHUFFLES; t++) {
            UR_TRY(ur_eigen_symmetric(m, shuffled + t * m * m, theirs, NULL, err));
            double top = sqrt(fmax(0, theirs[m - 1]));
            sum += top;
            squares += top * top;
            most = fmax(most, top);
        }
        double mean = sum / SHUFFLES, variance = fmax(0, squares / SHUFFLES - mean * mean);
        double clear = fmax(most, mean + DEVIATIONS * sqrt(variance));
        if (!(values[at] > UR_ROUNDING * values[m - 1] && sqrt(values[at]) > clear))
            break;
        for (size_t j = 0; j < m; j++)
            u[j] = vectors[j * m + at];
        for (size_t t = 0; t < SHUFFLES; t++) { /* (I - u u') S (I - u u') */
            double *S = shuffled + t * m * m, *w = theirs;
            ur_gemv(UR_PLAIN, m, m, 1, S, m, u, 0, w);
            ur_add(m, -ur_dot(m, u, w) / 2, u, w);
            ur_ger(m, m, -1, u, w, S, m);
            ur_ger(m, m, -1, w, u, S, m);
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_any_shown(const ur_any_rows *rows, const double *labels, int cut, uint64_t seed,
                           size_t *k, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = rows->p, m = rows->m;
    int products = !cut && p <= PRODUCTS_P;
    size_t q = p + (products ? p * (p + 1) / 2 : 0);
    size_t most = MOST_CELLS / q > LEAST_ROWS ? MOST_CELLS / q : LEAST_ROWS;
    size_t n = rows->n < most ? rows->n : most;
    double *phi = ur_take(&arena, n, q * sizeof *phi);              /* features */
    double *a = ur_take(&arena, n, m * sizeof *a);                  /* labels, centred */
    double *shuffled = ur_take(&arena, n, m * sizeof *shuffled);    /* of them */
    double *M = ur_take(&arena, m, q * sizeof *M);                  /* moments */
    double *G = ur_take(&arena, (1 + SHUFFLES) * m, m * sizeof *G); /* M M', each shuffle's */
    double *uniform = ur_take(&arena, n, sizeof *uniform);
    size_t *order = ur_take(&arena, n, sizeof *order);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) { /* x, then x_a x_b, all of unit variance for normal x */
        const double *x = rows->x + i * p;
        double *out = phi + i * q;
        memcpy(out, x, p * sizeof *out);
        out += p;
        for (size_t b = 0; b < p && products; b++)
            for (size_t c = 0; c <= b; c++)
                *out++ = b == c ? x[b] * x[b] * M_SQRT1_2 : x[b] * x[c];
    }
    ur_any_centre(n, m, labels, a);
    ur_multiply_tn(n, m, q, a, phi, M);
    ur_gram(m, q, M, G);
    for (size_t t = 0; t < SHUFFLES; t++) {
        ur_random_uniforms(seed, UR_STREAM_ANY_SHUFFLE, (uint64_t)t * n, n, uniform);
        ur_shuffle(n, uniform, order);
        for (size_t i = 0; i < n; i++)
            memcpy(shuffled + i * m, a + order[i] * m, m * sizeof *a);
        ur_multiply_tn(n, m, q, shuffled, phi, M);
        ur_gram(m, q, M, G + (t + 1) * m * m);
    }
    return count_clear(m, G, G + m * m, k, err);
}

unrelu_status ur_any_count(const ur_any_rows *rows, uint64_t seed, size_t *k, unrelu_error *err)
{
    size_t cut = 0;
    UR_TRY(ur_any_shown(rows, rows->a, 0, seed, k, err));
    if (rows->heavy)
        UR_TRY(ur_any_shown(rows, rows->b, 1, seed, &cut, err));
    *k = *k > cut ? *k : cut;
    *k = *k > 1 ? *k : 1;
    return UNRELU_OK;
}
