/* SPDX-License-Identifier: Apache-2.0 */
/* How many neurons noisy labels have, and whether there are biases. */
#ifndef UR_COUNT_H
#define UR_COUNT_H

#include "network/noisy/noisy.h"

/* the best fit of one k and one set of biases */
typedef struct {
    ur_arena arena; /* of all that follows */
    ur_frame frame;
    ur_best best;
    double *rows; /* (k, q): v, c of the best, in the data's coordinates */
    size_t k;
    int ready;
} ur_contest;
void ur_contest_end(ur_contest *c);
void ur_contest_swap(ur_contest *a, ur_contest *b);
#define UR_CONTEST(name) __attribute__((cleanup(ur_contest_end))) ur_contest name = {0}
/* the labels are met to the floor */
int ur_contest_met(const ur_problem *given, const ur_contest *c);

/* as many as the labels can tell, and not so many that the search would not end */
size_t ur_most_neurons(const ur_problem *given);
/* c is empty; least: rows to be used at least; *work: operations so far; *tried: the largest k that
 * was looked at */
unrelu_status ur_count_neurons(const ur_problem *given, size_t least, double *work, ur_contest *c,
                               size_t *tried, unrelu_error *err);

#endif
