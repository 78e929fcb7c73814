/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SUMMARY_REPORT_H
#define CLI_SUMMARY_REPORT_H

#include "unrelu/unrelu.h"

#include "cli.h"

/* Writes the summary to the output and reports it; returns the exit status. */
int cli_save_summary(const char *command, const cli_shared *shared, const unrelu_summary *summary);

#endif
