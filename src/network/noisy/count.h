/* SPDX-License-Identifier: Apache-2.0 */
/* How many neurons noisy labels have, and whether there are biases. */
#ifndef UR_COUNT_H
#define UR_COUNT_H

#include "network/noisy/contest.h"

/* as many as the labels can tell, and not so many that the search would not end */
size_t ur_most_neurons(const ur_problem *given);
/* c is empty; least: rows to be used at least; *work: operations so far; *tried: the largest k that
 * was looked at */
unrelu_status ur_count_neurons(const ur_problem *given, size_t least, double *work, ur_contest *c,
                               size_t *tried, unrelu_error *err);

#endif
