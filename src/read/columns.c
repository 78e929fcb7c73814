/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/limits.h"
#include "base/names.h"
#include "read/format.h"

#include <fnmatch.h>
#include <string.h>

enum { NAME_SHOWN = 60 };

typedef struct {
    const unrelu_source *source;
    size_t width;
    const char *const *names;
    size_t *pick;
    size_t count;
    unsigned char *used, *excluded; /* width */
    int excluding;                  /* the entry being read starts with ^ */
    int included;                   /* some entry does not */
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

static unrelu_status refuse_number(const choice *c, const char *entry, int shown, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE, "%s: there is no column %.*s; the file has columns 1 to %zu",
                   c->source->label, shown, entry, c->width);
}

/* the 1-based column of exactly that name; 0: none */
static unrelu_status find_name(const choice *c, const char *name, size_t size, size_t *found,
                               unrelu_error *err)
{
    *found = 0;
    for (size_t j = 0; c->names && j < c->width; j++) {
        if (strlen(c->names[j]) != size || memcmp(c->names[j], name, size) != 0)
            continue;
        if (*found)
            return ur_fail(err, UNRELU_EUSAGE,
                           "%s: columns %zu and %zu are both called '%.*s'; choose by number",
                           c->source->label, *found, j + 1,
                           size < NAME_SHOWN ? (int)size : NAME_SHOWN, name);
        *found = j + 1;
    }
    return UNRELU_OK;
}

/* What is done with a column that an entry means: taken, unless an exclusion starts with ^. again:
 * it was asked for by itself, so that a second time is a mistake. */
static unrelu_status add(choice *c, size_t column, int again, unrelu_error *err)
{
    if (c->excluding) {
        c->excluded[column - 1] = 1;
        return UNRELU_OK;
    }
    c->included = 1;
    if (c->used[column - 1])
        return !again ? UNRELU_OK
                      : ur_fail(err, UNRELU_EUSAGE,
                                "%s: column %zu is chosen twice; name each column once",
                                c->source->label, column);
    c->used[column - 1] = 1;
    c->pick[c->count++] = column - 1;
    return UNRELU_OK;
}

static unrelu_status add_range(choice *c, size_t first, size_t last, unrelu_error *err)
{
    for (size_t j = first; j <= last; j++)
        UR_TRY(add(c, j, 1, err));
    return UNRELU_OK;
}

/* rain*: all names of that pattern that were not asked for before; *found: there are some */
static unrelu_status add_pattern(choice *c, const char *pattern, size_t size, int *found,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    *found = 0;
    if (!c->names || !memchr(pattern, '*', size))
        return UNRELU_OK;
    const char *text = ur_take_text(&arena, "%.*s", (int)size, pattern);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < c->width; j++)
        if (fnmatch(text, c->names[j], 0) == 0) {
            *found = 1;
            UR_TRY(add(c, j + 1, 0, err));
        }
    return UNRELU_OK;
}

/* one end of lead:zinc: a name, or a number */
static unrelu_status find_end(const choice *c, const char *text, size_t size, size_t *found,
                              unrelu_error *err)
{
    UR_TRY(find_name(c, text, size, found, err));
    if (!*found && read_count(text, text + size, found) != text + size)
        *found = 0;
    return UNRELU_OK;
}

/* lead:zinc; *found: both ends are columns */
static unrelu_status add_between(choice *c, const char *entry, size_t size, int *found,
                                 unrelu_error *err)
{
    const char *end = entry + size;
    *found = 0;
    for (const char *s = entry; (s = memchr(s, ':', (size_t)(end - s))); s++) {
        size_t first, last;
        UR_TRY(find_end(c, entry, (size_t)(s - entry), &first, err));
        UR_TRY(find_end(c, s + 1, (size_t)(end - s - 1), &last, err));
        if (first < 1 || last < 1 || first > c->width || last > c->width)
            continue;
        if (first > last)
            return ur_fail(err, UNRELU_EUSAGE,
                           "%s: the columns '%.*s' end before they start: write the first one "
                           "first",
                           c->source->label, size < NAME_SHOWN ? (int)size : NAME_SHOWN, entry);
        *found = 1;
        return add_range(c, first, last, err);
    }
    return UNRELU_OK;
}

