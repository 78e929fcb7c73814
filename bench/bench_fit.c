/* SPDX-License-Identifier: Apache-2.0 */
/* Whole fits as ratios, both sides measured in turns in this run, the smallest time of each:
 * against numpy.cov and Octave's cov of the same matrix (left out where absent), against the
 * paper's algorithm, against reading the file, two threads against one. */
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5 };

static void row(const char *what, double ratio, const char *wanted, double ours, double theirs)
{
    printf("| %-63s | %7.3f | %-9s | %9.4f | %9.4f |\n", what, ratio, wanted, ours, theirs);
    fflush(stdout);
}

static unrelu_gaussian *planted(size_t d, uint64_t seed)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    unrelu_gaussian *truth;
    unrelu_error err = {0};
    o.d = d;
    o.seed = seed;
    must(unrelu_gaussian_plant(&o, &truth, &err), &err);
    return truth;
}

static double *drawn(const unrelu_gaussian *truth, size_t n)
{
    unrelu_error err = {0};
    unrelu_sampler *sampler = NULL;
    double *x = malloc(n * truth->d * sizeof *x);
    if (!x)
        exit(1);
    must(unrelu_gaussian_sampler(truth, 1, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, n, NULL, x, &err), &err);
    unrelu_sampler_free(sampler);
    return x;
}

typedef enum { DEFAULT, SIGNS, PAPER } method;

static unrelu_gaussian_options options_of(method m)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.angles = m == DEFAULT ? UNRELU_ANGLES_H6 : UNRELU_ANGLES_SIGNS;
    o.norms = m == PAPER ? UNRELU_NORMS_SGD : UNRELU_NORMS_CENSORED;
    o.literal = m == PAPER;
    return o;
}

/* seconds of one fit; *error (may be NULL) gets err_b */
static double time_fit(unrelu_source *source, method m, int threads, const unrelu_gaussian *truth,
                       double *error)
{
    unrelu_gaussian *model;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = threads};
    unrelu_gaussian_options o = options_of(m);
    double start = now();
    must(unrelu_gaussian_fit(source, &o, &exec, &model, &err), &err);
    double seconds = now() - start;
    if (error) {
        unrelu_gaussian_distance far;
        must(unrelu_gaussian_compare(truth, model, &far, &err), &err);
        *error = far.b_error;
    }
    unrelu_gaussian_free(model);
    return seconds;
}

static double time_matrix(const double *x, size_t n, size_t d, method m, int threads,
                          const unrelu_gaussian *truth, double *error)
{
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, n, d, NULL, &source, &err), &err);
    double seconds = time_fit(source, m, threads, truth, error);
    unrelu_source_close(source);
    return seconds;
}

/* ---- peers: a process that prints the seconds of one cov of an n x d matrix in memory ---- */

static double ask(const char *command)
{
    double seconds = NAN;
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return NAN;
    if (fscanf(pipe, "%lf", &seconds) != 1)
        seconds = NAN;
    pclose(pipe);
    return seconds;
}

static double time_numpy(const char *python, size_t n, size_t d)
{
    char command[600];
    snprintf(
        command, sizeof command,
        "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 %s -c '"
        "import numpy as np, time\n"
        "X = np.maximum(np.random.default_rng(1).standard_normal((%zu, %zu)), 0)\n"
        "def once():\n"
        "    t = time.perf_counter(); np.cov(X, rowvar=False); return time.perf_counter() - t\n"
        "print(min(once() for _ in range(3)))' 2> /dev/null",
        python, n, d);
    return ask(command);
}

static double time_octave(size_t n, size_t d)
{
    char command[300];
    snprintf(command, sizeof command,
             "OPENBLAS_NUM_THREADS=1 octave-cli -qf --eval 'X = max(randn(%zu, %zu), 0); t = inf; "
             "for i = 1:3 tic; cov(X); t = min(t, toc); end; printf(\"%%g\\n\", t)' 2> /dev/null",
             n, d);
    return ask(command);
}

static void against_cov(const char *python, size_t n, size_t d, const char *const wanted[2])
{
    unrelu_gaussian *truth = planted(d, 1);
    double *x = drawn(truth, n), best[2] = {INFINITY, INFINITY}, numpy = INFINITY;
    char what[80];
    for (int turn = 0; turn < TURNS; turn++) {
        for (method m = DEFAULT; m <= SIGNS; m++)
            best[m] = fmin(best[m], time_matrix(x, n, d, m, 1, truth, NULL));
        if (python)
            numpy = fmin(numpy, time_numpy(python, n, d));
    }
    double octave = time_octave(n, d);
    for (method m = DEFAULT; m <= SIGNS; m++) {
        const char *name = m == DEFAULT ? "default" : "--angles signs";
        if (python) {
            snprintf(what, sizeof what, "fit (%s) / numpy.cov, n=%zu d=%zu, 1 thread", name, n, d);
            row(what, best[m] / numpy, wanted[m], best[m], numpy);
        }
        if (!isnan(octave)) {
            snprintf(what, sizeof what, "fit (%s) / Octave cov, n=%zu d=%zu, 1 thread", name, n, d);
            row(what, best[m] / octave, "", best[m], octave);
        }
    }
    free(x);
    unrelu_gaussian_free(truth);
}

