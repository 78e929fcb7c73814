/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_look.h"

#include "base/error.h"
#include "base/limits.h"
#include "read/csv_cell.h"
#include "read/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMED = 4, NAME_SHOWN = 40 }; /* columns in the note, bytes of a name there */

typedef struct {
    size_t *present, *text; /* width: cells that are not missing, and those that say nothing */
    size_t rows;
    int counted;    /* the first column has been 1, 2, 3, ... so far */
    int increasing; /* and whole numbers that increase */
    double last;    /* in it */
} counts;

/* 0,5 and 1,000: numbers to whoever wrote them. A column of these is not left out, but refused with
 * what to write instead. */
static int is_number_with_comma(const ur_cell *cell)
{
    int comma = 0;
    for (const unsigned char *s = cell->start; s < cell->end; s++) {
        if (!*s || !strchr("0123456789+-.,eE", *s))
            return 0;
        comma |= *s == ',';
    }
    return comma;
}

/* NaN: missing, or no number */
static double look_at(const ur_look *l, counts *c, const unsigned char *s, size_t j,
                      const unsigned char **next)
{
    double value, upper;
    *next = ur_number_fast(s, &value);
    if (*next && **next == '\r')
        ++*next;
    if (*next && (**next == l->separator || **next == '\n')) {
        c->present[j]++;
        return value;
    }
    ur_cell cell = ur_cell_find(s, l->separator);
    ur_cell_kind kind = ur_reading_is_missing(l->reading, cell.start, cell.end) ? UR_CELL_MISSING
                        : cell.end - cell.start > UR_CELL_MOST
                            ? UR_CELL_TEXT
                            : ur_cell_read(&cell, l->c_locale, &value, &upper);
    *next = cell.next;
    c->present[j] += kind != UR_CELL_MISSING;
    c->text[j] += kind == UR_CELL_TEXT && !is_number_with_comma(&cell);
    return kind == UR_CELL_NUMBER ? value : NAN;
}

/* one line; *s ends at its line feed. Ragged ones are refused when they are decoded. */
static void look_at_row(const ur_look *l, counts *c, const unsigned char **s)
{
    for (size_t j = 0;; j++) {
        const unsigned char *next;
        if (j == l->width) {
            *s = memchr(*s, '\n', (size_t)(l->bytes + l->size - *s));
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
    const unsigned char *end = l->bytes + l->size;
    for (const unsigned char *s = l->bytes; s < end && s < l->bytes + UR_LOOK_MOST; s++) {
        const unsigned char *start = s;
        while (ur_is_blank(*start) && *start != l->separator)
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

static int is_row_names(const ur_look *l, const counts *c)
{
    if (!l->names)
        return 0;
    return l->unnamed || !strcmp(l->names[0], "rownames") || !strcmp(l->names[0], "Unnamed: 0") ||
           (c->rows > 0 && c->increasing && !strcmp(l->names[0], "X")) ||
           (c->rows >= UR_COUNTED_LEAST && c->counted);
}

unrelu_status ur_csv_look(const ur_look *l, ur_arena *arena, unsigned char **unasked,
                          unrelu_error *err)
{
    UR_ARENA(own);
    counts c = {.present = ur_take(&own, l->width, sizeof *c.present),
                .text = ur_take(&own, l->width, sizeof *c.text),
                .counted = 1,
                .increasing = 1};
    unsigned char *out = ur_take(arena, l->width, 1);
    size_t left = 0;
    *unasked = NULL;
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    look_at_rows(l, &c);
    for (size_t j = 0; j < l->width; j++) {
        int is_text = c.text[j] >= UR_TEXT_LEAST && 2 * c.text[j] > c.present[j];
        out[j] = is_draw_number(l, j) ? UR_DRAW_NUMBER : is_text ? UR_TEXT_COLUMN : 0;
        left += out[j] != 0;
    }
    if (is_row_names(l, &c)) {
        left += !out[0];
        out[0] = UR_ROW_NAMES;
    }
    if (left > 0 && left < l->width)
        *unasked = out;
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
        const char *what = unasked[j] == UR_ROW_NAMES     ? "row names"
                           : unasked[j] == UR_DRAW_NUMBER ? "of imputations"
                                                          : "text";
        if (told > NAMED)
            snprintf(name, sizeof name, "...");
        else if (l->names && !(j == 0 && l->unnamed))
            snprintf(name, sizeof name, "'%.*s' (%s)", NAME_SHOWN, l->names[j], what);
        else
            snprintf(name, sizeof name, "column %zu (%s)", j + 1, what);
        snprintf(note + used, size - used, "%s%s", told == 1 ? "; left out: " : ", ", name);
    }
}
