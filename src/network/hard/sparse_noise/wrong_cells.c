/* SPDX-License-Identifier: Apache-2.0 */
/* The labels in units that wrong cells do not move: a power of two near the median size of a
 * column's cells that are not 0. Exact: a cell comes back as it was. */
#include "base/error.h"
#include "model/digits.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/problem/tolerance.h"

#include <math.h>

enum {
    LOOK = 4000, /* rows of which a column's median is taken, at least */
    DRAWS = 4000 /* of cells of a row, where no budget is given */
};
/* Cells that close are the same. A row is solved from few cells, which amplifies their rounding:
 * ROUNDINGS of what decimals were cut to, 1e7 of doubles, and never more than a tolerance can be
 * (tolerance.h). */
static const double DOUBLE = 1e-9, ROUNDINGS = 12;

/* Hoare's FIND */
double ur_median(size_t count, double *v)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, middle = (ptrdiff_t)count / 2;
    while (low < high) {
        double pivot = v[middle];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i > j)
                break;
            double swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        low = j < middle ? i : low;
        high = middle < i ? j : high;
    }
    return count > 0 ? v[middle] : 0;
}

unrelu_status ur_sparse_cells_open(const ur_problem *given, ur_arena *arena, ur_sparse_cells *c,
                                   unrelu_error *err)
{
    UR_ARENA(own);
    const ur_data *data = &given->data;
    size_t n = data->n, m = data->m, looked = 2 * LOOK < n ? 2 * LOOK : n, count = 0;
    double *scratch = ur_take(&own, looked, sizeof *scratch);
    double *rounding = ur_take(&own, m, sizeof *rounding);
    *c = (ur_sparse_cells){.n = n,
                           .m = m,
                           .a = data->a,
                           .per_unit = ur_take(arena, m, sizeof *c->per_unit),
                           .seed = given->options.seed,
                           .draws = given->options.budget ? given->options.budget : DRAWS,
                           .exec = given->exec};
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    int single = ur_digits_single(n * m, c->a);
    for (size_t j = 0; j < m; j++) {
        int digits;
        size_t seen = 0;
        for (size_t i = 0; i<n; i += n> LOOK ? n / LOOK : 1)
            if (c->a[i * m + j] != 0)
                scratch[seen++] = fabs(c->a[i * m + j]);
        double size = ur_median(seen, scratch);
        c->per_unit[j] = size > 0 ? ldexp(1, -ilogb(size)) : 1;
        if (size > 0)
            rounding[count++] = ur_digits_rounding(n, m, c->a, j, size, &digits);
    }
    /* a column of zeros and a few round errors says nothing of the others: the median */
    c->tolerance =
        single ? UR_TOLERANCE_SINGLE
               : fmin(fmax(DOUBLE, ROUNDINGS * ur_median(count, rounding)), UR_TOLERANCE_MOST);
    return UNRELU_OK;
}
