/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to start: CPU time of whole processes, least of many turns, side by side with a
 * program that does nothing. Of that, a command spends most in the loader (cmake/inside.cmake). */
#include "bench.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 60, MOST_WORDS = 6 };
extern char **environ;

typedef struct {
    const char *label, *words[MOST_WORDS]; /* the first may be the command's own path */
    double least;
} command;

static double cpu_of(const char *program, const char *const *words)
{
    posix_spawn_file_actions_t quiet;
    struct rusage used;
    int status;
    pid_t id;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&id, program, &quiet, NULL, (char *const *)words, environ) != 0 ||
        wait4(id, &status, 0, &used) < 0 || status != 0) {
        fprintf(stderr, "%s %s failed\n", program, words[1]);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&quiet);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void write_samples(const char *path)
{
    enum { ROWS = 100, COLUMNS = 3 };
    double x[ROWS * COLUMNS];
    unrelu_sink *sink;
    unrelu_error err;
    unsigned state = 1;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        state = state * 1664525 + 1013904223;
        x[i] = state >> 31 ? (double)(state >> 8) : 0;
    }
    must(unrelu_sink_open(path, ROWS, COLUMNS, NULL, &sink, &err), &err);
    must(unrelu_sink_write(sink, x, ROWS, &err), &err);
    must(unrelu_sink_commit(sink, &err), &err);
}

int main(void)
{
    char unrelu[PATH_MAX], samples[] = "/tmp/bench_start_XXXXXX.npy";
    ssize_t size = readlink("/proc/self/exe", unrelu, sizeof unrelu - sizeof "/unrelu");
    int file = mkstemps(samples, 4);
    if (size < 0 || file < 0) {
        perror("bench_start");
        return 1;
    }
    unrelu[size] = '\0';
    for (int up = 0; up < 2; up++) /* beside the folder of this program */
        *strrchr(unrelu, '/') = '\0';
    strcat(unrelu, "/unrelu");
    close(file);
    write_samples(samples);
    command commands[] = {{"nothing", {"/bin/true", "", NULL}, INFINITY},
                          {"--version", {unrelu, "--version", NULL}, INFINITY},
                          {"--help", {unrelu, "--help", NULL}, INFINITY},
                          {"fit of 100 x 3", {unrelu, "fit", samples, "-q", NULL}, INFINITY}};
    enum { COMMANDS = sizeof commands / sizeof *commands };
    for (int turn = 0; turn < TURNS; turn++)
        for (int c = 0; c < COMMANDS; c++)
            commands[c].least =
                fmin(commands[c].least, cpu_of(commands[c].words[0], commands[c].words));
    for (int c = 0; c < COMMANDS; c++)
        printf("%-16s %6.2f ms of CPU, %5.1f of a program that does nothing\n", commands[c].label,
               1e3 * commands[c].least, commands[c].least / commands[0].least);
    return unlink(samples) != 0;
}
