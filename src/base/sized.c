/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include "base/error.h"

#include <string.h>

void ur_sized_init(void *given, size_t size, const void *defaults, size_t whole)
{
    memset(given, 0, size);
    memcpy(given, defaults, size < whole ? size : whole);
    memcpy(given, &size, sizeof size);
}

unrelu_status ur_sized_copy(void *out, size_t whole, const void *given, const char *what,
                            unrelu_error *err)
{
    size_t size;
    if (!given)
        return UNRELU_OK;
    memcpy(&size, given, sizeof size);
    if (size <= sizeof size)
        return ur_fail(err, UNRELU_EUSAGE,
                       "the size of %s is %zu: set them up with their _init function", what, size);
    if (size > whole)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s have %zu bytes, and those of unrelu %s have %zu: a program that was "
                       "compiled for a newer version needs that version",
                       what, size, unrelu_version(), whole);
    memcpy(out, given, size);
    memcpy(out, &whole, sizeof whole);
    return UNRELU_OK;
}
