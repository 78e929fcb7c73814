/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/limits.h"
#include "base/names.h"
#include "base/text.h"
#include "read/format.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 60 };

typedef struct {
    unrelu_source *source;
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

static unrelu_status refuse_backwards(const choice *c, const char *entry, int shown,
                                      unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s: the columns '%.*s' end before they start: write the first one first",
                   c->source->label, shown, entry);
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
            return refuse_backwards(c, entry, size < NAME_SHOWN ? (int)size : NAME_SHOWN, err);
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
    if (first < 1 || last < 1 || first > c->width || last > c->width)
        return refuse_number(c, entry, shown, err);
    if (first > last)
        return refuse_backwards(c, entry, shown, err);
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

/* ---- what is said of the cells of columns ---- */

/* all columns that a list means: marked (width, zeros before). Where it only excludes, all others.
 */
static unrelu_status mark_columns(const choice *of, const char *spec, unsigned char *marked,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    choice c = {.source = of->source,
                .width = of->width,
                .names = of->names,
                .pick = ur_take(&arena, of->width, sizeof *c.pick),
                .used = ur_take(&arena, of->width, 1),
                .excluded = ur_take(&arena, of->width, 1)};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(add_entries(&c, spec, err));
    for (size_t j = 0; j < c.width; j++)
        marked[j] = (c.used[j] || !c.included) && !c.excluded[j];
    return UNRELU_OK;
}

static unrelu_status set_uncensored(unrelu_source *source, const choice *c, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_reading *r = &source->reading;
    unsigned char *marked = ur_take(&arena, c->width, 1);
    r->uncensored = ur_take(&source->arena, source->d, 1);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(&source->arena, err));
    UR_TRY(mark_columns(c, r->asked.uncensored, marked, err));
    for (size_t j = 0; j < source->d; j++)
        r->uncensored[j] = marked[source->pick ? source->pick[j] : j];
    return UNRELU_OK;
}

/* one item of `top`: NAME=V, or V for all columns; a name may hold an equals sign itself */
static unrelu_status set_top_item(unrelu_source *source, const choice *c, char *item,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    double value;
    char *equals = strrchr(item, '='), *number = equals ? equals + 1 : item;
    unsigned char *marked = ur_take(&arena, c->width, 1);
    UR_TRY(ur_arena_status(&arena, err));
    if (!ur_text_number(number, &value))
        return ur_fail(err, UNRELU_EUSAGE, "`top`: '%.80s' is not a number, nor NAME=NUMBER", item);
    memset(marked, !equals, c->width);
    if (equals) {
        *equals = '\0';
        UR_TRY(mark_columns(c, item, marked, err));
    }
    for (size_t j = 0; j < source->d; j++)
        if (marked[source->pick ? source->pick[j] : j])
            source->reading.top[j] = value;
    return UNRELU_OK;
}

static unrelu_status set_top(unrelu_source *source, const choice *c, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_reading *r = &source->reading;
    size_t size;
    r->top = ur_take(&source->arena, source->d, sizeof *r->top);
    r->met_top = ur_take(&source->arena, 1, sizeof *r->met_top);
    UR_TRY(ur_arena_status(&source->arena, err));
    for (size_t j = 0; j < source->d; j++)
        r->top[j] = INFINITY;
    for (const char *rest = r->asked.top, *item; (item = ur_reading_item(&rest, &size));) {
        char *own = ur_take(&arena, size + 1, 1);
        UR_TRY(ur_arena_status(&arena, err));
        memcpy(own, item, size);
        UR_TRY(set_top_item(source, c, own, err));
    }
    return UNRELU_OK;
}

/* ---- columns that tell of others ---- */

typedef const char *const *name_place; /* one of the names of all columns */

static int by_name(const void *a, const void *b)
{
    return strcmp(**(const name_place *)a, **(const name_place *)b);
}

static int is_called(name_place place, const char *name, size_t size)
{
    return strncmp(*place, name, size) == 0 && !(*place)[size];
}

