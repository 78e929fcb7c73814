/* SPDX-License-Identifier: Apache-2.0 */
/* What fits to a part of the rows leave of the others. */
#ifndef UR_FOLDS_H
#define UR_FOLDS_H

#include "network/problem/outcome.h"

/* of the same fit to most rows, relative, over those that it did not see */
unrelu_status ur_hold_out(const ur_problem *given, const ur_outcome *out, double *residual,
                          unrelu_error *err);

enum { UR_FOLDS = 5 };

typedef struct {
    size_t folds;    /* that were fitted; 0: too many rows, or too few */
    double residual; /* over the rows kept back, of all of them; relative */
    double times;    /* what they miss, in what noise would let them miss: a mean */
    int unstable;    /* more than noise explains */
} ur_folds;

unrelu_status ur_folds_test(const ur_problem *given, const ur_outcome *out, ur_folds *folds,
                            unrelu_error *err);

#endif