/* the column of that name, a number, a range, or a pattern of names */
static unrelu_status add_entry(choice *c, const char *entry, size_t size, int quoted,
                               unrelu_error *err)
{
    const char *end = entry + size;
    int shown = size < NAME_SHOWN ? (int)size : NAME_SHOWN, found;
    size_t first, last; /* 1-based */
    UR_TRY(find_name(c, entry, size, &first, err));
    if (first)
        return add(c, first, 1, err);
    if (quoted)
        return refuse_entry(c, entry, size, shown, err);
    UR_TRY(add_pattern(c, entry, size, &found, err));
    if (!found)
        UR_TRY(add_between(c, entry, size, &found, err));
    if (found)
        return UNRELU_OK;
    const char *s = read_count(entry, end, &first);
    last = first;
    if (s && end - s == 1 && *s == '-') { /* 2-: to the last */
        last = c->width;
        s = end;
    } else if (s && s < end && *s == '-') {
        s = read_count(s + 1, end, &last);
    }
    if (s != end)
        return refuse_entry(c, entry, size, shown, err);
    if (first < 1 || last > c->width || first > last)
        return refuse_number(c, entry, shown, err);
    return add_range(c, first, last, err);
}

static unrelu_status refuse_empty(const choice *c, const char *spec, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s: empty entry in the list of columns '%.*s'; write for example "
                   "\"1,3,5-9\"",
                   c->source->label, NAME_SHOWN, spec);
}

/* "name, with a comma", quotes inside doubled; *s is behind the closing quote then */
static unrelu_status add_quoted(choice *c, const char **s, unrelu_error *err)
{
    UR_ARENA(arena);
    const char *from = *s + 1;
    char *name = ur_take(&arena, strlen(from) + 1, 1), *to = name;
    UR_TRY(ur_arena_status(&arena, err));
    for (; *from && (*from != '"' || from[1] == '"'); from++) {
        *to++ = *from;
        from += *from == '"';
    }
    if (*from != '"')
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s: a quote in the list of columns is not closed: '%.*s'", c->source->label,
                       NAME_SHOWN, *s);
    *s = from + 1;
    return add_entry(c, name, (size_t)(to - name), 1, err);
}

static unrelu_status add_entries(choice *c, const char *spec, unrelu_error *err)
{
    for (const char *s = spec;; s++) {
        s += strspn(s, " \t");
        size_t size = strcspn(s, ","), trimmed = size, named;
        while (trimmed && (s[trimmed - 1] == ' ' || s[trimmed - 1] == '\t'))
            trimmed--;
        if (!trimmed)
            return refuse_empty(c, spec, err);
        UR_TRY(find_name(c, s, trimmed, &named, err));
        c->excluding = !named && *s == '^';
        s += c->excluding;
        if (!named && *s == '"') {
            UR_TRY(add_quoted(c, &s, err));
            s += strspn(s, " \t");
            if (*s && *s != ',')
                return ur_fail(err, UNRELU_EUSAGE,
                               "%s: text follows a closing quote in the list of columns: '%.*s'",
                               c->source->label, NAME_SHOWN, s);
        } else if (trimmed == (size_t)c->excluding) {
            return refuse_empty(c, spec, err);
        } else {
            UR_TRY(add_entry(c, s, trimmed - (size_t)c->excluding, 0, err));
            s += size - (size_t)c->excluding;
        }
        if (!*s)
            return UNRELU_OK;
    }
}

/* Where there are exclusions alone, all others are taken, but for those that nobody asked for; then
 * exclusions are taken out. */
static unrelu_status settle(choice *c, unsigned char *unasked, unrelu_error *err)
{
    size_t kept = 0;
    for (size_t j = 0; !c->included && j < c->width; j++)
        if (!unasked || !unasked[j])
            c->pick[c->count++] = j;
    for (size_t j = 0; unasked && j < c->width; j++)
        if (c->included || c->excluded[j])
            unasked[j] = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!c->excluded[c->pick[i]])
            c->pick[kept++] = c->pick[i];
    c->count = kept;
    return kept ? UNRELU_OK
                : ur_fail(err, UNRELU_EUSAGE,
                          "%s: no column is left of those chosen: exclude fewer", c->source->label);
}

unrelu_status ur_columns_choose(unrelu_source *source, const char *spec, size_t width,
                                const char *const *names, unsigned char *unasked, unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(ur_columns_check(source->label, width, err));
    source->width = source->d = width;
    if (spec || unasked) {
        choice c = {.source = source,
                    .width = width,
                    .names = names,
                    .pick = ur_take(&source->arena, width, sizeof *c.pick),
                    .used = ur_take(&arena, width, 1),
                    .excluded = ur_take(&arena, width, 1)};
        UR_TRY(ur_arena_status(&arena, err));
        UR_TRY(ur_arena_status(&source->arena, err));
        if (spec)
            UR_TRY(add_entries(&c, spec, err));
        UR_TRY(settle(&c, unasked, err));
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
