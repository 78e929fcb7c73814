/* SPDX-License-Identifier: Apache-2.0 */
/* From a command's table to its arguments. Words are taken as getopt_long takes them: options and
 * files in any order, --name=value or --name value, --name cut short, -abc, -ovalue, -- before what
 * are files all. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "docs.h"
#include "flags.h"
#include "memory_default.h"
#include "scope.h"
#include "team.h"
#include "words.h"

#define TO(kind, field) CLI_TO(kind, cli_shared, field)

static const struct {
    unsigned has; /* 0: every command */
    cli_option row;
} shared_rows[] = {
    {0, {.doc = "Common:", .kind = CLI_HEADING}},
    {CLI_HAS_COLUMNS,
     {"columns", 0, "LIST",
      "use these columns only: names, numbers from 1 on, ranges, patterns, exclusions, as in "
      "lead,3,5-9,rain*,^rain3; a name with a comma in double quotes",
      TO(CLI_TEXT, columns)}},
    {CLI_HAS_LEVEL,
     {"level", 0, "P", "probability that the printed intervals cover (default 0.95)", CLI_REAL,
      offsetof(cli_shared, level), DBL_EPSILON, 1 - DBL_EPSILON, "a number between 0 and 1"}},
    {CLI_HAS_SEED,
     {"seed", 0, "S",
      "seed of the random numbers (default 1): the same seed gives the same result at any number "
      "of threads",
      CLI_SEED, offsetof(cli_shared, seed), 0, 0x1p63, "a whole number from 0 to 2^63 - 1"}},
    {CLI_HAS_THREADS,
     {"threads", 0, "N", "number of threads (default: one for each core)", CLI_WHOLE,
      offsetof(cli_shared, threads), 1, 65536, "a whole number from 1 to 65536"}},
    {0,
     {"max-memory", 0, "BYTES",
      "memory that samples, models and workspaces may take together, as a number or with K, M or G "
      "behind it (default: three quarters of what the machine or its control group has); what "
      "needs more stops with exit code 1",
      CLI_BYTES, offsetof(cli_shared, max_memory), 1, 0x1p62,
      "a number of bytes, as in 500M or 4G"}},
    {CLI_HAS_JSON,
     {"json", 0, NULL, "print one JSON object in place of the text", TO(CLI_FLAG, json)}},
    {0, {"quiet", 'q', NULL, "say nothing on standard error but errors", TO(CLI_FLAG, quiet)}},
    {0, {"verbose", 'v', NULL, "say more on standard error", TO(CLI_FLAG, verbose)}},
    {0, {"help", 'h', NULL, "print this and stop", TO(CLI_FLAG, help)}},
    {0, {"version", 'V', NULL, "print the version and stop", TO(CLI_FLAG, version)}},
};

const char *cli_option_arg(const cli_option *option)
{
    enum { LINE = 60 };
    return option->arg && strlen(option->arg) > LINE ? "NAME" : option->arg;
}

const cli_option *cli_option_at(const cli_command *command, size_t i)
{
    size_t own = 0;
    for (const cli_option *o = command->options; o && o->doc; o++)
        if (own++ == i)
            return o;
    for (size_t j = 0; j < sizeof shared_rows / sizeof *shared_rows; j++) {
        unsigned has = shared_rows[j].has;
        if ((has == 0 || (command->has & has)) && own++ == i)
            return &shared_rows[j].row;
    }
    return NULL;
}

/* ---- values ------------------------------------------------------------------------ */

int cli_parse_real(const char *what, const char *text, double least, double most, const char *want,
                   double *value)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= least && x <= most))
        return cli_usage("%s: '%s' is not %s", what, text, want);
    *value = x;
    return 0;
}

/* 1e6 is a whole number too */
static int parse_whole(const char *what, const char *text, const cli_option *o, size_t *value)
{
    double x = 0;
    CLI_TRY(cli_parse_real(what, text, o->least, fmin(o->most, 0x1p53), o->want, &x));
    if (x != floor(x))
        return cli_usage("%s: '%s' is not %s", what, text, o->want);
    *value = (size_t)x;
    return 0;
}

