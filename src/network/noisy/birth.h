/* SPDX-License-Identifier: Apache-2.0 */
/* A neuron more or less beside those of a fit, whose rows stay as they are. */
#ifndef UR_BIRTH_H
#define UR_BIRTH_H

#include "network/newton/newton.h"

/* v (p): of the rows that are tried the one that, as a further neuron, takes most of what the fit
 * (its U and e by least squares) leaves: the leading directions of second moments of the residual,
 * random ones, and changes to the best. *gain: what rss falls by, with U and e anew. Weights are
 * not looked at. number: which random numbers. */
unrelu_status ur_birth(const ur_newton *problem, const ur_newton_fit *fit, uint64_t seed,
                       uint64_t number, double *v, double *gain, unrelu_error *err);
/* costs (k): what rss rises by without a neuron, with U and e anew */
unrelu_status ur_neuron_costs(const ur_newton *problem, const ur_newton_fit *fit, double *costs,
                              unrelu_error *err);

#endif
