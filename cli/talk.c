/* SPDX-License-Identifier: Apache-2.0 */
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "escape.h"
#include "flags.h"
#include "team.h"
#include "words.h"

static volatile sig_atomic_t interrupted, may_exit, written;
static double started;
static int quiet, verbose;
static int keeps, mute; /* of a team: errors are kept for later; nothing else is said */
static char kept[8192]; /* them, each with an end of line */
static struct {
    volatile sig_atomic_t shown; /* a line that must be erased before anything else is said */
    double last;                 /* when it was drawn */
    char said[512];              /* stages that --verbose has told: each once, "|a|b|" */
    int stdout_shared;           /* results scroll by on the same terminal */
} progress;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- signals ------------------------------------------------------------------------ */

/* timeout(1) sends its signal twice at once, a user presses ^C again after this many seconds */
static const double PATIENCE = 0.3;
/* A command that did not end by itself so many seconds after a signal is ended: it may stand in one
 * long call of LAPACK, or wait for a pipe. Docker kills after 10 seconds, slurm after 30. */
enum { GRACE_SECONDS = 3 };
/* and where it was heard, and what is there is being finished: both fit into Docker's */
enum { FINISH_SECONDS = 6 };

static const char *reason(int signal)
{
    if (signal == SIGPIPE) /* who reads has seen enough, and need not be told */
        return "";
    if (signal == SIGXCPU)
        return written ? "the limit of CPU time (ulimit -t) is reached; files that were written "
                         "are whole"
                       : "the limit of CPU time (ulimit -t) is reached; nothing was written";
    return written ? "interrupted; files that were written are whole"
                   : "interrupted; nothing was written";
}

/* may be called by a handler */
static _Noreturn void leave(int signal)
{
    const char *parts[] = {progress.shown ? "\r\033[K" : "", "unrelu: ", reason(signal), "\n"};
    for (size_t i = 0; *reason(signal) && !mute && i < sizeof parts / sizeof *parts; i++)
        (void)!write(STDERR_FILENO, parts[i], strlen(parts[i]));
    _exit(128 + signal);
}

static void interrupt(int signal)
{
    static volatile double first;
    int before = errno;
    double t = now();
    if (interrupted) { /* a second one kills, should the first not be seen */
        if (t - first > PATIENCE)
            leave(signal);
    } else {
        first = t;
        interrupted = signal;
        if (may_exit)
            leave(signal);
        alarm(GRACE_SECONDS);
    }
    errno = before;
}

static void end_of_grace(int signal)
{
    (void)signal;
    leave(interrupted);
}

/* The write that it is about fails, with its own sentence. It is not SIG_IGN, which programs that
 * are started from here would inherit. */
static void let_it_fail(int signal)
{
    (void)signal;
}

static void catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE};
    struct sigaction action = {.sa_handler = interrupt}, other = {0}, before;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(&action.sa_mask, ends[i]);
    sigaddset(&action.sa_mask, SIGALRM);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sigaction(ends[i], NULL, &before);
        /* nohup, and programs that want to see EPIPE; ^C is wanted in a background job too */
        if (ends[i] == SIGINT || before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
    other.sa_handler = end_of_grace;
    sigaction(SIGALRM, &other, NULL);
    other.sa_handler = let_it_fail;
    sigaction(SIGXFSZ, &other, NULL);
}

void cli_interrupt_at_once(int yes)
{
    may_exit = yes;
}

void cli_wrote_file(void)
{
    written = 1;
}

/* Where a program is started with one of its first three descriptors closed, the next file that is
 * opened would get its number, and what is said on standard error would go into that file. What
 * stands there instead cannot be read or written. */
static void keep_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void cli_talk_start(void)
{
    keep_standard_descriptors();
    catch_signals();
    started = now();
}

void cli_talk_set(int be_quiet, int be_verbose)
{
    quiet = be_quiet;
    verbose = be_verbose && !be_quiet;
}

void cli_talk_keep(int be_mute)
{
    keeps = 1;
    mute = be_mute;
}

void cli_talk_tell(const char *text)
{
    keeps = 0;
    for (const char *s = text, *end; *s; s = end + (*end != '\0')) {
        end = s + strcspn(s, "\n");
        cli_error("%.*s", (int)(end - s), s);
    }
}

