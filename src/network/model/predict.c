/* SPDX-License-Identifier: Apache-2.0 */
/* y = U f(V x + c) + e in blocks of fixed rows: 2 n k (d + m) flops, the same bits at any thread
 * count. A file is passed twice: once to count its rows and to look for NaN and infinities, so
 * that a refusal comes before the first row is written. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/model/network.h"
#include "pass/parallel.h"
#include "pass/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, WINDOW = 8 };

static void forward_block(const unrelu_network *m, const double *x, size_t rows, double *t,
                          double *y)
{
    ur_multiply_nt(rows, m->d, m->k, x, m->V, t);
    for (size_t i = 0; m->c && i < rows; i++)
        for (size_t j = 0; j < m->k; j++)
            t[i * m->k + j] += m->c[j];
    ur_activation_apply(m->activation, rows * m->k, t, t, NULL);
    ur_multiply_nt(rows, m->k, m->m, t, m->U, y);
    for (size_t i = 0; m->e && i < rows; i++)
        for (size_t j = 0; j < m->m; j++)
            y[i * m->m + j] += m->e[j];
}

void ur_network_forward(const unrelu_network *m, const double *x, size_t rows, double *t, double *y)
{
    for (size_t i = 0; i < rows; i += BLOCK)
        forward_block(m, x + i * m->d, rows - i < BLOCK ? rows - i : BLOCK, t + i * m->k,
                      y + i * m->m);
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
    const unrelu_network *m;
    const double *x;
    size_t n;
    double *y;
    size_t *bad; /* blocks: 1 + the first cell that is not finite, 0: none */
    unrelu_status *status;
} prediction;

static size_t first_bad(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return i + 1;
    return 0;
}

static void predict_block(void *context, size_t i)
{
    const prediction *p = context;
    size_t d = p->m->d, start = i * BLOCK, rows = p->n - start < BLOCK ? p->n - start : BLOCK;
    double *t = ur_alloc(rows, p->m->k * sizeof *t);
    if (!t) {
        p->status[i] = UNRELU_ENOMEM;
        return;
    }
    p->bad[i] = first_bad(p->x + start * d, rows * d);
    if (!p->bad[i])
        ur_network_forward(p->m, p->x + start * d, rows, t, p->y + start * p->m->m);
    free(t);
}

static unrelu_status block_failure(const prediction *p, size_t i, unrelu_error *err)
{
    if (p->status[i] != UNRELU_OK)
        return ur_fail_memory(err, p->m->k, "hidden units");
    if (p->bad[i] == 0)
        return UNRELU_OK;
    size_t cell = i * BLOCK * p->m->d + p->bad[i] - 1;
    return ur_fail(err, UNRELU_EFORMAT,
                   "row %zu, column %zu of the inputs is %g: a network needs finite inputs",
                   cell / p->m->d + 1, cell % p->m->d + 1, p->x[cell]);
}

unrelu_status unrelu_network_predict(const unrelu_network *m, const double *x, size_t n,
                                     const unrelu_exec *exec, double *y, unrelu_error *err)
{
    unrelu_status status = check_weights(m, err);
    if (status != UNRELU_OK)
        return status;
    size_t blocks = n / BLOCK + (n % BLOCK > 0);
    prediction p = {
        m, x, n, y, ur_alloc(blocks, sizeof *p.bad), ur_alloc(blocks, sizeof *p.status)};
    UR_BLAS_PINNED;
    if (!p.bad || !p.status)
        status = ur_fail_memory(err, blocks, "blocks");
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "predicting", blocks, predict_block, &p, err);
    for (size_t i = 0; status == UNRELU_OK && i < blocks; i++)
        status = block_failure(&p, i, err);
    if (status != UNRELU_OK)
        memset(y, 0, n * m->m * sizeof *y);
    free(p.bad);
    free(p.status);
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
        ur_source_column_label(plan, bad - 1, column, sizeof column);
        return ur_fail(err, UNRELU_EFORMAT, "%s: row %zu, %s is %g: a network needs finite inputs",
                       ur_source_label(plan), b->first_row + i + 1, column,
                       b->x[i * b->stride + bad - 1]);
    }
    *s += (double)b->rows;
    return UNRELU_OK;
}

static unrelu_status check_inputs(unrelu_source *inputs, const unrelu_exec *exec, size_t *rows,
                                  unrelu_error *err)
{
    static const ur_summary counter = {.len = one, .update = count_rows};
    double count = 0;
    unrelu_status status = ur_source_rewind(inputs, err);
    if (status == UNRELU_OK)
        status = ur_pass(inputs, &counter, inputs, exec, "checking", &count, err);
    if (status == UNRELU_OK && count == 0)
        status = ur_fail(err, UNRELU_EDATA, "%s has no rows", ur_source_label(inputs));
    if (status == UNRELU_OK)
        status = ur_source_rewind(inputs, err);
    *rows = (size_t)count;
    return status;
}

/* ---- a file: second pass ---- */

typedef struct {
    ur_piece piece;
    ur_block block;
    double *y;
    size_t capacity; /* rows of y */
    unrelu_status status;
    unrelu_error error;
} slot;

