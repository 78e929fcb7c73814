/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli.h"

void cli_print_version(void);
void cli_print_help(const cli_command *command);

#endif
