/* SPDX-License-Identifier: Apache-2.0 */
#include "read/groups.h"

#include "base/error.h"
#include "base/names.h"
#include "read/csv_cell.h"
#include "read/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60, NUMBER = 32 };

typedef struct {
    const char *text;
    size_t row;
} label;

static unrelu_status find_column(const unrelu_source *source, const char *name, size_t *column,
                                 unrelu_error *err)
{
    char *end;
    const char *const *names = source->all_names;
    size_t width = source->width;
    for (*column = 0; *column < width; ++*column)
        if (names ? !strcmp(names[*column], name) : ur_name_is_number(name, *column))
            return UNRELU_OK;
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && !*end && number >= 1 && number <= width) {
        *column = number - 1;
        return UNRELU_OK;
    }
    const char *near = ur_names_nearest(names, width, name, strlen(name));
    return ur_fail(err, UNRELU_EUSAGE, "%s: `errors` cluster: no column is called '%.*s'%s%.*s%s",
                   source->label, SHOWN, name, near ? "; did you mean '" : "", SHOWN,
                   near ? near : "", near ? "'?" : "");
}

/* ---- what is written in a column ---- */

static unrelu_status refuse_row(const unrelu_source *source, const char *column, size_t row,
                                unrelu_error *err)
{
    return ur_fail_at(err, UNRELU_EFORMAT, row + 1, 0,
                      "%s: row %zu: '%.*s', the column of clusters, is missing: say which cluster "
                      "the row belongs to, or leave it out",
                      source->label, row + 1, SHOWN, column);
}

/* texts as they are written */
static unrelu_status read_texts(unrelu_source *source, size_t column, ur_arena *arena,
                                label **labels, size_t *rows, unrelu_error *err)
{
    ur_texts texts;
    size_t *place = ur_take(arena, source->width, sizeof *place);
    UR_TRY(ur_arena_status(arena, err));
    place[column] = SIZE_MAX;
    unrelu_status status = ur_source_texts_of(source, place, &texts, err);
    if (texts.bytes)
        ur_arena_adopt(arena, texts.bytes, ur_free);
    UR_TRY(status);
    *rows = texts.rows;
    *labels = ur_take(arena, texts.rows, sizeof **labels);
    UR_TRY(ur_arena_status(arena, err));
    const char *s = texts.bytes;
    for (size_t i = 0; i < texts.rows; i++, s += strlen(s) + 1)
        (*labels)[i] = (label){s, i};
    return UNRELU_OK;
}

/* "" where it is missing */
static void write_number(double x, char text[NUMBER])
{
    *text = '\0';
    if (!isnan(x))
        snprintf(text, NUMBER, "%.17g", x);
}

/* numbers, written down */
static unrelu_status read_numbers(unrelu_source *source, size_t column, ur_arena *arena,
                                  label **labels, size_t *rows, unrelu_error *err)
{
    unrelu_source view = *source;
    ur_piece piece = {0};
    ur_block block = {.wanted = UR_VALUES_ONLY};
    size_t capacity = 0;
    char *texts = NULL;
    int more = 1;
    view.pick = &column;
    view.d = 1;
    view.reading = (ur_reading){0};
    view.undo = NULL;
    view.moved = 1;
    unrelu_status status = ur_source_rewind(&view, err);
    while (status == UNRELU_OK && more) {
        status = ur_source_take(&view, &piece, &more, err);
        if (status == UNRELU_OK && more)
            status = ur_source_decode(&view, &piece, &block, err);
        if (status != UNRELU_OK || !more)
            break;
        if (*rows + block.rows > capacity) {
            capacity = *rows + block.rows + capacity / 2;
            char *grown = ur_resize(texts, capacity * NUMBER);
            if (!grown)
                status = ur_fail_memory(err, capacity, "labels of clusters");
            texts = grown ? grown : texts;
        }
        for (size_t i = 0; status == UNRELU_OK && i < block.rows; i++, ++*rows)
            write_number(block.x[i * block.stride], texts + *rows * NUMBER);
    }
    ur_piece_free(&piece);
    ur_block_free(&block);
    source->moved = 1;
    if (texts)
        ur_arena_adopt(arena, texts, ur_free);
    *labels = ur_take(arena, *rows, sizeof **labels);
    UR_TRY(status);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < *rows; i++)
        (*labels)[i] = (label){texts + i * NUMBER, i};
    return UNRELU_OK;
}

/* ---- groups ---- */

static int by_text(const void *a, const void *b)
{
    const label *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

unrelu_status ur_groups_load(unrelu_source *source, const char *column, ur_arena *arena,
                             ur_groups *groups, unrelu_error *err)
{
    UR_ARENA(own);
    label *labels = NULL;
    size_t at, rows = 0;
    *groups = (ur_groups){0};
    UR_TRY(find_column(source, column, &at, err));
    UR_TRY((source->format->add_texts ? read_texts : read_numbers)(source, at, &own, &labels, &rows,
                                                                   err));
    groups->rows = rows;
    groups->of = ur_take(arena, rows, sizeof *groups->of);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < rows; i++)
        if (!*labels[i].text || !strcmp(labels[i].text, "NA") || !strcmp(labels[i].text, "NaN"))
            return refuse_row(source, column, i, err);
    if (rows > 0)
        qsort(labels, rows, sizeof *labels, by_text);
    for (size_t i = 0; i < rows; i++) {
        groups->count += i == 0 || strcmp(labels[i].text, labels[i - 1].text) != 0;
        groups->of[labels[i].row] = groups->count - 1;
    }
    return groups->count > 1
               ? UNRELU_OK
               : ur_fail(err, UNRELU_EDATA,
                         "%s: '%.*s' is the same in all rows: errors by clusters need two of them "
                         "at least, and are good with 20 or more",
                         source->label, SHOWN, column);
}

ur_group_squares ur_groups_squares(const ur_groups *groups, const double *a, const double *b,
                                   double *room)
{
    size_t count = groups->count;
    double *sum_a = room, *sum_b = room + count;
    double factor = (double)count / (double)(count - 1);
    ur_group_squares out = {0, 0, 0, 0};
    memset(room, 0, 2 * count * sizeof *room);
    for (size_t i = 0; i < groups->rows; i++) {
        sum_a[groups->of[i]] += a[i];
        sum_b[groups->of[i]] += b[i];
    }
    for (size_t g = 0; g < count; g++) {
        double square = factor * sum_b[g] * sum_b[g];
        out.aa += factor * sum_a[g] * sum_a[g];
        out.ab += factor * sum_a[g] * sum_b[g];
        out.bb += square;
        out.bbbb += square * square;
    }
    return out;
}
