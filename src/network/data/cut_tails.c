/* SPDX-License-Identifier: Apache-2.0 */
/* Labels for starts. Moments of labels with heavy tails are those of a few cells; of cut ones they
 * are not, and for any g E g(A) x' still has the rows of V as its row space where x is normal
 * (Stein). */
#include "network/data/cut_tails.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"

#include <math.h>
#include <string.h>

enum { TAIL = 100, OUTER = 8 }; /* one in so many is beyond, at either end */
/* Tails are heavy where cutting the outer hundredths takes more than a third off the squares about
 * the mean: of normal labels it takes 4 %. */
static const double HEAVY = 1.5;
/* Then cells are cut that are farther than this share of the range of all but the outer eighths
 * from it: 4.8 scales of Cauchy noise, where the outer hundredth begins at 32. */
static const double FENCE = .5;

/* sum of squares about the mean */
static double spread(size_t n, size_t m, const double *a, size_t j)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += a[i * m + j] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (a[i * m + j] - mean) * (a[i * m + j] - mean);
    return sum;
}

static void cut(size_t n, size_t m, const double *a, size_t j, double low, double high, double *b)
{
    for (size_t i = 0; i < n; i++)
        b[i * m + j] = fmin(fmax(a[i * m + j], low), high);
}

unrelu_status ur_cut_tails(size_t n, size_t m, const double *a, double *b, int *heavy,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    double before = 0, after = 0, *sorted = ur_take(&arena, n, sizeof *sorted);
    double *scratch = ur_take(&arena, n, sizeof *scratch);
    double *fence = ur_take(&arena, m, 2 * sizeof *fence);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = a[i * m + j];
        ur_sort(sorted, scratch, n);
        double low = sorted[n / TAIL], high = sorted[n - 1 - n / TAIL];
        cut(n, m, a, j, low, high, b);
        before += spread(n, m, a, j);
        after += spread(n, m, b, j);
        double inner = sorted[n / OUTER], outer = sorted[n - 1 - n / OUTER];
        double reach = FENCE * (outer - inner);
        fence[2 * j] = reach > 0 ? fmax(low, inner - reach) : low;
        fence[2 * j + 1] = reach > 0 ? fmin(high, outer + reach) : high;
    }
    *heavy = after < before / HEAVY;
    for (size_t j = 0; j < m && *heavy; j++)
        cut(n, m, a, j, fence[2 * j], fence[2 * j + 1], b);
    if (!*heavy)
        memcpy(b, a, n * m * sizeof *b);
    return UNRELU_OK;
}
