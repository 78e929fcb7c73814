/* SPDX-License-Identifier: Apache-2.0 */
/* The bivariate normal orthant probability. */
#ifndef UR_BIVARIATE_H
#define UR_BIVARIATE_H

/* P(z1 > -g1, z2 > -g2) = Phi2(g1, g2; rho), |rho| <= 1; absolute error below 1e-14 */
double ur_bivariate_normal(double g1, double g2, double rho);

/* The same with Phi(g1), Phi(g2) at hand, finite g within +-38 and |rho| < 1. */
double ur_bivariate_at(double g1, double g2, double Phi1, double Phi2, double rho);
/* The integral of the density over r from `from` to `to`: how Phi2 moves with rho. Error below
 * 1e-15 where |to - from| <= (1 - max(|from|, |to|)) / 4. */
double ur_bivariate_move(double g1, double g2, double from, double to);

#endif
