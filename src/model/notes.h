/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings to be: codes and sentences in an arena, of what may yet be dropped. */
#ifndef UR_NOTES_H
#define UR_NOTES_H

#include "base/arena.h"

typedef struct ur_note {
    const char *code, *text;
    struct ur_note *next;
} ur_note;

typedef struct {
    ur_note *first, *last;
} ur_notes;

/* where memory ends the arena keeps the failure */
void ur_notes_add(ur_notes *notes, ur_arena *arena, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ur_notes_add_values(ur_notes *notes, ur_arena *arena, const char *code, const char *format,
                         va_list values) __attribute__((format(printf, 4, 0)));

#endif
