/* SPDX-License-Identifier: Apache-2.0 */
/* exp in parts: with x = k ln 2 + r, |r| <= 0.347, exp(x) = 2^k exp(r). Plain expressions without
 * branches, which the compiler turns into vectors. */
#ifndef UR_EXPONENTIAL_H
#define UR_EXPONENTIAL_H

#include <stdint.h>
#include <string.h>

#define UR_EXP_INLINE static inline __attribute__((always_inline))

/* x log2(e) + this is rounded to an integer, which sits in the low bits */
#define UR_EXP_SHIFT 0x1.8p52
/* ln 2 in two parts, the first of so few bits that k times it is exact */
#define UR_LN2_HIGH 0x1.62e42fee00000p-1
#define UR_LN2_LOW  0x1.a39ef35793c76p-33

/* p r^12 + r^11 / 11! + ... + 1, where p = 1/12! or that and further terms */
UR_EXP_INLINE double ur_exp_series(double p, double r)
{
    p = p * r + 1 / 39916800.0;
    p = p * r + 1 / 3628800.0;
    p = p * r + 1 / 362880.0;
    p = p * r + 1 / 40320.0;
    p = p * r + 1 / 5040.0;
    p = p * r + 1 / 720.0;
    p = p * r + 1 / 120.0;
    p = p * r + 1 / 24.0;
    p = p * r + 1 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1;
    return p * r + 1;
}

/* p 2^k, -1022 <= k <= 1023, for shifted = k + UR_EXP_SHIFT */
UR_EXP_INLINE double ur_exp_scale(double p, double shifted)
{
    uint64_t bits;
    double two;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&two, &bits, sizeof two);
    return p * two;
}

#endif
