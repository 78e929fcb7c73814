/* SPDX-License-Identifier: Apache-2.0 */
/* The warnings of a model: added while it is learned, kept in its file. */
#ifndef UR_WARNINGS_H
#define UR_WARNINGS_H

#include "read/npz.h"
#include "write/npz_write.h"

#include <stdarg.h>

unrelu_status ur_warnings_add(unrelu_warning **list, size_t *count, const char *code,
                              unrelu_error *err, const char *format, va_list values)
    __attribute__((format(printf, 5, 0)));
unrelu_status ur_warnings_save(ur_npz_writer *w, const unrelu_warning *list, size_t count,
                               unrelu_error *err);
unrelu_status ur_warnings_load(ur_npz *npz, const char *path, unrelu_warning **list, size_t *count,
                               unrelu_error *err);

#endif
