/* SPDX-License-Identifier: Apache-2.0 */
/* One coordinate y ~ N(b, s^2) of which each cell is seen, or known to lie at or below a limit of
 * its own, at or above one, or between two: maximum likelihood over (b / s, 1 / s), where it is
 * concave. */
#ifndef UR_CELL_MARGIN_H
#define UR_CELL_MARGIN_H

#include "law/interval.h"
#include "law/margin.h"
#include "unrelu/unrelu.h"

#include <math.h>
#include <stddef.h>

/* What is known of a cell: its value, that it lies at or below a limit, nothing, that it lies at or
 * above a limit, that it lies between two ends. x holds the value, the limit, or the lower end;
 * upper holds the upper end of cells between and NaN elsewhere, and is NULL where there are none.
 */
enum { UR_SEEN, UR_BELOW, UR_MISSING, UR_ABOVE, UR_BETWEEN };

/* A cell as the likelihood takes it: ends that are equal are a value, an infinite end is none.
 * upper may be NULL where the column has none, i is the row. */
typedef struct {
    unsigned char state;
    double at, width; /* the value, the limit, or the middle; width: of UR_BETWEEN, else 0 */
} ur_cell;
static inline ur_cell ur_cell_at(const double *x, const double *upper, const unsigned char *state,
                                 size_t i)
{
    if (state[i] != UR_BETWEEN)
        return (ur_cell){state[i], x[i], 0};
    if (isinf(x[i]) && isinf(upper[i]))
        return (ur_cell){UR_MISSING, NAN, 0};
    if (isinf(x[i]))
        return (ur_cell){UR_BELOW, upper[i], 0};
    if (isinf(upper[i]))
        return (ur_cell){UR_ABOVE, x[i], 0};
    double width = upper[i] - x[i];
    return (ur_cell){width > 0 ? UR_BETWEEN : UR_SEEN, x[i] + width / 2, width};
}

typedef struct {
    ur_margin margin;  /* gamma = (b - limit) / s for the largest limit, 8 where none is below */
    double V[3];       /* covariance of (b, s): bb, bs, ss */
    double likelihood; /* logarithm, at the maximum */
    size_t seen, below, above, between; /* cells */
} ur_cell_margin;

/* verdict ALL_ZERO: every cell lies below a limit, or every one above, or all are missing;
 * NO_MAXIMUM: one value agrees with all cells, or none but limits of either side are known and they
 * leave the scale open. Standard errors from the observed information. */
unrelu_status ur_cell_margin_fit(size_t n, const double *x, const double *upper,
                                 const unsigned char *state, ur_cell_margin *out,
                                 unrelu_error *err);

#endif
