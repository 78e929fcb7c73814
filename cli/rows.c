/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "scope.h"

enum {
    MOST = 2,              /* files */
    BLOCK_CELLS = 1 << 18, /* 2 MB of doubles: stays in the cache, and SIGINT is seen soon */
};

typedef struct {
    unrelu_sink *of[MOST]; /* NULL: not open, or written */
} sinks;

static void abort_sinks(sinks *sinks)
{
    for (size_t i = 0; i < MOST; i++)
        if (sinks->of[i])
            unrelu_sink_abort(sinks->of[i]);
}

int cli_write_rows(const cli_shared *shared, cli_draw *draw, const void *from, size_t n,
                   const cli_rows_file *files, size_t count)
{
    CLI_SCOPE(abort_sinks) sinks sinks = {0};
    unrelu_exec exec = cli_exec(shared), silent = exec; /* the progress of one block is none */
    size_t width = 0, before = 0;
    double *x[MOST] = {NULL};
    silent.progress = NULL;
    for (size_t i = 0; i < count; width += files[i++].d)
        CLI_CALL(
            unrelu_sink_open(files[i].path, n, files[i].d, files[i].names, &sinks.of[i], &err));
    size_t block = width < BLOCK_CELLS ? BLOCK_CELLS / width : 1;
    CLI_MEMORY double *room = malloc(block * width * sizeof *room);
    if (!room)
        return cli_no_memory();
    for (size_t i = 0; i < count; before += files[i++].d)
        x[i] = room + block * before;
    for (size_t row = 0; row < n; row += block) {
        size_t rows = n - row < block ? n - row : block;
        exec.progress(exec.context, "drawing", (double)row / (double)n);
        CLI_CALL(exec.cancelled(exec.context) ? UNRELU_ECANCELLED
                                              : draw(from, row, rows, &silent, x, &err));
        for (size_t i = 0; i < count; i++)
            CLI_CALL(unrelu_sink_write(sinks.of[i], x[i], rows, &err));
    }
    for (size_t i = 0; i < count; i++) {
        unrelu_sink *sink = sinks.of[i];
        sinks.of[i] = NULL;
        CLI_CALL(unrelu_sink_commit(sink, &err));
    }
    return 0;
}
