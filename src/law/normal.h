/* SPDX-License-Identifier: Apache-2.0 */
/* The univariate normal. */
#ifndef UR_NORMAL_H
#define UR_NORMAL_H

#include <stddef.h>

double ur_normal_pdf(double x);
double ur_normal_cdf(double x);
/* log Phi(x), exact in both tails */
double ur_normal_log_cdf(double x);
/* relative accuracy about 1e-15 down to the smallest p; -inf at 0, inf at 1, NaN outside */
double ur_normal_quantile(double p);
/* h(g) = phi(g) / Phi(-g), the hazard: exact in both tails */
double ur_normal_hazard(double g);
/* hazard.c: out[i] = ur_normal_hazard(g[i]) for all i < n, relative error below 1e-14 where g > -37
 * (out may be g); several times faster than one by one. Above 1e300 it is 1e300. */
void ur_normal_hazards(size_t n, const double *g, double *out);

#endif
