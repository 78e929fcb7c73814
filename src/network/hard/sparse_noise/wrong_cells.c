/* SPDX-License-Identifier: Apache-2.0 */
/* The labels in units that wrong cells do not move: a power of two near the median size of a
 * column's cells that are not 0. Exact: a cell comes back as it was. */
#include "base/error.h"
#include "base/memory.h"
#include "model/digits.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>
#include <stdlib.h>

enum { LOOK = 4000, DRAWS = 4000 };

double ur_median(size_t count, double *v)
{
    if (count == 0)
        return 0;
    size_t low = 0, high = count - 1, middle = count / 2;
    while (low < high) {
        double pivot = v[(low + high) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        if (i == j)
            j += v[j] <= pivot;
        else
            j = i;
        if (middle < j)
            high = j - 1;
        else
            low = j;
    }
    return v[middle];
}

/* median of the cells of a column that are not 0 */
static double typical(const ur_sparse_cells *c, size_t j, double *room)
{
    size_t step = c->n > LOOK ? c->n / LOOK : 1, count = 0;
    for (size_t i = 0; i < c->n; i += step) {
        double size = fabs(c->a[i * c->m + j]);
        if (size > 0)
            room[count++] = size;
    }
    return ur_median(count, room);
}

unrelu_status ur_sparse_cells_open(const ur_recover *r, ur_sparse_cells *c, unrelu_error *err)
{
    const ur_data *data = &r->data;
    *c = (ur_sparse_cells){.n = data->n,
                           .m = data->m,
                           .a = data->a,
                           .seed = r->options->seed,
                           .draws = r->options->budget ? r->options->budget : DRAWS,
                           .exec = r->exec};
    c->per_unit = ur_doubles(c->m);
    double *room = ur_doubles(2 * LOOK < c->n ? 2 * LOOK : c->n), *rounding = ur_doubles(c->m);
    size_t count = 0;
    if (!c->per_unit || !room || !rounding) {
        free(room);
        free(rounding);
        return ur_fail_memory(err, c->m, "columns");
    }
    int single = ur_digits_single(c->n * c->m, c->a);
    for (size_t j = 0; j < c->m; j++) {
        int digits;
        double size = typical(c, j, room);
        c->per_unit[j] = size > 0 ? ldexp(1, -ilogb(size)) : 1;
        if (size > 0)
            rounding[count++] = ur_digits_rounding(c->n, c->m, c->a, j, size, &digits);
    }
    /* rounding is amplified by the few cells that a row is solved from; a column of zeros and a few
     * round errors says nothing of the others */
    c->tolerance = single ? 3e-6 : fmin(fmax(1e-9, 12 * ur_median(count, rounding)), 1e-2);
    free(room);
    free(rounding);
    return UNRELU_OK;
}

void ur_sparse_cells_free(ur_sparse_cells *c)
{
    free(c->per_unit);
    *c = (ur_sparse_cells){0};
}
