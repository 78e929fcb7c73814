/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_GAUSSIAN_MODEL_H
#define UR_GAUSSIAN_MODEL_H

#include "unrelu/unrelu.h"

/* zeroes the model and allocates b, scale, sigma, correlation and room for names; with
 * `errors` also their standard errors, counts and flags */
unrelu_status ur_gaussian_allocate(unrelu_gaussian *model, size_t d, int errors, unrelu_error *err);

#endif
