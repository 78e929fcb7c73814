/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *unrelu_status_name(unrelu_status status)
{
    static const char *const names[] = {
        [UNRELU_OK] = "ok",         [UNRELU_EINTERNAL] = "internal",
        [UNRELU_ENOMEM] = "memory", [UNRELU_EUSAGE] = "usage",
        [UNRELU_EIO] = "io",        [UNRELU_EFORMAT] = "format",
        [UNRELU_EDATA] = "data",    [UNRELU_ECANCELLED] = "cancelled",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

static void write_error(unrelu_error *err, unrelu_status status, const char *format, va_list args)
{
    if (!err)
        return;
    char text[sizeof err->text]; /* what is printed may be the old text */
    vsnprintf(text, sizeof text, format, args);
    memset(err, 0, sizeof *err);
    memcpy(err->text, text, sizeof text);
    err->code = status;
    const char *from = strchr(text, '`'), *to = from ? strchr(from + 1, '`') : NULL;
    size_t length = to ? (size_t)(to - from - 1) : 0; /* of the first word in backquotes */
    if (length < sizeof err->option)
        memcpy(err->option, from ? from + 1 : "", length);
}

unrelu_status ur_fail(unrelu_error *err, unrelu_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_error(err, status, format, args);
    va_end(args);
    return status;
}

unrelu_status ur_fail_at(unrelu_error *err, unrelu_status status, size_t row, size_t column,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_error(err, status, format, args);
    va_end(args);
    if (err) {
        err->row = row;
        err->column = column;
    }
    return status;
}

/* ", and ...", or nothing */
typedef struct {
    char text[160];
} limit_note;

static limit_note tell_limit(ur_shortage why)
{
    limit_note note = {""};
    if (why.limit)
        snprintf(note.text, sizeof note.text,
                 ", %zu are in use, and `max-memory` is %zu: a larger one may do", why.used,
                 why.limit);
    return note;
}

unrelu_status ur_fail_shortage(unrelu_error *err, ur_shortage why)
{
    if (why.wanted == SIZE_MAX)
        return ur_fail(err, UNRELU_ENOMEM,
                       "not enough memory: more bytes were wanted than can be counted");
    return ur_fail(err, UNRELU_ENOMEM, "not enough memory: %zu bytes were wanted%s", why.wanted,
                   tell_limit(why).text);
}

unrelu_status ur_fail_memory(unrelu_error *err, size_t count, const char *what)
{
    ur_shortage why = ur_memory_shortage();
    if (why.limit)
        return ur_fail(err, UNRELU_ENOMEM, "not enough memory for %zu %s: %zu bytes were wanted%s",
                       count, what, why.wanted, tell_limit(why).text);
    return ur_fail(err, UNRELU_ENOMEM, "not enough memory for %zu %s", count, what);
}
