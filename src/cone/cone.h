/* SPDX-License-Identifier: Apache-2.0 */
/* Extreme rays of the cone {z : Y z >= 0}. */
#ifndef UR_CONE_H
#define UR_CONE_H

#include "unrelu/unrelu.h"

typedef struct {
    size_t count;
    double *z;       /* (count, k), unit length */
    uint64_t *zeros; /* (count, words): bit i set where row i of Y is 0 on the ray */
    size_t words;    /* (rows + 63) / 64 */
    int finished;    /* 0: more than `most` rays on the way; those that are here are rays still */
    size_t inserted; /* rows of Y that were dealt with: all of them where finished */
} ur_rays;

/* Y (rows x k) of rank k with rows of unit length, no two of them parallel in one direction: the
 * cone is pointed; it may be flat, or hold nothing but 0. |y z| <= tolerance |z| counts as 0. At
 * most `most` rays are held at any time. */
unrelu_status ur_rays_find(size_t rows, size_t k, const double *Y, double tolerance, size_t most,
                           const unrelu_exec *exec, ur_rays *rays, unrelu_error *err);
void ur_rays_free(ur_rays *rays);

/* z less its part along the `count` rows of unit length, unit length again; q: room k x k.
 * Returns the rank of the rows. */
size_t ur_cone_project(size_t k, size_t count, const double *const *rows, double *q, double *z);

static inline int ur_bit(const uint64_t *bits, size_t i)
{
    return (int)(bits[i / 64] >> (i % 64) & 1);
}

static inline void ur_bit_set(uint64_t *bits, size_t i)
{
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline size_t ur_bits_count(size_t words, const uint64_t *bits)
{
    size_t count = 0;
    for (size_t w = 0; w < words; w++)
        count += (size_t)__builtin_popcountll(bits[w]);
    return count;
}

#endif
