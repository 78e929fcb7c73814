/* SPDX-License-Identifier: Apache-2.0 */
/* Both likelihoods depend on the positives through their mean m and variance v alone, and both
 * reduce to one monotone equation in gamma = b / s.
 *
 * Censored, with r = zeros / positives, c^2 = m^2 / (m^2 + v), e = 1 - c^2 (Olsen's
 * parametrisation, 1 / s profiled out):
 *   t(g) = (c g + sqrt(c^2 g^2 + 4)) / 2,   f(g) = c t - g - r h(g) = 0,   s = sqrt(m^2 + v) / t.
 * For g > 0, c t - g = 2 (c^2 - e g^2) / (c q + (1 + e) g) with q = sqrt(c^2 g^2 + 4): e comes
 * from v, so nothing cancels when m / s is large. f decreases; the maximum always exists with at
 * least one zero and one positive. 3 to 5 Newton steps from Phi^-1(positive / n).
 *
 * Truncated, with lambda = h(-g): v / m^2 = (1 - lambda (g + lambda)) / (g + lambda)^2, which
 * falls from 1 to 0 as g grows; no maximum at v >= m^2. */
#include "law/margin.h"

#include "law/normal.h"

#include <float.h>
#include <math.h>

static const double GAMMA_NO_ZEROS = 8; /* Phi(-8) = 6e-16: no zeros expected */
enum { STEPS = 200 };                   /* bisection alone would need about 60 */
/* Step of gamma, relative: convergence is quadratic, so that the next one would be below rounding
 */
static const double LAST_STEP = 1e-9;
/* what rounding leaves of f, relative to its terms; and of the variance of equal numbers, relative
 * to their mean and to the square of their offset */
static const double F_ROUNDING = 2 * DBL_EPSILON, MEAN_ROUNDING = 8 * DBL_EPSILON,
                    SQUARE_ROUNDING = 4 * DBL_EPSILON;
/* below it 1 - lambda mean has lost 4 of its 16 digits, and four terms of its series keep 14 */
static const double FAR_BELOW = -100;
/* makes the start exact where the ratio is that of gamma = 0 */
static const double START_AT_0 = 0.84;

typedef struct {
    double mean, variance; /* of the positives */
    int constant;
} spread;

static spread spread_of(const ur_margin_sums *sums)
{
    double offset = sums->sum / sums->positive;
    spread out = {.mean = sums->shift + offset};
    out.variance = fmax(0, sums->square / sums->positive - offset * offset);
    /* equal numbers leave the rounding of x, of x - c and of the two terms above */
    double rounding = MEAN_ROUNDING * out.mean;
    out.constant = out.variance <= rounding * rounding + SQUARE_ROUNDING * offset * offset;
    return out;
}

static void refuse(ur_margin *out, ur_margin_verdict verdict)
{
    *out = (ur_margin){verdict, NAN, NAN, NAN, NAN, NAN, NAN, out->iterations, NAN};
}

void ur_margin_constant(double value, ur_margin *out)
{
    *out = (ur_margin){UR_MARGIN_CONSTANT, value, 0, INFINITY, 0, 0, NAN, 0, 0};
}

/* standard errors from the information of (b, s) at s = 1 in n samples */
static void fill_errors(ur_margin *out, double n, double bb, double bs, double ss)
{
    double g = out->gamma, det = bb * ss - bs * bs;
    int singular = !(det > UR_MARGIN_SINGULAR * bb * ss);
    double unit = singular ? NAN : 1 / sqrt(n * det);
    out->b_se = out->s * unit * sqrt(ss);
    out->s_se = out->s * unit * sqrt(bb);
    out->bs = -out->s * unit * bs * unit * out->s;
    out->gamma_se = unit * sqrt(ss + g * (2 * bs + g * bb));
}

typedef struct {
    double f, slope, size; /* size: what the terms of f amount to, for its rounding */
} equation;

typedef struct {
    double a, b, c;
} constants;

/* f decreases. Newton inside the bracket, bisection outside it; the bracket is inclusive, for
 * at convergence the step is zero. */
static double solve(equation (*at)(double g, const constants *k), const constants *k, double g,
                    int *iterations)
{
    double low = -INFINITY, high = INFINITY;
    *iterations = 0;
    while (*iterations < STEPS) {
        equation e = at(g, k);
        ++*iterations;
        if (fabs(e.f) <= F_ROUNDING * e.size)
            break;
        if (e.f > 0)
            low = g;
        else
            high = g;
        double next = g - e.f / e.slope;
        if (!(next >= low && next <= high))
            next = isfinite(low) && isfinite(high) ? 0.5 * (low + high) : g + (e.f > 0 ? 1 : -1);
        double step = fabs(next - g);
        g = next;
        if (step <= LAST_STEP * (1 + fabs(g)))
            break;
    }
    return g;
}

