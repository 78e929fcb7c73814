/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"
#include "docs.h"
#include "talk.h"
#include "words.h"

static int run_help(void *arguments);

static const cli_example help_examples[] = {
    {"unrelu help fit", "what fit learns, and its options"},
    {0},
};

static const cli_command help = {
    .name = "help",
    .files = {"[COMMAND]", 0, 1},
    .brief = "Explain a command",
    .doc = "Without COMMAND, list the commands.",
    .has = CLI_HAS_NO_FILES,
    .examples = help_examples,
    .run = run_help,
};

const cli_command *const cli_commands[] = {
    &cli_fit,      &cli_recover,   &cli_unmix,    &cli_certify,   &cli_predict,
    &cli_export,   &cli_impute,    &cli_sample,   &cli_compare,   &cli_show,
    &cli_report,   &cli_check,     &cli_plan,     &cli_summarize, &cli_merge,
    &cli_generate, &cli_reproduce, &cli_hardness, &help,
};

const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

const cli_command *cli_find_command(const char *name)
{
    char list[512] = "", near[96];
    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
        cli_append(list, sizeof list, "%s|", cli_commands[i]->name);
    }
    cli_error("there is no command '%s'%s", name,
              cli_suggestion(name, list, "", near, sizeof near));
    cli_error("try 'unrelu help'");
    return NULL;
}

static int run_help(void *arguments)
{
    const cli_shared *shared = arguments;
    if (shared->file_count == 0) {
        cli_print_overview();
        return 0;
    }
    const cli_command *command = cli_find_command(shared->files[0]);
    if (!command)
        return CLI_EXIT_USAGE;
    cli_print_help(command);
    return 0;
}
