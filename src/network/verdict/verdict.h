/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of an outcome, apart from the solver that found it. */
#ifndef UR_VERDICT_H
#define UR_VERDICT_H

#include "network/data/sides.h"
#include "network/problem/outcome.h"

/* --- certify.c --- */
/* Residual, shares of active samples and counts of a network over all rows, in the data's own
 * coordinates; hold-out: the rows not in `seen` (NULL: the solver saw all). */
unrelu_status ur_certify(const ur_problem *given, const ur_weights *weights, const ur_frame *seen,
                         ur_arena *arena, ur_certificate *certificate, unrelu_error *err);
/* A fit in a frame becomes the network of out, with its certificate. */
unrelu_status ur_certify_fit(const ur_problem *given, const ur_frame *frame,
                             const ur_newton_fit *fit, const ur_frame *seen, ur_outcome *out,
                             unrelu_error *err);
/* The network of out meets the labels: what the rules will look at. Arrays of frame and of the data
 * given, and y (NULL: not tested), live as long as out. */
unrelu_status ur_certify_exact(const ur_problem *given, const ur_frame *frame, const double *y,
                               size_t rank, size_t linear, ur_outcome *out, unrelu_error *err);

/* --- apart.c --- */
/* what the samples say of all neurons at once */
typedef struct {
    size_t rows, p; /* that were looked at, all where time allows; dimensions of a row of V */
    ur_newton_hinge hinge;         /* its row is one of the data */
    int counted;                   /* one label, relu: */
    size_t between, first, second; /* samples between the kinks of the two that have fewest */
} ur_apart;
/* how many rows are worth looking at: all, or those of some seconds; at least those seen */
size_t ur_apart_rows(const ur_data *data, const ur_frame *seen, size_t k);
unrelu_status ur_apart_measure(const ur_problem *given, const ur_data *data, const ur_frame *seen,
                               const ur_weights *weights, ur_apart *apart, unrelu_error *err);

/* --- kink_gap.c --- */
typedef struct {
    size_t neuron;
    double gap;    /* of the values of v x + c, about 0 */
    double chance; /* of one so wide beside the values next to it; 1: no neuron to ask */
} ur_kink_gaps;
/* the least likely gap of the neurons that one label shows, or that have parallel outputs */
unrelu_status ur_kink_gap(const ur_data *data, const ur_weights *weights, ur_kink_gaps *widest,
                          unrelu_error *err);

/* --- network_rules.c --- */
typedef struct {
    unrelu_verdict verdict;
    double gap;         /* smallest 1 - rho_2 of the neurons' patterns; NaN: not measured */
    size_t inputs_rank; /* of all rows; of [x 1] less 1 where c is fitted, or might have been */
    ur_warnings notes;
} ur_judgement;

/* By the rules of uniqueness where the labels are met; the notes lie in the arena of out. */
unrelu_status ur_judge(const ur_problem *given, const ur_outcome *out, ur_judgement *judgement,
                       unrelu_error *err);

/* --- rational/rational.c, or rational_none.c in a library without GMP --- */
/* UNRELU_EUSAGE where there is no exact arithmetic; asked before any work */
unrelu_status ur_rational_ready(unrelu_error *err);
/* the weights as texts, V (k x d) integers and U (m x k) fractions; NULL where `why` says what is
 * not exact */
typedef struct {
    const char **V, **U, *why;
} ur_fractions;
/* The exact fit of integer or rational data again, in exact arithmetic; the texts are the arena's.
 */
unrelu_status ur_rational(const ur_problem *given, const ur_outcome *out, unrelu_verdict verdict,
                          ur_arena *arena, ur_fractions *fractions, unrelu_error *err);

#endif
