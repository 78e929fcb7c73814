/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples: bounds of the papers, of the information in a sample, of counting, and what was
 * enough in runs. Each says what it assumes; where that does not hold there is a reason in place of
 * a number. */
#ifndef UR_PLAN_H
#define UR_PLAN_H

#include "base/arena.h"

enum { UR_PLAN_BOUNDS = 16 };

struct unrelu_plan {
    ur_arena arena; /* of sentences */
    size_t count;
    unrelu_plan_bound bounds[UR_PLAN_BOUNDS];
};

/* ---- what the three models share: plan.c ---- */

/* one of the values of b, and of how many columns, units or neurons it is */
typedef struct {
    double b, share;
} ur_plan_value;

typedef struct {
    const unrelu_plan_options *options;
    unrelu_plan *plan;
    size_t of;    /* columns, units or neurons */
    size_t count; /* values */
    ur_plan_value values[UNRELU_PLAN_BIASES];
    double least, most; /* b */
} ur_planning;

/* Adds a bound with its n. It holds where `because` is NULL. */
void ur_plan_add(ur_planning *w, unrelu_plan_bound bound, double n, const char *because);
/* a reason, of printf; NULL where `broken` is 0 */
const char *ur_plan_reason(ur_planning *w, int broken, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

unrelu_status ur_plan_gaussian(ur_planning *w, unrelu_error *err);
unrelu_status ur_plan_network(ur_planning *w, unrelu_error *err);
unrelu_status ur_plan_mixture(ur_planning *w, unrelu_error *err);

/* ---- counting: plan_counts.c ---- */

/* P(Bin(n, share) < least); n may be above 2^53 */
double ur_count_below(double n, double share, double least);
/* The least n with sum of of[i] P(Bin(n, share[i]) < least) <= failure: then all of them reach
 * `least` with at least 1 - failure, however they depend on one another. Infinite where a share is
 * 0. */
double ur_count_enough(size_t kinds, const double *share, const double *of, double least,
                       double failure);

#endif
