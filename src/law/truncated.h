/* SPDX-License-Identifier: Apache-2.0 */
/* A standard normal z that is known to lie between two bounds, lower < upper, either of which may
 * be infinite, wherever they are: no digits are lost in the tails or where they nearly meet. */
#ifndef UR_TRUNCATED_H
#define UR_TRUNCATED_H

double ur_truncated_mean(double lower, double upper);
/* log P(lower < z < upper) */
double ur_truncated_log_mass(double lower, double upper);
/* The same probability as factor exp(log), by a logarithm only where it may be too small for a
 * double: products of many need one logarithm together. factor is at least 1e-11. */
typedef struct {
    double factor, log;
} ur_mass;
ur_mass ur_truncated_mass(double lower, double upper);
/* The u-quantile, u in (0, 1): one uniform makes one draw. mass, as above, may be NULL. */
double ur_truncated_draw(double lower, double upper, double u, ur_mass *mass);

#endif
