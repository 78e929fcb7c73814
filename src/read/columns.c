/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/limits.h"
#include "base/names.h"
#include "read/format.h"

#include <string.h>

enum { NAME_SHOWN = 60 };

typedef struct {
    const unrelu_source *source;
    size_t width;
    const char *const *names;
    size_t *pick;
    size_t count;
    unsigned char *used; /* width */
} choice;

static unrelu_status refuse_entry(const choice *c, const char *entry, size_t size, int shown,
                                  unrelu_error *err)
{
    const char *label = c->source->label;
    const char *near = ur_names_nearest(c->names, c->width, entry, size);
    if (near)
        return ur_fail(err, UNRELU_EUSAGE, "%s: no column is called '%.*s'; did you mean '%.*s'?",
                       label, shown, entry, NAME_SHOWN, near);
    if (c->names)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s: no column is called '%.*s'; give a name of the header row or a number "
                       "from 1 to %zu",
                       label, shown, entry, c->width);
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s: no column is called '%.*s': the file has no column names; give numbers "
                   "from 1 to %zu",
                   label, shown, entry, c->width);
}

/* A run of digits, saturating; 0 digits read: NULL */
static const char *read_count(const char *s, const char *end, size_t *out)
{
    const char *start = s;
    size_t value = 0;
    for (; s < end && *s >= '0' && *s <= '9'; s++)
        value = value > SIZE_MAX / 16 ? value : value * 10 + (size_t)(*s - '0');
    *out = value;
    return s > start ? s : NULL;
}

/* the column of that name, or a number or range of columns */
static unrelu_status add_entry(choice *c, const char *entry, size_t size, unrelu_error *err)
{
    const char *label = c->source->label, *end = entry + size;
    int shown = size < NAME_SHOWN ? (int)size : NAME_SHOWN;
    size_t first = 0, last = 0; /* 1-based */
    for (size_t j = 0; c->names && j < c->width; j++) {
        if (strlen(c->names[j]) != size || memcmp(c->names[j], entry, size) != 0)
            continue;
        if (first)
            return ur_fail(err, UNRELU_EUSAGE,
                           "%s: columns %zu and %zu are both called '%.*s'; choose by number",
                           label, first, j + 1, shown, entry);
        first = last = j + 1;
    }
    if (!first) {
        const char *s = read_count(entry, end, &first);
        last = first;
        if (s && s < end && *s == '-')
            s = read_count(s + 1, end, &last);
        if (s != end)
            return refuse_entry(c, entry, size, shown, err);
        if (first < 1 || last > c->width || first > last)
            return ur_fail(err, UNRELU_EUSAGE,
                           "%s: there is no column %.*s; the file has columns 1 to %zu", label,
                           shown, entry, c->width);
    }
    for (size_t j = first; j <= last; j++) {
        if (c->used[j - 1])
            return ur_fail(err, UNRELU_EUSAGE,
                           "%s: column %zu is chosen twice; name each column once", label, j);
        c->used[j - 1] = 1;
        c->pick[c->count++] = j - 1;
    }
    return UNRELU_OK;
}

static unrelu_status add_entries(choice *c, const char *spec, unrelu_error *err)
{
    for (const char *s = spec;; s++) {
        s += strspn(s, " \t");
        size_t size = strcspn(s, ","), trimmed = size;
        while (trimmed && (s[trimmed - 1] == ' ' || s[trimmed - 1] == '\t'))
            trimmed--;
        if (!trimmed)
            return ur_fail(err, UNRELU_EUSAGE,
                           "%s: empty entry in the list of columns '%.*s'; write for example "
                           "\"1,3,5-9\"",
                           c->source->label, NAME_SHOWN, spec);
        UR_TRY(add_entry(c, s, trimmed, err));
        s += size;
        if (!*s)
            return UNRELU_OK;
    }
}

unrelu_status ur_columns_choose(unrelu_source *source, const char *spec, size_t width,
                                const char *const *names, unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(ur_columns_check(source->label, width, err));
    source->width = source->d = width;
    if (spec) {
        choice c = {.source = source,
                    .width = width,
                    .names = names,
                    .pick = ur_take(&source->arena, width, sizeof *c.pick),
                    .used = ur_take(&arena, width, 1)};
        UR_TRY(ur_arena_status(&arena, err));
        UR_TRY(ur_arena_status(&source->arena, err));
        UR_TRY(add_entries(&c, spec, err));
        size_t in_place = 0;
        while (in_place < c.count && c.pick[in_place] == in_place)
            in_place++;
        if (in_place < width) { /* not everything, as it is */
            source->pick = c.pick;
            source->d = c.count;
        }
    }
    source->names = ur_take(&source->arena, source->d, sizeof *source->names);
    for (size_t j = 0; source->names && j < source->d; j++) {
        size_t column = source->pick ? source->pick[j] : j;
        source->names[j] = (char *)(names ? ur_take_copy(&source->arena, names[column])
                                          : ur_take_text(&source->arena, "x%zu", column + 1));
    }
    return ur_arena_status(&source->arena, err);
}
