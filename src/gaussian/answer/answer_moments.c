/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals over z of f(b + s z) phi(z), by Gauss and Legendre's rule of eight nodes in panels.
 * They begin where f has a kink, with panels that shrink towards it (z = from + width t^STRETCH),
 * for powers that are no polynomials there. f is taken less its value at b, so that a variance far
 * below the square of the mean keeps its digits. */
#include "gaussian/answer/answer.h"
#include "law/gauss8.h"
#include "law/normal.h"
#include "law/power.h"

#include <math.h>

/* deviations beyond which a normal has nothing: Phi(-9) = 1e-19 */
static const double FARTHEST = 9;
/* of powers: x = u^0.1, the root of the largest lambda, is smooth enough in t for 1e-9 */
static const int STRETCH = 5;
enum { PANELS = 48 };

typedef struct {
    double one, two; /* E g and E g^2 of g = f - origin */
} sums;

static int is_log(const ur_column_law *c)
{
    return c->transform == UNRELU_TRANSFORM_LOG ||
           (c->transform == UNRELU_TRANSFORM_BOXCOX && c->lambda == 0);
}

static int has_no_mean(const ur_column_law *c)
{
    return isnan(c->b) || isnan(c->s) || (c->transform == UNRELU_TRANSFORM_BOXCOX && c->lambda < 0);
}

/* f = (u + v z)^(1 / power) where that is positive, else 0; the power, or 0 for other laws */
static double power_of(const ur_column_law *c, double *u, double *v)
{
    int root = c->transform == UNRELU_TRANSFORM_SQRT;
    double power = root ? 0.5 : c->transform == UNRELU_TRANSFORM_BOXCOX ? c->lambda : 0;
    *u = root ? c->b : 1 + power * c->b;
    *v = root ? c->s : power * c->s;
    return power;
}

/* where f has a kink, in z */
static double kink_of(const ur_column_law *c)
{
    double u, v;
    if (c->transform == UNRELU_TRANSFORM_LEAKY)
        return -c->b / c->s;
    return power_of(c, &u, &v) == 0 ? -FARTHEST : -u / v;
}

/* Beyond it f^2 phi is nothing: FARTHEST above its top, where the derivative of its logarithm,
 * 2 v / power / (u + v z) - z, is 0; it is as narrow as phi at least */
static double end_of(const ur_column_law *c)
{
    double u, v, power = power_of(c, &u, &v);
    if (power == 0)
        return FARTHEST;
    double root = hypot(u, sqrt(8 / power) * v);
    double top = u > 0 ? 4 * v / power / (u + root) : (root - u) / (2 * v);
    return top + FARTHEST;
}

static void add_panels(const ur_column_law *c, double origin, double from, double to, sums *sum)
{
    double width = to - from, u, v;
    int stretch = power_of(c, &u, &v) == 0 ? 1 : STRETCH;
    if (!(width > 0))
        return;
    for (int i = 0; i < 8 * PANELS; i++) {
        int node = i % 4, side = i % 8 < 4 ? -1 : 1;
        double t = (i / 8 + 0.5 + side * ur_node8[node] / 2) / PANELS;
        double slope = pow(t, stretch - 1), z = from + width * slope * t;
        double weight = ur_weight8[node] / 2 / PANELS * width * stretch * slope;
        double g = ur_untransform(c->transform, c->lambda, c->b + c->s * z) - origin;
        sum->one += weight * ur_normal_pdf(z) * g;
        sum->two += weight * ur_normal_pdf(z) * g * g;
    }
}

static void set_integrals(const ur_column_law *c, ur_moments *out)
{
    sums all = {0}, above = {0};
    double end = end_of(c), kink = fmin(fmax(kink_of(c), -FARTHEST), end);
    double origin = ur_untransform(c->transform, c->lambda, c->b);
    double limit = ur_untransform(c->transform, c->lambda, c->limit);
    double z = fmax((c->limit - c->b) / c->s, -FARTHEST);
    add_panels(c, origin, -FARTHEST, kink, &all);
    add_panels(c, origin, kink, end, &all);
    out->mean = origin + all.one;
    out->sd = sqrt(fmax(all.two - all.one * all.one, 0));
    out->rectified = out->mean;
    if (c->limit == -INFINITY)
        return;
    add_panels(c, limit, z, fmax(kink, z), &above);
    add_panels(c, limit, fmax(kink, z), fmax(end, z + FARTHEST), &above);
    out->rectified = limit + above.one;
}

ur_moments ur_answer_moments(const ur_column_law *c)
{
    double b = c->b, s = c->s, z = (c->limit - b) / s;
    double limit = ur_untransform(c->transform, c->lambda, c->limit);
    ur_moments out = {NAN, NAN, NAN};
    if (has_no_mean(c))
        return out;
    if (s == 0) {
        out.mean = ur_untransform(c->transform, c->lambda, b);
        out.sd = 0;
        out.rectified = ur_untransform(c->transform, c->lambda, fmax(b, c->limit));
    } else if (c->transform == UNRELU_TRANSFORM_NONE) {
        out.mean = b;
        out.sd = s;
        out.rectified = isinf(z) ? b : limit + s * (ur_normal_pdf(z) - z * ur_normal_cdf(-z));
    } else if (is_log(c)) {
        out.mean = exp(b + s * s / 2);
        out.sd = out.mean * sqrt(expm1(s * s));
        out.rectified = limit * ur_normal_cdf(z) + out.mean * ur_normal_cdf(s - z);
    } else
        set_integrals(c, &out);
    return out;
}
