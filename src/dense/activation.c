/* SPDX-License-Identifier: Apache-2.0 */
/* Hermite coefficients: with t = scale g + shift,
 *   c_p = (2 pi)^-1/2 int f(t) He_p(g) exp(-g^2 / 2) dg,
 * by 20-point Gauss-Legendre panels that start at the kink, the first one graded (distance w^4)
 * so that sqrt(t) is as smooth as a polynomial. Relative error about 1e-13 of E|f He_p|. For
 * exp(t^2) - 1 the exponents are added before exp, so that nothing overflows up to the limit
 * scale = 1/sqrt 2, from which on the mean is infinite. */
#include "dense/activation.h"

#include "base/c_locale.h"
#include "base/error.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

static double sech_squared(double t)
{
    double y = 2 * exp(-t) / (1 + exp(-2 * t)); /* 1 - tanh^2 would lose its digits */
    return y * y;
}

/* out may be NULL */
#define EACH(out, expression)                                                                      \
    for (size_t i = 0, end = (out) ? count : 0; i < end; i++) {                                    \
        double t = at[i];                                                                          \
        (out)[i] = (expression);                                                                   \
    }

/* slopes first: value may be what it is taken of */
void ur_activation_apply(unrelu_activation f, size_t count, const double *at, double *value,
                         double *slope)
{
    double p = f.parameter;
    switch (f.kind) {
    case UNRELU_RELU:
        EACH(slope, t > 0 ? 1 : 0)
        EACH(value, t > 0 ? t : 0)
        break;
    case UNRELU_POWER:
        if (p == 2) {
            EACH(slope, t > 0 ? 2 * t : 0)
            EACH(value, t > 0 ? t * t : 0)
        } else if (p == 3) {
            EACH(slope, t > 0 ? 3 * t * t : 0)
            EACH(value, t > 0 ? t * t * t : 0)
        } else {
            EACH(slope, t > 0 ? p * pow(t, p - 1) : 0)
            EACH(value, t > 0 ? pow(t, p) : 0)
        }
        break;
    case UNRELU_EXPM1:
        EACH(slope, t > 0 ? exp(t) : 0)
        EACH(value, t > 0 ? expm1(t) : 0)
        break;
    case UNRELU_EXPM1SQ:
        EACH(slope, t > 0 ? 2 * t * exp(t * t) : 0)
        EACH(value, t > 0 ? expm1(t * t) : 0)
        break;
    case UNRELU_LEAKY:
        EACH(slope, t > 0 ? 1 : p)
        EACH(value, t > 0 ? t : p * t)
        break;
    case UNRELU_TANH_POS:
        EACH(slope, t > 0 ? sech_squared(t) : 0)
        EACH(value, t > 0 ? tanh(t) : 0)
        break;
    }
}

double ur_activation_inverse(unrelu_activation f, double y)
{
    switch (f.kind) {
    case UNRELU_POWER:
        return pow(y, 1 / f.parameter);
    case UNRELU_EXPM1:
        return log1p(y);
    case UNRELU_EXPM1SQ:
        return sqrt(log1p(y));
    case UNRELU_LEAKY:
        if (y < 0)
            return f.parameter > 0 ? y / f.parameter : NAN;
        return y;
    case UNRELU_TANH_POS:
        return atanh(y);
    case UNRELU_RELU:
        break;
    }
    return y;
}

double ur_activation_degree(unrelu_activation f)
{
    if (f.kind == UNRELU_RELU || f.kind == UNRELU_LEAKY)
        return 1;
    return f.kind == UNRELU_POWER ? f.parameter : 0;
}

int ur_activation_rectifies(unrelu_activation f)
{
    return f.kind != UNRELU_LEAKY || f.parameter == 0;
}

/* ---- names ---- */

static const struct {
    const char *name;
    unrelu_activation_kind kind;
    const char *example; /* where it takes a parameter */
} known[] = {
    {"relu", UNRELU_RELU, NULL},          {"power", UNRELU_POWER, "power:2"},
    {"expm1", UNRELU_EXPM1, NULL},        {"expm1sq", UNRELU_EXPM1SQ, NULL},
    {"leaky", UNRELU_LEAKY, "leaky:0.1"}, {"tanh", UNRELU_TANH_POS, NULL},
};
enum { KNOWN = sizeof known / sizeof *known };

unrelu_status unrelu_activation_parse(const char *text, unrelu_activation *out, unrelu_error *err)
{
    *out = (unrelu_activation){UNRELU_RELU, 0};
    size_t length = text ? strcspn(text, ":") : 0, i = 0;
    while (text && i < KNOWN &&
           (strlen(known[i].name) != length || strncmp(text, known[i].name, length) != 0))
        i++;
    if (!text || i == KNOWN)
        return ur_fail(err, UNRELU_EUSAGE,
                       "'%.80s' is no activation; there are relu, power:C, expm1, expm1sq, leaky:S "
                       "and tanh",
                       text ? text : "");
    double p = 0;
    int power = known[i].kind == UNRELU_POWER, leaky = known[i].kind == UNRELU_LEAKY;
    if (!known[i].example && text[length])
        return ur_fail(err, UNRELU_EUSAGE, "the activation %s takes no parameter, not %.80s",
                       known[i].name, text);
    if (known[i].example && (!text[length] || !ur_text_number(text + length + 1, &p)))
        return ur_fail(err, UNRELU_EUSAGE,
                       "the activation %.80s needs a number after the colon, as in %s", text,
                       known[i].example);
    if (power && !(p > 0))
        return ur_fail(err, UNRELU_EUSAGE, "the activation %.80s needs an exponent above 0", text);
    if (leaky && p == 1)
        return ur_fail(err, UNRELU_EUSAGE,
                       "the activation %.80s is the identity: the network would be linear, and its "
                       "neurons cannot be told apart",
                       text);
    if (leaky && p > 1)
        return ur_fail(err, UNRELU_EUSAGE,
                       "the activation %.80s needs a slope below 1: leaky:%g with the signs of U, "
                       "V and c turned is the same network",
                       text, 1 / p);
    if (!(power && p == 1) && !(leaky && p == 0)) /* which are the ReLU */
        *out = (unrelu_activation){known[i].kind, p};
    return UNRELU_OK;
}

