/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/student.h"

#include "dense/huber.h"

#include <math.h>

static const double degrees[] = {1, 2, 4, 8};
enum { LAWS = sizeof degrees / sizeof *degrees, STEPS = 100 };
/* of s^2, relative, in one step; they halve at least. The likelihood is flat at its largest: it is
 * off by the square of it. */
static const double STILL = 1e-5;

/* -2 log likelihood / n at the likeliest scale, found by EM from s2 = its square */
static double deviance(size_t n, const double *r, double nu, double s2)
{
    double sum = 0, change = 1;
    for (int step = 0; step < STEPS && s2 > 0 && change > STILL; step++) {
        double next = 0;
        for (size_t i = 0; i < n; i++) {
            double square = r[i] * r[i];
            next += square / (nu + square / s2);
        }
        next *= (nu + 1) / (double)n;
        change = fabs(next - s2) / s2;
        s2 = next;
    }
    if (!(s2 > 0))
        return -INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += log1p(r[i] * r[i] / (nu * s2));
    double constant = lgamma((nu + 1) / 2) - lgamma(nu / 2) - log(nu * M_PI) / 2;
    return log(s2) + (nu + 1) * sum / (double)n - 2 * constant;
}

double ur_student_squares(size_t n, const double *r)
{
    ur_huber h = ur_huber_of(n, r, 1);
    double least = log(2 * M_PI * h.rms * h.rms) + 1; /* of the normal law */
    for (size_t i = 0; i < LAWS && h.rms > 0; i++)
        least = fmin(least, deviance(n, r, degrees[i], h.scale * h.scale));
    return (double)n * exp(least - 1) / (2 * M_PI);
}