/* 1.5G is a number of bytes too; K, M and G are powers of 1024 */
static int parse_bytes(const char *what, const char *text, const cli_option *o, size_t *value)
{
    static const char units[] = "KMG";
    char *end;
    double x = strtod(text, &end);
    const char *unit = end != text && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        x = ldexp(x, 10 * (int)(unit - units + 1));
        end++;
    }
    if (end == text || *end || !(x >= o->least && x <= o->most))
        return cli_usage("%s: '%s' is not %s", what, text, o->want);
    *value = (size_t)x;
    return 0;
}

static int parse_seed(const char *what, const char *text, const char *want, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long x = strtoull(text, &end, 10);
    if (end == text || *end || strchr(text, '-') || errno || x > INT64_MAX)
        return cli_usage("%s: '%s' is not %s", what, text, want);
    *value = x;
    return 0;
}

static int parse_choice(const char *what, const char *text, const char *list, int *value)
{
    char word[64], near[96], all[256] = "";
    *value = cli_word_index(list, text);
    if (*value >= 0)
        return 0;
    for (size_t i = 0; cli_word(list, i, word, sizeof word); i++)
        cli_append(all, sizeof all, "%s%s", i ? ", " : "", word);
    return cli_usage("%s: '%s' is not one of %s%s", what, text, all,
                     cli_suggestion(text, list, "", near, sizeof near));
}

/* What it may be is known to the library alone; a slip in one of a few words is told here. */
static int hand_over(const cli_command *command, const cli_option *o, const char *text,
                     void *arguments)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"; /* of a value that is no word */
    char near[96] = "";
    unrelu_error err = {0};
    if (o->offset)
        ++*(int *)((char *)arguments + o->offset);
    if (command->set(arguments, o->name, text, &err) == UNRELU_OK)
        return 0;
    if (!strpbrk(o->arg, letters))
        cli_suggestion(text, o->arg, "", near, sizeof near);
    return cli_usage("%s%s", cli_flagged(err.text).text, near);
}

/* Returns the exit status. */
static int store(const cli_command *command, const cli_option *o, const char *arg, void *arguments)
{
    char what[64], *longer = NULL;
    void *field = (char *)arguments + o->offset;
    char **list = field;
    if (o->letter)
        snprintf(what, sizeof what, "-%c", o->letter);
    else
        snprintf(what, sizeof what, "--%s", o->name);
    switch (o->kind) {
    case CLI_FLAG:
        *(int *)field = 1;
        return 0;
    case CLI_TEXT:
        *(const char **)field = arg;
        return 0;
    case CLI_LIST:
        if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "," : "", arg) < 0)
            return cli_no_memory();
        free(*list);
        *list = longer;
        return 0;
    case CLI_CHOICE:
        return parse_choice(what, arg, o->arg, field);
    case CLI_WHOLE:
        return parse_whole(what, arg, o, field);
    case CLI_BYTES:
        return parse_bytes(what, arg, o, field);
    case CLI_SEED:
        return parse_seed(what, arg, o->want, field);
    case CLI_REAL:
        return cli_parse_real(what, arg, o->least, o->most, o->want, field);
    case CLI_LIBRARY:
        return hand_over(command, o, arg, arguments);
    case CLI_HEADING:
        break;
    }
    return 0;
}

/* ---- words ------------------------------------------------------------------------- */

/* after what is wrong with the usage of a command: its status, and where there is help */
static int and_help(const cli_command *command, int status)
{
    cli_error("try 'unrelu help %s'", command->name);
    return status;
}

