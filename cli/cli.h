/* SPDX-License-Identifier: Apache-2.0 */
/* A command is one table of options and one function. The table feeds the parser, --help, the
 * man page, docs/cli.md and the completions, so that none of them can disagree. */
#ifndef CLI_H
#define CLI_H

#include <stddef.h>
#include <stdint.h>

#include "unrelu/unrelu.h"

/* what every command may be told; first member of each command's own arguments */
typedef struct {
    const char *output, *columns;
    double level;
    uint64_t seed;
    size_t threads;
    size_t max_memory; /* 0: most of what the machine has */
    int json, quiet, verbose, help, version;
    char **files; /* arguments that are not options */
    size_t file_count;
} cli_shared;

typedef enum {
    CLI_HEADING, /* doc is the heading of the options below it */
    CLI_FLAG,    /* int */
    CLI_TEXT,    /* const char * */
    CLI_LIST, /* char *: texts of all times it is given, with commas between; freed after the run */
    CLI_CHOICE,  /* int: index among the words of arg */
    CLI_WHOLE,   /* size_t */
    CLI_BYTES,   /* size_t, of text such as 500M */
    CLI_SEED,    /* uint64_t */
    CLI_REAL,    /* double */
    CLI_LIBRARY, /* int, or offset 0: how often it was said; its value goes to the library's options
                    of that name, by the command's set */
} cli_kind;

typedef struct {
    const char *name;
    int letter;      /* or 0 */
    const char *arg; /* "FILE", or "a|b|N": words in lower case are taken as they stand */
    const char *doc;
    cli_kind kind;
    size_t offset;      /* of the field, in the command's arguments */
    double least, most; /* whole and real */
    const char *want;   /* "a number above 0" */
} cli_option;

/* the end of a row: its kind, and the field of the command's arguments that its value goes to */
#define CLI_TO(kind, type, field) kind, offsetof(type, field), 0, 0, NULL
#define CLI_TO_LIBRARY            CLI_LIBRARY, 0, 0, 0, NULL

typedef struct {
    const char *line, *does;
} cli_example;

enum { /* which of the shared options a command has; quiet, verbose, help, version: all */
       CLI_HAS_SEED = 1 << 0,
       CLI_HAS_THREADS = 1 << 1,
       CLI_HAS_LEVEL = 1 << 2,
       CLI_HAS_COLUMNS = 1 << 3,
       CLI_HAS_JSON = 1 << 4,
       CLI_HAS_NUMBERS = 1 << 5,  /* no option: its arguments may be negative numbers */
       CLI_HAS_RANKS = 1 << 6,    /* no option: unrelu-mpi shares its rows among ranks */
       CLI_HAS_SHARDS = 1 << 7,   /* and takes several files for its last, the samples */
       CLI_HAS_NO_FILES = 1 << 8, /* no option: its arguments are words */
};

typedef struct {
    const char *name;
    struct {
        const char *usage; /* "TRUTH MODEL" */
        size_t least, most;
    } files;           /* its arguments that are not options */
    const char *brief; /* one line, no full stop */
    const char *doc;   /* paragraphs */
    const char *words; /* what the first argument may be, "a|b", or NULL: a file */
    const cli_option *options;
    unsigned has;
    const cli_example *examples;
    size_t size;          /* of its arguments, where they are more than cli_shared */
    const void *defaults; /* what they begin as a copy of; NULL: zeros */
    const char *output;   /* where its results go unless -o says otherwise, or NULL */
    /* where it has options of kind CLI_LIBRARY: sets up the library's, and one of them */
    void (*start)(void *arguments);
    unrelu_status (*set)(void *arguments, const char *name, const char *value, unrelu_error *err);
    int (*run)(void *arguments); /* returns the exit status */
} cli_command;

/* Its argument as it is shown: the words, or NAME where they fill more than a line (the doc then
 * has them) */
const char *cli_option_arg(const cli_option *option);

/* The i-th row of the command's table, its own rows first, then the shared; NULL after the last. */
const cli_option *cli_option_at(const cli_command *command, size_t i);

/* Parses argv[1..] and runs; returns the exit status. */
int cli_run(const cli_command *command, int argc, char **argv);

/* A number from least to most; says why it is none, and that `want` is needed, and returns the exit
 * status. what: the option. */
int cli_parse_real(const char *what, const char *text, double least, double most, const char *want,
                   double *value);

extern const cli_command cli_fit, cli_recover, cli_certify, cli_unmix, cli_predict, cli_export,
    cli_sample, cli_compare, cli_show, cli_report, cli_impute, cli_check, cli_plan, cli_summarize,
    cli_merge, cli_generate, cli_reproduce, cli_hardness;

/* all of them, in the order in which they are listed */
extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;
const cli_command *cli_find_command(const char *name); /* NULL: there is none, and that is said */

#endif