/* As find_name, of names in order: half of a million columns may tell of the others. */
static unrelu_status find_sorted(const choice *c, const name_place *sorted, const char *name,
                                 size_t size, size_t *found, unrelu_error *err)
{
    size_t first = 0;
    for (size_t end = c->width; first < end;) {
        size_t middle = first + (end - first) / 2;
        if (strncmp(*sorted[middle], name, size) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    *found = 0;
    if (first == c->width || !is_called(sorted[first], name, size))
        return UNRELU_OK;
    if (first + 1 < c->width && is_called(sorted[first + 1], name, size))
        return find_name(c, name, size, found, err); /* which says that there are two */
    *found = (size_t)(sorted[first] - c->names) + 1;
    return UNRELU_OK;
}

static unrelu_status sort_names(const choice *c, ur_arena *arena, const name_place **out,
                                unrelu_error *err)
{
    name_place *sorted = ur_take(arena, c->width, sizeof *sorted);
    *out = sorted;
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < c->width; j++)
        sorted[j] = c->names + j;
    qsort(sorted, c->width, sizeof *sorted, by_name);
    return UNRELU_OK;
}

/* How columns that tell of others are called: the name of the other one between head and tail. The
 * other one may have more around it too. */
typedef struct {
    const char *head, *tail, *other_head, *other_tail;
    size_t heads, tails, other_heads, other_tails; /* their sizes */
} pattern;

/* one side of a pattern: what stands before its * and behind it */
static int cut_at_star(const char *text, size_t size, const char **head, size_t *heads,
                       const char **tail, size_t *tails)
{
    const char *star = memchr(text, '*', size);
    *head = text;
    *heads = star ? (size_t)(star - text) : 0;
    *tail = star ? star + 1 : text;
    *tails = star ? size - *heads - 1 : size;
    return star && !memchr(*tail, '*', *tails);
}

/* "Cen" is "*Cen", "D_*" is "*=D_*"; *p: "p*=r*". 0: it is none of these */
static int read_pattern(const char *text, pattern *p)
{
    const char *equals = strchr(text, '=');
    *p = (pattern){.other_head = "", .other_tail = ""};
    if (!strchr(text, '*')) {
        (void)cut_at_star(text, strlen(text), &p->head, &p->heads, &p->tail, &p->tails);
        return 1;
    }
    const char *own = equals ? equals + 1 : text;
    if (equals && !cut_at_star(text, (size_t)(equals - text), &p->other_head, &p->other_heads,
                               &p->other_tail, &p->other_tails))
        return 0;
    return cut_at_star(own, strlen(own), &p->head, &p->heads, &p->tail, &p->tails);
}

/* of column k, by its name; 0: it tells of none. room: for the other name */
static unrelu_status find_told(const choice *c, const name_place *sorted, const pattern *p,
                               size_t k, char *room, size_t *told, unrelu_error *err)
{
    const char *name = c->names[k];
    size_t size = strlen(name);
    *told = 0;
    if (size <= p->heads + p->tails || strncmp(name, p->head, p->heads) != 0 ||
        strncmp(name + size - p->tails, p->tail, p->tails) != 0)
        return UNRELU_OK;
    size_t middle = size - p->heads - p->tails, used = p->other_heads + middle + p->other_tails;
    memcpy(room, p->other_head, p->other_heads);
    memcpy(room + p->other_heads, name + p->heads, middle);
    memcpy(room + p->other_heads + middle, p->other_tail, p->other_tails);
    room[used] = '\0';
    UR_TRY(find_sorted(c, sorted, room, used, told, err));
    *told = *told == k + 1 ? 0 : *told;
    return UNRELU_OK;
}

static unrelu_status refuse_indicator(const choice *c, const char *text, unrelu_error *err)
{
    const char *none = c->names ? "" : " (it has no column names)";
    if (strchr(text, '*'))
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s: no column is called '%.60s' with a part of another one's name for the "
                       "*%s: `indicator` is D_* where D_lead tells of lead, p*=r* where r1 tells "
                       "of p1",
                       c->source->label, text, none);
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s: no column is called as another one with '%.60s' behind it%s: "
                   "`indicator` is the end of the names of columns that tell where others are "
                   "limits",
                   c->source->label, text, none);
}

/* of[k]: the column that column k tells of, else SIZE_MAX */
static unrelu_status find_indicators(const choice *c, const char *text, size_t *of,
                                     unrelu_error *err)
{
    UR_ARENA(arena);
    const name_place *sorted = NULL;
    size_t found = 0, longest = 0;
    pattern p;
    int known = read_pattern(text, &p);
    for (size_t k = 0; k < c->width; k++) {
        size_t size = c->names ? strlen(c->names[k]) : 0;
        longest = size > longest ? size : longest;
        of[k] = SIZE_MAX;
    }
    if (!c->names || !known)
        return refuse_indicator(c, text, err);
    UR_TRY(sort_names(c, &arena, &sorted, err));
    char *room = ur_take(&arena, longest + strlen(text) + 1, 1);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t k = 0; k < c->width; k++) {
        size_t column;
        UR_TRY(find_told(c, sorted, &p, k, room, &column, err));
        if (column) {
            of[k] = column - 1;
            found++;
        }
    }
    return found ? UNRELU_OK : refuse_indicator(c, text, err);
}

/* from columns of the file to where these go; SIZE_MAX: they are not handed out */
static unrelu_status place_indicators(unrelu_source *source, size_t width, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t *of = source->reading.indicator_of;
    size_t *place = ur_take(&arena, width, sizeof *place);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < width; j++)
        place[j] = source->pick ? SIZE_MAX : j;
    for (size_t j = 0; source->pick && j < source->d; j++)
        place[source->pick[j]] = j;
    for (size_t k = 0; k < width; k++)
        if (of[k] != SIZE_MAX)
            of[k] = place[of[k]];
    return UNRELU_OK;
}

/* ---- the columns of a model ---- */

static unrelu_status refuse_wanted(const choice *c, size_t i, unrelu_error *err)
{
    const unrelu_source *source = c->source;
    const char *const *names = c->names;
    if (!names)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu column%s, and the model has %zu: choose the model's columns "
                       "with `columns`",
                       source->label, c->width, c->width == 1 ? "" : "s", source->wanted_count);
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s has no column '%.80s', which the model has: its %zu columns are '%.80s'%s",
                   source->label, source->wanted[i], c->width, names[0],
                   c->width > 1 ? ", ..." : "");
}

