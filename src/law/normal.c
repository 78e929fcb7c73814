/* SPDX-License-Identifier: Apache-2.0 */
/* Tails keep their relative accuracy: the cdf is erfc, the hazard is the scaled erfcx. The quantile
 * is one of three rational functions (M. J. Wichura, Applied Statistics 37, 1988, algorithm 241),
 * of p - 1/2 in the middle, which is exact there, and of sqrt(-log p) in the tail. */
#include "law/normal.h"

#include "unrelu/unrelu.h"

#include <cerf.h>
#include <math.h>

#define SQRT_2PI  2.50662827463100050242
#define LOG_2PI   1.83787706640934548356
#define SQRT_2_PI 0.79788456080286535588 /* sqrt(2 / pi) */

double ur_normal_pdf(double x)
{
    return exp(-0.5 * x * x) / SQRT_2PI;
}

double ur_normal_cdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

double ur_normal_log_cdf(double x)
{
    if (x > -1)
        return log1p(-0.5 * erfc(x * M_SQRT1_2));
    return -0.5 * (x * x + LOG_2PI) - log(ur_normal_hazard(-x));
}

double ur_normal_hazard(double g)
{
    return SQRT_2_PI / erfcx(g * M_SQRT1_2); /* erfcx overflows below -37: 0 */
}

/* Wichura's rational functions (1988): numerator and denominator of degree 7, lowest power first */
static const double middle_ratio[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3},
    {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3}};
static const double tail_ratio[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const double far_ratio[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};
/* where one function ends and the next begins: |p - 1/2|, and sqrt(-log p); and the places around
 * which they are expanded. They belong to the coefficients. */
#define MIDDLE_END 0.425
#define TAIL_END   5.0
#define TAIL_FROM  1.6

/* by pairs, whose sums do not wait for one another; nothing is negative, and nothing cancels */
static inline double polynomial(const double c[8], double r)
{
    double r2 = r * r;
    double low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2;
    double high = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2;
    return low + high * (r2 * r2);
}

static inline double ratio(const double c[2][8], double r)
{
    return polynomial(c[0], r) / polynomial(c[1], r);
}

/* t > 0 with Phi(-t) = p */
static double tail(double p)
{
    double r = sqrt(-log(p));
    return r <= TAIL_END ? ratio(tail_ratio, r - TAIL_FROM) : ratio(far_ratio, r - TAIL_END);
}

double ur_normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0)
        return -INFINITY;
    if (p == 1)
        return INFINITY;
    double q = p - 0.5;
    if (fabs(q) <= MIDDLE_END)
        return q * ratio(middle_ratio, MIDDLE_END * MIDDLE_END - q * q);
    return q < 0 ? -tail(p) : tail(1 - p);
}

double unrelu_normal_quantile(double p)
{
    return ur_normal_quantile(p);
}
