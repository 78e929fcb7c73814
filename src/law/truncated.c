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
    double near; /* Phi(-t) where t < FAR */
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
    if (p.t < FAR)
        p.near = ur_normal_cdf(-p.t);
    if (p.w < INFINITY)
        p.q = p.t < FAR ? ur_normal_cdf(-p.t - p.w) / p.near : exp(-fall(p.t, p.w));
    p.narrow = 1 - p.q < NARROW;
    return p;
}

static double log_mass_of(const piece *p)
{
    double middle = p->t + p->w / 2;
    if (p->narrow)
        return log(p->w) - 0.5 * (middle * middle + LOG_2PI);
    return (p->t < FAR ? log(p->near) : ur_normal_log_cdf(-p->t)) + log1p(-p->q);
}

static ur_mass mass_of(const piece *p)
{
    if (p->narrow || p->t >= FAR)
        return (ur_mass){1, log_mass_of(p)};
    return (ur_mass){p->near * (1 - p->q), 0};
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

ur_mass ur_truncated_mass(double lower, double upper)
{
    piece p = piece_of(lower, upper);
    return mass_of(&p);
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

double ur_truncated_draw(double lower, double upper, double u, ur_mass *mass)
{
    piece p = piece_of(lower, upper);
    double x;
    if (p.reflected)
        u = 1 - u;
    if (mass)
        *mass = mass_of(&p);
    if (p.narrow) {
        double slope = p.w * (p.t + p.w / 2); /* of the log density, over w */
        x = -p.t - p.w + p.w * (u + 0.5 * slope * u * (1 - u));
    } else if (p.t < FAR) {
        x = ur_normal_quantile(p.near * (p.q + u * (1 - p.q)));
    } else {
        x = -p.t - solve_fall(p.t, -log(p.q + u * (1 - p.q)));
    }
    double low = -p.t - p.w, high = -p.t; /* compared: fmin and fmax are calls */
    x = x > high ? high : x;
    x = x < low ? low : x;
    return p.reflected ? -x : x;
}
