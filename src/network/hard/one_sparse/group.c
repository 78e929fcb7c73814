/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel rows in n log n: classes of near unit rows. Rows that are parallel by chance: about
 * C(k, 2) n_2^2 5 tolerance, n_2 rows where the same two neurons are on. */
#include "base/error.h"
#include "base/order.h"
#include "dense/linear.h"
#include "dense/near_rows.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>

/* Square of the part of an input across another, of its own: below, 1e-7 of it, it is a multiple.
 */
static const double SAME_INPUT = 1e-14;

static int is_near(const void *context, size_t a, size_t b)
{
    const ur_near_rows *near = context;
    const double *x = near->rows + a * near->length, *y = near->rows + b * near->length;
    double sum = 0;
    for (size_t j = 0; j < near->length; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sqrt(sum) <= near->reach;
}

/* whether x and y are not multiples of each other */
static int is_apart(size_t p, const double *x, const double *y)
{
    double xx = ur_short_dot(p, x, x), xy = ur_short_dot(p, x, y), rest = 0;
    for (size_t j = 0; j < p && xx > 0; j++)
        rest += (y[j] - xy / xx * x[j]) * (y[j] - xy / xx * x[j]);
    return rest > SAME_INPUT * ur_short_dot(p, y, y);
}

unrelu_status ur_group(size_t n, size_t m, const double *rows, const unsigned char *skip, size_t p,
                       const double *x, double tolerance, uint64_t seed, ur_arena *arena,
                       ur_groups *g, unrelu_error *err)
{
    UR_ARENA(own);
    size_t count = 0, *row = ur_take(&own, n, sizeof *row);
    double *unit = ur_take(&own, n, m * sizeof *unit);
    *g = (ur_groups){.of = ur_take(arena, n, sizeof *g->of)};
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++) {
        const double *u = rows + i * m;
        double length = skip && skip[i] ? 0 : sqrt(ur_short_dot(m, u, u));
        g->of[i] = UR_ALONE;
        if (!(length > 0))
            continue;
        for (size_t j = 0; j < m; j++)
            unit[count * m + j] = u[j] / length;
        row[count++] = i;
    }
    ur_near_rows near = {count, m, unit, tolerance, is_near, &near};
    ur_row_classes classes;
    UR_TRY(ur_near_rows_class(&near, seed, UR_STREAM_GROUP, &own, &classes, err));
    /* classes of two and more are numbered by size, then by their first rows */
    size_t *number = ur_take(&own, classes.count, sizeof *number);
    size_t *size = ur_take(&own, classes.count, sizeof *size);
    unsigned char *spread = ur_take(&own, classes.count, 1); /* inputs are not parallel */
    ur_keyed *order = ur_take(&own, classes.count, sizeof *order),
             *scratch = ur_take(&own, classes.count, sizeof *scratch);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < count; i++) {
        size_t c = classes.of[i], first = classes.first[c];
        size[c]++;
        if (i != first && !spread[c])
            spread[c] = !x || is_apart(p, x + row[first] * p, x + row[i] * p);
    }
    for (size_t c = 0; c < classes.count; c++)
        number[c] = UR_ALONE;
    for (size_t i = 0; i < count; i++) {
        size_t c = classes.of[i];
        if (!spread[c] || number[c] != UR_ALONE)
            continue;
        number[c] = 0;
        order[g->count++] = (ur_keyed){-(double)size[c], c};
    }
    ur_sort_keyed(order, scratch, g->count);
    g->size = ur_take(arena, g->count, sizeof *g->size);
    g->direction = ur_take(arena, g->count, m * sizeof *g->direction);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t c = 0; c < g->count; c++) {
        number[order[c].at] = c;
        g->size[c] = size[order[c].at];
    }
    for (size_t i = 0; i < count; i++) {
        size_t c = g->of[row[i]] = number[classes.of[i]];
        for (size_t j = 0; c != UR_ALONE && j < m; j++)
            g->direction[c * m + j] += rows[row[i] * m + j];
    }
    for (size_t c = 0; c < g->count; c++) {
        double *u = g->direction + c * m, length = sqrt(ur_short_dot(m, u, u));
        for (size_t j = 0; j < m; j++)
            u[j] /= length;
    }
    return UNRELU_OK;
}
