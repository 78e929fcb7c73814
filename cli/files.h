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
int cli_open_samples(const cli_shared *shared, int single_pass, unrelu_source **source);
void cli_close_samples(unrelu_source *source); /* takes NULL */

typedef enum { CLI_GAUSSIAN, CLI_NETWORK, CLI_MIXTURE } cli_model;
#define CLI_ANY_MODEL (1U << CLI_GAUSSIAN | 1U << CLI_NETWORK | 1U << CLI_MIXTURE)
/* Which of those among (bits) the file holds; a file that holds none gets a sentence. */
int cli_find_model(const char *path, unsigned among, cli_model *kind);
const char *cli_model_name(cli_model kind);
/* Loads a model of one kind; any other kind of file gets its own sentence. */
int cli_load_gaussian(const char *path, unrelu_gaussian *model);
int cli_load_network(const char *path, unrelu_network *model);
int cli_load_mixture(const char *path, unrelu_mixture *model);

#endif
