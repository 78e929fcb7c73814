/* SPDX-License-Identifier: Apache-2.0 */
/* Everything on standard error, where every line starts with "unrelu: ", and how a run ends. */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "unrelu/unrelu.h"

#include "cli.h"

enum {
    CLI_EXIT_INTERNAL = 1,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_FILE = 3,
    CLI_EXIT_DATA = 4,
    CLI_EXIT_UNCERTIFIED = 5,
    CLI_EXIT_INTERRUPTED = 130
};

void cli_talk_start(void); /* catches signals, starts the clock */
void cli_talk_set(int quiet, int verbose);
/* From now on errors are kept, for one of a team to tell; mute: warnings and notes are not said. */
void cli_talk_keep(int mute);
const char *cli_talk_kept(void);      /* a line each */
void cli_talk_tell(const char *text); /* lines of errors; later ones are told as they come */
double cli_seconds(void);             /* since the start */
int cli_interrupted(void);
int cli_exit_interrupted(void); /* the exit status: 128 and the number of the signal */
/* Whether a signal may end the program where it stands: while it waits for a pipe, which may never
 * say more, and has nothing half-written. */
void cli_interrupt_at_once(int yes);
void cli_wrote_file(void); /* a signal after it does not say that nothing was written */

void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* not with --quiet */
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* only with --verbose */
void cli_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void cli_tell_warnings(const unrelu_warning *warnings, size_t count); /* of a model */

/* These say it and return CLI_EXIT_USAGE, _FILE and _INTERNAL. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_refuse_file(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_no_memory(void);
int cli_no_memory_for(const char *what); /* "the page" */

/* The exit status that a library status stands for; says the sentence where it is a failure. */
int cli_exit(unrelu_status status, const unrelu_error *err);

/* A progress line on a terminal for work over a second, and cancelling by SIGINT. */
unrelu_exec cli_exec(const cli_shared *shared);
void cli_progress(void *context, const char *stage, double fraction);
void cli_counts(void *context, const unrelu_counts *counts);
/* `cancelled` of a call that can return what it has: ^C wants that, other signals end it */
int cli_keep_at_interrupt(void *context);
/* The ^C is answered: what it wanted kept is written as anything is. */
void cli_forget_interrupt(void);

/* Flushes standard output; a result that could not be written turns success into CLI_EXIT_FILE. */
int cli_talk_finish(int status);

#endif
