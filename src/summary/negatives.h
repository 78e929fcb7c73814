/* SPDX-License-Identifier: Apache-2.0 */
/* The negative cells of each column: noise that was added after the rectifier shows its size and
 * its shape there. Without bounds they are counted; with them, which a median gives, those between
 * -bound and 0 are summed in units of the bound, and a few gross ones beyond only counted. */
#ifndef UR_NEGATIVES_H
#define UR_NEGATIVES_H

#include "summary/summary.h"

typedef struct {
    size_t d;
    const double *bound; /* d, above 0; NULL: only counts */
    double inner;        /* share of the bound */
} ur_negatives_plan;

extern const ur_summary ur_negatives;

/* one column's of them */
typedef struct {
    double observed, negative;
    double beyond; /* below -bound */
    double inner;  /* from -inner bound to 0 */
    double square; /* sum of (x / bound)^2 of those that are not beyond */
} ur_negatives_view;

ur_negatives_view ur_negatives_of(const ur_negatives_plan *plan, const double *s, size_t column);

#endif
