/* SPDX-License-Identifier: Apache-2.0 */
#include "spreadsheet.h"

#include <stdlib.h>
#include <string.h>

/* a tab or a carriage return before it changes nothing for some of them */
static int runs(const char *name)
{
    return *name && strchr("=+-@\t\r", *name);
}

const char **cli_safe_names(const char *const *names, size_t count)
{
    size_t bytes = count * sizeof *names + 1;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + 2;
    const char **safe = malloc(bytes);
    char *text = (char *)(safe + count);
    for (size_t i = 0; safe && i < count; i++) {
        safe[i] = text;
        if (runs(names[i]))
            *text++ = '\'';
        text = stpcpy(text, names[i]) + 1;
    }
    return safe;
}
