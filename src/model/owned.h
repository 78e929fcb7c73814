/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that the library makes and hands out: models and results. Each has an arena that its
 * arrays and texts lie in, so that it is freed by one call. */
#ifndef UR_OWNED_H
#define UR_OWNED_H

#include "base/arena.h"

/* a zeroed struct of size bytes; NULL where memory ended */
void *ur_owned_new(size_t size);
/* of a struct that ur_owned_new made */
ur_arena *ur_owned_arena(void *owned);
/* OK where it was made and nothing that was taken from its arena failed */
unrelu_status ur_owned_status(void *owned, unrelu_error *err);
void ur_owned_free(void *owned); /* takes NULL */
/* What a function ends with: *out = owned where status is OK; else owned is freed, *out = NULL. */
unrelu_status ur_owned_hand(void *owned, unrelu_status status, void *out);

#endif
