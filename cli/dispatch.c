/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch.h"

#include <string.h>

#include "docs.h"
#include "talk.h"
#include "words.h"

int cli_dispatch(int argc, char **argv)
{
    if (argc < 2)
        return cli_usage("a command is missing; try 'unrelu help'");
    const char *first = argv[1];
    char near[96];
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        cli_print_version();
        return 0;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_print_overview();
        return 0;
    }
    if (strcmp(first, "--write-docs") == 0) /* for the build: man page, docs/cli.md, completions */
        return cli_write_docs(argc > 2 ? argv[2] : "");
    if (first[0] == '-')
        return cli_usage(
            "'%s' is not a command%s; options come after it; try 'unrelu help'", first,
            cli_suggestion(first + strspn(first, "-"), "help|version", "--", near, sizeof near));
    const cli_command *command = cli_find_command(first);
    return command ? cli_run(command, argc - 1, argv + 1) : CLI_EXIT_USAGE;
}
