/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "docs.h"
#include "help.h"
#include "talk.h"
#include "words.h"

static int run_help(void *arguments);

static const cli_example help_examples[] = {
    {"unrelu help fit", "what fit learns, and its options"},
    {0},
};

static const cli_shared help_defaults;

static const cli_command help = {
    .name = "help",
    .files = "[COMMAND]",
    .brief = "Explain a command",
    .doc = "Without COMMAND, list the commands.",
    .examples = help_examples,
    .most_files = 1,
    .size = sizeof(cli_shared),
    .defaults = &help_defaults,
    .run = run_help,
};

static const cli_command *const commands[] = {
    &cli_fit,     &cli_recover,  &cli_unmix,     &cli_predict,  &cli_impute, &cli_sample,
    &cli_compare, &cli_show,     &cli_report,    &cli_check,    &cli_plan,   &cli_summarize,
    &cli_merge,   &cli_generate, &cli_reproduce, &cli_hardness, &help,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const cli_command *find_command(const char *name)
{
    char list[512] = "", near[96];
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s|", commands[i]->name);
    }
    cli_error("there is no command '%s'%s", name,
              cli_suggestion(name, list, "", near, sizeof near));
    cli_error("try 'unrelu help'");
    return NULL;
}

static void print_overview(void)
{
    printf("Usage: unrelu COMMAND [OPTION...] ...\n"
           "unrelu learns back what a ReLU hid.\n\n Commands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-12s%s\n", commands[i]->name, commands[i]->brief);
    printf("\n 'unrelu help COMMAND' explains one; 'unrelu --version' prints the version.\n");
}

static int run_help(void *arguments)
{
    const cli_shared *shared = arguments;
    if (shared->file_count == 0) {
        print_overview();
        return 0;
    }
    const cli_command *command = find_command(shared->files[0]);
    if (!command)
        return CLI_EXIT_USAGE;
    cli_print_help(command);
    return 0;
}

static int refuse_option(const char *text)
{
    char near[96];
    cli_suggestion(text + strspn(text, "-"), "help|version", "--", near, sizeof near);
    return cli_usage("'%s' is not a command%s; options come after it; try 'unrelu help'", text,
                     near);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return cli_usage("a command is missing; try 'unrelu help'");
    const char *first = argv[1];
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        cli_print_version();
        return 0;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        print_overview();
        return 0;
    }
    if (strcmp(first, "--write-docs") == 0) /* for the build: man page, docs/cli.md, completions */
        return cli_write_docs(argc > 2 ? argv[2] : "", commands, COMMANDS);
    if (first[0] == '-')
        return refuse_option(first);
    const cli_command *command = find_command(first);
    return command ? cli_run(command, argc - 1, argv + 1) : CLI_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    cli_talk_start();
    return cli_talk_finish(dispatch(argc, argv));
}
