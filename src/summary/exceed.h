/* SPDX-License-Identifier: Apache-2.0 */
/* Counts above given thresholds, from bits: for every pair the rows where both exceed (the
 * paper's Step 2). */
#ifndef UR_EXCEED_H
#define UR_EXCEED_H

#include "summary/summary.h"

typedef struct {
    size_t d;
    const double *threshold; /* d, data units */
    int missing;             /* nonzero: there may be missing cells to count */
    const double *cut;       /* d, or NULL: rows with a cell above it are left out */
} ur_exceed_plan;

typedef struct {
    double *missing;     /* d: missing cells */
    double *above;       /* d x d, i <= j */
    double *both_absent; /* d x d, i <= j: rows where both are missing */
} ur_exceed_view;

extern const ur_summary ur_exceed;
ur_exceed_view ur_exceed_view_of(const ur_exceed_plan *plan, double *s);

#endif
