/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each allocation fail in turn. For programs linked with malloc, calloc, realloc and
 * aligned_alloc wrapped (CMakeLists.txt does it where the name has "allocation" in it); those
 * inside shared libraries (BLAS, libzip, GMP) are not seen. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "planted.h"

#include <stdatomic.h>

static atomic_long countdown; /* 0: off; n: the n-th allocation from now fails */
static atomic_long failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static int this_one_fails(void)
{
    if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1)
        return 0;
    atomic_store(&failed, 1);
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return this_one_fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size)
{
    return this_one_fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return this_one_fails() ? NULL : __real_realloc(old, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return this_one_fails() ? NULL : __real_aligned_alloc(alignment, size);
}

typedef unrelu_status (*scenario)(unrelu_error *err);

/* long runs: each of the first allocations, then one in so many */
static inline void exhaust_by(scenario run, long first, long step)
{
    for (long nth = 1;; nth += nth < first ? 1 : step) {
        unrelu_error err = {0};
        atomic_store(&failed, 0);
        atomic_store(&countdown, nth);
        unrelu_status status = run(&err);
        atomic_store(&countdown, 0);
        if (!atomic_load(&failed)) {
            must(status, &err);
            assert_true(nth > 1); /* or nothing was tried */
            return;
        }
        if (status == UNRELU_OK)
            continue; /* it could do without */
        if (status != UNRELU_ENOMEM && status != UNRELU_EIO)
            fail_msg("allocation %ld failed, status %d: %s", nth, (int)status, err.text);
        assert_true(err.text[0] != 0);
    }
}

static inline void exhaust(scenario run)
{
    exhaust_by(run, 1, 1);
}

#endif
