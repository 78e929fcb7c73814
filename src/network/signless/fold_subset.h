/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of more neurons than equations: a sum of numbers with signs. */
#ifndef UR_FOLD_SUBSET_H
#define UR_FOLD_SUBSET_H

#include "network/signless/fold.h"

unrelu_status ur_fold_subset(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                             double ratio, double error, int *signs, ur_signs_end *end,
                             unrelu_error *err);

/* sums (2^count) of +-w_i: bit i of the place is set where w_i counts as +w_i */
void ur_signed_sums(size_t count, const double *w, double *sums);

#endif
