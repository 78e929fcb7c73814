/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of a column of which some cells are known to lie below a limit, above one or
 * between two, with no law assumed: the non-parametric maximum of the likelihood. Its mass lies at
 * values that were seen, and in gaps between limits, where it cannot be placed further. */
#ifndef UR_STEPS_H
#define UR_STEPS_H

#include "base/arena.h"
#include "gaussian/check/rounding.h"
#include "law/cell_margin.h"

/* n cells of one column: see cell_margin.h. A cell below a limit lies below a value seen there, one
 * above it above; upper is NULL where no cell lies between two ends. */
typedef struct {
    size_t n;
    const double *x, *upper;
    const unsigned char *state;
    ur_rounding scale; /* how x came from the data; its unit is found, and not read */
} ur_known;

/* so many cells of which no more is known than that they lie in here; an end may be infinite */
typedef struct {
    double low, high, cells;
} ur_hiding;

typedef struct {
    size_t count;
    double *low, *value; /* count, increasing: ends of where a mass lies; equal where it was seen */
    double *sum;         /* count: of all masses up to this one's; the last is 1 */
    double observed;     /* cells that are not missing */
    double seen;         /* of these, values; alone: those that occur once */
    double alone;
    ur_hiding *hiding; /* different ones, by low, then by high */
    size_t hidings;
    ur_rounding rounding; /* of the values seen */
} ur_steps;

/* No step where no cell is known. By the reversed Kaplan-Meier estimate where cells lie below
 * limits alone, else by ur_steps_settle. */
unrelu_status ur_steps_find(ur_arena *arena, const ur_known *known, ur_steps *out,
                            unrelu_error *err);

/* the mass below x, without and with what was seen at x */
double ur_steps_before(const ur_steps *steps, double x);
double ur_steps_up_to(const ur_steps *steps, double x);
/* the smallest value such that a share of the mass lies at or below; NaN where it is not known */
double ur_steps_quantile(const ur_steps *steps, double share);
/* the largest distance from the distribution function of N(b, s^2) where that of the steps is
 * known: on both sides of each value and of each gap, of rounded values at the edges of their
 * cells; NaN without a step. known: NULL, or what distances are multiplied by, as of
 * ur_steps_known */
double ur_steps_distance(const ur_steps *steps, double b, double s, const double *known);
/* cells lie below one limit at most, which is below all values, and hide in no other way */
int ur_steps_one_limit(const ur_steps *steps);

/* --- steps_known.c --- */
/* known: count + 1, before the first step and after each: what a distance there is multiplied by so
 * that cells which hide around it do not change its law; 1 where none does, else less */
void ur_steps_known(const ur_steps *steps, double *known);
/* the largest distance, each multiplied by what is known at its place: what p is of */
unrelu_status ur_steps_known_distance(const ur_steps *steps, double b, double s, double *distance,
                                      unrelu_error *err);

/* --- turnbull.c --- */
/* The steps of `count` values (increasing) and the hidings that `out` has, taken from arena. */
unrelu_status ur_steps_settle(ur_arena *arena, const double *value, size_t count, ur_steps *out,
                              unrelu_error *err);

#endif
