/* SPDX-License-Identifier: Apache-2.0 */
/* --help from the option table, in its order. */
#include "help.h"

#include <stdio.h>

#include "width.h"

#include "unrelu/unrelu.h"

enum { DOC_COLUMN = 29 };

void cli_print_version(void)
{
    printf("unrelu %s\n", unrelu_version());
}

static void print_option(const cli_option *o)
{
    if (o->kind == CLI_HEADING) {
        printf("\n %s\n", o->doc);
        return;
    }
    char letter[] = {'-', (char)o->letter, ',', '\0'};
    int column = printf("  %3s --%s%s%s", o->letter ? letter : "", o->name, o->arg ? "=" : "",
                        o->arg ? cli_option_arg(o) : "");
    if (column > DOC_COLUMN - 2) {
        putchar('\n');
        column = 0;
    }
    cli_print_wrapped(o->doc, column, DOC_COLUMN);
}

void cli_print_help(const cli_command *command)
{
    const cli_option *o = cli_option_at(command, 0);
    printf("Usage: unrelu %s [OPTION...] %s\n%s.\n\n", command->name, command->files,
           command->brief);
    cli_print_wrapped(command->doc, 0, 0);
    if (o->kind != CLI_HEADING)
        putchar('\n');
    for (size_t i = 0; (o = cli_option_at(command, i)); i++)
        print_option(o);
    printf("\n Examples:\n");
    for (const cli_example *e = command->examples; e->line; e++)
        printf("  %s\n      %s\n", e->line, e->does);
}
