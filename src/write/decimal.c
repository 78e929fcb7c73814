/* SPDX-License-Identifier: Apache-2.0 */
/* The fast way is exact integer arithmetic on 128 bits. With |x| = m 2^e and p decimal places,
 *
 *   |x| 10^p = V 2^-s,   V = m 5^p,   s = -(e + p),
 *
 * and the 17 digits are V 2^-s rounded. A number c of fewer digits reads back as x where
 * |c 2^s - V| is less than half the gap to the next double, which is 5^p / 2 in these units
 * (a quarter below a power of two). Numbers from 1e-4 to 1e15 take it: 80 ns where printf and
 * strtod take 1400. */
#include "write/decimal.h"

#include "base/powers_of_five.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { DIGITS = 17, PLACES_MOST = 20 };

static const uint64_t ten16 = 10000000000000000u;
/* of |x|: printf writes no exponent here, and V fits 128 bits */
static const double PLAIN_LEAST = 1e-4, PLAIN_MOST = 1e15;

size_t ur_decimal_write_slow(locale_t c_locale, double x, char out[UR_DECIMAL_MOST])
{
    int size = 0;
    if (isnan(x)) {
        memcpy(out, "NA", 2);
        return 2;
    }
    locale_t before = uselocale(c_locale); /* of this thread only */
    for (int digits = 15; digits <= DIGITS; digits++) {
        size = snprintf(out, UR_DECIMAL_MOST, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            break;
    }
    uselocale(before);
    return (size_t)size;
}

/* |x| = m 2^e with p places, as above */
typedef struct {
    uint64_t m;
    int s, places;
    wide V;
} scaled;

static void scale(scaled *v, int e, int places)
{
    v->places = places;
    v->s = -(e + places);
    v->V = (wide)v->m * ur_fives[places];
}

/* the nearest multiple of `step` digits' worth to V 2^-s, and whether it reads back as x */
static uint64_t round_to(const scaled *v, uint64_t step, int *reads_back)
{
    wide unit = (wide)step << v->s, half = unit >> 1;
    uint64_t c = (uint64_t)(v->V >> v->s) / step;
    wide rest = v->V - (wide)c * unit;
    if (rest > half || (rest == half && (c & 1)))
        c++;
    wide near = (wide)c * unit, off = near > v->V ? near - v->V : v->V - near;
    int quarter = v->m == UINT64_C(1) << 52 && near < v->V;
    *reads_back = off * (quarter ? 4 : 2) < ur_fives[v->places];
    return c * step;
}

/* c is 17 digits with `places` of them behind the point */
static size_t write_digits(uint64_t c, int places, int negative, char *out)
{
    char digits[PLACES_MOST + 4];
    int count = 0, used = 0;
    while (places > 0 && c % 10 == 0) {
        c /= 10;
        places--;
    }
    for (; c || count <= places; c /= 10)
        digits[count++] = (char)('0' + c % 10);
    if (negative)
        out[used++] = '-';
    while (count > 0) {
        if (count-- == places)
            out[used++] = '.';
        out[used++] = digits[count];
    }
    return (size_t)used;
}

/* 1e-4 <= |x| < 1e15 */
static size_t write_fast(double x, char *out)
{
    uint64_t bits, c;
    scaled v;
    int reads_back;
    memcpy(&bits, &x, sizeof bits);
    v.m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int e = (int)(bits >> 52 & 0x7ff) - 1075;
    int places = DIGITS - 1 - (e + 52) * 1233 / 4096; /* log10(2) from above: one off at most */
    if (places > PLACES_MOST)
        places = PLACES_MOST;
    scale(&v, e, places);
    c = (uint64_t)(v.V >> v.s);
    if (c < ten16 && places < PLACES_MOST)
        scale(&v, e, places + 1);
    else if (c >= 10 * ten16)
        scale(&v, e, places - 1);
    c = round_to(&v, 100, &reads_back);
    if (!reads_back)
        c = round_to(&v, 10, &reads_back);
    if (!reads_back)
        c = round_to(&v, 1, &reads_back);
    return write_digits(c, v.places, x < 0, out);
}

size_t ur_decimal_write(locale_t c_locale, double x, char out[UR_DECIMAL_MOST])
{
    double a = fabs(x);
    if (x == 0 && !signbit(x)) { /* half of a rectified table */
        out[0] = '0';
        return 1;
    }
    return a >= PLAIN_LEAST && a < PLAIN_MOST ? write_fast(x, out)
                                              : ur_decimal_write_slow(c_locale, x, out);
}
