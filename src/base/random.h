/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random numbers (Philox 4x64-10): draw number i of stream (seed, stream) is a
 * function of those three alone, whatever the thread. Normals and uniforms of one stream are
 * drawn from different counters, so they are independent. */
#ifndef UR_RANDOM_H
#define UR_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* count standard normals: positions first .. first + count - 1 of the stream (Box-Muller on
 * Philox words, so that any slice can be drawn alone) */
void ur_random_normals(uint64_t seed, uint64_t stream, uint64_t first, uint64_t count, double *out);
/* count uniforms in (0, 1): odd multiples of 2^-53 */
void ur_random_uniforms(uint64_t seed, uint64_t stream, uint64_t first, uint64_t count,
                        double *out);

/* order: 0 .. n - 1 in random order, from n uniforms */
void ur_shuffle(size_t n, const double *uniforms, size_t *order);

#endif
