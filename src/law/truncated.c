/* SPDX-License-Identifier: Apache-2.0 */
/* Reflected such that the end nearer to 0 is the upper one, -t, and w = upper - lower. With
 * q = Phi(-t - w) / Phi(-t) the quantile solves Phi(x) = Phi(-t) (q + u (1 - q)): by the quantile
 * of the normal where t < 5, else for the distance e = -t - x, of which
 *   -log(Phi(-t - e) / Phi(-t)) = t e + e^2 / 2 + log(h(t + e) / h(t)),   h the hazard,
 * by Newton, so that nothing large cancels: relative error of e about 1e-12 at any t. Where
 * 1 - q < 1e-4 the density is taken as exponential between the ends: error w^2 of w. */
#include "law/truncated.h"

#include "law/normal.h"

#include <math.h>

#define LOG_2PI 1.83787706640934548356

static const double FAR = 5;       /* from here on Phi(-t) is left for its hazard */
static const double NARROW = 1e-4; /* 1 - q: an exponential density errs by its square */
enum { NEWTON_STEPS = 4 };         /* leave 1e-12 of e at any t */

typedef struct {
    int reflected, narrow;
    double t, w, q;
} piece;

/* -log(Phi(-t - e) / Phi(-t)) for t >= 0 */
static double fall(double t, double e)
{
    return t * e + 0.5 * e * e + log(ur_normal_hazard(t + e) / ur_normal_hazard(t));
}

static piece piece_of(double lower, double upper)
{
    piece p = {.reflected = lower + upper > 0, .w = upper - lower};
    p.t = p.reflected ? lower : -upper;
    if (p.w < INFINITY)
        p.q = p.t < FAR ? ur_normal_cdf(-p.t - p.w) / ur_normal_cdf(-p.t) : exp(-fall(p.t, p.w));
    p.narrow = 1 - p.q < NARROW;
    return p;
}

static double log_mass_of(const piece *p)
{
    double middle = p->t + p->w / 2;
    if (p->narrow)
        return log(p->w) - 0.5 * (middle * middle + LOG_2PI);
    return (p->t < FAR ? log(ur_normal_cdf(-p->t)) : ur_normal_log_cdf(-p->t)) + log1p(-p->q);
}

/* e with fall(t, e) = drop */
static double solve_fall(double t, double drop)
{
    double e = 2 * drop / (t + sqrt(t * t + 2 * drop));
    for (int i = 0; i < NEWTON_STEPS; i++)
        e -= (fall(t, e) - drop) / ur_normal_hazard(t + e);
    return e;
}

double ur_truncated_log_mass(double lower, double upper)
{
    piece p = piece_of(lower, upper);
    return log_mass_of(&p);
}

double ur_truncated_mean(double lower, double upper)
{
    piece p = piece_of(lower, upper);
    double mean = -ur_normal_hazard(p.t);
    if (lower == -INFINITY && upper == INFINITY)
        return 0;
    if (p.narrow) {
        double middle = p.t + p.w / 2;
        mean = -middle * (1 - p.w * p.w / 12);
    } else if (p.w < INFINITY) {
        mean *= -expm1(-p.w * (p.t + 0.5 * p.w)) / (1 - p.q);
    }
    return p.reflected ? -mean : mean;
}

double ur_truncated_draw(double lower, double upper, double u, double *log_mass)
{
    piece p = piece_of(lower, upper);
    double x;
    if (p.reflected)
        u = 1 - u;
    if (log_mass)
        *log_mass = log_mass_of(&p);
    if (p.narrow) {
        double slope = p.w * (p.t + p.w / 2); /* of the log density, over w */
        x = -p.t - p.w + p.w * (u + 0.5 * slope * u * (1 - u));
    } else if (p.t < FAR) {
        x = ur_normal_quantile(ur_normal_cdf(-p.t) * (p.q + u * (1 - p.q)));
    } else {
        x = -p.t - solve_fall(p.t, -log(p.q + u * (1 - p.q)));
    }
    x = fmax(-p.t - p.w, fmin(-p.t, x));
    return p.reflected ? -x : x;
}
