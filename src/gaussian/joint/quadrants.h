/* SPDX-License-Identifier: Apache-2.0 */
/* How well the joint law of two columns fits, cells of any kind: a cut of each parts rows into four
 * quadrants, and what the cells say of the shares in these is held against the fitted normal. Rows
 * to be drawn, too. */
#ifndef UR_QUADRANTS_H
#define UR_QUADRANTS_H

#include "law/cell_margin.h"

/* cells of a column and the normal that was fitted to them */
typedef struct {
    size_t n;
    const double *x, *upper; /* upper: NULL where no cell is between two ends */
    const unsigned char *state;
    double b, s;
} ur_quadrant_column;

enum { UR_QUADRANTS = 4 }; /* both above, the first alone, the second alone, neither */

typedef struct {
    double rows;   /* neither cell is missing */
    double cut[2]; /* on the columns' scale */
    double share[UR_QUADRANTS], fitted[UR_QUADRANTS];
    double misfit; /* the largest difference in standard errors, as if the law were known: too
                      small, if anything; NaN: no row */
} ur_quadrants;

/* Where a share of the column lies below, by its normal: of what can be seen, where the cells leave
 * that point hidden; NaN without a cell that is known. */
double ur_quadrant_cut(const ur_quadrant_column *c, double share);
/* A row counts with how likely it is in each quadrant, by what is known of its cells and by the
 * fitted normal where that leaves it open: 0 or 1 but where limits lie above a cut. */
void ur_quadrants_find(const ur_quadrant_column c[2], double rho, const double cut[2],
                       ur_quadrants *out);
/* Of cuts at the quarters, the medians and the three quarters those at which it fits worst: about
 * medians alone large values that go together and small ones that do not would look the same. NaN
 * where nothing is known of a column. */
void ur_quadrants_worst(const ur_quadrant_column c[2], double rho, ur_quadrants *out);
/* Some rows, evenly, at most `most`: cells (most x 2, NaN beyond) and their states (UR_SEEN, ...),
 * of which at least one is known; a cell between two ends by its middle. */
void ur_quadrant_rows(const ur_quadrant_column c[2], size_t most, double *cells,
                      unsigned char *states);

#endif