void unrelu_activation_name(unrelu_activation f, char *out, size_t size)
{
    size_t i = 0;
    while (i < KNOWN - 1 && known[i].kind != f.kind)
        i++;
    if (!known[i].example) {
        snprintf(out, size, "%s", known[i].name);
        return;
    }
    char number[32];
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (c)
        before = uselocale(c);
    for (int digits = 6; digits <= 17; digits++) { /* the shortest that reads back */
        snprintf(number, sizeof number, "%.*g", digits, f.parameter);
        if (strtod(number, NULL) == f.parameter)
            break;
    }
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    snprintf(out, size, "%s:%s", known[i].name, number);
}

/* ---- Hermite coefficients ---- */

enum { NODES = 20, NEWTON_STEPS = 8 };
static const double REACH = 12; /* deviations: exp(-12^2 / 2) = 5e-32 */
/* exp(t) - 1 is exp(t) to rounding from 37 on, and exp(t - g^2 / 2) does not overflow */
static const double LARGE_POWER = 40;

typedef struct {
    unrelu_activation f;
    double scale, shift;
    int order;
    double node[NODES], weight[NODES]; /* on [0, 1] */
} quadrature;

/* zeros of the Legendre polynomial by Newton's method from the asymptotic ones */
static void set_nodes(quadrature *q)
{
    for (int i = 0; i < NODES; i++) {
        double z = cos(M_PI * (i + 0.75) / (NODES + 0.5)), slope = 1;
        for (int step = 0; step < NEWTON_STEPS; step++) {
            double p = 1, before = 0;
            for (int j = 1; j <= NODES; j++) {
                double next = ((2 * j - 1) * z * p - (j - 1) * before) / j;
                before = p;
                p = next;
            }
            slope = NODES * (z * p - before) / (z * z - 1);
            z -= p / slope;
        }
        q->node[i] = (1 + z) / 2;
        q->weight[i] = 1 / ((1 - z * z) * slope * slope);
    }
}

/* from a to b; graded: the integrand has a kink at a */
static double panel(const quadrature *q, double a, double b, int graded)
{
    double sum = 0;
    for (int i = 0; i < NODES; i++) {
        double w = q->node[i], at = graded ? w * w * w * w : w;
        double g = a + (b - a) * at, rate = graded ? 4 * w * w * w : 1;
        double t = q->scale * g + q->shift, weighted, hermite = 1, before = 0;
        double power = q->f.kind == UNRELU_EXPM1 ? t : q->f.kind == UNRELU_EXPM1SQ ? t * t : 0;
        ur_activation_apply(q->f, 1, &t, &weighted, NULL);
        weighted *= exp(-g * g / 2); /* f(t) exp(-g^2 / 2) */
        if (t > 0 && power > LARGE_POWER)
            weighted = exp(power - g * g / 2);
        for (int p = 0; p < q->order; p++) {
            double next = g * hermite - p * before;
            before = hermite;
            hermite = next;
        }
        sum += q->weight[i] * rate * weighted * hermite;
    }
    return sum * (b - a);
}

static double panels(const quadrature *q, double a, double b, double step, int kink)
{
    double sum = 0, pieces = ceil(fabs(b - a) / step);
    for (double i = 0; i < pieces; i++)
        sum +=
            panel(q, a + (b - a) * (i / pieces), a + (b - a) * ((i + 1) / pieces), kink && i == 0);
    return sum;
}

static double integrate(const quadrature *q, double a, double b, double step)
{
    double kink = -q->shift / q->scale;
    if (!(a < b))
        return 0;
    if (kink <= a || kink >= b)
        return panels(q, a, b, step, 0);
    return panels(q, kink, b, step, 1) - panels(q, kink, a, step, 1);
}

double ur_activation_hermite(unrelu_activation f, double scale, double shift, int order)
{
    quadrature q = {.f = f, .scale = scale, .shift = shift, .order = order};
    double mean = 0, width = 1, reach = REACH; /* where f exp(-g^2 / 2) lives */
    if (scale == 0) {
        ur_activation_apply(f, 1, &shift, &mean, NULL);
        return order == 0 ? mean : 0;
    }
    if (f.kind == UNRELU_EXPM1SQ) {
        if (2 * scale * scale >= 1)
            return INFINITY;
        width = 1 / sqrt(1 - 2 * scale * scale);
        mean = 2 * scale * shift * width * width;
    } else if (f.kind == UNRELU_EXPM1) {
        mean = scale;
    } else if (f.kind == UNRELU_POWER) {
        reach += sqrt(f.parameter);
    }
    set_nodes(&q);
    double low = mean - REACH * width, high = mean + REACH * width;
    double sum = integrate(&q, -reach, reach, 1) + integrate(&q, low, fmin(high, -reach), width) +
                 integrate(&q, fmax(low, reach), high, width);
    return sum / sqrt(2 * M_PI);
}
