/* SPDX-License-Identifier: Apache-2.0 */
#include "model/warnings.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unrelu_status ur_warnings_add(unrelu_warning **list, size_t *count, const char *code,
                              unrelu_error *err, const char *format, va_list values)
{
    unrelu_warning *grown = realloc(*list, (*count + 1) * sizeof *grown);
    if (!grown)
        return ur_fail_memory(err, *count + 1, "warnings");
    *list = grown;
    unrelu_warning *w = &grown[(*count)++];
    memset(w, 0, sizeof *w);
    snprintf(w->code, sizeof w->code, "%s", code);
    vsnprintf(w->message, sizeof w->message, format, values);
    return UNRELU_OK;
}

unrelu_status ur_warnings_save(ur_npz_writer *w, const unrelu_warning *list, size_t count,
                               unrelu_error *err)
{
    const char **texts = ur_alloc(count, sizeof *texts);
    if (!texts)
        return ur_fail_memory(err, count, "warnings");
    for (size_t i = 0; i < count; i++)
        texts[i] = list[i].code;
    ur_npz_add_strings(w, "warning_codes", (char *const *)texts, count);
    for (size_t i = 0; i < count; i++)
        texts[i] = list[i].message;
    ur_npz_add_strings(w, "warning_messages", (char *const *)texts, count);
    free(texts);
    return UNRELU_OK;
}

unrelu_status ur_warnings_load(ur_npz *npz, const char *path, unrelu_warning **list, size_t *count,
                               unrelu_error *err)
{
    char **codes = NULL, **messages = NULL;
    size_t code_count = 0, message_count = 0;
    unrelu_status status = ur_npz_strings(npz, "warning_codes", &codes, &code_count, err);
    if (status == UNRELU_OK)
        status = ur_npz_strings(npz, "warning_messages", &messages, &message_count, err);
    if (status == UNRELU_OK && code_count != message_count)
        status = ur_fail(err, UNRELU_EFORMAT, "%s: %zu warning codes for %zu messages", path,
                         code_count, message_count);
    if (status == UNRELU_OK && !(*list = ur_alloc(code_count, sizeof **list)))
        status = ur_fail_memory(err, code_count, "warnings");
    for (size_t i = 0; status == UNRELU_OK && i < code_count; i++) {
        snprintf((*list)[i].code, sizeof(*list)[i].code, "%s", codes[i]);
        snprintf((*list)[i].message, sizeof(*list)[i].message, "%s", messages[i]);
        *count = i + 1;
    }
    ur_strings_free(codes, code_count);
    ur_strings_free(messages, message_count);
    return status;
}