typedef struct {
    const unrelu_network *m;
    unrelu_source *source;
    slot slots[WINDOW];
    size_t count;
} window;

/* BLOCK rows at a time, so that the hidden layer and rows with a stride need little room */
static unrelu_status forward_rows(const unrelu_network *m, const ur_block *b, double *y,
                                  unrelu_error *err)
{
    double *x = ur_alloc(BLOCK, m->d * sizeof *x), *t = ur_alloc(BLOCK, m->k * sizeof *t);
    unrelu_status status = x && t ? UNRELU_OK : ur_fail_memory(err, BLOCK, "rows of hidden units");
    for (size_t start = 0; status == UNRELU_OK && start < b->rows; start += BLOCK) {
        size_t rows = b->rows - start < BLOCK ? b->rows - start : BLOCK;
        for (size_t i = 0; i < rows; i++)
            memcpy(x + i * m->d, b->x + (start + i) * b->stride, m->d * sizeof *x);
        forward_block(m, x, rows, t, y + start * m->m);
    }
    free(x);
    free(t);
    return status;
}

static void predict_slot(void *context, size_t i)
{
    window *w = context;
    slot *s = &w->slots[i];
    s->status = ur_source_decode(w->source, &s->piece, &s->block, &s->error);
    if (s->status == UNRELU_OK && s->block.rows > s->capacity) {
        free(s->y);
        s->y = ur_alloc(s->block.rows, w->m->m * sizeof *s->y);
        s->capacity = s->y ? s->block.rows : 0;
        if (!s->y)
            s->status = ur_fail_memory(&s->error, s->block.rows, "rows of labels");
    }
    if (s->status == UNRELU_OK)
        s->status = forward_rows(w->m, &s->block, s->y, &s->error);
}

static unrelu_status fill(window *w, unrelu_error *err)
{
    int more = 1;
    for (w->count = 0; w->count < WINDOW; w->count++) {
        unrelu_status status = ur_source_take(w->source, &w->slots[w->count].piece, &more, err);
        if (status != UNRELU_OK)
            return status;
        if (!more)
            break;
    }
    return UNRELU_OK;
}

static unrelu_status drain(const window *w, unrelu_sink *sink, unrelu_error *err)
{
    for (size_t i = 0; i < w->count; i++) {
        const slot *s = &w->slots[i];
        if (s->status != UNRELU_OK) {
            if (err)
                *err = s->error;
            return s->status;
        }
        unrelu_status status = unrelu_sink_write(sink, s->y, s->block.rows, err);
        if (status != UNRELU_OK)
            return status;
    }
    return UNRELU_OK;
}

static unrelu_status write_labels(const unrelu_network *m, unrelu_source *inputs,
                                  const unrelu_exec *exec, unrelu_sink *sink, unrelu_error *err)
{
    window *w = ur_alloc(1, sizeof *w);
    if (!w)
        return ur_fail_memory(err, 1, "window of blocks");
    w->m = m;
    w->source = inputs;
    unrelu_exec quiet = *exec;
    quiet.progress = NULL; /* the file's fraction is told instead */
    unrelu_status status;
    while ((status = fill(w, err)) == UNRELU_OK && w->count > 0) {
        ur_progress(exec, "predicting", ur_source_fraction(inputs));
        status = ur_parallel_for(&quiet, "predicting", w->count, predict_slot, w, err);
        if (status == UNRELU_OK)
            status = drain(w, sink, err);
        if (status != UNRELU_OK)
            break;
    }
    for (size_t i = 0; i < WINDOW; i++) {
        ur_piece_free(&w->slots[i].piece);
        ur_block_free(&w->slots[i].block);
        free(w->slots[i].y);
    }
    free(w);
    return status;
}

unrelu_status unrelu_network_predict_source(const unrelu_network *m, unrelu_source *inputs,
                                            const char *path, const unrelu_exec *exec, size_t *rows,
                                            unrelu_error *err)
{
    unrelu_sink *sink = NULL;
    unrelu_exec here = exec ? *exec : unrelu_exec_default();
    here.rank_sum = NULL; /* each rank its own file */
    size_t count = 0, columns = unrelu_source_columns(inputs);
    if (rows)
        *rows = 0;
    unrelu_status status = check_weights(m, err);
    if (status == UNRELU_OK && columns != m->d)
        status =
            ur_fail(err, UNRELU_EFORMAT, "%s has %zu columns, but the network takes %zu inputs",
                    ur_source_label(inputs), columns, m->d);
    if (status != UNRELU_OK)
        return status;
    UR_BLAS_PINNED;
    status = check_inputs(inputs, &here, &count, err);
    if (status == UNRELU_OK)
        status = unrelu_sink_open(path, count, m->m, m->label_names, &sink, err);
    if (status == UNRELU_OK)
        status = write_labels(m, inputs, &here, sink, err);
    if (status == UNRELU_OK)
        status = unrelu_sink_commit(sink, err);
    else
        unrelu_sink_abort(sink);
    if (status == UNRELU_OK && rows)
        *rows = count;
    return status;
}
