/* SPDX-License-Identifier: Apache-2.0 */
/* None: c + s E z. Log: exp(c + s^2 / 2) P(lower - s < z < upper - s) / P(lower < z < upper). Sqrt:
 * the first two moments of z above -c / s. Box-Cox: Gauss-Legendre where the density is above e^-36
 * of its largest, relative error 1e-9 (1e-4 for powers above 1, whose derivative ends at 0). */
#include "law/untransformed.h"

#include "law/gauss8.h"
#include "law/power.h"
#include "law/truncated.h"

#include <math.h>

#define LOG_2PI 1.83787706640934548356

/* minus the logarithm of the density that is left out, and panels of 8 nodes on either side */
static const double LEFT_OUT = 36;
enum { PANELS = 6 };

static double mean_of_exp(double c, double s, double lower, double upper)
{
    if (lower == -INFINITY && upper == INFINITY)
        return exp(c + 0.5 * s * s);
    return exp(c + 0.5 * s * s + ur_truncated_log_mass(lower - s, upper - s) -
               ur_truncated_log_mass(lower, upper));
}

/* y phi(y) / P, 0 at infinity */
static double edge(double y, double log_mass)
{
    return isinf(y) ? 0 : y * exp(-0.5 * (y * y + LOG_2PI) - log_mass);
}

static double mean_of_square(double c, double s, double lower, double upper)
{
    double from = fmax(lower, -c / s); /* below it the square is 0 */
    if (!(from < upper))
        return 0;
    double log_mass = ur_truncated_log_mass(from, upper);
    double share = from > lower ? exp(log_mass - ur_truncated_log_mass(lower, upper)) : 1;
    double mean = ur_truncated_mean(from, upper), width = upper - from;
    double variance = 1 + edge(from, log_mass) - edge(upper, log_mass) - mean * mean;
    variance = fmax(0, fmin(variance, 0.25 * width * width)); /* rounding may leave these */
    return share * ((c + s * mean) * (c + s * mean) + s * s * variance);
}

/* of g and of 1 times the density, relative to that at `top`, over a part without a kink */
static void integrate(double lambda, double c, double s, double from, double to, double top,
                      double *sum, double *mass)
{
    for (int panel = 0; from < to && panel < PANELS; panel++) {
        double half = 0.5 * (to - from) / PANELS, middle = from + half * (2 * panel + 1);
        for (int node = 0; node < 8; node++) {
            double away = node < 4 ? ur_node8[node] : -ur_node8[node - 4], z = middle + half * away;
            double weight = half * ur_weight8[node % 4] * exp(-0.5 * (z - top) * (z + top));
            *mass += weight;
            *sum += weight * ur_untransform(UNRELU_TRANSFORM_BOXCOX, lambda, c + s * z);
        }
    }
}

static double mean_of_power(double lambda, double c, double s, double lower, double upper)
{
    double end = (-1 / lambda - c) / s; /* where 1 + lambda y = 0 */
    if (lambda < 0 && upper > end)
        return INFINITY;
    double top = fmax(lower, fmin(upper, 0)), reach = sqrt(top * top + 2 * LEFT_OUT);
    double from = fmax(lower, -reach), to = fmin(upper, reach), sum = 0, mass = 0;
    const double cuts[] = {from, fmin(fmax(end, from), to), to};
    for (int part = 0; part < 2; part++) { /* the density has one top, 0 or an end */
        double middle = fmax(cuts[part], fmin(cuts[part + 1], top));
        integrate(lambda, c, s, cuts[part], middle, top, &sum, &mass);
        integrate(lambda, c, s, middle, cuts[part + 1], top, &sum, &mass);
    }
    return sum / mass;
}

double ur_untransformed_mean(unrelu_transform transform, double lambda, double c, double s,
                             double lower, double upper)
{
    if (!(s > 0))
        return ur_untransform(transform, lambda, c);
    if (transform == UNRELU_TRANSFORM_NONE)
        return c + s * ur_truncated_mean(lower, upper);
    if (transform == UNRELU_TRANSFORM_LOG || (transform == UNRELU_TRANSFORM_BOXCOX && lambda == 0))
        return mean_of_exp(c, s, lower, upper);
    if (transform == UNRELU_TRANSFORM_SQRT)
        return mean_of_square(c, s, lower, upper);
    return mean_of_power(lambda, c, s, lower, upper);
}
