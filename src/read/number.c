/* SPDX-License-Identifier: Apache-2.0 */
/* A number is an integer m of at most 19 digits times 10^e. Two ways are exact and cheap:
 *
 *   m <= 2^53, |e| <= 22   m and 10^|e| are doubles, one operation rounds once (Clinger)
 *   m < 2^64,  |e| <= 27   5^27 < 2^63: the product has 128 bits, the quotient 64 and an exact
 *                          remainder, so rounding to 53 bits sees all of the true value
 *
 * The second takes the 16 and 17 digits that programs print to keep a double. The rest goes to
 * strtod in the C locale. */
#include "read/number.h"

#include "base/powers_of_five.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { DIGITS_MOST = 19, CLINGER_MOST = 22, EXPONENT_MOST = 99999 };

static const double tens[CLINGER_MOST + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* q 2^exponent, where bit 0 of q also stands for anything below it; the result is normal */
static double round_scaled(uint64_t q, int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent + 1) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    q = q >> 1 | (q & 1); /* fits a signed conversion, which is one instruction */
    return (double)(int64_t)q * scale;
}

/* m 10^e for m > 0, |e| <= 27 */
static double scale_wide(uint64_t m, int e)
{
    if (e < 0) {
        int zeros = __builtin_clzll(m), five_zeros = __builtin_clzll(ur_fives[-e]);
        wide numerator = (wide)(m << zeros) << 63;     /* in [2^126, 2^127) */
        uint64_t divisor = ur_fives[-e] << five_zeros; /* in [2^63, 2^64) */
        uint64_t q = (uint64_t)(numerator / divisor);  /* in (2^62, 2^64) */
        uint64_t rest = (uint64_t)numerator - q * divisor;
        return round_scaled(q | (rest != 0), five_zeros - zeros - 63 + e);
    }
    wide product = (wide)m * ur_fives[e];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (high == 0)
        return round_scaled(low << __builtin_clzll(low), e - __builtin_clzll(low));
    int shift = 64 - __builtin_clzll(high);
    uint64_t lost = shift == 64 ? low : low & ((UINT64_C(1) << shift) - 1);
    return round_scaled((uint64_t)(product >> shift) | (lost != 0), shift + e);
}

static inline int is_digit(unsigned char c)
{
    return (unsigned)(c - '0') < 10;
}

/* The value of eight bytes 0 to 9, the first the most significant: pairs, fours, eight. */
static inline uint64_t join_eight(uint64_t v)
{
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ffu;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffffu;
    return (v * 10000 + (v >> 32)) & 0xffffffffu;
}

/* A run of digits, eight bytes at a time and without a branch on its length, which no processor
 * can foresee. What is no digit is above 9 once '0' is taken off; a carry out of such a byte
 * spoils later bytes only, and the first one is what is looked for. */
static inline const unsigned char *read_digits(const unsigned char *s, uint64_t *m)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t v, value = *m;
    for (;; s += 8) {
        memcpy(&v, s, sizeof v);
        v ^= 0x3030303030303030u;
        uint64_t others = ((v + 0x7676767676767676u) | v) & 0x8080808080808080u;
        if (others) {
            int digits = __builtin_ctzll(others) >> 3;
            v = v << 1 << (63 - 8 * digits); /* by 64 where there is none */
            *m = value * powers[digits] + join_eight(v);
            return s + digits;
        }
        value = value * 100000000 + join_eight(v); /* may wrap: the caller counts digits */
    }
}

/* e[+-]digits, added to *e; NULL where no digits follow */
static const unsigned char *read_exponent(const unsigned char *s, int *e)
{
    int negative = *s == '-', value = 0;
    if (*s == '-' || *s == '+')
        s++;
    if (!is_digit(*s))
        return NULL;
    for (; is_digit(*s); s++)
        value = value > EXPONENT_MOST ? value : value * 10 + (*s - '0');
    *e += negative ? -value : value;
    return s;
}

/* Leading zeros are no digits of m: 0.00012345678901234567 has 17. */
static int significant(const unsigned char *s, const unsigned char *end)
{
    int count = 0;
    while (s < end && (*s == '0' || *s == '.'))
        s++;
    for (; s < end && count <= DIGITS_MOST; s++)
        count += *s != '.';
    return count;
}

const unsigned char *ur_number_fast(const unsigned char *s, double *out)
{
    int negative = *s == '-', e = 0;
    if (*s == '-' || *s == '+')
        s++;
    const unsigned char *start = s;
    uint64_t m = 0;
    s = read_digits(s, &m);
    ptrdiff_t digits = s - start;
    if (*s == '.') {
        const unsigned char *point = s++;
        s = read_digits(s, &m);
        ptrdiff_t after = s - point - 1;
        digits += after;
        e = after > EXPONENT_MOST ? -EXPONENT_MOST : -(int)after;
    }
    if (digits == 0 || (digits > DIGITS_MOST && significant(start, s) > DIGITS_MOST))
        return NULL;
    if ((*s | 0x20) == 'e' && !(s = read_exponent(s + 1, &e)))
        return NULL;
    double value;
    if (m <= UINT64_C(1) << 53 && e <= 0 && e >= -CLINGER_MOST)
        value = (double)(int64_t)m / tens[-e];
    else if (m == 0)
        value = 0;
    else if (m <= UINT64_C(1) << 53 && e > 0 && e <= CLINGER_MOST)
        value = (double)(int64_t)m * tens[e];
    else if (e >= -UR_FIVES_MOST && e <= UR_FIVES_MOST)
        value = scale_wide(m, e);
    else
        return NULL;
    *out = negative ? -value : value;
    return s;
}

/* [+-]digits[.digits][e[+-]digits] and nothing else: no hex, no "inf", no blanks */
static int is_number(const unsigned char *s, const unsigned char *end)
{
    int digits = 0, e = 0;
    if (s < end && (*s == '-' || *s == '+'))
        s++;
    for (; s < end && is_digit(*s); s++)
        digits = 1;
    if (s < end && *s == '.')
        for (s++; s < end && is_digit(*s); s++)
            digits = 1;
    if (digits && s < end && (*s | 0x20) == 'e')
        s = read_exponent(s + 1, &e);
    return digits && s == end;
}

int ur_number_exact(const unsigned char *s, const unsigned char *end, locale_t c_locale,
                    double *out)
{
    if (!is_number(s, end))
        return 0;
    *out = strtod_l((const char *)s, NULL, c_locale);
    return 1;
}