/* Each takes what starts at *word, which may go on to the next one, and leaves it at its last. */
static int take_long(const cli_command *command, char ***word, void *arguments)
{
    const char *text = **word + 2, *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
    char name[64], list[1024] = "", near[96];
    size_t length = strcspn(text, "="),
           starts = 0; /* of rows that start so; 1 where one is equal */
    const cli_option *o = NULL, *row;
    for (size_t i = 0; (row = cli_option_at(command, i)) && (!o || strlen(o->name) != length);
         i++) {
        if (!row->name)
            continue;
        cli_append(list, sizeof list, "%s|", row->name);
        if (strncmp(row->name, text, length) != 0)
            continue;
        starts = strlen(row->name) == length ? 1 : starts + 1;
        o = row;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (starts == 0)
        return and_help(command, cli_usage("%s: there is no option '--%s'%s", command->name, name,
                                           cli_suggestion(name, list, "--", near, sizeof near)));
    if (starts > 1)
        return and_help(command, cli_usage("%s: '%.*s' is the start of more than one option",
                                           command->name, (int)length + 2, **word));
    if (o->kind == CLI_FLAG && value)
        return and_help(command, cli_usage("%s: --%s takes no value", command->name, o->name));
    if (o->kind != CLI_FLAG && !value && !(value = *++*word))
        return and_help(command, cli_usage("%s: --%s needs a value: --%s=%s", command->name,
                                           o->name, o->name, o->arg));
    return store(command, o, value, arguments);
}

static int take_letters(const cli_command *command, char ***word, void *arguments)
{
    const char *token = **word;
    for (const char *s = token + 1; *s; s++) {
        const cli_option *o;
        const char *value = NULL;
        for (size_t i = 0; (o = cli_option_at(command, i)) && o->letter != *s;)
            i++;
        if (!o)
            return and_help(command,
                            cli_usage("%s: there is no option '-%c' (a file of that name is ./%s)",
                                      command->name, *s, token));
        if (o->kind != CLI_FLAG && !(value = s[1] ? s + 1 : *++*word))
            return and_help(
                command, cli_usage("%s: -%c needs a value: -%c %s", command->name, *s, *s, o->arg));
        CLI_TRY(store(command, o, value, arguments));
        if (value)
            break;
    }
    return 0;
}

/* ---- the run ----------------------------------------------------------------------- */

/* the samples of a command that ranks share may be in several files, its last ones */
static size_t most_files(const cli_command *command)
{
    return cli_team_joined && command->has & CLI_HAS_SHARDS ? SIZE_MAX : command->files.most;
}

static int join_team(const cli_command *command, cli_shared *arguments)
{
    if (!cli_team_joined || command->has & CLI_HAS_NO_FILES)
        return 0;
    if (!(command->has & CLI_HAS_RANKS) && cli_team_shares())
        return cli_usage("%s: this version does not split it over ranks: run it with 'unrelu', or "
                         "on one rank",
                         command->name);
    int shards = command->has & CLI_HAS_SHARDS;
    return cli_team_joined->begin(arguments,
                                  shards ? command->files.most - 1 : arguments->file_count);
}

static int parse_and_run(const cli_command *command, char **argv, cli_shared *arguments)
{
    const char *name = command->name;
    int only_files = 0;
    for (char **word = argv + 1; *word; word++) {
        const char *s = *word;
        int number = command->has & CLI_HAS_NUMBERS && s[0] == '-' && s[1] >= '0' && s[1] <= '9';
        if (only_files || number || s[0] != '-' || !s[1])
            arguments->files[arguments->file_count++] = *word;
        else if (strcmp(s, "--") == 0)
            only_files = 1;
        else
            CLI_TRY((s[1] == '-' ? take_long : take_letters)(command, &word, arguments));
    }
    if (arguments->help || arguments->version) {
        if (arguments->help)
            cli_print_help(command);
        else
            cli_print_version();
        return 0;
    }
    cli_talk_set(arguments->quiet, arguments->verbose);
    if (arguments->file_count < command->files.least)
        return cli_usage("%s: too few arguments; usage: unrelu %s %s", name, name,
                         command->files.usage);
    unrelu_memory_limit(arguments->max_memory ? arguments->max_memory : cli_memory_default());
    CLI_TRY(join_team(command, arguments)); /* which may set another */
    if (arguments->file_count > most_files(command))
        return cli_usage("%s: '%s' is one argument too many; usage: unrelu %s %s", name,
                         arguments->files[command->files.most], name, command->files.usage);
    if (arguments->output && !*arguments->output)
        return cli_usage("%s: -o: the name of the output is empty", name);
    return command->run(arguments);
}

int cli_run(const cli_command *command, int argc, char **argv)
{
    const cli_option *o;
    size_t size = command->size ? command->size : sizeof(cli_shared);
    CLI_MEMORY cli_shared *arguments = calloc(1, size);
    CLI_MEMORY char **files = calloc((size_t)argc + 1, sizeof *files);
    if (!arguments || !files)
        return cli_no_memory();
    if (command->defaults)
        memcpy(arguments, command->defaults, size);
    arguments->level = 0.95;
    arguments->seed = 1;
    arguments->output = command->output;
    arguments->files = files;
    if (command->start)
        command->start(arguments);
    int status = parse_and_run(command, argv, arguments);
    for (size_t i = 0; (o = cli_option_at(command, i)); i++)
        if (o->kind == CLI_LIST)
            free(*(char **)((char *)arguments + o->offset));
    return status;
}
