/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_ORDER_H
#define UR_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* x (n, no NaN) in increasing order; -0 comes before 0. scratch: n doubles */
void ur_sort(double *x, double *scratch, size_t n);

typedef struct {
    double key;
    size_t at;
} ur_keyed;

/* the same by their keys; those of equal keys keep their order */
void ur_sort_keyed(ur_keyed *x, ur_keyed *scratch, size_t n);

/* unsigned numbers in the order of doubles (no NaN; -0 comes before 0), and back */
static inline uint64_t ur_ordered_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 63 ? ~(uint64_t)0 : (uint64_t)1 << 63);
}
static inline double ur_ordered_value(uint64_t bits)
{
    double x;
    bits ^= bits >> 63 ? (uint64_t)1 << 63 : ~(uint64_t)0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
