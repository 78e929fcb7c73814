/* SPDX-License-Identifier: Apache-2.0 */
/* Where the labels have more dimensions than neurons, noise is all that their last ones hold, and a
 * search that looks for labels without noise is in vain. Noise leaves these dimensions alike, and
 * does not go along with the inputs. Alike they may be without noise too: the logits of a trained
 * classifier differ by less than a half in size. So that those that are alike are asked whether
 * they go along with the inputs, by
 *   T = sum_{i != j} (r_i r_j) (x_i x_j)^2,
 * r the last dimensions, x whitened inputs: of mean 0 under noise, of any law, with the variance
 * 2 sum ((r_i r_j) (x_i x_j)^2)^2; where r has a part that is even in x, T is positive. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/signless.h"

#include <math.h>

/* so many dimensions, or this share of them, within what chance does to equal ones, times a half
 * more */
enum { ALIKE = 4, ALIKE_SHARE = 8 };
static const double ALIKE_RATIO = 1.5;
/* Deviations of T beyond which they are no noise. Of 58 noisy networks with a shelf T was between
 * -3.3 and 1.3, and 14.6 in one; of three trained classifiers (64,32,10), 2200 rows, it was 35.
 * Smaller, and searches in vain are made before noise is fitted. */
static const double DEPENDS = 6;
enum { ROWS = 2000, BLOCK = 250 };

/* r (n x width): R in the directions of the first columns of Q (m x m) */
static void take_last(const ur_folds *folds, const ur_fold_state *s, const double *Q, size_t n,
                      size_t width, double *r)
{
    size_t m = folds->m;
    ur_gemm(UR_PLAIN, UR_PLAIN, n, width, m, 1, s->R, m, Q, m, 0, r, width);
}

/* T in its deviations */
static unrelu_status goes_along(const ur_folds *folds, size_t n, size_t width, const double *r,
                                double *deviations, unrelu_error *err)
{
    double sum = 0, square = 0;
    UR_ARENA(arena);
    double *g = ur_take(&arena, BLOCK, n * sizeof *g), *h = ur_take(&arena, BLOCK, n * sizeof *h);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        ur_multiply_nt(rows, folds->p, n, folds->z + first * folds->p, folds->z, g);
        ur_multiply_nt(rows, width, n, r + first * width, r, h);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < n; j++) {
                double x = g[i * n + j] - 1; /* the ones, which z spans with hidden biases */
                double term = first + i == j ? 0 : h[i * n + j] * x * x;
                sum += term;
                square += term * term;
            }
    }
    *deviations = square > 0 ? sum / sqrt(2 * square) : 0;
    return UNRELU_OK;
}

unrelu_status ur_fold_shelf(const ur_folds *folds, const ur_fold_state *s, double tolerance,
                            int *shelf, unrelu_error *err)
{
    size_t m = folds->m, last = m / ALIKE_SHARE > ALIKE ? m / ALIKE_SHARE : ALIKE;
    size_t n = folds->n < ROWS ? folds->n : ROWS;
    UR_ARENA(arena);
    double *C = ur_take(&arena, m, m * sizeof *C), *values = ur_take(&arena, m, sizeof *values);
    double *Q = ur_take(&arena, m, m * sizeof *Q), *r = ur_take(&arena, n, last * sizeof *r);
    double deviations;
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_tn(folds->n, m, m, s->R, s->R, C);
    UR_TRY(ur_eigen_symmetric(m, C, values, Q, err));
    double root = sqrt((double)m / (double)folds->n);
    double edges = root < 1 ? (1 + root) / (1 - root) : INFINITY;
    *shelf = m > last && values[0] > tolerance * tolerance * values[m - 1] &&
             values[last - 1] < ALIKE_RATIO * edges * edges * values[0];
    if (!*shelf)
        return UNRELU_OK;
    take_last(folds, s, Q, n, last, r);
    UR_TRY(goes_along(folds, n, last, r, &deviations, err));
    *shelf = deviations < DEPENDS;
    return UNRELU_OK;
}
