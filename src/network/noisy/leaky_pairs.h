/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a ReLU network of noisy labels stands for a leaky one. */
#ifndef UR_LEAKY_PAIRS_H
#define UR_LEAKY_PAIRS_H

#include "network/problem/outcome.h"

/* the slope, 0 where there is none; *pairs: of neurons that are one leaky neuron each */
double ur_leaky_pairs(const ur_weights *w, size_t *pairs);

#endif
