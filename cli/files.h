/* SPDX-License-Identifier: Apache-2.0 */
/* What can be known about files before the long work starts. Those that return an int return an
 * exit status, and say why where it is not 0. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "unrelu/unrelu.h"

#include "cli.h"

/* The output is not one of the inputs, and its folder exists and can be written. extension: what
 * the name must end in, or NULL. An output of NULL is fine where it is not required. */
int cli_check_output(const cli_shared *shared, const char *extension);
int cli_require_output(const char *command, const cli_shared *shared, const char *what);
/* Writes beside path and renames, so that a file that was there stays whole. */
int cli_write_file(const char *path, const char *text, size_t size);
/* makes path and what is missing above it */
int cli_make_folder(const char *path);

/* Opens samples and tells what was decided about the file. columns: NULL for all. */
unrelu_status cli_open_source(const char *path, const char *columns, int single_pass,
                              unrelu_source **source, unrelu_error *err);
int cli_open(const char *path, const char *columns, int single_pass, unrelu_source **source);
void cli_close(unrelu_source **source); /* one of NULL too; for CLI_SCOPE */

#endif
