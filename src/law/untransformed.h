/* SPDX-License-Identifier: Apache-2.0 */
/* The mean, in the data's own unit, of a value whose transform is normal and may be cut: E g(c + s
 * z) for a standard normal z with lower < z < upper, where g undoes the transform. */
#ifndef UR_UNTRANSFORMED_H
#define UR_UNTRANSFORMED_H

#include "unrelu/unrelu.h"

/* s >= 0: where it is 0 the ends do not count. Infinite where the mean is: of a Box-Cox power below
 * 0 that is not cut from above. */
double ur_untransformed_mean(unrelu_transform transform, double lambda, double c, double s,
                             double lower, double upper);

#endif
