/* SPDX-License-Identifier: Apache-2.0 */
/* d Phi2 / d rho is the density, so Phi2 is an integral over r from a correlation where it is
 * known: 0 (a product), or +-1 (one normal).
 *
 * From 0, |rho| < 0.95: with r = 2 t / (1 + t^2) the integrand is free of square roots, its
 * singularities are t = +-1 and +-i, and the upper end is rho / (1 + sqrt(1 - rho^2)) <= 0.73:
 * Gauss-Legendre with 12 nodes to |rho| = 0.8 (error 6e-16), 24 beyond.
 *
 * From +-1: with |r| = sqrt(1 - y^2), e = g1 -+ g2, p = +-g1 g2 the integral is
 *   1 / (2 pi) int_0^o exp(-e^2 / (2 y^2)) F(y) dy,   F = exp(-p / (1 + |r|)) / |r|.
 * The first three terms of F = exp(-p/2) (1 + c1 y^2 + c2 y^4 + ...) are integrated in closed
 * form; what remains is y^6 small at the end where the exponential is not analytic. */
#include "law/bivariate.h"

#include "law/exponential.h"
#include "law/normal.h"

#include <cerf.h>
#include <math.h>

#define INV_2PI   0.15915494309189533577
#define SQRT_PI_2 1.25331413731550025121 /* sqrt(pi / 2) */
#define FAR       38                     /* Phi(-38) = 3e-316 */

static const double LEAST_EXPONENT = -708; /* exp(-708) = 3e-308 is the last normal number */
/* |rho| up to which 12 nodes do, and from which on the integral starts at +-1; see above */
static const double FEW_NODES = 0.8, FROM_ENDS = 0.95;

/* Gauss-Legendre on [-1, 1]: the nodes above 0 */
static const double node6[3] = {0.238619186083196909, 0.661209386466264514, 0.932469514203152028};
static const double weight6[3] = {0.467913934572691047, 0.360761573048138608, 0.171324492379170345};
static const double node12[6] = {0.125233408511468915, 0.367831498998180194, 0.587317954286617447,
                                 0.769902674194304687, 0.904117256370474857, 0.981560634246719251};
static const double weight12[6] = {0.249147045813402785, 0.233492536538354809,
                                   0.203167426723065922, 0.160078328543346226,
                                   0.106939325995318431, 0.047175336386511827};
static const double node24[12] = {0.064056892862605626, 0.191118867473616309, 0.315042679696163374,
                                  0.433793507626045138, 0.545421471388839536, 0.648093651936975569,
                                  0.740124191578554364, 0.820001985973902922, 0.886415527004401034,
                                  0.938274552002732759, 0.974728555971309498, 0.995187219997021360};
static const double weight24[12] = {
    0.127938195346752157, 0.125837456346828296, 0.121670472927803391, 0.115505668053725601,
    0.107444270115965635, 0.097618652104113888, 0.086190161531953276, 0.073346481411080306,
    0.059298584915436781, 0.044277438817419806, 0.028531388628933663, 0.012341229799987200};

/* exp x for x <= 0, 2 ulp: r^13 / 13! = 2e-16 is left out */
static inline double exp_negative(double x)
{
    x = x < LEAST_EXPONENT ? LEAST_EXPONENT : x;
    double shifted = x * M_LOG2E + UR_EXP_SHIFT, k = shifted - UR_EXP_SHIFT;
    double r = x - k * UR_LN2_HIGH - k * UR_LN2_LOW;
    return ur_exp_scale(ur_exp_series(1 / 479001600.0, r), shifted);
}

/* int_0^rho of the density */
static inline double from_zero(double g1, double g2, double rho, int half, const double *node,
                               const double *weight)
{
    double middle = 0.5 * rho / (1 + sqrt(1 - rho * rho));
    double squares = 0.5 * (g1 * g1 + g2 * g2), product = g1 * g2;
    double term[24];
    for (int i = 0; i < half; i++) {
        term[i] = middle * (1 - node[i]);
        term[half + i] = middle * (1 + node[i]);
    }
    for (int i = 0; i < 2 * half; i++) {
        double t = term[i], q = 1 + t * t, c = 1 - t * t, inverse = 1 / (q * c);
        double secant = q * q * inverse, r = 2 * t * c * inverse; /* 1 / cos, sin */
        term[i] = exp_negative((product * r - squares) * secant * secant) * c * inverse;
    }
    double sum = 0;
    for (int i = 0; i < half; i++)
        sum += weight[i] * (term[i] + term[half + i]);
    return 2 * INV_2PI * middle * sum;
}