const char *cli_talk_kept(void)
{
    return kept;
}

double cli_seconds(void)
{
    return now() - started;
}

int cli_interrupted(void)
{
    return interrupted != 0;
}

int cli_exit_interrupted(void)
{
    return interrupted ? 128 + interrupted : CLI_EXIT_INTERRUPTED;
}

static void erase_progress(void)
{
    if (progress.shown)
        fputs("\r\033[K", stderr);
    progress.shown = 0;
}

static void say(const char *label, const char *format, va_list list)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    int coloured = *label && isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
    char text[8192]; /* of the stack: what is said may be that memory is short */
    vsnprintf(text, sizeof text, format, list);
    erase_progress();
    fprintf(stderr, "unrelu: %s%s%s", coloured ? "\033[33m" : "", label, coloured ? "\033[0m" : "");
    /* one line, whatever the names in it hold */
    for (const char *s = text, *end; *s; s = end) {
        end = s + strcspn(s, "\n");
        cli_show_text(stderr, s, (size_t)(end - s));
        for (; *end == '\n'; end++)
            fputs("\\x0a", stderr);
    }
    fputc('\n', stderr);
}

#define SAY(label, format)                                                                         \
    do {                                                                                           \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        say(label, format, list);                                                                  \
        va_end(list);                                                                              \
    } while (0)

static void say_error(const char *format, va_list list)
{
    char text[sizeof kept];
    if (!keeps) {
        say("", format, list);
        return;
    }
    vsnprintf(text, sizeof text, format, list);
    cli_append(kept, sizeof kept, "%s", *kept ? "\n" : "");
    for (const char *s = text, *end; *s; s = end) { /* ends of lines in names are said so */
        end = s + strcspn(s, "\n");
        cli_append(kept, sizeof kept, "%.*s", (int)(end - s), s);
        for (; *end == '\n'; end++)
            cli_append(kept, sizeof kept, "\\x0a");
    }
}

#define SAY_ERROR(format)                                                                          \
    do {                                                                                           \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        say_error(format, list);                                                                   \
        va_end(list);                                                                              \
    } while (0)

void cli_error(const char *format, ...)
{
    SAY_ERROR(format);
}

void cli_warning(const char *format, ...)
{
    if (!quiet && !mute)
        SAY("warning: ", format);
}

void cli_note(const char *format, ...)
{
    if (!quiet && !mute)
        SAY("", format);
}

void cli_detail(const char *format, ...)
{
    if (verbose && !mute)
        SAY("", format);
}

void cli_tell_warnings(const unrelu_warning *warnings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_warning("%s", cli_flagged(warnings[i].message).text);
}

int cli_usage(const char *format, ...)
{
    SAY_ERROR(format);
    return CLI_EXIT_USAGE;
}

int cli_refuse_file(const char *format, ...)
{
    SAY_ERROR(format);
    return CLI_EXIT_FILE;
}

int cli_no_memory_for(const char *what)
{
    size_t limit = unrelu_memory_limit(0); /* there is no other way to ask for it */
    unrelu_memory_limit(limit);
    if (limit)
        cli_error("not enough memory for %s: %zu bytes are in use, and --max-memory is %zu", what,
                  unrelu_memory_used(), limit);
    else
        cli_error("not enough memory for %s: %zu bytes are in use, and the system gives no more",
                  what, unrelu_memory_used());
    return CLI_EXIT_INTERNAL;
}

int cli_no_memory(void)
{
    return cli_no_memory_for("the command");
}

int cli_exit(unrelu_status status, const unrelu_error *err)
{
    static const int codes[] = {
        [UNRELU_OK] = 0,
        [UNRELU_EINTERNAL] = CLI_EXIT_INTERNAL,
        [UNRELU_ENOMEM] = CLI_EXIT_INTERNAL,
        [UNRELU_EUSAGE] = CLI_EXIT_USAGE,
        [UNRELU_EIO] = CLI_EXIT_FILE,
        [UNRELU_EFORMAT] = CLI_EXIT_FILE,
        [UNRELU_EDATA] = CLI_EXIT_DATA,
        [UNRELU_ECANCELLED] = CLI_EXIT_INTERRUPTED,
    };
    if (status == UNRELU_OK)
        return 0;
    if (status == UNRELU_ECANCELLED || cli_interrupted()) {
        if (*reason(interrupted))
            cli_error("%s", reason(interrupted));
        return cli_exit_interrupted();
    }
    if (status == UNRELU_ENOMEM && !err->text[0])
        return cli_no_memory();
    cli_error("%s", cli_flagged(err->text[0] ? err->text : "internal error").text);
    return (size_t)status < sizeof codes / sizeof *codes ? codes[status] : CLI_EXIT_INTERNAL;
}

