/* SPDX-License-Identifier: Apache-2.0 */
/* One coordinate y ~ N(b, s^2) of which each cell is seen, or known to lie at or below a limit of
 * its own, at or above one, or between two: maximum likelihood over (b / s, 1 / s), where it is
 * concave. */
#ifndef UR_CELL_MARGIN_H
#define UR_CELL_MARGIN_H

#include "law/margin.h"
#include "unrelu/unrelu.h"

/* What is known of a cell: its value, that it lies at or below a limit, nothing, that it lies at or
 * above a limit, that it lies between two ends. x holds the value, the limit, or the lower end;
 * upper holds the upper end of cells between and NaN elsewhere, and is NULL where there are none.
 */
enum { UR_SEEN, UR_BELOW, UR_MISSING, UR_ABOVE, UR_BETWEEN };

typedef struct {
    ur_margin margin;   /* gamma = (b - limit) / s for the largest limit, 8 where none is below */
    double V[3];        /* covariance of (b, s): bb, bs, ss */
    double likelihood;  /* logarithm, at the maximum */
    size_t seen, below; /* cells */
} ur_cell_margin;

/* verdict ALL_ZERO: no cell is seen. Standard errors from the observed information. */
unrelu_status ur_cell_margin_fit(size_t n, const double *x, const double *upper,
                                 const unsigned char *state, ur_cell_margin *out,
                                 unrelu_error *err);

#endif
