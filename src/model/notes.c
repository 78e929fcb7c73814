/* SPDX-License-Identifier: Apache-2.0 */
#include "model/notes.h"

void ur_notes_add_values(ur_notes *notes, ur_arena *arena, const char *code, const char *format,
                         va_list values)
{
    ur_note *note = ur_take(arena, 1, sizeof *note);
    if (!note)
        return;
    *note = (ur_note){.code = code, .text = ur_take_values(arena, format, values)};
    if (notes->last)
        notes->last->next = note;
    else
        notes->first = note;
    notes->last = note;
}

void ur_notes_add(ur_notes *notes, ur_arena *arena, const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    ur_notes_add_values(notes, arena, code, format, values);
    va_end(values);
}
