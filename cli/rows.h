/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "unrelu/unrelu.h"

#include "cli.h"

/* Rows from `row` on, to x[i] those of the i-th file. */
typedef unrelu_status cli_draw(const void *from, size_t row, size_t rows, const unrelu_exec *exec,
                               double *const *x, unrelu_error *err);

typedef struct {
    const char *path;
    size_t d; /* columns */
    const char *const *names;
} cli_rows_file;

/* Draws n rows and writes them to `count` files (at most 2), a block at a time; returns the exit
 * status. */
int cli_write_rows(const cli_shared *shared, cli_draw *draw, const void *from, size_t n,
                   const cli_rows_file *files, size_t count);

#endif
