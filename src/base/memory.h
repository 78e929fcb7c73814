/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation with checked products: sizes come from files. All return NULL on overflow and
 * on exhaustion alike; what they return is freed by free(). */
#ifndef UR_MEMORY_H
#define UR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* count elements of size bytes, zeroed; never NULL for count 0 */
void *ur_alloc(size_t count, size_t size);
/* as ur_alloc, aligned to 64 bytes */
void *ur_alloc_aligned(size_t count, size_t size);
/* a * b, or 0 with *overflow set */
size_t ur_product(size_t a, size_t b, int *overflow);
char *ur_string_copy(const char *s);
/* as realloc, for size 0 as for 1 */
void *ur_resize(void *memory, size_t size);
void ur_free(void *memory); /* takes NULL */

static inline double *ur_doubles(size_t count)
{
    return ur_alloc(count, sizeof(double));
}

#endif
