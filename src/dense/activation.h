/* SPDX-License-Identifier: Apache-2.0 */
/* The activation functions of section 9.1 of the two-layer paper, and the leaky ReLU. */
#ifndef UR_ACTIVATION_H
#define UR_ACTIVATION_H

#include "unrelu/unrelu.h"

/* f(t) and f'(t) for count numbers; the slope at a kink is that of the left side. value and
 * slope may be NULL; value may be t. */
void ur_activation_apply(unrelu_activation f, size_t count, const double *t, double *value,
                         double *slope);
/* t > 0 with f(t) = y, for y > 0; leaky: any sign */
double ur_activation_inverse(unrelu_activation f, double y);
/* f(s t) = s^degree f(t) for s > 0: its degree, or 0 where f is not homogeneous */
double ur_activation_degree(unrelu_activation f);
/* whether f is 0 on all negative numbers: a zero pattern exists */
int ur_activation_rectifies(unrelu_activation f);
/* c_order = E f(scale g + shift) He_order(g), g standard normal, order 0 to 4 (quadrature on the
 * two sides of the kink; infinite moments of expm1sq give infinity) */
double ur_activation_hermite(unrelu_activation f, double scale, double shift, int order);

#endif
