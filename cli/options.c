/* SPDX-License-Identifier: Apache-2.0 */
/* From a command's table to its arguments, by argp. argp's own messages carry argv[0] and its own
 * exit status, so it is told to be silent, and what it refused is found out afterwards. */
#include <argp.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "flags.h"
#include "help.h"
#include "talk.h"
#include "words.h"

static const struct {
    unsigned has; /* 0: every command */
    cli_option row;
} shared_rows[] = {
    {0, {.doc = "Common:", .kind = CLI_HEADING}},
    {CLI_HAS_COLUMNS,
     {"columns", 0, "LIST",
      "use these columns only: names or numbers and ranges from 1 on, as in lead,3,5-9", CLI_TEXT,
      offsetof(cli_shared, columns), 0, 0, NULL}},
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
    {CLI_HAS_JSON,
     {"json", 0, NULL, "print one JSON object in place of the text", CLI_FLAG,
      offsetof(cli_shared, json), 0, 0, NULL}},
    {0,
     {"quiet", 'q', NULL, "say nothing on standard error but errors", CLI_FLAG,
      offsetof(cli_shared, quiet), 0, 0, NULL}},
    {0,
     {"verbose", 'v', NULL, "say more on standard error", CLI_FLAG, offsetof(cli_shared, verbose),
      0, 0, NULL}},
    {0,
     {"help", 'h', NULL, "print this and stop", CLI_FLAG, offsetof(cli_shared, help), 0, 0, NULL}},
    {0,
     {"version", 'V', NULL, "print the version and stop", CLI_FLAG, offsetof(cli_shared, version),
      0, 0, NULL}},
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

static int refuse_value(const char *what, const char *text, const char *want)
{
    cli_usage("%s: '%s' is not %s", what, text, want);
    return 0;
}

int cli_parse_real(const char *what, const char *text, double least, double most, const char *want,
                   double *value)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= least && x <= most))
        return refuse_value(what, text, want);
    *value = x;
    return 1;
}

/* 1e6 is a whole number too */
int cli_parse_whole(const char *what, const char *text, double least, double most, const char *want,
                    size_t *value)
{
    double x;
    if (!cli_parse_real(what, text, least, fmin(most, 0x1p53), want, &x))
        return 0;
    if (x != floor(x))
        return refuse_value(what, text, want);
    *value = (size_t)x;
    return 1;
}

static int parse_seed(const char *what, const char *text, const char *want, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long x = strtoull(text, &end, 10);
    if (end == text || *end || strchr(text, '-') || errno || x > INT64_MAX)
        return refuse_value(what, text, want);
    *value = x;
    return 1;
}

static int parse_choice(const char *what, const char *text, const char *list, int *value)
{
    char word[64], near[96], all[256] = "";
    *value = cli_word_index(list, text);
    if (*value >= 0)
        return 1;
    for (size_t i = 0; cli_word(list, i, word, sizeof word); i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", word);
    }
    cli_usage("%s: '%s' is not one of %s%s", what, text, all,
              cli_suggestion(text, list, "", near, sizeof near));
    return 0;
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
        return 1;
    if (!strpbrk(o->arg, letters))
        cli_suggestion(text, o->arg, "", near, sizeof near);
    cli_usage("%s%s", cli_flagged(err.text).text, near);
    return 0;
}

static int append(const char *arg, char **list)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "," : "", arg) < 0) {
        cli_error("not enough memory");
        return 0;
    }
    free(*list);
    *list = longer;
    return 1;
}

static void free_lists(const cli_command *command, void *arguments)
{
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++)
        if (o->kind == CLI_LIST)
            free(*(char **)((char *)arguments + o->offset));
}

