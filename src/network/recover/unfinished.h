/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_UNFINISHED_H
#define UR_UNFINISHED_H

#include "network/data/watch.h"
#include "network/problem/outcome.h"

/* A recovery was stopped: the closest of what given->watch kept becomes the network of out (empty
 * before), with U by least squares, its residual over all rows and what is missing. Where there is
 * nothing, UNRELU_ECANCELLED, or after a time limit a failure with its sentence. */
unrelu_status ur_unfinished(const ur_problem *given, ur_outcome *out, unrelu_error *err);

/* it was stopped after the network of out was found, before its verdict */
void ur_unjudged(const ur_problem *given, ur_outcome *out);

#endif
