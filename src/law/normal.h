/* SPDX-License-Identifier: Apache-2.0 */
/* The univariate normal. */
#ifndef UR_NORMAL_H
#define UR_NORMAL_H

double ur_normal_pdf(double x);
double ur_normal_cdf(double x);
/* log Phi(x), exact in both tails */
double ur_normal_log_cdf(double x);
/* relative accuracy about 1e-15 down to the smallest p; -inf at 0, inf at 1, NaN outside */
double ur_normal_quantile(double p);
/* h(g) = phi(g) / Phi(-g), the hazard: exact in both tails */
double ur_normal_hazard(double g);

#endif
