/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdlib.h>

#include "talk.h"

enum {
    MOST = 2,              /* files */
    BLOCK_CELLS = 1 << 18, /* 2 MB of doubles: stays in the cache, and SIGINT is seen soon */
};

typedef struct {
    cli_draw *draw;
    const void *from;
    size_t n, count;
    const cli_rows_file *files;
    unrelu_sink *sinks[MOST];
} drawing;

static unrelu_status draw_block(const drawing *to, size_t row, size_t rows, const unrelu_exec *exec,
                                double *const *x, unrelu_error *err)
{
    unrelu_status status = to->draw(to->from, row, rows, exec, x, err);
    for (size_t i = 0; i < to->count && status == UNRELU_OK; i++)
        status = unrelu_sink_write(to->sinks[i], x[i], rows, err);
    return status;
}

static unrelu_status draw_all(const drawing *to, const unrelu_exec *exec, unrelu_error *err)
{
    size_t width = 0, before = 0, n = to->n;
    for (size_t i = 0; i < to->count; i++)
        width += to->files[i].d;
    size_t block = width < BLOCK_CELLS ? BLOCK_CELLS / width : 1;
    unrelu_exec silent = *exec; /* the progress of one block is none */
    silent.progress = NULL;
    double *room = malloc(block * width * sizeof *room), *x[MOST] = {NULL};
    unrelu_status status = room ? UNRELU_OK : UNRELU_ENOMEM;
    for (size_t i = 0; i < to->count && room; before += to->files[i++].d)
        x[i] = room + block * before;
    for (size_t row = 0; row < n && status == UNRELU_OK; row += block) {
        size_t rows = n - row < block ? n - row : block;
        exec->progress(exec->context, "drawing", (double)row / (double)n);
        if (exec->cancelled(exec->context))
            status = UNRELU_ECANCELLED;
        if (status == UNRELU_OK)
            status = draw_block(to, row, rows, &silent, x, err);
    }
    free(room);
    return status;
}

static unrelu_status finish(unrelu_sink *sink, unrelu_status status, unrelu_error *err)
{
    if (sink && status == UNRELU_OK)
        return unrelu_sink_commit(sink, err);
    if (sink)
        unrelu_sink_abort(sink);
    return status;
}

int cli_write_rows(const cli_shared *shared, cli_draw *draw, const void *from, size_t n,
                   const cli_rows_file *files, size_t count)
{
    unrelu_error err = {0};
    unrelu_status status = UNRELU_OK;
    unrelu_exec exec = cli_exec(shared);
    drawing to = {.draw = draw, .from = from, .n = n, .count = count, .files = files};
    for (size_t i = 0; i < count && status == UNRELU_OK; i++)
        status = unrelu_sink_open(files[i].path, n, files[i].d, files[i].names, &to.sinks[i], &err);
    if (status == UNRELU_OK)
        status = draw_all(&to, &exec, &err);
    for (size_t i = 0; i < count; i++)
        status = finish(to.sinks[i], status, &err);
    return cli_exit(status, &err);
}
