/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CENSOR_H
#define CLI_CENSOR_H

#include <stddef.h>

#include "unrelu/unrelu.h"

#include "cli.h"

/* The value of --censor-at: numbers with commas between them (NULL: none). The caller frees
 * *limits. Returns the exit status. */
int cli_parse_limits(const char *text, double **limits, size_t *count);

/* Options --limit and --limits of a command. */
typedef struct {
    char *named;      /* NAME=V with commas between, or NULL */
    const char *file; /* or NULL */
} cli_limits;

/* their rows in the table of a command whose arguments are of this type, with cli_limits limits */
#define CLI_LIMIT_ROWS(type)                                                                       \
    {"limit", 0, "NAME=V", "cells 'ND' and 0 of column NAME are below V; may be given again",      \
     CLI_TO(CLI_LIST, type, limits.named)},                                                        \
    {                                                                                              \
        "limits", 0, "FILE",                                                                       \
            "the limit of each such cell at its place in FILE, which has as many rows and "        \
            "columns as SAMPLES",                                                                  \
            CLI_TO(CLI_TEXT, type, limits.file)                                                    \
    }

/* samples, and the limits of their cells */
typedef struct {
    unrelu_source *source, *limits; /* limits NULL: not given */
    double *limit; /* one for each column, NaN where it has none; NULL: not given */
} cli_limited;

/* once: both are read once only, which lets a pipe be read as it comes. Returns the exit status; to
 * be closed whatever that is. */
int cli_open_limited(const cli_shared *shared, const char *path, const cli_limits *limits, int once,
                     cli_limited *samples);
void cli_close_limited(cli_limited *samples);

#endif
