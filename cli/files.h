/* SPDX-License-Identifier: Apache-2.0 */
/* What can be known about files before the long work starts, and the writing of them. Those that
 * return an int return an exit status, and say why where it is not 0. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "unrelu/unrelu.h"

#include "cli.h"

/* The output is not one of the inputs, and its folder exists and can be written; or it is a device
 * or a pipe. extension: what the name must end in, or NULL. An output of NULL is fine where it is
 * not required. */
int cli_check_output(const cli_shared *shared, const char *extension);
/* The output is not this input either, which an option names (NULL: it does not). */
int cli_spare_input(const cli_shared *shared, const char *input);
int cli_require_output(const char *command, const cli_shared *shared, const char *what);
/* All of it or nothing, as everything is written: see unrelu_file_write. */
int cli_write_file(const char *path, const char *text, size_t size);
/* makes path and what is missing above it */
int cli_make_folder(const char *path);

/* Opens samples and tells what was decided about the file. columns: NULL for all. */
unrelu_status cli_open_source(const char *path, const char *columns, int single_pass,
                              unrelu_source **source, unrelu_error *err);
/* the same for the columns of a model (NULL: of the options), read as the options say */
unrelu_status cli_open_samples(const char *path, const unrelu_source_options *options,
                               const unrelu_gaussian *model, unrelu_source **source,
                               unrelu_error *err);
int cli_open(const char *path, const char *columns, int single_pass, unrelu_source **source);
void cli_close(unrelu_source **source); /* one of NULL too; for CLI_SCOPE */

/* ---- rows ---- */
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
