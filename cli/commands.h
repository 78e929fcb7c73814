/* SPDX-License-Identifier: Apache-2.0 */
/* The commands there are, in the order in which they are listed. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli.h"

extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;

const cli_command *cli_find_command(const char *name); /* NULL: there is none, and that is said */
void cli_print_overview(void);

#endif
