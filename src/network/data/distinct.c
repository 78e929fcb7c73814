/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated rows say nothing new: binary inputs of five columns have 32 different rows however
 * many there are. A set of 64-bit hashes, which ends as soon as there are enough; two different
 * rows that collide (2^-64 a pair) would be counted once, on the safe side. */
#include "base/error.h"
#include "network/data/data.h"

#include <string.h>

static uint64_t hash_row(const double *x, size_t d)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t j = 0; j < d; j++) {
        double cell = x[j] + 0.0; /* -0 is 0 */
        uint64_t bits;
        memcpy(&bits, &cell, sizeof bits);
        h = (h ^ bits) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return h | 1; /* 0 marks an empty place */
}

/* whether it was not there yet */
static int insert(uint64_t *set, size_t mask, uint64_t h)
{
    size_t place = (size_t)(h >> 7) & mask;
    while (set[place] != 0) {
        if (set[place] == h)
            return 0;
        place = (place + 1) & mask;
    }
    set[place] = h;
    return 1;
}

unrelu_status ur_distinct(const double *x, size_t n, size_t d, const unsigned char *used,
                          size_t enough, size_t *count, unrelu_error *err)
{
    size_t marked = 0, places = 16;
    for (size_t i = 0; i < n && used; i++)
        marked += used[i];
    while (places < 2 * (marked + enough) + 2)
        places *= 2;
    UR_ARENA(arena);
    uint64_t *set = ur_take(&arena, places, sizeof *set);
    *count = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n && used; i++)
        if (used[i])
            insert(set, places - 1, hash_row(x + i * d, d));
    for (size_t i = 0; i < n && *count < enough; i++)
        if (!used || !used[i])
            *count += (size_t)insert(set, places - 1, hash_row(x + i * d, d));
    return UNRELU_OK;
}
