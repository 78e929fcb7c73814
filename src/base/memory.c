/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdio.h>
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

char **ur_strings_number(char letter, size_t count)
{
    char **strings = ur_alloc(count, sizeof *strings);
    for (size_t i = 0; strings && i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%c%zu", letter, i + 1);
        if (!(strings[i] = ur_string_copy(text))) {
            ur_strings_free(strings, i);
            return NULL;
        }
    }
    return strings;
}

void ur_strings_free(char **strings, size_t count)
{
    for (size_t i = 0; strings && i < count; i++)
        free(strings[i]);
    free(strings);
}
