/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "base/system.h"
#include "unrelu/unrelu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* ---- the limit ---- */

static atomic_size_t in_use, limit; /* of the process; limit 0: none */
static _Thread_local ur_shortage last;

size_t unrelu_memory_limit(size_t bytes)
{
    return atomic_exchange(&limit, bytes);
}

size_t unrelu_memory_used(void)
{
    return atomic_load(&in_use);
}

ur_shortage ur_memory_shortage(void)
{
    return last;
}

/* before an allocation */
static int admit(size_t bytes)
{
    size_t most = atomic_load(&limit), before = atomic_fetch_add(&in_use, bytes);
    if (most == 0 || (before <= most && bytes <= most - before))
        return 1;
    atomic_fetch_sub(&in_use, bytes);
    last = (ur_shortage){.wanted = bytes, .used = before, .limit = most};
    return 0;
}

/* after it: what was admitted becomes what was got */
static void *settle(void *memory, size_t admitted)
{
    size_t got = memory ? ur_allocated_size(memory) : 0;
    if (got > admitted)
        atomic_fetch_add(&in_use, got - admitted);
    else
        atomic_fetch_sub(&in_use, admitted - got);
    if (!memory)
        last = (ur_shortage){.wanted = admitted};
    return memory;
}

/* ---- allocation ---- */

size_t ur_product(size_t a, size_t b, int *overflow)
{
    size_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    *overflow = 1;
    return 0;
}

static void *too_large(void)
{
    last = (ur_shortage){.wanted = SIZE_MAX};
    return NULL;
}

void *ur_alloc(size_t count, size_t size)
{
    int overflow = 0;
    size_t bytes = ur_product(count ? count : 1, size ? size : 1, &overflow);
    if (overflow)
        return too_large();
    return admit(bytes) ? settle(calloc(1, bytes), bytes) : NULL;
}

void *ur_alloc_aligned(size_t count, size_t size)
{
    int overflow = 0;
    size_t bytes = ur_product(count, size, &overflow);
    if (overflow || bytes > SIZE_MAX - ALIGNMENT)
        return too_large();
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* at least one line */
    void *memory = admit(bytes) ? settle(aligned_alloc(ALIGNMENT, bytes), bytes) : NULL;
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *ur_resize(void *memory, size_t size)
{
    size_t bytes = size ? size : 1, before = memory ? ur_allocated_size(memory) : 0;
    size_t more = bytes > before ? bytes - before : 0;
    if (!admit(more))
        return NULL;
    void *resized = realloc(memory, bytes);
    if (!resized) {
        settle(NULL, more);
        last.wanted = bytes;
        return NULL;
    }
    return settle(resized, before + more);
}

int ur_reserve(size_t bytes)
{
    return admit(bytes);
}

void ur_release(size_t bytes)
{
    atomic_fetch_sub(&in_use, bytes);
}

char *ur_string_copy(const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = ur_resize(NULL, size);
    return copy ? memcpy(copy, s, size) : NULL;
}

void ur_free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&in_use, ur_allocated_size(memory));
    free(memory);
}

void *unrelu_alloc(size_t count, size_t size)
{
    return ur_alloc(count, size);
}

void unrelu_free(void *memory)
{
    ur_free(memory);
}
