/* SPDX-License-Identifier: Apache-2.0 */
/* With t = y / sigma > 0 the event is -t - bound < e < -t, and all moments are differences of
 *   int_{-inf}^a (e + t)^k phi(e) de,   k = 0, 2, 4,
 * which are closed; t = 0 has the mass Phi(-gamma), above it the density ratio phi(ratio t -
 * gamma), summed by Simpson's rule. */
#include "law/noise.h"

#include "law/normal.h"

#include <math.h>

/* deviations: Phi(-8) = 6e-16; an eighth of one apart the rule is right to 1e-7 */
static const double FARTHEST = 8;
enum { PANELS = 64 };
/* of sigma: steps shrink by ten at least, and the next one is below the error by far */
static const double LAST_STEP = 1e-6;
enum { MOST_STEPS = 100 };
/* of sigma, for the slope of its equation */
static const double APART = 1e-2;
/* of the total variance: what is left for y at least, while sigma is sought */
static const double LEAST_LEFT = 1e-3;

typedef struct {
    double k0, k2, k4;
} moments;

static moments below(double a, double t)
{
    double P = ur_normal_cdf(a), p = ur_normal_pdf(a), tt = t * t;
    if (p == 0) /* also at -inf */
        return (moments){0};
    return (moments){P, (1 + tt) * P - (a + 2 * t) * p,
                     (3 + tt * (6 + tt)) * P -
                         (a * (a * a + 3) + 4 * t * (a * a + 2) + 6 * tt * a + 4 * tt * t) * p};
}

static void add(moments *sum, double weight, double t, double bound)
{
    moments upper = below(-t, t), lower = below(-t - bound, t);
    sum->k0 += weight * (upper.k0 - lower.k0);
    sum->k2 += weight * (upper.k2 - lower.k2);
    sum->k4 += weight * (upper.k4 - lower.k4);
}

ur_negative_part ur_negative_part_of(double gamma, double ratio, double bound)
{
    moments sum = {0};
    add(&sum, ur_normal_cdf(-gamma), 0, bound);
    double end = fmin(FARTHEST, (fmax(gamma, 0) + FARTHEST) / ratio); /* of e, or of y */
    for (int i = 0; i <= PANELS; i++) {
        double t = end * i / PANELS, simpson = i == 0 || i == PANELS ? 1 : i % 2 ? 4 : 2;
        double weight = simpson * end / (3 * PANELS) * ratio * ur_normal_pdf(ratio * t - gamma);
        if (weight > 0)
            add(&sum, weight, t, bound);
    }
    return (ur_negative_part){sum.k0, sum.k2 / sum.k0, sum.k4 / sum.k0};
}

static ur_negative_part part_at(double sigma, double b, double total)
{
    double left = fmax(total * total - sigma * sigma, LEAST_LEFT * total * total), s = sqrt(left);
    return s > 0 ? ur_negative_part_of(b / s, sigma / s, 1 / sigma)
                 : ur_negative_part_of(-INFINITY, 0, 1 / sigma);
}

ur_noise ur_noise_from(double count, double square, double b, double total)
{
    ur_noise out = {sqrt(square), 0};
    ur_negative_part at = part_at(out.sigma, b, total);
    for (int i = 0; i < MOST_STEPS; i++) {
        double next = sqrt(square / at.square), step = fabs(next - out.sigma);
        out.sigma = next;
        at = part_at(out.sigma, b, total);
        if (step <= LAST_STEP * next)
            break;
    }
    /* d(mean of x^2) / d(sigma^2), in the same units */
    double up = 1 + APART, grown = up * up * part_at(up * out.sigma, b, total).square;
    double slope = (grown - at.square) / (up * up - 1);
    double spread = sqrt(fmax(at.fourth - at.square * at.square, 0) / count);
    out.variance_se = out.sigma * out.sigma * spread / slope;
    return out;
}
