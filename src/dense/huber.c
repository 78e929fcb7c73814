/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/huber.h"

#include <math.h>

/* integrals over the standard normal law */
typedef struct {
    double out;            /* P(|z| > c) */
    double second, fourth; /* of z^2 and z^4 over |z| <= c */
    double beta;           /* E psi^2 */
} normal;

static normal normal_of(void)
{
    const double c = UR_HUBER, density = exp(-c * c / 2) / sqrt(2 * M_PI);
    normal g = {.out = erfc(c * M_SQRT1_2)};
    g.second = 1 - g.out - 2 * c * density;
    g.fourth = 3 * (1 - g.out) - 2 * density * (c * c * c + 3 * c);
    g.beta = g.second + c * c * g.out;
    return g;
}

double ur_huber_beta(void)
{
    return normal_of().beta;
}

ur_huber ur_huber_at(size_t count, const double *r, size_t step, double scale)
{
    const double beta = ur_huber_beta(), n = (double)count, c = UR_HUBER * scale;
    ur_huber h = {.scale = scale};
    double inner = 0, outer = 0, squares = 0;
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(r[i * step]);
        squares += size * size;
        if (size <= c) {
            inner += size * size / 2;
            inside++;
        } else {
            outer += UR_HUBER * (size - c / 2);
        }
    }
    h.rms = sqrt(squares / n);
    h.objective = (scale > 0 ? inner / scale : 0) + outer + n * beta / 2 * scale;
    h.inside = (double)inside / n;
    h.spread = inside > 0 ? scale * sqrt(beta) / h.inside : 0;
    return h;
}

/* u = s^2 is the root of sum min(r^2, c^2 u) - beta n u, which is concave and made of straight
 * pieces: Newton's steps from above fall and end on the piece of the root. */
ur_huber ur_huber_of(size_t count, const double *r, size_t step)
{
    const double beta = ur_huber_beta(), c2 = UR_HUBER * UR_HUBER, n = (double)count;
    double u = 0;
    for (size_t i = 0; i < count; i++)
        u += r[i * step] * r[i * step] / (n * beta);
    for (size_t out = 0, before = count + 1; u > 0 && out != before;) {
        double in = 0, limit = c2 * u;
        before = out;
        out = 0;
        for (size_t i = 0; i < count; i++) {
            double square = r[i * step] * r[i * step];
            if (square > limit)
                out++;
            else
                in += square;
        }
        double slope = beta * n - c2 * (double)out;
        u = slope > 0 ? fmin(u, in / slope) : u;
    }
    return ur_huber_at(count, r, step, sqrt(u));
}

/* With d = rms^2 / s^2 - 1 of a column, by the influence of one number z on rms^2 and on s^2,
 *   n Var d = Var(z^2 - min(z^2, c^2) / second)
 * for normal numbers. */
ur_tails ur_tails_of(size_t n, size_t m, const double *r)
{
    const normal g = normal_of();
    const double c2 = UR_HUBER * UR_HUBER;
    double cut = g.fourth + c2 * c2 * g.out - g.beta * g.beta; /* variance of min(z^2, c^2) */
    double cross = g.fourth + c2 * (1 - g.second) - g.beta;    /* its covariance with z^2 */
    double variance = 2 - 2 * cross / g.second + cut / (g.second * g.second);
    double sum = 0, ratio = 0, least_squares = 0, huber = 0;
    size_t used = 0;
    for (size_t j = 0; j < m; j++) {
        ur_huber h = ur_huber_of(n, r + j, m);
        if (h.rms == 0)
            continue;
        double wide = h.rms / h.scale;
        sum += wide * wide - 1;
        ratio += wide;
        least_squares += h.rms * h.rms;
        huber += h.spread * h.spread;
        used++;
    }
    if (used == 0)
        return (ur_tails){.ratio = 1, .gain = 1};
    return (ur_tails){.z = sum * sqrt((double)n / variance / (double)used),
                      .ratio = ratio / (double)used,
                      .gain = sqrt(least_squares / huber)};
}
