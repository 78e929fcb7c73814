/* SPDX-License-Identifier: Apache-2.0 */
/* Tails keep their relative accuracy: the cdf is erfc, the hazard is the scaled erfcx. The
 * quantile is Halley's iteration from a series: on erf in the middle (p - 1/2 is exact there),
 * on log Phi = log phi(x) - log h(-x) in the tail. */
#include "law/normal.h"

#include "unrelu/unrelu.h"

#include <cerf.h>
#include <math.h>

#define SQRT_2PI  2.50662827463100050242
#define LOG_2PI   1.83787706640934548356
#define SQRT_2_PI 0.79788456080286535588 /* sqrt(2 / pi) */

/* of Halley's iteration: in the middle the series leaves 1e-4, cubed twice; in the tail it ends
 * with a step so small, relative, that the next would be below rounding */
enum { MIDDLE_STEPS = 2, TAIL_STEPS = 20 };
static const double TAIL = 0.25; /* P of either */
static const double LAST_STEP = 1e-6;

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

/* x with Phi(x) - 1/2 = a, |a| <= 1/4 */
static double middle(double a)
{
    double y = SQRT_2PI * a, y2 = y * y;
    double x = y * (1 + y2 * (1 / 6.0 + y2 * (7 / 120.0 + y2 * 127 / 5040.0)));
    for (int i = 0; i < MIDDLE_STEPS; i++) {
        double f = (0.5 * erf(x * M_SQRT1_2) - a) * SQRT_2PI * exp(0.5 * x * x);
        x -= f / (1 + 0.5 * f * x); /* f'' / f' = -x */
    }
    return x;
}

/* t > 0 with Phi(-t) = p <= 1/4 */
static double tail(double p)
{
    double want = log(p), l = -2 * want;
    double t = sqrt(l) - 0.5 * (LOG_2PI + log(l)) / sqrt(l);
    for (int i = 0; i < TAIL_STEPS; i++) {
        double h = ur_normal_hazard(t);
        double f = -0.5 * (t * t + LOG_2PI) - log(h) - want;
        double step = f / h; /* d log Phi(-t) = -h, second derivative -h (h - t) */
        step /= 1 + 0.5 * step * (h - t);
        t += step;
        if (fabs(step) <= LAST_STEP * t)
            break;
    }
    return t;
}

double ur_normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0)
        return -INFINITY;
    if (p == 1)
        return INFINITY;
    if (p < TAIL)
        return -tail(p);
    if (p > 1 - TAIL)
        return tail(1 - p);
    return middle(p - 0.5);
}

double unrelu_normal_quantile(double p)
{
    return ur_normal_quantile(p);
}
