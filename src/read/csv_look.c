/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_look.h"

#include "base/error.h"
#include "base/limits.h"
#include "read/csv_said.h"
#include "read/format.h"
#include "read/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NAMED = 4,
    NAME_SHOWN = 40,
    ASK_SHOWN = 80
}; /* columns in the note, bytes of a text there */
/* columns among which others are looked for one by one; digits of the USGS's parameter codes */
enum { PREFIXES_MOST = 4096, USGS_DIGITS = 5 };

typedef struct {
    size_t *present, *text;  /* width: cells that are not missing, and those that say nothing */
    size_t *silent, *limits; /* width: that say nothing of another column, and those that do say
                                that a value lies below or above */
    size_t *dates, *whole;   /* width: numbers such as 20200131, and whole ones */
    size_t rows;
    int counted;    /* the first column has been 1, 2, 3, ... so far */
    int increasing; /* and whole numbers that increase */
    double last;    /* in it */
} counts;

/* 20200131, of 1800 to 2100 */
static int is_date_number(double value)
{
    static const double FIRST = 18000101, LAST = 21001231;
    if (!(value >= FIRST && value <= LAST && value == floor(value)))
        return 0;
    long date = (long)value, day = date % 100, month = date / 100 % 100;
    return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

static void look_at_number(counts *c, size_t j, double value)
{
    c->dates[j] += (size_t)is_date_number(value);
    c->whole[j] += value == floor(value);
}

/* NaN: missing, or no number */
static double look_at(const ur_look *l, counts *c, const unsigned char *s, size_t j,
                      const unsigned char **next)
{
    double value, upper;
    *next = ur_number_fast(s, &value);
    if (*next && **next == '\r')
        ++*next;
    if (*next && (**next == l->lines.separator || **next == '\n')) {
        c->present[j]++;
        c->silent[j] += value != 0 && value != 1;
        c->limits[j] += value == 1;
        look_at_number(c, j, value);
        return value;
    }
    ur_cell cell = ur_cell_find(s, l->lines.separator);
    ur_cell_kind kind = ur_reading_is_missing(l->lines.reading, cell.start, cell.end)
                            ? UR_CELL_MISSING
                        : cell.end - cell.start > UR_CELL_MOST
                            ? UR_CELL_TEXT
                            : ur_cell_read(&cell, l->lines.c_locale, &value, &upper);
    *next = cell.next;
    ur_said says = ur_csv_said(l->lines.reading, l->lines.c_locale, &cell);
    c->silent[j] += says == UR_SAYS_NOTHING;
    c->limits[j] += says == UR_SAYS_BELOW || says == UR_SAYS_ABOVE;
    c->present[j] += kind != UR_CELL_MISSING;
    c->text[j] += kind == UR_CELL_TEXT && !ur_cell_is_dressed(&cell);
    if (kind != UR_CELL_NUMBER)
        return NAN;
    look_at_number(c, j, value);
    return value;
}

/* one line; *s ends at its line feed. Ragged ones are refused when they are decoded. */
static void look_at_row(const ur_look *l, counts *c, const unsigned char **s)
{
    for (size_t j = 0;; j++) {
        const unsigned char *next;
        if (j == l->width) {
            *s = memchr(*s, '\n', (size_t)(l->lines.bytes + l->lines.size - *s));
            return;
        }
        while (**s == ' ')
            ++*s;
        double value = look_at(l, c, *s, j, &next);
        if (j == 0) {
            c->counted &= value == (double)(c->rows + 1);
            c->increasing &= value == floor(value) && (c->rows == 0 || value > c->last);
            c->last = value;
            c->rows++;
        }
        *s = next;
        if (*next == '\n')
            return;
        ++*s;
    }
}

static void look_at_rows(const ur_look *l, counts *c)
{
    const unsigned char *end = l->lines.bytes + l->lines.size;
    for (const unsigned char *s = l->lines.bytes; s < end && s < l->lines.bytes + UR_LOOK_MOST;
         s++) {
        const unsigned char *start = s;
        while (ur_is_blank(*start) && *start != l->lines.separator)
            start++;
        s = start;
        if (*s != '\n')
            look_at_row(l, c, &s);
    }
}

/* which imputation a row is of, and of which row */
static int is_draw_number(const ur_look *l, size_t j)
{
    return l->names && (!strcmp(l->names[j], ".imp") || !strcmp(l->names[j], ".id"));
}

/* Numbers of days: 20200131, and in a column called so whole ones, as Excel counts days. */
static int is_dates(const ur_look *l, const counts *c, size_t j)
{
    return c->present[j] >= UR_COUNTED_LEAST &&
           (c->dates[j] == c->present[j] ||
            (l->names && strcasecmp(l->names[j], "date") == 0 && c->whole[j] == c->present[j]));
}

static int is_row_names(const ur_look *l, const counts *c)
{
    if (!l->names)
        return 0;
    return l->unnamed[0] || !strcmp(l->names[0], "rownames") ||
           !strcmp(l->names[0], "Unnamed: 0") ||
           (c->rows > 0 && c->increasing && !strcmp(l->names[0], "X")) ||
           (c->rows >= UR_COUNTED_LEAST && c->counted);
}

/* ---- columns that are called after others ---- */

typedef const char *const *name_place; /* one of the names of all columns */

/* those of equal names in the order of the file */
static int by_name(const void *a, const void *b)
{
    name_place x = *(const name_place *)a, y = *(const name_place *)b;
    int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

static int begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* after[k]: the column with the longest name that k's begins with, more than a number behind it;
 * else width. In the order of names, those that one begins with are all above it: a stack keeps
 * them, so that a million columns take no longer than to sort their names. */
static unrelu_status find_called_after(const ur_look *l, size_t *after, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t depth = 0;
    name_place *sorted = ur_take(&arena, l->width, sizeof *sorted);
    name_place *stack = ur_take(&arena, l->width, sizeof *stack);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < l->width; j++)
        sorted[j] = l->names + j;
    qsort(sorted, l->width, sizeof *sorted, by_name);
    for (size_t i = 0; i < l->width; i++) {
        const char *name = *sorted[i];
        size_t k = (size_t)(sorted[i] - l->names);
        after[k] = l->width;
        while (depth > 0 && !begins(name, *stack[depth - 1]))
            depth--;
        for (size_t t = depth; t-- > 0 && after[k] == l->width;) {
            char next = name[strlen(*stack[t])];
            if (next && !(next >= '0' && next <= '9'))
                after[k] = (size_t)(stack[t] - l->names);
        }
        if (*name && (depth == 0 || strcmp(*stack[depth - 1], name) != 0))
            stack[depth++] = sorted[i];
    }
    return UNRELU_OK;
}

static int tells(const counts *c, size_t k)
{
    return c->limits[k] > 0 && c->silent[k] == 0;
}

/* D_lead of lead, as ProUCL writes it, and r01049 of p01049, as the USGS does */
static void find_by_prefix(ur_look *l, const unsigned char *out, size_t k)
{
    const char *name = l->names[k], *rest = name + 2;
    int usgs = *name == 'r' && strspn(name + 1, "0123456789") == USGS_DIGITS;
    if (!usgs && strncmp(name, "D_", 2) != 0 && strncmp(name, "d_", 2) != 0)
        return;
    for (size_t j = 0; j < l->width && !l->hint; j++) {
        int is_it = usgs ? l->names[j][0] == 'p' && strcmp(l->names[j] + 1, name + 1) == 0
                         : *rest && strcmp(l->names[j], rest) == 0;
        if (!is_it || out[j])
            continue;
        l->hint = name;
        l->of = j;
        l->ask = usgs           ? "p*=r*"
                 : *name == 'D' ? "D_*, or seen:D_* where 1 is a value that was seen"
                                : "d_*, or seen:d_* where 1 is a value that was seen";
    }
}

static unrelu_status find_hint(ur_look *l, const counts *c, const unsigned char *out,
                               unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = 0;
    if (!l->names || l->lines.reading->asked.indicator)
        return UNRELU_OK;
    while (k < l->width && !tells(c, k))
        k++;
    if (k == l->width)
        return UNRELU_OK;
    size_t *after = ur_take(&arena, l->width, sizeof *after);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(find_called_after(l, after, err));
    for (; k < l->width && !l->hint; k++) {
        if (!tells(c, k) || after[k] == l->width || out[after[k]])
            continue;
        l->hint = l->names[k];
        l->of = after[k];
    }
    for (k = 0; k < l->width && l->width <= PREFIXES_MOST && !l->hint; k++)
        if (tells(c, k))
            find_by_prefix(l, out, k);
    return UNRELU_OK;
}

unrelu_status ur_csv_look(ur_look *l, ur_arena *arena, unrelu_error *err)
{
    UR_ARENA(own);
    counts c = {.present = ur_take(&own, l->width, sizeof *c.present),
                .text = ur_take(&own, l->width, sizeof *c.text),
                .silent = ur_take(&own, l->width, sizeof *c.silent),
                .limits = ur_take(&own, l->width, sizeof *c.limits),
                .dates = ur_take(&own, l->width, sizeof *c.dates),
                .whole = ur_take(&own, l->width, sizeof *c.whole),
                .counted = 1,
                .increasing = 1};
    unsigned char *out = ur_take(arena, l->width, 1);
    size_t left = 0;
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    look_at_rows(l, &c);
    for (size_t j = 0; j < l->width; j++) {
        int is_text = c.text[j] >= UR_TEXT_LEAST && 2 * c.text[j] > c.present[j];
        int is_empty = l->names && l->unnamed[j] && c.rows > 0 && c.present[j] == 0;
        out[j] = is_draw_number(l, j) ? UR_DRAW_NUMBER
                 : is_text            ? UR_TEXT_COLUMN
                 : is_empty           ? UR_EMPTY_COLUMN
                 : is_dates(l, &c, j) ? UR_DATE_COLUMN
                                      : 0;
        left += out[j] != 0;
    }
    if (is_row_names(l, &c)) {
        left += !out[0];
        out[0] = UR_ROW_NAMES;
    }
    UR_TRY(find_hint(l, &c, out, err));
    if (left > 0 && left < l->width)
        l->unasked = out;
    return UNRELU_OK;
}

void ur_csv_tell(const ur_look *l, const unsigned char *unasked, char *note, size_t size)
{
    size_t told = 0;
    for (size_t j = 0; j < l->width; j++) {
        char name[NAME_SHOWN + 32];
        size_t used = strlen(note);
        if (!unasked[j] || told++ > NAMED)
            continue;
        const char *what = unasked[j] == UR_ROW_NAMES      ? "row names"
                           : unasked[j] == UR_DRAW_NUMBER  ? "of imputations"
                           : unasked[j] == UR_EMPTY_COLUMN ? "empty"
                           : unasked[j] == UR_DATE_COLUMN  ? "dates"
                                                           : "text";
        if (told > NAMED)
            snprintf(name, sizeof name, "...");
        else if (l->names && !l->unnamed[j])
            snprintf(name, sizeof name, "'%.*s' (%s)", NAME_SHOWN, l->names[j], what);
        else
            snprintf(name, sizeof name, "column %zu (%s)", j + 1, what);
        snprintf(note + used, size - used, "%s%s", told == 1 ? "; left out: " : ", ", name);
    }
}

void ur_csv_hint(const ur_look *l, unrelu_source *source)
{
    size_t used = strlen(source->note), at = 0;
    if (!l->hint)
        return;
    while (source->pick && at < source->d && source->pick[at] != l->of)
        at++;
    if (at == source->d)
        return;
    const char *of = l->names[l->of];
    snprintf(source->note + used, sizeof source->note - used,
             "; '%.*s' seems to say where '%.*s' is a limit, and was not asked (`indicator` %.*s)",
             NAME_SHOWN, l->hint, NAME_SHOWN, of, l->ask ? ASK_SHOWN : NAME_SHOWN,
             l->ask ? l->ask : l->hint + strlen(of));
}
