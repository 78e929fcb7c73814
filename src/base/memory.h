/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation with checked products, as sizes come from files, and counted, so that what is in use
 * together stays within unrelu_memory_limit. All return NULL on overflow, beyond the limit and on
 * exhaustion alike; what they return is freed by ur_free. */
#ifndef UR_MEMORY_H
#define UR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* count elements of size bytes, zeroed; never NULL for count 0 */
void *ur_alloc(size_t count, size_t size);
/* as ur_alloc, aligned to 64 bytes */
void *ur_alloc_aligned(size_t count, size_t size);
/* as realloc, for size 0 as for 1 */
void *ur_resize(void *memory, size_t size);
void ur_free(void *memory); /* takes NULL */
/* For bytes that another library is about to take: counted as an allocation is, 0 beyond the limit,
 * until they are released. */
int ur_reserve(size_t bytes);
void ur_release(size_t bytes);
/* a * b, or 0 with *overflow set */
size_t ur_product(size_t a, size_t b, int *overflow);
char *ur_string_copy(const char *s);

static inline double *ur_doubles(size_t count)
{
    return ur_alloc(count, sizeof(double));
}

/* why the last allocation of this thread that failed did so */
typedef struct {
    size_t wanted;      /* bytes; SIZE_MAX: more than can be counted */
    size_t used, limit; /* of the limit, where it stood in the way; limit 0: the system did */
} ur_shortage;
ur_shortage ur_memory_shortage(void);

#endif
