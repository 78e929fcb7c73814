/* SPDX-License-Identifier: Apache-2.0 */
#include "width.h"

#include "escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_width(void)
{
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width >= 40 && width <= 1000 ? (int)width - 1 : 79;
}

/* bytes that do not continue a character */
int cli_text_width(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

size_t cli_text_cut(const char *text, size_t most)
{
    size_t i = 0;
    for (size_t count = 0; text[i]; i++) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (count > most)
            break;
    }
    return i;
}

void cli_print_wrapped(const char *text, int column, int indent)
{
    int most = cli_width(), fresh = 1; /* no word of the text is on this line yet */
    for (const char *s = text + strspn(text, " "); *s; s += strspn(s, " ")) {
        size_t length = strcspn(s, " \n");
        int width = cli_show_text(NULL, s, length);
        if (*s == '\n' || (!fresh && column + 1 + width > most)) {
            putchar('\n');
            s += *s == '\n';
            column = 0;
            fresh = 1;
            continue;
        }
        int blanks = !fresh ? 1 : column < indent ? indent - column : 0;
        column += printf("%*s", blanks, "") + cli_show_text(stdout, s, length);
        fresh = 0;
        s += length;
    }
    putchar('\n');
}
