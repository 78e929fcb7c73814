/* SPDX-License-Identifier: Apache-2.0 */
/* What is written from the tables of commands, options and codes. */
#ifndef CLI_DOCS_H
#define CLI_DOCS_H

#include "cli.h"

typedef struct {
    const char *code, *means;
} cli_code;

/* The flags and warnings of docs/formats.md; ends with a code of NULL. */
extern const cli_code cli_codes[];

void cli_print_version(void);
void cli_print_overview(void);
void cli_print_help(const cli_command *command);

void cli_write_bash(void);
void cli_write_zsh(void);
/* Writes one rendering of the option tables to standard output: man, markdown, methods, bash or
 * zsh. */
int cli_write_docs(const char *format);

#endif