/* c: sqrt(1 - e), a: e, b: r */
static equation censored(double g, const constants *k)
{
    double c = k->c, cg = c * g, q = sqrt(cg * cg + 4), h = ur_normal_hazard(g);
    double rest; /* c t - g */
    double fall; /* 1 - c g / q */
    if (g > 0) {
        rest = 2 * (c * c - k->a * g * g) / (c * q + (1 + k->a) * g);
        fall = 4 / (q * (q + cg));
    } else {
        rest = 2 * c / (q - cg) - g;
        fall = (q - cg) / q;
    }
    return (equation){rest - k->b * h, -k->a - 0.5 * c * c * fall - k->b * h * (h - g),
                      fabs(rest) + k->b * h};
}

void ur_margin_censored(const ur_margin_sums *sums, ur_margin *out)
{
    *out = (ur_margin){0};
    if (!(sums->positive > 0)) {
        refuse(out, UR_MARGIN_ALL_ZERO);
        return;
    }
    double n = sums->n, zeros = n - sums->positive;
    spread x = spread_of(sums);
    if (!(zeros > 0)) {
        if (x.constant) {
            ur_margin_constant(x.mean, out);
            return;
        }
        double s = sqrt(x.variance);
        *out = (ur_margin){.verdict = UR_MARGIN_NO_ZEROS,
                           .b = x.mean,
                           .s = s,
                           .gamma = GAMMA_NO_ZEROS,
                           .b_se = s / sqrt(n),
                           .s_se = s / sqrt(2 * n),
                           .gamma_se = 1 / sqrt(n)};
        return;
    }
    double rms2 = x.mean * x.mean + x.variance;
    constants k = {x.variance / rms2, zeros / sums->positive, x.mean / sqrt(rms2)};
    double g = solve(censored, &k, ur_normal_quantile(sums->positive / n), &out->iterations);
    double cg = k.c * g, q = sqrt(cg * cg + 4);
    double t = g > 0 ? 0.5 * (cg + q) : 2 / (q - cg);
    out->verdict = UR_MARGIN_FITTED;
    out->gamma = g;
    out->s = sqrt(rms2) / t;
    out->b = g * out->s;
    /* with w = phi (h - g): I_bb = Phi + w, I_bs = phi - g w, I_ss = 2 Phi - g phi + g^2 w */
    double phi = ur_normal_pdf(g), Phi = ur_normal_cdf(g), w = phi * (ur_normal_hazard(g) - g);
    fill_errors(out, n, Phi + w, phi - g * w, 2 * Phi - g * phi + g * g * w);
}

typedef struct {
    double mean, variance; /* of N(g, 1) given that it is positive */
    double lambda;
} positive_part;

static positive_part positive_part_of(double g)
{
    double lambda = ur_normal_hazard(-g), mean = g + lambda;
    if (g > FAR_BELOW)
        return (positive_part){mean, 1 - lambda * mean, lambda};
    /* 1 - lambda mean keeps 16 - 2 log10 |g| digits */
    double a = 1 / (g * g);
    return (positive_part){-(1 + a * (-2 + a * (10 - 74 * a))) / g,
                           a * (1 + a * (-6 + a * (50 - 518 * a))), lambda};
}

/* log(variance / mean^2) - log ratio; c: log ratio */
static equation truncated(double g, const constants *k)
{
    positive_part p = positive_part_of(g);
    double ratio = log(p.variance) - 2 * log(p.mean);
    double slope = p.lambda * (p.mean * p.mean / p.variance - 1) - 2 * p.variance / p.mean;
    return (equation){ratio - k->c, slope, 1};
}

void ur_margin_truncated(const ur_margin_sums *sums, ur_margin *out)
{
    *out = (ur_margin){0};
    if (!(sums->positive > 0)) {
        refuse(out, UR_MARGIN_ALL_ZERO);
        return;
    }
    spread x = spread_of(sums);
    if (x.constant) {
        ur_margin_constant(x.mean, out);
        return;
    }
    double ratio = x.variance / (x.mean * x.mean);
    if (!(ratio < 1)) {
        refuse(out, UR_MARGIN_NO_MAXIMUM);
        return;
    }
    constants k = {.c = log(ratio)};
    /* both ends of the ratio: 1 / g^2 at +inf, 1 - 2 / g^2 at -inf */
    double start = 1 / sqrt(ratio) - sqrt(2 / (1 - ratio)) + START_AT_0;
    double g = solve(truncated, &k, start, &out->iterations);
    positive_part p = positive_part_of(g);
    out->verdict = UR_MARGIN_FITTED;
    out->gamma = g;
    out->s = x.mean / p.mean;
    out->b = g * out->s;
    /* the score of (b, s) at s = 1 is (z, z^2) - mean, z = x - g: moments of z given z > -g */
    double m1 = p.lambda, m2 = 1 - g * m1, m3 = m1 * (2 + g * g), m4 = 3 * m2 - g * g * g * m1;
    fill_errors(out, sums->positive, p.variance, m3 - m1 * m2, m4 - m2 * m2);
}
