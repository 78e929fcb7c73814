/* SPDX-License-Identifier: Apache-2.0 */
/* The simplest fraction of an interval by descent in the Stern-Brocot tree. Whole numbers below
 * 2^53 divide to the nearest double, and rounding is monotone: p / q == x holds exactly for the
 * fractions that round to x, so that no wider arithmetic is needed.
 *
 * Fractions of denominators up to q are 1/q^2 apart; a double is taken for one where that is at
 * least 4 units in its last place, and never above 10^6: of random doubles near 1, 1 in 10^4 is
 * so near to one, of tables of them none. Whole numbers reach to 2^51. */
#include "network/verdict/rational/rational.h"

#include <math.h>

static const double MOST = 1e6;  /* denominators that a double is taken for */
static const double APART = 0.5; /* of 1 / sqrt(unit): fractions are 4 units apart, see above */

typedef struct {
    double low, high, most;
} range;

static int side(ur_fraction f, const range *r)
{
    double value = f.p / f.q;
    return value < r->low ? -1 : value > r->high;
}

static ur_fraction mix(ur_fraction f, double t, ur_fraction g)
{
    return (ur_fraction){f.p + t * g.p, f.q + t * g.q};
}

static int stays(ur_fraction f, double t, ur_fraction g, int where, const range *r)
{
    ur_fraction next = mix(f, t, g);
    return next.q <= r->most && side(next, r) == where;
}

/* as many steps from f towards g as stay on this side: doubled, then halved */
static ur_fraction run(ur_fraction f, ur_fraction g, int where, const range *r)
{
    double t = 0, step = 1;
    for (; stays(f, t + step, g, where, r); step *= 2)
        t += step;
    for (; step >= 1; step /= 2)
        if (stays(f, t + step, g, where, r))
            t += step;
    return mix(f, t, g);
}

/* 0 < low, and no whole number in the range */
static int descend(const range *r, ur_fraction *out)
{
    double whole = floor(r->low);
    ur_fraction low = {whole, 1}, high = {whole + 1, 1};
    for (int turn = 0;; turn ^= 1) {
        ur_fraction middle = mix(low, 1, high);
        if (middle.q > r->most)
            return 0;
        if (side(middle, r) == 0) {
            *out = middle;
            return 1;
        }
        if (turn)
            high = run(high, low, 1, r);
        else
            low = run(low, high, -1, r);
    }
}

int ur_fraction_between(double low, double high, double most, ur_fraction *out)
{
    int negative = high < 0, found = 1;
    range r = {negative ? -high : low, negative ? -low : high, most};
    double whole = r.low <= 0 ? 0 : ceil(r.low);
    if (whole <= r.high)
        *out = (ur_fraction){whole, 1};
    else
        found = descend(&r, out);
    if (found && negative)
        out->p = -out->p;
    return found;
}

int ur_fraction_of(double x, ur_fraction *out, double *most)
{
    double size = fabs(x), unit = nextafter(size, INFINITY) - size;
    *most = fmin(MOST, floor(APART / sqrt(unit)));
    return *most >= 1 && ur_fraction_between(x, x, *most, out);
}
