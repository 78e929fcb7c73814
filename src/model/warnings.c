/* SPDX-License-Identifier: Apache-2.0 */
#include "model/warnings.h"

#include "base/error.h"
#include "base/limits.h"

#include <string.h>

void ur_warnings_add(ur_warnings *w, ur_arena *arena, const char *code, const char *format,
                     va_list values)
{
    unrelu_warning *grown = ur_take(arena, w->count + 1, sizeof *grown);
    if (!grown)
        return;
    if (w->count > 0)
        memcpy(grown, w->list, w->count * sizeof *grown);
    grown[w->count] =
        (unrelu_warning){ur_take_copy(arena, code), ur_take_values(arena, format, values)};
    *w = (ur_warnings){grown, w->count + 1};
}

unrelu_status ur_warnings_save(ur_npz_writer *w, const unrelu_warning *list, size_t count,
                               unrelu_error *err)
{
    UR_ARENA(arena);
    const char **codes = ur_take(&arena, count, sizeof *codes);
    const char **messages = ur_take(&arena, count, sizeof *messages);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < count; i++) {
        codes[i] = list[i].code;
        messages[i] = list[i].message;
    }
    ur_npz_add_strings(w, "warning_codes", codes, count);
    ur_npz_add_strings(w, "warning_messages", messages, count);
    return UNRELU_OK;
}

unrelu_status ur_warnings_load(ur_npz *npz, const char *path, ur_arena *arena,
                               const unrelu_warning **list, size_t *count, unrelu_error *err)
{
    const char **codes, **messages;
    size_t code_count, message_count;
    UR_TRY(ur_npz_strings(npz, "warning_codes", UR_WARNINGS_MOST, UR_TEXT_MOST, arena, &codes,
                          &code_count, err));
    UR_TRY(ur_npz_strings(npz, "warning_messages", UR_WARNINGS_MOST, UR_TEXT_MOST, arena, &messages,
                          &message_count, err));
    if (code_count != message_count)
        return ur_fail(err, UNRELU_EFORMAT, "%s: %zu warning codes for %zu messages", path,
                       code_count, message_count);
    unrelu_warning *warnings = ur_take(arena, code_count, sizeof *warnings);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < code_count; i++)
        warnings[i] = (unrelu_warning){codes[i], messages[i]};
    *list = warnings;
    *count = code_count;
    return UNRELU_OK;
}
