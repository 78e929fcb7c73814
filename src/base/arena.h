/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that ends with a scope. What is taken from an arena lives until the arena ends, and
 * a failure stays with it, so that one look after several takes is enough:
 *
 *     UR_ARENA(arena);            ends with the block that declares it, however that is left
 *     double *v = ur_take(&arena, n, sizeof *v), *w = ur_take(&arena, n, p * sizeof *w);
 *     UR_TRY(ur_arena_status(&arena, err));
 *
 * A function whose results shall outlive it takes the caller's arena; what it needs for itself it
 * takes from one of its own, also inside of a loop, where each round gives back what it took. An
 * arena belongs to one thread at a time. */
#ifndef UR_ARENA_H
#define UR_ARENA_H

#include "base/memory.h"
#include "unrelu/unrelu.h"

#include <stdarg.h>

typedef struct {
    struct ur_taken *last; /* a list of all that was taken */
    ur_shortage why;       /* of the take that failed first; wanted 0: none did */
} ur_arena;

#define UR_ARENA(name) __attribute__((cleanup(ur_arena_end))) ur_arena name = {0}

/* count elements of size bytes, zeroed; NULL where memory or the range of size_t ends, never for
 * count 0. After a failure every take fails. */
void *ur_take(ur_arena *arena, size_t count, size_t size);
/* as ur_take, aligned to 64 bytes */
void *ur_take_aligned(ur_arena *arena, size_t count, size_t size);
/* a copy of count doubles; NULL where there are none */
double *ur_take_doubles(ur_arena *arena, const double *from, size_t count);
/* a copy of a text, a text as of printf; "" where memory ends, so that it can be read */
const char *ur_take_copy(ur_arena *arena, const char *text);
const char *ur_take_text(ur_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *ur_take_values(ur_arena *arena, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));
/* copies of texts */
const char **ur_take_copies(ur_arena *arena, const char *const *texts, size_t count);
/* x1, x2, ... for the letter x */
const char **ur_take_numbered(ur_arena *arena, char letter, size_t count);

/* thing is ended with the arena by end(thing), later things first; returns it. Where the arena
 * failed it is ended at once and NULL is returned. NULL is not taken. A thing on the stack is
 * declared before the arena: scopes end last first. */
void *ur_arena_adopt(ur_arena *arena, void *thing, void (*end)(void *thing));

static inline int ur_arena_failed(const ur_arena *arena)
{
    return arena->why.wanted != 0;
}
/* "not enough memory: ... were wanted"; OK where nothing failed */
unrelu_status ur_arena_status(const ur_arena *arena, unrelu_error *err);
/* what was taken from one, and its failure, become the other's; the first is empty then */
void ur_arena_give(ur_arena *from, ur_arena *to);
/* ends all that was taken; the arena is empty then, and can be used again */
void ur_arena_end(ur_arena *arena);

#endif
