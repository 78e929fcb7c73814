/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `unrelu recover --method sparse-noise`: the network and the support of the
 * errors at 30 % wrong cells of ten and of a million times the labels, and that at 60 % no wrong
 * network is called exact. A tenth of the runs in the tests; `--full` does them all. */
#include "networks.h"
#include "numbers.h"

#include "base/random.h"

#include <time.h>

typedef struct {
    size_t m, n, k;
    int runs;
} point;

static const point points[] = {{50, 2000, 3, 20}, {100, 5000, 5, 20}, {200, 20000, 10, 10}};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* cells that are wrong, by up to `size` to both sides (or to one); marks of them */
static unsigned char *spoil(planted_network *p, double share, double size, int one_sign,
                            uint64_t seed)
{
    size_t cells = p->n * p->m;
    unsigned char *bad = calloc(cells, 1);
    double *u = malloc(2 * cells * sizeof *u);
    assert_true(bad && u);
    ur_random_uniforms(seed, 900, 0, 2 * cells, u);
    for (size_t i = 0; i < cells; i++)
        if (u[i] < share) {
            double v = u[cells + i];
            p->a[i] += size * (one_sign ? (1 + v) / 2 : 2 * v - 1);
            bad[i] = 1;
        }
    free(u);
    return bad;
}

static size_t mistakes(const planted_network *p, const unrelu_network *model, unsigned char *bad)
{
    size_t count = 0;
    for (size_t i = 0; i < model->corrupted; i++) {
        size_t cell = (size_t)model->E_row[i] * p->m + (size_t)model->E_column[i];
        count += !bad[cell];
        bad[cell] = 0;
    }
    for (size_t i = 0; i < p->n * p->m; i++)
        count += bad[i];
    return count;
}

typedef struct {
    int exact, wrong;
    double V_error, time;
    size_t mistakes;
} outcome;

static void run(const point *q, double share, double size, int one_sign, uint64_t seed, outcome *o)
{
    planted_network p = plant_network(q->k + 5, q->k, q->m, q->n, 0, seed);
    unsigned char *bad = spoil(&p, share, size, one_sign, seed);
    unrelu_recover_options options;
    unrelu_recover_options_init(&options, sizeof options);
    options.method = UNRELU_RECOVER_SPARSE_NOISE;
    double before = seconds();
    unrelu_network *model = recover(&p, &options);
    o->time = fmax(o->time, seconds() - before);
    if (model->verdict == UNRELU_VERDICT_EXACT) {
        double error = error_of_V(p.truth, model);
        o->exact++;
        o->V_error = fmax(o->V_error, error);
        o->mistakes += mistakes(&p, model, bad);
        o->wrong += !(error <= 1e-9);
    }
    unrelu_network_free(model);
    planted_network_free(&p);
    free(bad);
}

static void at_thirty_percent(const point *q, double size)
{
    int runs = runs_of(q->runs);
    outcome o = {0};
    char what[96];
    for (int i = 0; i < runs; i++)
        run(q, .3, size, 0, (uint64_t)i + 100, &o);
    snprintf(what, sizeof what, "(m,n,k) = (%zu,%zu,%zu), 30 %% wrong by %g times", q->m, q->n,
             q->k, size);
    row(what, "share exact", (double)o.exact / runs, 1, 1, "");
    row(what, "largest error of V", o.V_error, 0, 1e-12, "");
    row(what, "cells of E missed or wrong", (double)o.mistakes, 0, 0, "");
    row(what, "seconds, at most", o.time, 0, INFINITY, "");
}

static void at_sixty_percent(const point *q)
{
    int runs = runs_of(q->runs);
    outcome o = {0};
    char what[96];
    for (int i = 0; i < runs; i++)
        run(q, .6, i % 3 == 2 ? 1e6 : 10, i % 3 == 1, (uint64_t)i + 200, &o);
    snprintf(what, sizeof what, "(m,n,k) = (%zu,%zu,%zu), 60 %% wrong", q->m, q->n, q->k);
    row(what, "wrong and called exact", o.wrong, 0, 0, "");
}

int main(int argc, char **argv)
{
    int full = numbers_begin(argc, argv, 0.1, "Networks, labels with wrong cells");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        at_thirty_percent(&points[i], 10);
        at_thirty_percent(&points[i], 1e6);
        if (full || i == 0) /* a refusal takes its time */
            at_sixty_percent(&points[i]);
    }
    return numbers_end();
}
