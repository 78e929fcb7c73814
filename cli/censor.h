/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CENSOR_H
#define CLI_CENSOR_H

#include <stddef.h>

#include "unrelu/unrelu.h"

#include "cli.h"

/* The value of --censor-at: numbers with commas between them (NULL: none). The caller frees
 * *limits. Returns the exit status. */
int cli_parse_limits(const char *text, double **limits, size_t *count);

/* Options of a command that say how samples are read, and where their cells are censored. */
typedef struct {
    char *named;      /* NAME=V with commas between, or NULL */
    const char *file; /* or NULL */
    const char *indicator, *uncensored;
    char *top, *na; /* with commas between, or NULL */
    int complete;
} cli_limits;

/* how the file itself is to be read */
#define CLI_READ_ROWS(type)                                                                        \
    {"indicator", 0, "PATTERN",                                                                    \
     "columns of that name, * standing for NAME (Cen is *Cen), say where NAME is a limit (TRUE, "  \
     "1, "                                                                                         \
     "<, U) and where it was seen (FALSE, 0, nothing); D_*, p*=r* where NAME has more in it too; " \
     "seen:D_* where TRUE and 1 are of values that were seen",                                     \
     CLI_TO(CLI_TEXT, type, limits.indicator)},                                                    \
        {"top", 0, "V|NAME=V",                                                                     \
         "values at or above V, of column NAME or of all, were cut there; may be given again",     \
         CLI_TO(CLI_LIST, type, limits.top)},                                                      \
    {                                                                                              \
        "na", 0, "TOKEN", "TOKEN, as -999 or unknown, is a missing cell too; may be given again",  \
            CLI_TO(CLI_LIST, type, limits.na)                                                      \
    }
/* and what a model knows, of samples that have none yet */
#define CLI_SIGN_ROWS(type)                                                                        \
    {"uncensored", 0, "NAMES",                                                                     \
     "values of these columns have any sign and are never censored, but for cells that say so "    \
     "(<-2.5); names as in --columns",                                                             \
     CLI_TO(CLI_TEXT, type, limits.uncensored)},                                                   \
    {                                                                                              \
        "complete", 0, NULL, "leave out rows with a missing cell",                                 \
            CLI_TO(CLI_FLAG, type, limits.complete)                                                \
    }

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

/* as the options say */
unrelu_source_options cli_reading(const cli_shared *shared, const cli_limits *limits, int once);

/* samples, and the limits of their cells */
typedef struct {
    unrelu_source *source, *limits; /* limits NULL: not given */
    double *limit; /* one for each column, NaN where it has none; NULL: not given */
} cli_limited;

/* once: both are read once only, which lets a pipe be read as it comes. model: whose columns are
 * taken, or NULL. Returns the exit status; to be closed whatever that is. */
int cli_open_limited(const cli_shared *shared, const char *path, const cli_limits *limits, int once,
                     const unrelu_gaussian *model, cli_limited *samples);
void cli_close_limited(cli_limited *samples);

#endif
