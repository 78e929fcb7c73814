/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of 'unrelu compare' share. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli.h"
#include "json.h"

typedef struct {
    const char *key, *title, *means;
    double value;
} cli_metric;

void cli_put_metrics(cli_json *json, const cli_metric *list, size_t count);
void cli_print_metrics(const cli_metric *list, size_t count);

/* "5 neurons matched, 1 of the truth missing" */
void cli_put_matches(cli_json *json, size_t matched, size_t missing, size_t extra);
void cli_print_matches(const char *what, size_t matched, size_t missing, size_t extra);

/* These load both files, compare and report, and return an exit status. */
int cli_compare_gaussians(const cli_shared *shared);
int cli_compare_networks(const cli_shared *shared);
int cli_compare_mixtures(const cli_shared *shared);

#endif
