/* SPDX-License-Identifier: Apache-2.0 */
/* What one sample of a censored normal, or of a censored pair, tells about its parameters: the
 * Fisher information at scales 1, x = max(0, z + gamma). */
#ifndef UR_INFORMATION_H
#define UR_INFORMATION_H

/* inverse information of (b, s), V = {bb, bs, ss}; NaN where it is singular to rounding */
void ur_information_margin(double gamma, double V[3]);

enum { UR_B1, UR_S1, UR_B2, UR_S2, UR_RHO, UR_PAIR_PARAMETERS };

/* Beyond UR_INFORMATION_RHO everything is NaN: the information grows as (1 - rho^2)^-2. */
#define UR_INFORMATION_RHO 0.999999
void ur_information_pair(double gamma1, double gamma2, double rho,
                         double information[UR_PAIR_PARAMETERS][UR_PAIR_PARAMETERS]);

/* The bounds, in one sample, on the variances of rho and of the product rho s1 s2; NaN where the
 * information is singular to rounding. */
void ur_information_bounds(double gamma1, double gamma2, double rho, double *rho_variance,
                           double *product_variance);

#endif