static int store(const cli_command *command, const cli_option *o, char *arg, void *arguments)
{
    char what[64];
    void *field = (char *)arguments + o->offset;
    if (o->letter)
        snprintf(what, sizeof what, "-%c", o->letter);
    else
        snprintf(what, sizeof what, "--%s", o->name);
    switch (o->kind) {
    case CLI_FLAG:
        return *(int *)field = 1;
    case CLI_TEXT:
        *(const char **)field = arg;
        return 1;
    case CLI_LIST:
        return append(arg, field);
    case CLI_CHOICE:
        return parse_choice(what, arg, o->arg, field);
    case CLI_WHOLE:
        return cli_parse_whole(what, arg, o->least, o->most, o->want, field);
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

/* ---- what argp refused ------------------------------------------------------------- */

enum { MATCH_NONE = -1, MATCH_MANY = -2 };

/* Index of the row that --text names, exactly or as the prefix of one row only. */
static int match_long(const cli_command *command, const char *text, size_t length)
{
    int found = MATCH_NONE;
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) {
        if (!o->name || strncmp(o->name, text, length) != 0)
            continue;
        if (strlen(o->name) == length)
            return (int)i;
        found = found == MATCH_NONE ? (int)i : MATCH_MANY;
    }
    return found;
}

static const char *name_list(const cli_command *command, char *list, size_t size)
{
    const cli_option *o;
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; (o = cli_option_at(command, i)) && used < size; i++)
        if (o->name)
            used += (size_t)snprintf(list + used, size - used, "%s|", o->name);
    return list;
}

static int refuse_long(const cli_command *command, const char *token)
{
    char list[1024], near[96];
    int length = (int)strcspn(token + 2, "=");
    int found = match_long(command, token + 2, (size_t)length);
    if (found == MATCH_MANY)
        return cli_usage("%s: '%.*s' is the start of more than one option", command->name,
                         length + 2, token);
    if (found == MATCH_NONE) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", length, token + 2);
        cli_suggestion(name, name_list(command, list, sizeof list), "--", near, sizeof near);
        return cli_usage("%s: there is no option '--%s'%s", command->name, name, near);
    }
    const cli_option *o = cli_option_at(command, (size_t)found);
    if (o->kind == CLI_FLAG)
        return cli_usage("%s: --%s takes no value", command->name, o->name);
    return cli_usage("%s: --%s needs a value: --%s=%s", command->name, o->name, o->name, o->arg);
}

