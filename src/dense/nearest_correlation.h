/* SPDX-License-Identifier: Apache-2.0 */
/* The correlation matrix nearest to estimates of its entries, each with an error of its own. */
#ifndef UR_NEAREST_CORRELATION_H
#define UR_NEAREST_CORRELATION_H

#include "unrelu/unrelu.h"

/* R (d x d) is positive semidefinite with a unit diagonal and minimises the sum over pairs of
 * weight (R - C)^2. C and weight are d x d and symmetric, C has a unit diagonal; weights are 1 /
 * se^2, or 0 where nothing is known of a pair, and those of the diagonal are not looked at.
 * *evaluations tells the cost: each is two products of matrices. */
unrelu_status ur_nearest_correlation(size_t d, const double *C, const double *weight, double *R,
                                     int *evaluations, unrelu_error *err);

#endif
