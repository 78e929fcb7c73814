/* SPDX-License-Identifier: Apache-2.0 */
/* The command as one of several processes that share the work, each with its part of the rows
 * (unrelu-mpi). They run the same command; the lead writes files and talks. What fails on one of
 * them ends all: wherever they meet, in a sum or where samples are opened. */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include "cli.h"

typedef unrelu_status cli_take(void *context, size_t rank, const double *x, size_t len,
                               unrelu_error *err);

typedef struct {
    size_t rank, ranks; /* the lead is 0 */
    /* before a command runs: its files from `first` on are those of the samples, a part of each of
     * which is read by `open`; patterns among them become names. Returns the exit status. */
    int (*begin)(cli_shared *shared, size_t first);
    void (*exec)(unrelu_exec *exec);
    unrelu_status (*open)(const char *path, const unrelu_source_options *options,
                          unrelu_source **source, unrelu_error *err);
    /* every rank: its numbers to the lead, whose `take` is called on them in the order of the
     * ranks; x of the lead has room for those of any */
    unrelu_status (*gather)(double *x, size_t len, cli_take *take, void *context,
                            unrelu_error *err);
} cli_team;

/* what this process belongs to; NULL: it is alone */
extern const cli_team *cli_team_joined;

int cli_team_leads(void);  /* it writes and talks; so does who is alone */
int cli_team_shares(void); /* there are others */
/* Refuses, as usage, what cannot be shared: "fit --judge" needs "all rows in one place". */
int cli_team_refuse(const char *what, const char *needs);

#endif