/* int of the density between |r| = sqrt(1 - o^2) and 1, in e and p of the file's head */
static double from_end(double e, double p, double o)
{
    double c1 = (4 - p) / 8, c2 = (12 - p) * (4 - p) / 128;
    double e2 = e * e, o2 = o * o, head = exp(-0.5 * (e2 / o2 + p));
    e = fabs(e);
    /* J_k = int_0^o y^2k exp(-e^2 / 2 y^2) dy, without their common exponential */
    double J0 = o - e * SQRT_PI_2 * erfcx(e / o * M_SQRT1_2);
    double J1 = (o * o2 - e2 * J0) / 3, J2 = (o * o2 * o2 - e2 * J1) / 5;
    double term[24];
    for (int i = 0; i < 12; i++) {
        term[i] = 0.5 * o * (1 - node24[i]);
        term[12 + i] = 0.5 * o * (1 + node24[i]);
    }
    for (int i = 0; i < 24; i++) {
        double y2 = term[i] * term[i], r = sqrt(1 - y2), far = -0.5 * e2 / y2;
        term[i] = exp_negative(far - p / (1 + r)) / r -
                  exp_negative(far - 0.5 * p) * (1 + y2 * (c1 + y2 * c2));
    }
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += weight24[i] * (term[i] + term[12 + i]);
    return INV_2PI * (head * (J0 + c1 * J1 + c2 * J2) + 0.5 * o * sum);
}

double ur_bivariate_at(double g1, double g2, double Phi1, double Phi2, double rho)
{
    double size = fabs(rho);
    if (size < FEW_NODES)
        return Phi1 * Phi2 + from_zero(g1, g2, rho, 6, node12, weight12);
    if (size < FROM_ENDS)
        return Phi1 * Phi2 + from_zero(g1, g2, rho, 12, node24, weight24);
    double o = sqrt((1 - rho) * (1 + rho));
    if (rho > 0)
        return fmin(Phi1, Phi2) - from_end(g1 - g2, g1 * g2, o);
    return fmax(0, Phi1 - ur_normal_cdf(-g2)) + from_end(g1 + g2, -g1 * g2, o);
}

double ur_bivariate_move(double g1, double g2, double from, double to)
{
    double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double squares = 0.5 * (g1 * g1 + g2 * g2), product = g1 * g2;
    double term[6], root[6];
    for (int i = 0; i < 3; i++) {
        term[i] = middle - half * node6[i];
        term[3 + i] = middle + half * node6[i];
    }
    for (int i = 0; i < 6; i++) {
        double r = term[i], inverse = 1 / (1 - r * r);
        root[i] = sqrt(inverse);
        term[i] = exp_negative((product * r - squares) * inverse);
    }
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += weight6[i] * (term[i] * root[i] + term[3 + i] * root[3 + i]);
    return INV_2PI * half * sum;
}

double ur_bivariate_normal(double g1, double g2, double rho)
{
    if (isnan(g1) || isnan(g2) || !(fabs(rho) <= 1))
        return NAN;
    g1 = fmax(-FAR, fmin(FAR, g1));
    g2 = fmax(-FAR, fmin(FAR, g2));
    double Phi1 = ur_normal_cdf(g1), Phi2 = ur_normal_cdf(g2);
    if (rho == 1)
        return fmin(Phi1, Phi2);
    if (rho == -1)
        return fmax(0, Phi1 - ur_normal_cdf(-g2));
    return fmin(fmin(Phi1, Phi2), fmax(0, ur_bivariate_at(g1, g2, Phi1, Phi2, rho)));
}
