/* SPDX-License-Identifier: Apache-2.0 */
/* Every take is an allocation of its own, so that tools which watch the heap see its bounds. */
#include "base/arena.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64 };

typedef struct ur_taken {
    struct ur_taken *before;
    void *thing; /* with its end, or NULL */
    void (*end)(void *thing);
} taken;

/* bytes from a piece to what is handed out, for alignment as of malloc */
enum { HEAD = (sizeof(taken) + 15) / 16 * 16 };

static void *fail(ur_arena *arena, ur_shortage why)
{
    if (!arena->why.wanted)
        arena->why = why;
    return NULL;
}

/* count * size + head, SIZE_MAX where that is too large: it is never to be had */
static size_t bytes_of(size_t count, size_t size, size_t head)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 2 * ALIGNMENT)
        return SIZE_MAX;
    return bytes + head;
}

static void *link_piece(ur_arena *arena, taken *p, size_t head)
{
    p->before = arena->last;
    arena->last = p;
    return (char *)p + head;
}

/* p, which was just asked for, as a part of the arena */
static void *hold(ur_arena *arena, taken *p, size_t bytes, size_t head)
{
    if (p)
        return link_piece(arena, p, head);
    ur_shortage why = ur_memory_shortage();
    return fail(arena, bytes == SIZE_MAX ? (ur_shortage){.wanted = SIZE_MAX} : why);
}

void *ur_take(ur_arena *arena, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size, HEAD);
    if (arena->why.wanted)
        return NULL;
    return hold(arena, bytes == SIZE_MAX ? NULL : ur_alloc(1, bytes), bytes, HEAD);
}

void *ur_take_aligned(ur_arena *arena, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size, ALIGNMENT);
    if (arena->why.wanted)
        return NULL;
    return hold(arena, bytes == SIZE_MAX ? NULL : ur_alloc_aligned(1, bytes), bytes, ALIGNMENT);
}

double *ur_take_doubles(ur_arena *arena, const double *from, size_t count)
{
    double *copy = from ? ur_take(arena, count, sizeof *copy) : NULL;
    return copy ? memcpy(copy, from, count * sizeof *copy) : NULL;
}

const char *ur_take_copy(ur_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = ur_take(arena, size, 1);
    return copy ? memcpy(copy, text, size) : "";
}

const char *ur_take_values(ur_arena *arena, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? fail(arena, (ur_shortage){.wanted = 1})
                            : ur_take(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, values);
    return text ? text : "";
}

const char *ur_take_text(ur_arena *arena, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const char *text = ur_take_values(arena, format, values);
    va_end(values);
    return text;
}

const char **ur_take_copies(ur_arena *arena, const char *const *texts, size_t count)
{
    const char **copies = ur_take(arena, count, sizeof *copies);
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = ur_take_copy(arena, texts[i]);
    return copies;
}

const char **ur_take_numbered(ur_arena *arena, char letter, size_t count)
{
    enum { LONGEST = 24 }; /* a letter and the digits of a size_t */
    const char **names = ur_take(arena, count, sizeof *names);
    char *text = ur_take(arena, count, LONGEST);
    for (size_t i = 0; text && i < count; i++, text += LONGEST) {
        snprintf(text, LONGEST, "%c%zu", letter, i + 1);
        names[i] = text;
    }
    return text ? names : NULL;
}

void *ur_arena_adopt(ur_arena *arena, void *thing, void (*end)(void *thing))
{
    if (!thing)
        return fail(arena, (ur_shortage){.wanted = sizeof(taken)});
    taken *p = arena->why.wanted ? NULL : ur_alloc(1, sizeof *p);
    if (!p) {
        end(thing);
        return fail(arena, ur_memory_shortage());
    }
    *p = (taken){.thing = thing, .end = end};
    link_piece(arena, p, 0);
    return thing;
}

unrelu_status ur_arena_status(const ur_arena *arena, unrelu_error *err)
{
    return arena->why.wanted ? ur_fail_shortage(err, arena->why) : UNRELU_OK;
}

void ur_arena_give(ur_arena *from, ur_arena *to)
{
    taken *first = from->last;
    while (first && first->before)
        first = first->before;
    if (first) {
        first->before = to->last;
        to->last = from->last;
    }
    if (!to->why.wanted)
        to->why = from->why;
    *from = (ur_arena){0};
}

void ur_arena_end(ur_arena *arena)
{
    while (arena->last) {
        taken *p = arena->last;
        arena->last = p->before;
        if (p->end)
            p->end(p->thing);
        ur_free(p);
    }
    arena->why = (ur_shortage){0};
}
