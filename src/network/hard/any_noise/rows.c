/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that starts see. Moments of labels with heavy tails are those of a few cells; cut at
 * half the range of the middle six eighths beyond it they are not, and E g(A) x' still has the rows
 * of V as its row space for any g where x is normal (Stein), so that spaces, half-spaces and fits
 * of cut labels lead close to the network. The labels themselves decide in the end. */
#include "base/error.h"
#include "base/order.h"
#include "network/hard/any_noise/any_noise.h"

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

unrelu_status ur_any_rows_make(const ur_data *data, const ur_frame *frame, size_t most,
                               ur_arena *arena, ur_any_rows *rows, unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = most < frame->n ? most : frame->n, p = frame->p, d = frame->d, m = frame->m;
    double before = 0, after = 0, *sorted = ur_take(&own, n, sizeof *sorted);
    double *scratch = ur_take(&own, n, sizeof *scratch),
           *fence = ur_take(&own, m, 2 * sizeof *fence);
    *rows = (ur_any_rows){.n = n,
                          .p = p,
                          .d = d,
                          .m = m,
                          .frame = frame,
                          .x = ur_take(arena, n, p * sizeof *rows->x),
                          .a = ur_take(arena, n, m * sizeof *rows->a),
                          .b = ur_take(arena, n, m * sizeof *rows->b)};
    if (frame->terms.hidden)
        rows->raw = ur_take(arena, n, d * sizeof *rows->raw);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++) {
        size_t from = (size_t)((double)i * ((double)frame->n / (double)n));
        memcpy(rows->x + i * p, frame->x + from * p, p * sizeof *rows->x);
        memcpy(rows->a + i * m, frame->a + from * m, m * sizeof *rows->a);
        if (rows->raw)
            memcpy(rows->raw + i * d, data->x + frame->row[from] * d, d * sizeof *rows->raw);
    }
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = rows->a[i * m + j];
        ur_sort(sorted, scratch, n);
        double low = sorted[n / TAIL], high = sorted[n - 1 - n / TAIL];
        cut(n, m, rows->a, j, low, high, rows->b);
        before += spread(n, m, rows->a, j);
        after += spread(n, m, rows->b, j);
        double inner = sorted[n / OUTER], outer = sorted[n - 1 - n / OUTER];
        double reach = FENCE * (outer - inner);
        fence[2 * j] = reach > 0 ? fmax(low, inner - reach) : low;
        fence[2 * j + 1] = reach > 0 ? fmin(high, outer + reach) : high;
    }
    rows->heavy = after < before / HEAVY;
    for (size_t j = 0; j < m && rows->heavy; j++)
        cut(n, m, rows->a, j, fence[2 * j], fence[2 * j + 1], rows->b);
    if (!rows->heavy)
        memcpy(rows->b, rows->a, n * m * sizeof *rows->b);
    return UNRELU_OK;
}

void ur_any_centre(size_t n, size_t m, const double *a, double *out)
{
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += a[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            out[i * m + j] = a[i * m + j] - mean;
    }
}
