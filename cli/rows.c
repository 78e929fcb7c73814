/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdlib.h>

#include "talk.h"

enum { BLOCK_CELLS = 1 << 18 }; /* 2 MB of doubles: stays in the cache, and SIGINT is seen soon */

static unrelu_status draw_all(const unrelu_sampler *sampler, unrelu_sink *sink, size_t n, size_t d,
                              const unrelu_exec *exec, unrelu_error *err)
{
    size_t block = d < BLOCK_CELLS ? BLOCK_CELLS / d : 1;
    unrelu_exec silent = *exec; /* the progress of one block is none */
    silent.progress = NULL;
    double *x = malloc(block * d * sizeof *x);
    unrelu_status status = x ? UNRELU_OK : UNRELU_ENOMEM;
    for (size_t row = 0; row < n && status == UNRELU_OK; row += block) {
        size_t rows = n - row < block ? n - row : block;
        exec->progress(exec->context, "drawing", (double)row / (double)n);
        if (exec->cancelled(exec->context))
            status = UNRELU_ECANCELLED;
        if (status == UNRELU_OK)
            status = unrelu_sampler_draw(sampler, row, rows, &silent, x, err);
        if (status == UNRELU_OK)
            status = unrelu_sink_write(sink, x, rows, err);
    }
    free(x);
    return status;
}

int cli_write_rows(const unrelu_gaussian *model, uint64_t seed, size_t n, const char *path,
                   const cli_shared *shared)
{
    unrelu_error err = {0};
    unrelu_sampler *sampler = NULL;
    unrelu_sink *sink = NULL;
    unrelu_exec exec = cli_exec(shared);
    unrelu_status status = unrelu_sampler_new(model, seed, &sampler, &err);
    if (status == UNRELU_OK)
        status = unrelu_sink_open(path, n, model->d, model->names, &sink, &err);
    if (status == UNRELU_OK) {
        status = draw_all(sampler, sink, n, model->d, &exec, &err);
        if (status == UNRELU_OK)
            status = unrelu_sink_commit(sink, &err);
        else
            unrelu_sink_abort(sink);
    }
    unrelu_sampler_free(sampler);
    return cli_exit(status, &err);
}
