/* SPDX-License-Identifier: Apache-2.0 */
/* Huber's psi(t) = min(c, max(-c, t)) with his scale (Proposition 2): s > 0 with
 *   mean of psi(r / s)^2 = beta, its expectation for normal r of deviation 1,
 * so that s estimates the deviation of normal numbers, and is held by the middle of others. s is
 * where sum of s (rho(r / s) + beta / 2), rho' = psi, is least: one objective of r and s, which for
 * c without bound is n times the root mean square. */
#ifndef UR_HUBER_H
#define UR_HUBER_H

#include <stddef.h>

/* c: estimates of normal data have 95 % of the efficiency of least squares */
#define UR_HUBER 1.345

typedef struct {
    double scale;     /* s; 0 where more than 1 - beta / c^2 (61 %) of the numbers are 0 */
    double objective; /* the sum at s */
    double inside;    /* share of |r| <= c s: the mean of psi' */
    double spread;    /* s sqrt(beta) / inside: an M-estimate errs as least squares do with normal
                         noise of this deviation */
    double rms;
} ur_huber;

/* of count numbers, `step` apart */
ur_huber ur_huber_of(size_t count, const double *r, size_t step);
/* the same for another scale */
ur_huber ur_huber_at(size_t count, const double *r, size_t step, double scale);
double ur_huber_beta(void);
/* s psi(r / s) */
static inline double ur_huber_psi(double r, double s)
{
    double most = UR_HUBER * s;
    return r > most ? most : r < -most ? -most : r;
}

/* Whether numbers r (n, m) have heavier tails than normal ones, every column with a deviation of
 * its own. */
typedef struct {
    double z;     /* of (rms / s)^2 over the columns: standard normal for normal r */
    double ratio; /* rms / s, mean over the columns */
    double gain;  /* by what factor errors of Huber's estimate are smaller than of least squares */
} ur_tails;
ur_tails ur_tails_of(size_t n, size_t m, const double *r);
/* Heavy: z above this, and Huber's estimate gains. Normal numbers are called so in less than one
 * sample of 1000 (n m >= 60). */
#define UR_TAILS_Z 5
static inline int ur_tails_heavy(ur_tails t)
{
    return t.z > UR_TAILS_Z && t.gain > 1;
}

#endif
