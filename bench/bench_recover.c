/* SPDX-License-Identifier: Apache-2.0 */
/* unrelu_recover on planted networks as ratios, both sides measured in turns in this run: an exact
 * fit against one pivoted QR of [X A], the least that tells the rank of inputs and labels; a noisy
 * fit, and the exact one of a million rows, against one bare evaluation U max(0, V x) of all rows;
 * two threads against one. One thread where nothing is said. Of each network the smallest time,
 * then the mean over the networks. A fit that is wrong ends the run. */
#include "bench.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 256 };

typedef struct {
    size_t d, k, m, n;
    double noise;
    int networks, turns;
} point;

typedef struct {
    const point *p;
    unrelu_network *truth;
    double *x, *a; /* (n, d), (n, m) */
} planted;

static planted plant(const point *p, uint64_t seed)
{
    planted data = {.p = p, .x = room_for(p->n, p->d), .a = room_for(p->n, p->m)};
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_error err = {0};
    o.d = p->d;
    o.k = p->k;
    o.m = p->m;
    o.noise = p->noise;
    o.seed = seed;
    must(unrelu_network_plant(&o, &data.truth, &err), &err);
    must(unrelu_network_draw(&o, data.truth, 0, p->n, NULL, data.x, data.a, &err), &err);
    return data;
}

static void planted_free(planted *data)
{
    unrelu_network_free(data->truth);
    free(data->x);
    free(data->a);
}

static void check(const planted *data, const unrelu_network *model)
{
    const point *p = data->p;
    unrelu_network_distance far = {0};
    unrelu_error err = {0};
    int noisy = p->noise > 0;
    int right = model->verdict == (noisy ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT);
    if (right) {
        must(unrelu_network_compare(data->truth, model, &far, &err), &err);
        right = model->k == p->k && far.function_error < (noisy ? p->noise : 1e-9);
    }
    if (right)
        return;
    fprintf(stderr, "(%zu,%zu,%zu) n=%zu seed %llu: verdict %s, %zu neurons, error %.2g\n", p->d,
            p->k, p->m, p->n, (unsigned long long)data->truth->seed,
            unrelu_verdict_name(model->verdict), model->k, far.function_error);
    exit(1);
}

/* told: the number of neurons, that there is noise or none, and that there are no biases */
static double time_recover(const planted *data, int threads, int told)
{
    const point *p = data->p;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_network *model;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = threads};
    if (told) {
        o.k = p->k;
        o.labels = p->noise > 0 ? UNRELU_LABELS_NOISY : UNRELU_LABELS_NOISELESS;
        o.biases = UNRELU_BIASES_NONE;
    }
    must(unrelu_source_memory(data->x, p->n, p->d, NULL, &inputs, &err), &err);
    must(unrelu_source_memory(data->a, p->n, p->m, NULL, &labels, &err), &err);
    double start = now();
    must(unrelu_recover(inputs, labels, &o, &exec, &model, &err), &err);
    double seconds = now() - start;
    check(data, model);
    unrelu_network_free(model);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return seconds;
}

/* ---- what it is held against, with one thread ---- */

static double time_qr(const planted *data)
{
    size_t n = data->p->n, d = data->p->d, m = data->p->m, rank;
    double *both = room_for(n, d + m), *Q = room_for(n, d + m), *R = room_for(d + m, d + m);
    unrelu_error err = {0};
    for (size_t i = 0; i < n; i++) {
        memcpy(both + i * (d + m), data->x + i * d, d * sizeof *both);
        memcpy(both + i * (d + m) + d, data->a + i * m, m * sizeof *both);
    }
    double start = now();
    must(ur_qr_pivoted(n, d + m, both, 1e-12, &rank, Q, R, NULL, &err), &err);
    double seconds = now() - start;
    free(both);
    free(Q);
    free(R);
    return seconds;
}

