/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdlib.h>

#include "talk.h"

enum { BLOCK_CELLS = 1 << 18 }; /* 2 MB of doubles: stays in the cache, and SIGINT is seen soon */

static unrelu_status draw_all(const cli_rows *from, unrelu_sink *sink, size_t n,
                              const unrelu_exec *exec, unrelu_error *err)
{
    size_t block = from->d < BLOCK_CELLS ? BLOCK_CELLS / from->d : 1;
    unrelu_exec silent = *exec; /* the progress of one block is none */
    silent.progress = NULL;
    double *x = malloc(block * from->d * sizeof *x);
    unrelu_status status = x ? UNRELU_OK : UNRELU_ENOMEM;
    for (size_t row = 0; row < n && status == UNRELU_OK; row += block) {
        size_t rows = n - row < block ? n - row : block;
        exec->progress(exec->context, "drawing", (double)row / (double)n);
        if (exec->cancelled(exec->context))
            status = UNRELU_ECANCELLED;
        if (status == UNRELU_OK)
            status = unrelu_sampler_draw(from->sampler, row, rows, &silent, x, err);
        if (status == UNRELU_OK)
            status = unrelu_sink_write(sink, x, rows, err);
    }
    free(x);
    return status;
}

int cli_write_rows(const cli_rows *from, size_t n, const char *path, const cli_shared *shared)
{
    unrelu_error err = {0};
    unrelu_sink *sink = NULL;
    unrelu_exec exec = cli_exec(shared);
    unrelu_status status = unrelu_sink_open(path, n, from->d, from->names, &sink, &err);
    if (status != UNRELU_OK)
        return cli_exit(status, &err);
    status = draw_all(from, sink, n, &exec, &err);
    if (status == UNRELU_OK)
        status = unrelu_sink_commit(sink, &err);
    else
        unrelu_sink_abort(sink);
    return cli_exit(status, &err);
}
