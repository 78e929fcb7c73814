/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

int ur_name_is_number(const char *name, size_t place)
{
    char number[32];
    snprintf(number, sizeof number, "x%zu", place + 1);
    return strcmp(name, number) == 0;
}

static int are_numbers(const char *const *names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        if (!ur_name_is_number(names[i], i))
            return 0;
    return 1;
}

int ur_name_same(const char *found, const char *wanted)
{
    if (strcmp(found, wanted) == 0)
        return 1;
    if (!strstr(wanted, "\xef\xbf\xbd"))
        return 0;
    for (;; found++, wanted++) {
        while (*found & 0x80)
            found++;
        while (*wanted & 0x80)
            wanted++;
        if (*found != *wanted || !*found)
            return *found == *wanted;
    }
}

/* count: every name is there; else the first that is not. Names in one order are found at once. */
static size_t match(const char *const *found, size_t width, const char *const *wanted, size_t count,
                    size_t *place)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t tried = 0;
        for (; tried < width; tried++, at++)
            if (place[at %= width] == count && ur_name_same(found[at], wanted[i]))
                break;
        if (tried == width)
            return i;
        place[at] = i;
    }
    return count;
}

ur_names_result ur_names_match(const char *const *found, size_t width, const char *const *wanted,
                               size_t count, size_t *place, size_t *missing)
{
    int numbered = are_numbers(wanted, count);
    *missing = count;
    for (size_t j = 0; j < width; j++)
        place[j] = count;
    if (numbered && width != count)
        return UR_NAMES_COUNT;
    if (!numbered) {
        *missing = match(found, width, wanted, count, place);
        if (*missing == count)
            return UR_NAMES_FOUND;
        if (width != count || !are_numbers(found, width))
            return UR_NAMES_MISSING;
    }
    for (size_t j = 0; j < width; j++)
        place[j] = j;
    return UR_NAMES_FOUND;
}

size_t ur_names_conflict(const char *const *a, const char *const *b, size_t count)
{
    size_t i = 0;
    while (i < count &&
           (ur_name_same(a[i], b[i]) || ur_name_is_number(a[i], i) || ur_name_is_number(b[i], i)))
        i++;
    return i;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum { COMPARED = 64 };

/* Levenshtein distance of the first COMPARED bytes */
static size_t edit_distance(const char *a, size_t a_size, const char *b)
{
    size_t row[COMPARED + 1], b_size = strnlen(b, COMPARED);
    a_size = smaller(a_size, COMPARED);
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replace, 1 + smaller(row[j], row[j - 1]));
        }
    }
    return row[b_size];
}

const char *ur_names_nearest(const char *const *names, size_t count, const char *text, size_t size)
{
    const char *best = NULL;
    size_t least = size / 3 + 2; /* one slip in a short name, more in a long one */
    for (size_t j = 0; names && j < count; j++) {
        if (strlen(names[j]) == size && !strncasecmp(names[j], text, size))
            return names[j];
        size_t distance = edit_distance(text, size, names[j]);
        if (distance < least && distance < strlen(names[j])) {
            least = distance;
            best = names[j];
        }
    }
    return best;
}
