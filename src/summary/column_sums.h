/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of each column alone, in one sweep over memory: what the norms need when the pairs
 * are left to a second pass over bits. */
#ifndef UR_COLUMN_SUMS_H
#define UR_COLUMN_SUMS_H

#include <float.h>
#include <stddef.h>

/* where values are counted from: their limit, or 0 where they have none (-inf) */
static inline double ur_origin(double limit)
{
    return limit < -DBL_MAX ? 0 : limit;
}

/* d each; with t = (x - origin of limit - shift) unit where x > limit */
typedef struct {
    double *min, *max;    /* of the cells that are numbers; +inf, -inf where all are NaN */
    double *missing;      /* NaN cells */
    double *positive;     /* cells above the limit */
    double *sum, *square; /* of t and t t */
} ur_columns;

/* overwrites all of `out` */
void ur_columns_sweep(const double *x, size_t rows, size_t d, size_t stride, const double *limit,
                      const double *shift, const double *unit, const ur_columns *out);

#endif
