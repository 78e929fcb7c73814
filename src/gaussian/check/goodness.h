/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_GOODNESS_H
#define UR_GOODNESS_H

#include "gaussian/check/steps.h"
#include "unrelu/unrelu.h"

/* Stephens (1974), table 1A: a and c of D (sqrt n + a + c / sqrt n), whose law hardly depends on n,
 * with both parameters estimated */
#define UR_STEPHENS_A (-0.01)
#define UR_STEPHENS_C 0.85

/* One column: `count` values above `limit`, increasing, of `observed` cells. */
typedef struct {
    const double *value;
    size_t count;
    double observed, limit;
} ur_censored_column;

/* sup over x >= limit of |F_n(x) - Phi((x - b) / s)|, censored cells being in F_n at the limit */
double ur_censored_distance(const ur_censored_column *column, double b, double s);

/* --- goodness_null.c: what that distance is where the model is right --- */
typedef struct {
    double distance; /* of one column */
    double observed, gamma;
    int fitted; /* b and s are estimates from these samples */
    double p;   /* out */
} ur_distance_test;

/* p of every test, by `runs` simulated samples (0: 999); NaN where distance is */
unrelu_status ur_distance_tests(ur_distance_test *tests, size_t count, size_t runs, uint64_t seed,
                                const unrelu_exec *exec, unrelu_error *err);

/* --- pattern_null.c: the same for a column whose cells have several limits --- */
typedef struct {
    const ur_steps *steps;
    double distance, b, s; /* of the steps from N(b, s^2), as of ur_steps_known_distance */
    int fitted;            /* b and s are estimates from these samples */
    uint64_t stream;       /* of random numbers: one for each column */
} ur_pattern_test;

/* p, by at most `runs` simulated columns (0: 999) */
unrelu_status ur_pattern_p(const ur_pattern_test *test, size_t runs, uint64_t seed, double *p,
                           unrelu_error *err);

#endif
