/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "gaussian/impute/impute.h"
#include "write/sink.h"

#include <string.h>

enum { DRAW_COLUMNS = 2 };

struct ur_filled_table {
    ur_table_shape shape;
    const char *path;
    unrelu_sink *sink;
    size_t columns; /* of the output */
    size_t *from;   /* columns: of the numbers of a row; SIZE_MAX: a text */
    int is_mixed;   /* else rows are numbers as they come */
    ur_texts texts;
    double *row; /* d + DRAW_COLUMNS numbers: the row, then the number of the draw, the row's */
    double *x;   /* columns */
    const char **cells; /* columns */
};

static void end_table(void *thing)
{
    ur_filled_table *t = thing;
    unrelu_sink_abort(t->sink);
    ur_texts_free(&t->texts);
}

/* which column of the output is what, and its name */
static unrelu_status set_columns(ur_filled_table *t, ur_arena *arena, const char ***out,
                                 unrelu_error *err)
{
    const ur_texts *texts = &t->texts;
    size_t d = t->shape.d, draws = t->shape.draws ? DRAW_COLUMNS : 0, at = draws;
    size_t others = texts->columns ? texts->columns : d;
    const char **names = *out = ur_take(arena, draws + others, sizeof *names);
    t->columns = draws + others;
    t->from = ur_take(arena, t->columns, sizeof *t->from);
    t->x = ur_take(arena, t->columns, sizeof *t->x);
    t->cells = ur_take(arena, t->columns, sizeof *t->cells);
    t->row = ur_take(arena, d + DRAW_COLUMNS, sizeof *t->row);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < draws; j++) {
        names[j] = j == 0 ? ".imp" : ".id";
        t->from[j] = d + j;
    }
    for (size_t j = 0; j < others; j++, at++) {
        t->from[at] = texts->columns ? texts->place[j] : j;
        names[at] = t->from[at] == SIZE_MAX ? texts->names[j] : t->shape.names[t->from[at]];
    }
    return UNRELU_OK;
}

static unrelu_status check_texts(const ur_filled_table *t, unrelu_source *samples,
                                 unrelu_error *err)
{
    if (t->texts.columns && t->texts.rows != t->shape.n)
        return ur_fail(err, UNRELU_EIO,
                       "%s changed while it was read: it had %zu rows, and has %zu now",
                       ur_source_label(samples), t->shape.n, t->texts.rows);
    return UNRELU_OK;
}

unrelu_status ur_filled_open(const char *path, const ur_table_shape *shape, unrelu_source *samples,
                             ur_arena *arena, ur_filled_table **out, unrelu_error *err)
{
    ur_filled_table *t = ur_take(arena, 1, sizeof *t);
    const char **names;
    size_t tables = shape->draws ? shape->draws : 1;
    *out = ur_arena_adopt(arena, t, end_table);
    UR_TRY(ur_arena_status(arena, err));
    t->shape = *shape;
    if (!path || ur_sink_is_array(path))
        return ur_sink_open(path, tables * shape->n, shape->d, shape->names, 0, &t->sink, err);
    UR_TRY(ur_source_texts(samples, &t->texts, err));
    UR_TRY(check_texts(t, samples, err));
    UR_TRY(set_columns(t, arena, &names, err));
    t->is_mixed = t->texts.columns || shape->draws;
    return ur_sink_open(path, tables * shape->n, t->columns, names, shape->safe, &t->sink, err);
}

/* text: of the row's first cell that is kept; moves on */
static unrelu_status write_row(ur_filled_table *t, const char **text, unrelu_error *err)
{
    for (size_t j = 0; j < t->columns; j++) {
        int is_text = t->from[j] == SIZE_MAX;
        t->x[j] = is_text ? 0 : t->row[t->from[j]];
        t->cells[j] = is_text ? *text : NULL;
        if (is_text)
            *text += strlen(*text) + 1;
    }
    return ur_sink_write_mixed(t->sink, t->x, t->cells, err);
}

unrelu_status ur_filled_write(ur_filled_table *t, const double *x, size_t first, size_t count,
                              unrelu_error *err)
{
    size_t n = t->shape.n, d = t->shape.d;
    if (!t->is_mixed)
        return unrelu_sink_write(t->sink, x, count * n, err);
    for (size_t draw = 0; draw < count; draw++) {
        const char *text = t->texts.bytes;
        for (size_t i = 0; i < n; i++, x += d) {
            memcpy(t->row, x, d * sizeof *x);
            t->row[d] = (double)(first + draw + 1);
            t->row[d + 1] = (double)(i + 1);
            UR_TRY(write_row(t, &text, err));
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_filled_commit(ur_filled_table *t, unrelu_error *err)
{
    unrelu_sink *sink = t->sink;
    t->sink = NULL; /* it closes itself */
    return unrelu_sink_commit(sink, err);
}
