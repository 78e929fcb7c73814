/* SPDX-License-Identifier: Apache-2.0 */
/* The warnings of a model, and of what may become one: added while it is learned, kept in its
 * file. They lie in an arena. */
#ifndef UR_WARNINGS_H
#define UR_WARNINGS_H

#include "read/npz.h"
#include "write/npz_write.h"

typedef struct {
    const unrelu_warning *list;
    size_t count;
} ur_warnings;

/* where memory ends the arena keeps the failure */
void ur_warnings_add(ur_warnings *warnings, ur_arena *arena, const char *code, const char *format,
                     va_list values) __attribute__((format(printf, 4, 0)));
unrelu_status ur_warnings_save(ur_npz_writer *w, const unrelu_warning *list, size_t count,
                               unrelu_error *err);
unrelu_status ur_warnings_load(ur_npz *npz, const char *path, ur_arena *arena,
                               const unrelu_warning **list, size_t *count, unrelu_error *err);

#endif
