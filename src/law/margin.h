/* SPDX-License-Identifier: Apache-2.0 */
/* One coordinate: x = max(0, y), y ~ N(b, s^2), from four numbers. All lengths are in the
 * caller's unit (a power of two of the data's), so that squares neither overflow nor vanish. */
#ifndef UR_MARGIN_H
#define UR_MARGIN_H

/* of the product of its diagonal: below it the determinant of the information of (b, s) is rounding
 * in the tails, and there are no standard errors */
#define UR_MARGIN_SINGULAR 1e-7

typedef struct {
    double n, positive; /* observed cells, cells > 0 */
    double shift;       /* c below; near the mean of the positives for full accuracy */
    double sum, square; /* sums over the positives of (x - c) and (x - c)^2 */
} ur_margin_sums;

typedef enum {
    UR_MARGIN_FITTED,
    UR_MARGIN_ALL_ZERO,  /* b is not identified: all numbers NaN */
    UR_MARGIN_CONSTANT,  /* no zeros, no spread: s = 0, gamma infinite */
    UR_MARGIN_NO_ZEROS,  /* plain Gaussian mean and deviation */
    UR_MARGIN_NO_MAXIMUM /* truncated likelihood: second moment / mean^2 >= 2; all NaN */
} ur_margin_verdict;

typedef struct {
    ur_margin_verdict verdict;
    double b, s, gamma; /* gamma = b / s (8 where there are no zeros: see pair.h) */
    /* NaN where the information is singular. Without zeros gamma is a convention, and gamma_se
     * is b_se / s: the error of the anchor. */
    double b_se, s_se, gamma_se;
    int iterations;
    double bs; /* covariance of the errors of b and s; NaN where these are */
} ur_margin;

/* a column that never changes */
void ur_margin_constant(double value, ur_margin *out);
/* censored (Tobit) maximum likelihood: profiled Newton */
void ur_margin_censored(const ur_margin_sums *sums, ur_margin *out);
/* truncated maximum likelihood: the positives alone */
void ur_margin_truncated(const ur_margin_sums *sums, ur_margin *out);

#endif
