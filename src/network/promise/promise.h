/* SPDX-License-Identifier: Apache-2.0 */
/* What a theorem promises is worth something where its conditions hold. A theorem is data: its
 * name, what it promises, and a list of conditions, each of which says what is asked, how that is
 * tested, and finds yes, no or untested with the figure that decides. One function asks all of them
 * on the problem and the outcome.
 *   theorems     the theorems and their conditions
 *   conditions   what the network and the problem show
 *   inputs_law   whether the inputs look normal, with mean 0
 *   noise_law    whether what is left looks like noise of the theorem
 *   distinguish  the distinguishing matrix of Definition 10
 * "n large enough" is no condition here: the theorems do not say how large. */
#ifndef UR_PROMISE_H
#define UR_PROMISE_H

#include "network/problem/outcome.h"

/* Chance of rejecting a condition that holds, of one condition with all its tests. */
#define UR_CONDITION_LEVEL 1e-3

typedef enum { UR_BROKEN, UR_UNTESTED, UR_KEPT } ur_holds;
const char *ur_holds_name(ur_holds holds); /* "no", "untested", "yes" */

typedef struct {
    ur_holds holds;
    const char *figure; /* a sentence without its full stop */
} ur_finding;

/* --- inputs_law.c --- */
typedef struct {
    size_t rows, tests;
    size_t rank;         /* about their mean; 0: too few rows for any test */
    double p;            /* of the worst of the tests of shape, times their number */
    double value, usual; /* its statistic, and that of normal inputs */
    const char *what;    /* "kurtosis" */
    size_t column;       /* of the inputs; SIZE_MAX: of all of them jointly */
    double mean_chi2, mean_p;
} ur_inputs_law;

unrelu_status ur_inputs_law_test(const ur_data *data, const unrelu_exec *exec, ur_inputs_law *law,
                                 unrelu_error *err);
/* z of a statistic, standardised, with this skewness: normal to third order (Anscombe, Glynn) */
double ur_unskewed(double standardised, double skewness);
/* P(|N| > |z|) */
double ur_two_sided(double z);

/* --- noise_law.c --- */
typedef struct {
    double mean_z, mean_p; /* of the column whose mean is farthest from 0; p times the columns */
    size_t mean_column;
    double tail, tail_p; /* the largest, in standard deviations; p times the cells */
    size_t cells;
} ur_noise_law;

unrelu_status ur_noise_law_test(const ur_problem *given, const ur_weights *weights,
                                ur_noise_law *law, unrelu_error *err);

/* --- distinguish.c --- */
/* smallest over largest singular value of the augmented distinguishing matrix, over at most so many
 * rows that it costs seconds; NaN where there are too few */
unrelu_status ur_distinguishing(const ur_data *data, const ur_weights *weights, double *ratio,
                                unrelu_error *err);

/* --- conditions.c --- */
/* what is asked about: the conditions share what more than one of them looks at */
typedef struct {
    const ur_problem *given;
    const ur_outcome *out;
    size_t k;              /* of the network, else as asked for; 0: not known */
    ur_arena *arena;       /* of the figures */
    ur_inputs_law *inputs; /* NULL: not tested yet */
    double kappa_u;        /* NaN: not measured */
} ur_case;

typedef struct {
    const char *what; /* is asked */
    const char *how;  /* it is tested */
    unrelu_status (*test)(ur_case *c, ur_finding *finding, unrelu_error *err);
} ur_condition;

extern const ur_condition ur_is_rectified, ur_is_relu, ur_has_no_bias, ur_has_no_hidden_bias,
    ur_has_no_noise, ur_v_has_rank, ur_u_has_rank, ur_inputs_span, ur_inputs_normal,
    ur_inputs_centred, ur_inputs_symmetric, ur_v_is_orthonormal, ur_order_carries, ur_distinguishes,
    ur_labels_have_rank, ur_no_parallel_outputs, ur_each_alone, ur_noise_is_light,
    ur_noise_is_independent, ur_epsilon_is_small, ur_u_is_orthogonal, ur_is_incoherent,
    ur_wrong_at_random;

/* --- theorems.c --- */
enum { UR_CONDITIONS = 10 };
typedef struct {
    const char *name;    /* "Theorem 10"; NULL: none is claimed */
    const char *promise; /* a sentence with the name, for whoever reads a model */
    const ur_condition *conditions[UR_CONDITIONS]; /* NULL behind the last */
} ur_theorem;

extern const ur_theorem ur_none, ur_theorem_1, ur_theorem_4, ur_theorem_7, ur_theorem_10,
    ur_theorem_11, ur_theorem_13, ur_theorem_14, ur_corollary_5;

/* all conditions on the outcome of a method; because: the figures that decide, in the arena. */
unrelu_status ur_theorem_ask(const ur_theorem *theorem, const ur_problem *given,
                             const ur_outcome *out, ur_arena *arena, ur_holds *holds,
                             const char **because, unrelu_error *err);

#endif
