/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64 };

void cli_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

int cli_word(const char *list, size_t i, char *word, size_t size)
{
    for (const char *s = list; s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL) {
        size_t length = strcspn(s, "|");
        if (length == 0 || (*s >= 'A' && *s <= 'Z') || i-- > 0)
            continue;
        snprintf(word, size, "%.*s", (int)length, s);
        return 1;
    }
    return 0;
}

int cli_word_index(const char *list, const char *text)
{
    char word[WORD_MAX];
    for (size_t i = 0; cli_word(list, i, word, sizeof word); i++)
        if (strcmp(word, text) == 0)
            return (int)i;
    return -1;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Insertions, deletions, substitutions and swaps of neighbours, one each; of any case. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX], *before = rows[0], *last = rows[1], *row = rows[2];
    size_t n = least(strlen(a), WORD_MAX - 1), m = least(strlen(b), WORD_MAX - 1);
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t differs = !same_letter(a[i - 1], b[j - 1]);
            row[j] = least(least(row[j - 1], last[j]) + 1, last[j - 1] + differs);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last, last = row, row = free_row;
    }
    return last[m];
}

const char *cli_suggestion(const char *text, const char *list, const char *prefix, char *buffer,
                           size_t size)
{
    char word[WORD_MAX];
    /* one slip in a short word, more in a long one, and some of it must stand */
    size_t best = least(2 + strlen(text) / 4, strlen(text));
    buffer[0] = '\0';
    for (size_t i = 0; cli_word(list, i, word, sizeof word); i++) {
        size_t distance = edit_distance(text, word);
        if (distance >= best)
            continue;
        best = distance;
        snprintf(buffer, size, " (did you mean '%s%s'?)", prefix, word);
    }
    return buffer;
}
