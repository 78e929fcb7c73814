/* SPDX-License-Identifier: Apache-2.0 */
/* The negative values of x = max(0, y) + e with y ~ N(gamma s, s^2), e ~ N(0, sigma^2): where y <=
 * 0 they are e itself; where y is a little above 0, e was large enough to cross it, and they are
 * smaller than its half is. */
#ifndef UR_NOISE_H
#define UR_NOISE_H

typedef struct {
    double share;          /* P(-bound < x < 0) */
    double square, fourth; /* means of x^2 and x^4 given that, in units of sigma */
} ur_negative_part;

/* ratio: sigma / s; bound in units of sigma */
ur_negative_part ur_negative_part_of(double gamma, double ratio, double bound);

typedef struct {
    double sigma;
    double variance_se; /* of sigma^2 */
} ur_noise;

/* sigma, by which the mean of x^2 over `count` values between -1 and 0 is `square`. Lengths are in
 * units of the bound at -1; total is the deviation of what lies above 0, y + e, and b its mean.
 * total 0: there is no y above 0. */
ur_noise ur_noise_from(double count, double square, double b, double total);

#endif
