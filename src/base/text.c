/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/c_locale.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

int ur_text_number(const char *text, double *out)
{
    char *end = NULL;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *out = c ? strtod_l(text, &end, c) : strtod(text, &end);
    if (c)
        freelocale(c);
    return end != text && *end == '\0' && isfinite(*out);
}

int ur_text_whole(const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *out = value;
    return *text >= '0' && *text <= '9' && *end == '\0' && !errno && value <= INT64_MAX;
}

int ur_text_index(const char *list, const char *text)
{
    size_t length = strlen(text);
    for (int i = 0; *list; i++) {
        size_t word = strcspn(list, "|");
        if (word == length && strncmp(list, text, length) == 0)
            return i;
        list += word + (list[word] == '|');
    }
    return -1;
}

int ur_text_ends(const char *text, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size >= length && !strncasecmp(text + size - length, ending, length);
}

int ur_text_same_name(const char *a, const char *b)
{
    while (*a && (*a == *b || ((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))) {
        a++;
        b++;
    }
    return *a == *b;
}