/* columns that the model does not have, and that nobody would take for numbers of it, into the note
 */
static void tell_others(const choice *c, const size_t *place, const unsigned char *unasked)
{
    enum { NAMED = 4, SHOWN = 40 };
    unrelu_source *source = c->source;
    size_t told = 0;
    for (size_t j = 0; j < c->width; j++) {
        size_t used = strlen(source->note), room = sizeof source->note - used;
        if (place[j] < source->wanted_count || c->excluded[j] || (unasked && unasked[j]))
            continue;
        if (told++ < NAMED)
            snprintf(source->note + used, room, "%s%.*s", told == 1 ? "; not in the model: " : ", ",
                     SHOWN, c->names ? c->names[j] : "columns");
        else if (told == NAMED + 1)
            snprintf(source->note + used, room, ", ...");
    }
}

/* by name, in the order of the file, whatever else it has; by place where either has no names but
 * x1, x2, ... */
static unrelu_status add_wanted(choice *c, const unsigned char *unasked, unrelu_error *err)
{
    UR_ARENA(arena);
    const char *const *wanted = c->source->wanted;
    size_t count = c->source->wanted_count, missing, left = 0;
    size_t *place = ur_take(&arena, c->width, sizeof *place);
    const char *const *names = c->names ? c->names : ur_take_numbered(&arena, 'x', c->width);
    UR_TRY(ur_arena_status(&arena, err));
    c->included = 1;
    ur_names_result result = ur_names_match(names, c->width, wanted, count, place, &missing);
    for (size_t j = 0; j < c->width; j++)
        left += (!unasked || !unasked[j]) && !c->excluded[j];
    if (result != UR_NAMES_FOUND && left == count && (!c->names || result == UR_NAMES_COUNT)) {
        for (size_t j = 0; j < c->width; j++)
            if ((!unasked || !unasked[j]) && !c->excluded[j])
                c->pick[c->count++] = j;
        return UNRELU_OK;
    }
    if (result != UR_NAMES_FOUND)
        return refuse_wanted(c, missing < count ? missing : 0, err);
    for (size_t j = 0; j < c->width; j++)
        if (place[j] < count)
            c->pick[c->count++] = j;
    tell_others(c, place, unasked);
    return UNRELU_OK;
}

/* ---- all of it ---- */

static unrelu_status pick(unrelu_source *source, choice *c, unsigned char *unasked,
                          const size_t *indicator_of, unrelu_error *err)
{
    const char *spec = source->reading.asked.columns;
    for (size_t k = 0; indicator_of && k < c->width; k++)
        if (indicator_of[k] != SIZE_MAX)
            c->excluded[k] = 1;
    if (spec)
        UR_TRY(add_entries(c, spec, err));
    else if (source->wanted)
        UR_TRY(add_wanted(c, unasked, err));
    UR_TRY(settle(c, unasked, err));
    size_t in_place = 0;
    while (in_place < c->count && c->pick[in_place] == in_place)
        in_place++;
    if (in_place < c->width) { /* not everything, as it is */
        source->pick = c->pick;
        source->d = c->count;
    }
    return UNRELU_OK;
}

unrelu_status ur_columns_choose(unrelu_source *source, size_t width, const char *const *names,
                                unsigned char *unasked, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_reading *r = &source->reading;
    UR_TRY(ur_columns_check(source->label, width, err));
    source->width = source->d = width;
    choice c = {.source = source, .width = width, .names = names};
    if (r->asked.columns || unasked || r->asked.indicator || source->wanted) {
        c.pick = ur_take(&source->arena, width, sizeof *c.pick);
        c.used = ur_take(&arena, width, 1);
        c.excluded = ur_take(&arena, width, 1);
        if (r->asked.indicator)
            r->indicator_of = ur_take(&source->arena, width, sizeof *r->indicator_of);
        UR_TRY(ur_arena_status(&arena, err));
        UR_TRY(ur_arena_status(&source->arena, err));
        if (r->asked.indicator)
            UR_TRY(find_indicators(&c, ur_reading_indicator(r), r->indicator_of, err));
        UR_TRY(pick(source, &c, unasked, r->indicator_of, err));
    }
    if (r->indicator_of)
        UR_TRY(place_indicators(source, width, err));
    if (r->asked.uncensored)
        UR_TRY(set_uncensored(source, &c, err));
    if (r->asked.top)
        UR_TRY(set_top(source, &c, err));
    source->names = ur_take(&source->arena, source->d, sizeof *source->names);
    for (size_t j = 0; source->names && j < source->d; j++) {
        size_t column = source->pick ? source->pick[j] : j;
        source->names[j] = (char *)(names ? ur_take_copy(&source->arena, names[column])
                                          : ur_take_text(&source->arena, "x%zu", column + 1));
    }
    return ur_arena_status(&source->arena, err);
}
