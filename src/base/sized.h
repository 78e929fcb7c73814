/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that callers of other versions may have shorter: their first member is a size_t, how much
 * of the struct the caller knows. New members come at the end. */
#ifndef UR_SIZED_H
#define UR_SIZED_H

#include "unrelu/unrelu.h"

/* what the _init functions do: the first `size` bytes of the defaults, and that size */
void ur_sized_init(void *given, size_t size, const void *defaults, size_t whole);
/* What a function works with: out (of `whole` bytes) holds the defaults, over which as much of what
 * was given is copied as the caller's struct has; given may be NULL. EUSAGE where that was not set
 * up by _init, or is of a newer version than this. what: "the options" */
unrelu_status ur_sized_copy(void *out, size_t whole, const void *given, const char *what,
                            unrelu_error *err);

#endif
