/* SPDX-License-Identifier: Apache-2.0 */
/* The unit is the greatest that all values are multiples of: the coarsest power of ten at first
 * (measured numbers are written in decimals), then the greatest common divisor of the multiples,
 * which makes 5, 25 or 0.02 of it. Values of full precision fail at each power after a few of them,
 * so that this costs less than to sort them. Inverses of activations have no unit: what was rounded
 * is on the other side. */
#include "gaussian/check/rounding.h"

#include "law/power.h"

#include <math.h>

enum { LEAST_DIFFERENT = 11 }; /* fewer values (glance.c) are codes, not rounded numbers */
/* A value is a multiple that lies this near to one, in units: transforms there and back lose 1e-9
 * of it at most, and one of full precision is near with a chance of 2e-6. */
static const double NEAR = 1e-6;
/* Powers of ten below the largest value: a finer unit than 1e-8 of it moves no distance. */
enum { FINEST = 8 };
/* Half of the largest step, times sqrt(cells): so far rounding moves the distance, whose 95 % point
 * is 0.9 on this scale (Stephens 1974). A tenth is not seen in p. */
static const double MOVES = 0.1;

static double raw_of(const ur_rounding *r, double x)
{
    return ur_untransform(r->transform, r->lambda, r->exponent ? ldexp(x, r->exponent) : x);
}

static double column_of(const ur_rounding *r, double raw)
{
    if (!ur_transform_takes(r->transform, raw))
        return -INFINITY;
    return ldexp(ur_transform(r->transform, r->lambda, raw), -r->exponent);
}

/* of a unit of `whole` / over: how often x has it */
static double times_of(const ur_rounding *r, double x, double whole)
{
    return raw_of(r, x) * r->over / whole;
}

static int are_multiples(const ur_rounding *r, const double *value, size_t count, double whole)
{
    for (size_t i = 0; i < count; i++) {
        double times = times_of(r, value[i], whole);
        if (!(fabs(times - rint(times)) <= NEAR))
            return 0;
    }
    return 1;
}

/* by Euclid, of whole numbers */
static double common_divisor(double a, double b)
{
    while (b != 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* whether there are values enough, and equal ones among them that matter */
static int steps_matter(const double *value, size_t count, double observed)
{
    size_t different = 0, largest = 0;
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && value[i + same] == value[i];)
            same++;
        different++;
        largest = same > largest ? same : largest;
    }
    return different >= LEAST_DIFFERENT && largest > 1 &&
           (double)largest / 2 >= MOVES * sqrt(observed);
}

void ur_rounding_find(ur_rounding *r, const double *value, size_t count, double observed)
{
    r->whole = 0;
    if (ur_transform_undoes(r->transform) || !steps_matter(value, count, observed))
        return;
    double most = fmax(fabs(raw_of(r, value[0])), fabs(raw_of(r, value[count - 1]))), divisor = 0;
    if (!(most > 0 && most < INFINITY))
        return;
    for (int power = (int)floor(log10(most)), last = power - FINEST; power >= last; power--) {
        double whole = power > 0 ? pow(10, power) : 1;
        r->over = power < 0 ? pow(10, -power) : 1;
        if (!are_multiples(r, value, count, whole))
            continue;
        for (size_t i = 0; i < count && divisor != 1; i++)
            divisor = common_divisor(fabs(rint(times_of(r, value[i], whole))), divisor);
        r->whole = divisor * whole;
        return;
    }
}

void ur_rounding_cell(const ur_rounding *r, double value, double *low, double *high)
{
    double times = rint(times_of(r, value, r->whole));
    *low = column_of(r, (times - 0.5) * r->whole / r->over);
    *high = column_of(r, (times + 0.5) * r->whole / r->over);
}

double ur_rounding_of(const ur_rounding *r, double x)
{
    double raw = rint(times_of(r, x, r->whole)) * r->whole / r->over;
    return raw > 0 || r->transform == UNRELU_TRANSFORM_NONE ? column_of(r, raw) : -INFINITY;
}

double ur_rounding_of_nothing(const ur_rounding *r)
{
    return column_of(r, 0.5 * r->whole / r->over);
}