static double time_evaluation(const planted *data)
{
    size_t d = data->p->d, k = data->p->k, m = data->p->m, n = data->p->n;
    double *t = room_for(BLOCK, k), *y = room_for(BLOCK, m), sum = 0;
    double start = now();
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)k, (int)d, 1,
                    data->x + first * d, (int)d, data->truth->V, (int)d, 0, t, (int)k);
        for (size_t i = 0; i < rows * k; i++)
            t[i] = t[i] > 0 ? t[i] : 0;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)m, (int)k, 1, t,
                    (int)k, data->truth->U, (int)k, 0, y, (int)m);
        sum += y[0];
    }
    double seconds = now() - start;
    free(t);
    free(y);
    return isfinite(sum) ? seconds : NAN;
}

/* ---- the table ---- */

static void row(const point *p, const char *what, double ours, double theirs)
{
    char title[120];
    int used = snprintf(title, sizeof title, "(%zu,%zu,%zu) n=%zu", p->d, p->k, p->m, p->n);
    if (p->noise > 0)
        used += snprintf(title + used, sizeof title - (size_t)used, " noise %.2g", p->noise);
    snprintf(title + used, sizeof title - (size_t)used, ": %s", what);
    printf("| %-64s | %8.2f | %10.5f | %10.5f |\n", title, ours / theirs, ours, theirs);
    fflush(stdout);
}

typedef double (*yardstick)(const planted *);

static void measure(const point *p, yardstick other, const char *name)
{
    enum { ONE, TWO, TOLD, OTHER, COUNT };
    double mean[COUNT] = {0};
    char what[80];
    for (int network = 0; network < p->networks; network++) {
        planted data = plant(p, (uint64_t)network + 1);
        double best[COUNT] = {INFINITY, INFINITY, INFINITY, INFINITY};
        for (int turn = 0; turn < p->turns; turn++) {
            best[ONE] = fmin(best[ONE], time_recover(&data, 1, 0));
            best[TWO] = fmin(best[TWO], time_recover(&data, 2, 0));
            if (p->noise > 0)
                best[TOLD] = fmin(best[TOLD], time_recover(&data, 1, 1));
            best[OTHER] = fmin(best[OTHER], other(&data));
        }
        for (int i = 0; i < COUNT; i++)
            mean[i] += best[i] / p->networks;
        planted_free(&data);
    }
    snprintf(what, sizeof what, "fit / one %s", name);
    row(p, what, mean[ONE], mean[OTHER]);
    if (p->noise > 0)
        row(p, "fit / fit with k given, no biases", mean[ONE], mean[TOLD]);
    row(p, "1 thread / 2 threads", mean[ONE], mean[TWO]);
}

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const point exact[] = {{10, 5, 8, 60, 0, 10, 5},
                           {20, 10, 12, 200, 0, 10, 5},
                           {30, 30, 30, 300, 0, 5, 5},
                           {50, 20, 30, 500, 0, 5, 5},
                           {100, 50, 64, 800, 0, 2, 3}};
    const point noisy[] = {
        {10, 5, 8, 1000, .1, 5, 3}, {20, 10, 12, 2000, .1, 2, 3}, {50, 20, 30, 6000, .1, 1, 2}};
    const point large = {50, 20, 30, quick ? 100000 : 1000000, 0, 1, 3};
    UR_BLAS_PINNED;
    printf("| %-64s | %8s | %10s | %10s |\n|%.66s|%.10s|%.12s|%.12s|\n", "what", "ratio", "first s",
           "second s", "------------------------------------------------------------------",
           "----------", "------------", "------------");
    for (size_t i = 0; i < sizeof exact / sizeof *exact - (quick ? 1 : 0); i++)
        measure(&exact[i], time_qr, "QR of [X A]");
    measure(&large, time_evaluation, "evaluation");
    for (size_t i = 0; i < sizeof noisy / sizeof *noisy - (quick ? 1 : 0); i++)
        measure(&noisy[i], time_evaluation, "evaluation");
    return 0;
}