/* whether a line on a stage is due, which is told with --verbose when it begins */
static int draws_progress(const char *stage)
{
    char name[64];
    double t = now();
    if (!stage) /* too short to have a name */
        return 0;
    snprintf(name, sizeof name, "|%s|", stage);
    if (verbose && !strstr(progress.said, name)) { /* solvers come back to stages many times */
        cli_append(progress.said, sizeof progress.said, "%s", name);
        cli_detail("%s", stage);
    }
    if (quiet || mute || progress.stdout_shared || !isatty(STDERR_FILENO) || t - started < 1 ||
        t - progress.last < 0.1)
        return 0;
    progress.last = t;
    progress.shown = 1;
    return 1;
}

void cli_progress(void *context, const char *stage, double fraction)
{
    (void)context;
    if (!draws_progress(stage))
        return;
    if (fraction >= 0)
        fprintf(stderr, "\r\033[Kunrelu: %s, %.0f %%", stage, 100 * fraction);
    else
        fprintf(stderr, "\r\033[Kunrelu: %s, %.0f s", stage, cli_seconds());
}

void cli_counts(void *context, const unrelu_counts *counts)
{
    char what[160] = "", *at = what, *end = what + sizeof what;
    if (counts->wanted > 0)
        at += snprintf(at, (size_t)(end - at), ", %zu of %zu neurons found, %zu starts",
                       counts->found, counts->wanted, counts->starts);
    else
        at += snprintf(at, (size_t)(end - at), ", %zu neurons tried", counts->found);
    if (isfinite(counts->residual))
        snprintf(at, (size_t)(end - at), ", residual %.2g", counts->residual);
    if (draws_progress(counts->stage))
        fprintf(stderr, "\r\033[Kunrelu: %s%s", counts->stage, what);
    (void)context;
}

static int cancelled(void *context)
{
    (void)context;
    return cli_interrupted() ? UNRELU_STOP : UNRELU_GO_ON;
}

int cli_keep_at_interrupt(void *context)
{
    static volatile sig_atomic_t heard;
    (void)context;
    if (interrupted != SIGINT)
        return cli_interrupted() ? UNRELU_STOP : UNRELU_GO_ON;
    if (!heard)
        alarm(FINISH_SECONDS);
    heard = 1;
    return UNRELU_STOP_AND_KEEP;
}

void cli_forget_interrupt(void)
{
    if (interrupted != SIGINT)
        return;
    alarm(0);
    interrupted = 0;
}

unrelu_exec cli_exec(const cli_shared *shared)
{
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    exec.threads = (int)shared->threads;
    exec.progress = cli_progress;
    exec.counts = cli_counts;
    exec.cancelled = cancelled;
    progress.stdout_shared =
        shared->output && strcmp(shared->output, "-") == 0 && isatty(STDOUT_FILENO);
    if (cli_team_joined)
        cli_team_joined->exec(&exec);
    return exec;
}

/* Files on other machines may tell only at a close that they could not be written: a copy of the
 * descriptor is closed, as standard output itself has others that use it. */
static int end_output(void)
{
    if (fflush(stdout) != 0)
        return 1;
    int copy = dup(STDOUT_FILENO);
    return copy >= 0 && close(copy) != 0;
}

int cli_talk_finish(int status)
{
    erase_progress();
    errno = 0;
    int failed = end_output(), why = errno; /* of an earlier failure too, mostly */
    int done = status == 0 || status == CLI_EXIT_UNCERTIFIED;
    if (done && cli_print_lost())
        return cli_no_memory();
    if (!done || !(failed || ferror(stdout)))
        return status;
    if (interrupted == SIGPIPE)
        return cli_exit_interrupted();
    cli_error("standard output: %s", why ? strerror(why) : "write failed");
    return CLI_EXIT_FILE;
}
