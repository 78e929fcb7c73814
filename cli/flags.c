/* SPDX-License-Identifier: Apache-2.0 */
#include "flags.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

static int is_option(const char *name, size_t length)
{
    const cli_option *o;
    for (size_t c = 0; length > 0 && c < cli_command_count; c++)
        for (size_t i = 0; (o = cli_option_at(cli_commands[c], i)); i++)
            if (length == 1
                    ? o->letter == name[0]
                    : o->name && strlen(o->name) == length && !strncmp(o->name, name, length))
                return 1;
    return 0;
}

void cli_name_flags(char *text)
{
    char *to = text;
    for (const char *from = text, *end; *from; from = end) {
        const char *close = *from == '`' ? strchr(from + 1, '`') : NULL;
        size_t length = close ? (size_t)(close - from - 1) : 0;
        size_t dashes = !is_option(from + 1, length) ? 0 : length == 1 ? 1 : 2;
        end = close ? close + 1 : from + 1;
        if (dashes == 0)
            length = (size_t)(end - from);
        memmove(to + dashes, from + (dashes > 0), length); /* first: the dashes may cover it */
        memset(to, '-', dashes);
        to += dashes + length;
    }
    *to = '\0';
}

cli_sentence cli_flagged(const char *text)
{
    cli_sentence sentence;
    snprintf(sentence.text, sizeof sentence.text, "%s", text);
    cli_name_flags(sentence.text);
    return sentence;
}
