/* SPDX-License-Identifier: Apache-2.0 */
#include "model/owned.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* what lies before the struct */
typedef union {
    ur_arena arena;
    max_align_t alignment;
} head;

void *ur_owned_new(size_t size)
{
    head *h = calloc(1, sizeof *h + size);
    return h ? h + 1 : NULL;
}

ur_arena *ur_owned_arena(void *owned)
{
    return &((head *)owned - 1)->arena;
}

unrelu_status ur_owned_status(void *owned, unrelu_error *err)
{
    return owned ? ur_arena_status(ur_owned_arena(owned), err) : ur_fail_memory(err, 1, "model");
}

void ur_owned_free(void *owned)
{
    if (!owned)
        return;
    ur_arena_end(ur_owned_arena(owned));
    free((head *)owned - 1);
}

unrelu_status ur_owned_hand(void *owned, unrelu_status status, void *out)
{
    if (status != UNRELU_OK) {
        ur_owned_free(owned);
        owned = NULL;
    }
    memcpy(out, &owned, sizeof owned);
    return status;
}
