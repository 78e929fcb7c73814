/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that nearly agree, found in n log n: the projections of two rows on a random direction of
 * length 1 differ by no more than the rows do, so that each row, in the order of the projections,
 * is compared with the first members only of classes that lie just before it. */
#ifndef UR_NEAR_ROWS_H
#define UR_NEAR_ROWS_H

#include "base/arena.h"

#include <stdint.h>

typedef struct {
    size_t count, length;
    const double *rows; /* (count, length) */
    double reach;       /* rows that are near have at most this Euclidean distance */
    int (*is_near)(const void *context, size_t a, size_t b); /* rows a and b */
    const void *context;
} ur_near_rows;

typedef struct {
    size_t count;
    size_t *first; /* count: a member each, that of the smallest projection */
    size_t *of;    /* for each row its class */
} ur_row_classes;

/* Every row is near the first member of its class, of several such classes that of the largest
 * projection; no two first members are near. The direction is drawn from (seed, stream). */
unrelu_status ur_near_rows_class(const ur_near_rows *near, uint64_t seed, uint64_t stream,
                                 ur_arena *arena, ur_row_classes *classes, unrelu_error *err);

#endif
