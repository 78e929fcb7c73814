/* SPDX-License-Identifier: Apache-2.0 */
/* Box-Cox and its kin: y = (x^lambda - 1) / lambda, log x for lambda = 0; sqrt x; x itself. And
 * inverses of activations. */
#ifndef UR_POWER_H
#define UR_POWER_H

#include "unrelu/unrelu.h"

/* lambda is looked at for UNRELU_TRANSFORM_BOXCOX and UNRELU_TRANSFORM_LEAKY alone */
double ur_transform(unrelu_transform transform, double lambda, double x);
double ur_untransform(unrelu_transform transform, double lambda, double y);

/* whether x is a value of such data: between 0 and 1 of a sigmoid, not negative of a power */
int ur_transform_takes(unrelu_transform transform, double x);

/* whether it is the inverse of an activation: there is no limit then */
int ur_transform_undoes(unrelu_transform transform);

extern const char *const ur_transform_words[]; /* in the order of unrelu_transform */

#endif
