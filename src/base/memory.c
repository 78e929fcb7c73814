/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "unrelu/unrelu.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

size_t ur_product(size_t a, size_t b, int *overflow)
{
    size_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    *overflow = 1;
    return 0;
}

void *ur_alloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1); /* calloc checks the product */
}

void *ur_alloc_aligned(size_t count, size_t size)
{
    int overflow = 0;
    size_t bytes = ur_product(count, size, &overflow);
    if (overflow || bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* at least one line */
    void *memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

char *ur_string_copy(const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, s, size);
    return copy;
}

void *ur_resize(void *memory, size_t size)
{
    return realloc(memory, size ? size : 1);
}

void ur_free(void *memory)
{
    free(memory);
}

void unrelu_free(void *memory)
{
    ur_free(memory);
}
