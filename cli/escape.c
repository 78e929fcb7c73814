/* SPDX-License-Identifier: Apache-2.0 */
#include "escape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16 }; /* bytes of a character as it is shown, and a zero */

/* bytes of the UTF-8 character at s, and the character; 0: it is none */
static size_t decode(const unsigned char *s, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = s[0] < 0x80         ? 1
                  : s[0] >> 5 == 0x6  ? 2
                  : s[0] >> 4 == 0xe  ? 3
                  : s[0] >> 3 == 0x1e ? 4
                                      : 0;
    *point = size == 1 ? s[0] : size ? s[0] & (0x7fu >> size) : 0;
    for (size_t i = 1; i < size; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        *point = *point << 6 | (s[i] & 0x3f);
    }
    return size && *point >= least[size] && *point <= 0x10ffff &&
                   !(*point >= 0xd800 && *point < 0xe000)
               ? size
               : 0;
}

int cli_is_utf8(const char *text)
{
    uint32_t point;
    for (size_t size; *text; text += size)
        if (!(size = decode((const unsigned char *)text, &point)))
            return 0;
    return 1;
}

/* controls, C1 too; marks, embeddings, overrides and isolates of direction; separators of lines */
static int is_harmful(uint32_t point)
{
    return point < ' ' || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e ||
           point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

/* the character at *text as it is shown; *text moves behind it */
static size_t next(const char **text, char out[LONGEST])
{
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t point;
    size_t size = decode(s, &point);
    if (size && !is_harmful(point)) {
        memcpy(out, s, size);
        out[size] = '\0';
    } else {
        snprintf(out, LONGEST, size > 1 ? "\\u%04x" : "\\x%02x", size ? (unsigned)point : s[0]);
        size = size ? size : 1;
    }
    *text += size;
    return strlen(out);
}

void cli_escape(char *out, size_t size, const char *text)
{
    char shown[LONGEST];
    size_t used = 0;
    *out = '\0';
    while (*text) {
        size_t length = next(&text, shown);
        if (used + length >= size)
            return;
        memcpy(out + used, shown, length + 1);
        used += length;
    }
}

int cli_show_text(FILE *stream, const char *text, size_t length)
{
    char shown[LONGEST];
    int characters = 0;
    for (const char *end = text + length; text < end;) {
        const char *start = text;
        size_t size = *text == '\n' ? 0 : next(&text, shown);
        if (!size) { /* a line feed */
            strcpy(shown, "\n");
            text++;
        }
        characters += !size ? 0 : (unsigned char)*start == (unsigned char)*shown ? 1 : (int)size;
        if (stream)
            fputs(shown, stream);
    }
    return characters;
}

static int lost; /* a text that there was no memory for */

int cli_print_lost(void)
{
    return lost;
}

void cli_print_lose(void)
{
    lost = 1;
}

int cli_print(const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    int size = vasprintf(&text, format, list), shown = 0;
    va_end(list);
    if (size < 0) {
        lost = 1;
        return 0;
    }
    shown = cli_show_text(stdout, text, (size_t)size);
    free(text);
    return shown;
}
