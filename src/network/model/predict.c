/* SPDX-License-Identifier: Apache-2.0 */
/* y = U f(V x + c) + e in blocks of fixed rows: 2 n k (d + m) flops, the same bits at any thread
 * count. A file is passed twice: once to count its rows and to look for NaN and infinities, so
 * that a refusal comes before the first row is written. */
#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/model/network.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

static void forward_block(const ur_weights *w, const double *x, size_t rows, double *t, double *y)
{
    ur_multiply_nt(rows, w->d, w->k, x, w->V, t);
    for (size_t i = 0; w->c && i < rows; i++)
        for (size_t j = 0; j < w->k; j++)
            t[i * w->k + j] += w->c[j];
    ur_activation_apply(w->f, rows * w->k, t, t, NULL);
    ur_multiply_nt(rows, w->k, w->m, t, w->U, y);
    for (size_t i = 0; w->e && i < rows; i++)
        for (size_t j = 0; j < w->m; j++)
            y[i * w->m + j] += w->e[j];
}

void ur_network_forward(const ur_weights *w, const double *x, size_t rows, double *t, double *y)
{
    for (size_t i = 0; i < rows; i += BLOCK)
        forward_block(w, x + i * w->d, rows - i < BLOCK ? rows - i : BLOCK, t + i * w->k,
                      y + i * w->m);
}

static unrelu_status check_weights(const unrelu_network *m, unrelu_error *err)
{
    if (m->U && m->V)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EUSAGE, "the network has no weights (its verdict is '%s')",
                   unrelu_verdict_name(m->verdict));
}

/* ---- a matrix ---- */

typedef struct {
    const ur_weights *w;
    const double *x;
    size_t n;
    double *y;
} prediction;

/* 1 + the first cell that is not finite, 0: none */
static size_t first_bad(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return i + 1;
    return 0;
}

static unrelu_status predict_block(void *context, size_t i, unrelu_error *err)
{
    const prediction *p = context;
    size_t d = p->w->d, start = i * BLOCK, rows = p->n - start < BLOCK ? p->n - start : BLOCK;
    const double *x = p->x + start * d;
    UR_ARENA(arena);
    double *t = ur_take(&arena, rows, p->w->k * sizeof *t);
    UR_TRY(ur_arena_status(&arena, err));
    size_t bad = first_bad(x, rows * d);
    if (bad) {
        size_t row = start + (bad - 1) / d + 1, column = (bad - 1) % d + 1;
        return ur_fail_at(err, UNRELU_EFORMAT, row, column,
                          "row %zu, column %zu of the inputs is %g: a network needs finite inputs",
                          row, column, x[bad - 1]);
    }
    ur_network_forward(p->w, x, rows, t, p->y + start * p->w->m);
    return UNRELU_OK;
}

unrelu_status ur_network_outputs(const ur_weights *w, const double *x, size_t n,
                                 const unrelu_exec *exec, double *y, unrelu_error *err)
{
    prediction p = {w, x, n, y};
    return ur_each(exec, "predicting", n / BLOCK + (n % BLOCK > 0), predict_block, &p, err);
}

unrelu_status unrelu_network_predict(const unrelu_network *m, const double *x, size_t n,
                                     const unrelu_exec *exec, double *y, unrelu_error *err)
{
    unrelu_exec here;
    ur_weights weights = ur_network_weights(m);
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_TRY(check_weights(m, err));
    UR_BLAS_BEGIN(&here.threads, err);
    unrelu_status status = ur_network_outputs(&weights, x, n, exec, y, err);
    if (status != UNRELU_OK)
        memset(y, 0, n * m->m * sizeof *y);
    return status;
}

/* ---- a file: first pass ---- */

static size_t one(const void *plan)
{
    (void)plan;
    return 1;
}

/* plan is the source */
static unrelu_status count_rows(const void *plan, void *scratch, double *s, const ur_block *b,
                                unrelu_error *err)
{
    (void)scratch;
    for (size_t i = 0; i < b->rows; i++) {
        size_t bad = first_bad(b->x + i * b->stride, b->d);
        if (!bad)
            continue;
        char column[160];
        size_t row = b->first_row + i;
        const char *file = ur_source_place(plan, &row);
        ur_source_column_label(plan, bad - 1, column, sizeof column);
        return ur_fail_at(err, UNRELU_EFORMAT, row + 1, bad,
                          "%s: row %zu, %s is %g: a network needs finite inputs", file, row + 1,
                          column, b->x[i * b->stride + bad - 1]);
    }
    *s += (double)b->rows;
    return UNRELU_OK;
}

