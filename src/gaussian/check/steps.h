/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of a column of which some cells are known to lie below limits, with no law
 * assumed: the non-parametric maximum of the likelihood. Its mass lies at values that were seen,
 * and below the smallest limit, where it cannot be placed further. */
#ifndef UR_STEPS_H
#define UR_STEPS_H

#include "base/arena.h"
#include "law/cell_margin.h"

/* n cells of one column: see cell_margin.h. A cell below a limit lies below a value seen there. */
typedef struct {
    size_t n;
    const double *x;
    const unsigned char *state;
} ur_known;

typedef struct {
    size_t count;
    double *value;   /* count, increasing; of the first step the limit where it is `open` */
    double *sum;     /* count: of all masses up to this one's; the last is 1 */
    int open;        /* the first step's mass lies somewhere below its value */
    double observed; /* cells that are not missing */
    double seen;     /* of these, values; alone: those that occur once */
    double alone;
    double *limit, *limited; /* different limits, increasing, and how many cells have each */
    size_t limits;
} ur_steps;

/* by the reversed Kaplan-Meier estimate; no step where no cell is known */
unrelu_status ur_steps_find(ur_arena *arena, const ur_known *known, ur_steps *out,
                            unrelu_error *err);

/* the mass below x, without what was seen at x */
double ur_steps_before(const ur_steps *steps, double x);
/* the smallest value such that a share of the mass lies at or below; NaN where it is not known */
double ur_steps_quantile(const ur_steps *steps, double share);
/* the largest distance from the distribution function of N(b, s^2) where that of the steps is
 * known: on both sides of each value, and at the smallest limit; NaN without a step */
double ur_steps_distance(const ur_steps *steps, double b, double s);

#endif