static void against_paper(size_t n, size_t d, const char *wanted_time, const char *wanted_error)
{
    double ours = INFINITY, theirs = INFINITY, error[2] = {0};
    char what[80];
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        unrelu_gaussian *truth = planted(d, turn);
        double *x = drawn(truth, n), e[2];
        ours = fmin(ours, time_matrix(x, n, d, DEFAULT, 1, truth, &e[0]));
        theirs = fmin(theirs, time_matrix(x, n, d, PAPER, 1, truth, &e[1]));
        error[0] += e[0] / TURNS;
        error[1] += e[1] / TURNS;
        free(x);
        unrelu_gaussian_free(truth);
    }
    snprintf(what, sizeof what, "paper / default: time, n=%zu d=%zu, 1 thread", n, d);
    row(what, theirs / ours, wanted_time, ours, theirs);
    snprintf(what, sizeof what, "paper / default: err_b, n=%zu d=%zu, 5 runs", n, d);
    row(what, error[1] / error[0], wanted_error, error[0], error[1]);
}

static void threads(size_t n, size_t d)
{
    unrelu_gaussian *truth = planted(d, 1);
    double *x = drawn(truth, n), best[2] = {INFINITY, INFINITY};
    char what[80];
    for (int turn = 0; turn < TURNS; turn++)
        for (int t = 0; t < 2; t++)
            best[t] = fmin(best[t], time_matrix(x, n, d, DEFAULT, t + 1, truth, NULL));
    snprintf(what, sizeof what, "1 thread / 2 threads, n=%zu d=%zu", n, d);
    row(what, best[0] / best[1], ">= 1.8", best[1], best[0]);
    free(x);
    unrelu_gaussian_free(truth);
}

static double time_read(const char *path)
{
    enum { CHUNK = 1 << 20 };
    static char buffer[CHUNK];
    double start = now();
    int file = open(path, O_RDONLY);
    while (read(file, buffer, CHUNK) > 0)
        continue;
    close(file);
    return now() - start;
}

static void against_reading(size_t n, size_t d)
{
    char path[] = "/tmp/unrelu_bench_XXXXXX.npy", what[80];
    int file = mkstemps(path, 4);
    if (file < 0)
        return;
    close(file);
    unrelu_gaussian *truth = planted(d, 1);
    unrelu_error err = {0};
    unrelu_sink *sink = NULL;
    double *x = drawn(truth, n), reading = INFINITY, fitting = INFINITY;
    must(unrelu_sink_open(path, n, d, NULL, &sink, &err), &err);
    must(unrelu_sink_write(sink, x, n, &err), &err);
    must(unrelu_sink_commit(sink, &err), &err);
    free(x);
    for (int turn = 0; turn < TURNS; turn++) {
        unrelu_source *source = NULL;
        reading = fmin(reading, time_read(path));
        double start = now();
        must(unrelu_source_open(path, NULL, &source, &err), &err);
        time_fit(source, DEFAULT, 0, truth, NULL);
        fitting = fmin(fitting, now() - start);
        unrelu_source_close(source);
    }
    snprintf(what, sizeof what, "fit / reading the cached .npy, n=%zu d=%zu, all threads", n, d);
    row(what, fitting / reading, "<= 3", fitting, reading);
    unlink(path);
    unrelu_gaussian_free(truth);
}

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    size_t small = quick ? 10 : 1;
    const char *python = NULL, *candidates[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2 && !python; i++)
        if (!isnan(time_numpy(candidates[i], 10, 2)))
            python = candidates[i];
    if (!python)
        fprintf(stderr, "numpy is absent: its rows are left out\n");
    printf("| %-63s | %7s | %-9s | %9s | %9s |\n|%.65s|%.9s|%.11s|%.11s|%.11s|\n", "what", "ratio",
           "wanted", "ours s", "theirs s",
           "-----------------------------------------------------------------", "---------",
           "-----------", "-----------", "-----------");
    against_cov(python, 100000 / small, 200, (const char *const[]){"<= 1.25", "<= 0.4"});
    against_cov(python, 100000 / small, 1000, (const char *const[]){"goal < 1", ""});
    against_paper(500000 / small, 5, "", "");
    against_paper(500000 / small, 25, ">= 5", ">= 7");
    threads(100000 / small, 200);
    threads(500000 / small, 25);
    against_reading(10000000 / small, 10);
    return 0;
}