static unrelu_status check_inputs(unrelu_source *inputs, const unrelu_exec *exec, size_t *rows,
                                  unrelu_error *err)
{
    static const ur_summary counter = {.len = one, .update = count_rows};
    double count = 0;
    UR_TRY(ur_source_rewind(inputs, err));
    UR_TRY(ur_pass(inputs, &counter, inputs, exec, "checking", &count, err));
    if (count == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows", ur_source_label(inputs));
    *rows = (size_t)count;
    return ur_source_rewind(inputs, err);
}

/* ---- a file: second pass ---- */

typedef struct {
    const unrelu_network *m;
    unrelu_sink *sink;
    ur_arena memory[UR_FOLD_WINDOW]; /* of the labels of a block */
    double *y[UR_FOLD_WINDOW];
    size_t capacity[UR_FOLD_WINDOW]; /* rows of y */
} labels;

/* BLOCK rows at a time, so that the hidden layer and rows with a stride need little memory */
static unrelu_status predict_rows(void *state, size_t slot, const ur_block *b, unrelu_error *err)
{
    labels *l = state;
    const unrelu_network *m = l->m;
    ur_weights weights = ur_network_weights(m);
    if (b->rows > l->capacity[slot]) {
        ur_arena_end(&l->memory[slot]);
        l->y[slot] = ur_take(&l->memory[slot], b->rows, m->m * sizeof **l->y);
        l->capacity[slot] = l->y[slot] ? b->rows : 0;
    }
    UR_ARENA(arena);
    double *x = ur_take(&arena, BLOCK, m->d * sizeof *x),
           *t = ur_take(&arena, BLOCK, m->k * sizeof *t);
    UR_TRY(ur_arena_status(&l->memory[slot], err));
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t start = 0; start < b->rows; start += BLOCK) {
        size_t rows = b->rows - start < BLOCK ? b->rows - start : BLOCK;
        for (size_t i = 0; i < rows; i++)
            memcpy(x + i * m->d, b->x + (start + i) * b->stride, m->d * sizeof *x);
        forward_block(&weights, x, rows, t, l->y[slot] + start * m->m);
    }
    return UNRELU_OK;
}

static unrelu_status write_rows(void *state, size_t slot, const ur_block *b, unrelu_error *err)
{
    labels *l = state;
    return unrelu_sink_write(l->sink, l->y[slot], b->rows, err);
}

static unrelu_status write_labels(const unrelu_network *m, unrelu_source *inputs,
                                  const unrelu_exec *exec, unrelu_sink *sink, unrelu_error *err)
{
    static const ur_fold fold = {.turn = predict_rows, .drain = write_rows};
    labels l = {.m = m, .sink = sink};
    unrelu_status status = ur_fold_run(inputs, &fold, &l, exec, "predicting", err);
    for (size_t i = 0; i < UR_FOLD_WINDOW; i++)
        ur_arena_end(&l.memory[i]);
    return status;
}

/* ---- which column is which ---- */

/* By name, as in base/names.h; a file that has none of the network's names is taken by place: it
 * calls the same inputs otherwise. */
static unrelu_status choose_inputs(const unrelu_network *m, unrelu_source *from, ur_arena *arena,
                                   unrelu_source **inputs, unrelu_error *err)
{
    size_t width = unrelu_source_columns(from), known = 0, moved = width != m->d, missing;
    const char *const *found = ur_source_names(from);
    size_t *place = ur_take(arena, width, sizeof *place);
    size_t *which = ur_take(arena, m->d, sizeof *which);
    *inputs = from;
    UR_TRY(ur_arena_status(arena, err));
    ur_names_result result = ur_names_match(found, width, m->input_names, m->d, place, &missing);
    for (size_t i = 0; i < m->d && result == UR_NAMES_MISSING; i++)
        for (size_t j = 0; j < width && !known; j++)
            known = (size_t)ur_name_same(found[j], m->input_names[i]);
    if (result == UR_NAMES_COUNT || (result == UR_NAMES_MISSING && !known && width != m->d))
        return ur_fail(err, UNRELU_EFORMAT, "%s has %zu columns, but the network takes %zu inputs",
                       ur_source_label(from), width, m->d);
    if (result == UR_NAMES_MISSING && known)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no column '%.80s', which the network takes: its %zu columns are "
                       "'%.80s'%s",
                       ur_source_label(from), m->input_names[missing], width, found[0],
                       width > 1 ? ", ..." : "");
    if (result == UR_NAMES_MISSING)
        return UNRELU_OK;
    for (size_t j = 0; j < width; j++) {
        moved += place[j] != j;
        if (place[j] < m->d)
            which[place[j]] = j;
    }
    return moved ? ur_source_view(from, which, m->d, arena, inputs, err) : UNRELU_OK;
}

unrelu_status unrelu_network_predict_source(const unrelu_network *m, unrelu_source *from,
                                            const char *path, const unrelu_exec *exec, size_t *rows,
                                            unrelu_error *err)
{
    unrelu_sink *sink = NULL;
    unrelu_exec here;
    unrelu_source *inputs;
    size_t count = 0;
    UR_ARENA(arena);
    if (rows)
        *rows = 0;
    UR_TRY(ur_exec_read(&exec, &here, err));
    here.rank_sum = NULL; /* each rank its own file */
    UR_TRY(check_weights(m, err));
    UR_TRY(choose_inputs(m, from, &arena, &inputs, err));
    UR_BLAS_BEGIN(&here.threads, err);
    UR_TRY(check_inputs(inputs, &here, &count, err));
    UR_TRY(unrelu_sink_open(path, count, m->m, m->label_names, &sink, err));
    unrelu_status status = write_labels(m, inputs, &here, sink, err);
    if (status != UNRELU_OK) {
        unrelu_sink_abort(sink);
        return status;
    }
    UR_TRY(unrelu_sink_commit(sink, err));
    if (rows)
        *rows = count;
    return UNRELU_OK;
}