static const cli_option *match_letter(const cli_command *command, int letter)
{
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* token is -abc; 0 where nothing is wrong with it */
static int refuse_short(const cli_command *command, const char *token)
{
    for (const char *s = token + 1; *s; s++) {
        const cli_option *o = match_letter(command, *s);
        if (!o)
            return cli_usage("%s: there is no option '-%c' (a file of that name is ./%s)",
                             command->name, *s, token);
        if (o->kind != CLI_FLAG)
            return s[1] ? 0
                        : cli_usage("%s: -%c needs a value: -%c %s", command->name, *s, *s, o->arg);
    }
    return 0;
}

/* argp stops behind the token it refused, or before it within a cluster of letters. */
static void tell_refusal(const cli_command *command, const struct argp_state *state)
{
    const char *last = state->argv[state->next - 1];
    const char *here = state->next < state->argc ? state->argv[state->next] : last;
    if (strncmp(last, "--", 2) == 0)
        refuse_long(command, last);
    else if (!(last[0] == '-' && refuse_short(command, last)))
        refuse_short(command, here);
    cli_error("try 'unrelu help %s'", command->name);
}

/* ---- argp -------------------------------------------------------------------------- */

typedef struct {
    const cli_command *command;
    cli_shared *arguments;
    int told; /* the reason of a failure has been said */
} parse;

enum { KEY_BASE = 256, MOST_ROWS = 64 };

static error_t accept(int key, char *arg, struct argp_state *state)
{
    parse *p = state->input;
    if (key == ARGP_KEY_ARG) {
        p->arguments->files[p->arguments->file_count++] = arg;
        return 0;
    }
    if (key == ARGP_KEY_ERROR && !p->told)
        tell_refusal(p->command, state);
    const cli_option *o = key >= KEY_BASE && key < KEY_BASE + MOST_ROWS
                              ? cli_option_at(p->command, (size_t)(key - KEY_BASE))
                              : match_letter(p->command, key);
    if (!o)
        return ARGP_ERR_UNKNOWN;
    p->told = !store(p->command, o, arg, p->arguments);
    return p->told ? EINVAL : 0;
}

static void fill_argp(const cli_command *command, struct argp_option *rows)
{
    const cli_option *o;
    for (size_t i = 0; i < MOST_ROWS && (o = cli_option_at(command, i)); i++) {
        int key = o->letter ? o->letter : KEY_BASE + (int)i;
        rows[i] = (struct argp_option){
            .name = o->name, .key = o->kind == CLI_HEADING ? 0 : key, .arg = o->arg, .doc = o->doc};
    }
}

static int check_files(const cli_command *command, const cli_shared *shared)
{
    if (shared->file_count < command->least_files)
        return cli_usage("%s: too few arguments; usage: unrelu %s %s", command->name, command->name,
                         command->files);
    if (shared->file_count > command->most_files)
        return cli_usage("%s: '%s' is one argument too many; usage: unrelu %s %s", command->name,
                         shared->files[command->most_files], command->name, command->files);
    return 0;
}

static int check_output_name(const cli_command *command, const cli_shared *shared)
{
    if (shared->output && !*shared->output)
        return cli_usage("%s: -o: the name of the output is empty", command->name);
    return 0;
}

static int parse_and_run(const cli_command *command, int argc, char **argv, cli_shared *arguments)
{
    struct argp_option rows[MOST_ROWS + 1] = {0};
    fill_argp(command, rows);
    struct argp argp = {.options = rows, .parser = accept};
    parse p = {.command = command, .arguments = arguments};
    if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &p) != 0)
        return CLI_EXIT_USAGE;
    if (arguments->help || arguments->version) {
        if (arguments->help)
            cli_print_help(command);
        else
            cli_print_version();
        return 0;
    }
    cli_talk_set(arguments->quiet, arguments->verbose);
    int wrong = check_files(command, arguments);
    if (!wrong)
        wrong = check_output_name(command, arguments);
    return wrong ? wrong : command->run(arguments);
}

/* whether the i-th word is a negative number that is no option's value */
static int is_negative(char **argv, int i)
{
    const char *word = argv[i], *before = i > 0 ? argv[i - 1] : "";
    int value = strcmp(before, "-o") == 0 || strcmp(before, "--output") == 0;
    return !value && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
}

/* The words with a blank before negative numbers, which makes them arguments where argp would look
 * for an option '-1'. One block of memory; NULL: there is none. */
static char **shield_numbers(int argc, char **argv)
{
    size_t room = 0;
    for (int i = 0; i < argc; i++)
        room += strlen(argv[i]) + 2;
    char **words = malloc(((size_t)argc + 1) * sizeof *words + room);
    char *next = words ? (char *)(words + argc + 1) : NULL;
    for (int i = 0; words && i < argc; i++) {
        words[i] = next;
        next += sprintf(next, "%s%s", is_negative(argv, i) ? " " : "", argv[i]) + 1;
    }
    if (words)
        words[argc] = NULL;
    return words;
}

int cli_run(const cli_command *command, int argc, char **argv)
{
    cli_shared *arguments = malloc(command->size);
    char **files = calloc((size_t)argc + 1, sizeof *files);
    char **words = command->has & CLI_HAS_NUMBERS ? shield_numbers(argc, argv) : NULL;
    int status = CLI_EXIT_INTERNAL;
    if (arguments && files && (words || !(command->has & CLI_HAS_NUMBERS))) {
        memcpy(arguments, command->defaults, command->size);
        arguments->files = files;
        if (command->start)
            command->start(arguments);
        status = parse_and_run(command, argc, words ? words : argv, arguments);
        free_lists(command, arguments);
    } else {
        cli_error("not enough memory");
    }
    free(words);
    free(files);
    free(arguments);
    return status;
}
