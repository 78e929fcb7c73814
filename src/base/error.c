/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

unrelu_status ur_fail(unrelu_error *err, unrelu_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

unrelu_status ur_fail_memory(unrelu_error *err, size_t count, const char *what)
{
    return ur_fail(err, UNRELU_ENOMEM, "not enough memory for %zu %s", count, what);
}
