/* SPDX-License-Identifier: Apache-2.0 */
/* What `unrelu recover` and `unrelu certify` do alike: two files, a network with a verdict, the
 * exit status that the verdict stands for. */
#ifndef CLI_RECOVERY_H
#define CLI_RECOVERY_H

#include "unrelu/unrelu.h"

#include "cli.h"

typedef struct {
    const char *command; /* "recover" */
    const char *done;    /* "recovered" */
    const cli_shared *shared;
    const char *inputs, *labels; /* files */
    const char *columns, *label_columns;
    const unrelu_recover_options *options;
    const unrelu_network *certified; /* the network to look at; NULL: one is looked for */
} cli_recovery;

int cli_run_recovery(const cli_recovery *recovery);
/* the row of the table of methods */
unrelu_method cli_method_of(unrelu_recover_method method);

#endif
