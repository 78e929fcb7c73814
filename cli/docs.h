/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCS_H
#define CLI_DOCS_H

#include "cli.h"

typedef struct {
    const cli_command *const *commands;
    size_t count;
} cli_tables;

void cli_write_bash(const cli_tables *tables);
void cli_write_zsh(const cli_tables *tables);
/* Writes one rendering of the option tables to standard output: man, markdown, bash or zsh; or the
 * library's tables of methods and rules: methods. */
int cli_write_docs(const char *format, const cli_command *const *commands, size_t count);

#endif
