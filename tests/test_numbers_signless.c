/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of networks with fewer labels than neurons, by default and with biases: how
 * often a planted one comes back to 1e-10, and in how much processor time; and that none that is
 * called exact is another one, whatever the sizes, the inputs and the number of rows. A part of the
 * runs in the tests; `--full` does them all. */
#include "networks.h"
#include "numbers.h"

#include "base/random.h"

#include <time.h>

typedef struct {
    size_t d, k, m, n;
    int given; /* k is told */
    int runs;
    double seconds;
    int large; /* only in full */
} point;

static const point points[] = {
    {20, 10, 1, 1600, 0, 20, 1, 0},   {10, 16, 1, 1100, 0, 20, 1, 0},
    {10, 32, 1, 2400, 0, 20, 3, 0},   {20, 20, 2, 1400, 0, 20, 3, 0},
    {64, 16, 10, 1000, 0, 20, 10, 1}, {64, 32, 10, 1800, 1, 5, 20, 1},
    {64, 64, 10, 3100, 1, 2, 90, 1},
};

static void recovery(const point *p, int full)
{
    int runs = runs_of(p->runs), good = 0;
    double seconds = 0;
    char what[96];
    if (p->large && !full)
        return;
    for (int run = 0; run < runs; run++) {
        unrelu_network_plant_options o;
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = p->d;
        o.k = p->k;
        o.m = p->m;
        o.bias = .5;
        o.seed = (uint64_t)run + 2000;
        planted_network planted = plant_network_with(o, p->n);
        unrelu_recover_options options;
        unrelu_recover_options_init(&options, sizeof options);
        options.k = p->given ? p->k : 0;
        clock_t start = clock();
        unrelu_network *model = recover(&planted, &options);
        seconds += (double)(clock() - start) / CLOCKS_PER_SEC / runs;
        good += model->verdict == UNRELU_VERDICT_EXACT && error_of_V(planted.truth, model) <= 1e-10;
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    snprintf(what, sizeof what, "fewer labels than neurons, (%zu,%zu,%zu) n=%zu%s", p->d, p->k,
             p->m, p->n, p->given ? ", k given" : "");
    row(what, "share exact, V to 1e-10", (double)good / runs, 1, 1, "");
    if (full) /* no test asserts a time */
        row(what, "processor time, seconds", seconds, 0, p->seconds, "");
}

/* labels in single precision, and inputs of other laws: V to what the labels have */
typedef struct {
    const char *what, *law;
    int single;
    double error;
} kind;
static const kind kinds[] = {{"normal inputs, float32 labels", "normal", 1, 1e-5},
                             {"uniform inputs", "uniform", 0, 1e-10},
                             {"t inputs, 3 degrees of freedom", "t3", 0, 1e-10},
                             {"inputs of three clusters", "mixture", 0, 1e-10}};

static void other_data(const kind *c)
{
    enum { RUNS = 20 };
    int runs = runs_of(RUNS), good = 0, wrong = 0;
    char what[96];
    for (int run = 0; run < runs; run++) {
        unrelu_network_plant_options o;
        unrelu_error err = {0};
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = 20;
        o.k = 16;
        o.m = 2;
        o.bias = .5;
        o.seed = (uint64_t)run + 3000;
        must(unrelu_network_plant_options_set(&o, "inputs", c->law, &err), &err);
        planted_network p = plant_network_with(o, 1400);
        for (size_t i = 0; c->single && i < p.n * p.m; i++)
            p.a[i] = (float)p.a[i];
        unrelu_network *model = recover(&p, NULL);
        double error = error_of_V(p.truth, model);
        good += model->verdict == UNRELU_VERDICT_EXACT && error <= c->error;
        wrong += model->verdict == UNRELU_VERDICT_EXACT && !(error <= 1e-3);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    snprintf(what, sizeof what, "fewer labels than neurons, (20,16,2) n=1400, %s", c->what);
    row(what, c->single ? "share exact, V to 1e-5" : "share exact, V to 1e-10", (double)good / runs,
        1, 1, "");
    row(what, "wrong ones called exact", wrong, 0, 0, "");
}

/* Neurons that no method can see: on for no sample, or for just the samples of another one, with
 * which they make one neuron there. */
static size_t count_unseen(const planted_network *p)
{
    size_t unseen = 0;
    char *on = calloc(p->k, p->n); /* (k, n) */
    assert_non_null(on);
    for (size_t j = 0; j < p->k; j++) {
        char *mine = on + j * p->n;
        for (size_t i = 0; i < p->n; i++) {
            double t = p->truth->c[j];
            for (size_t l = 0; l < p->d; l++)
                t += p->truth->V[j * p->d + l] * p->x[i * p->d + l];
            mine[i] = t > 0;
        }
        int hidden = memchr(mine, 1, p->n) == NULL;
        for (size_t l = 0; l < j; l++)
            hidden |= memcmp(mine, on + l * p->n, p->n) == 0;
        unseen += hidden != 0;
    }
    free(on);
    return unseen;
}

/* n m from 1.2 to 6 labels for each number of the network, sizes, laws and biases mixed */
static planted_network plant_any(uint64_t number, const double *u)
{
    static const char *const laws[] = {"normal", "uniform", "t3", "mixture", "laplace", "binary"};
    unrelu_network_plant_options o;
    unrelu_error err = {0};
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 2 + (size_t)(u[0] * 9);
    o.k = 2 + (size_t)(u[1] * 11);
    o.m = 1 + (size_t)(u[2] * u[2] * (double)(o.k - 1));
    o.bias = u[3] < .25 ? 0 : u[3] < .75 ? .5 : 1.5;
    must(unrelu_network_plant_options_set(&o, "inputs", laws[(int)(u[4] * 6)], &err), &err);
    o.seed = number + 1;
    double unknowns = (double)(o.k * (o.d + 1) + o.m * (o.k + o.d + 1));
    size_t n = (size_t)(1.2 * pow(5, u[5]) * unknowns / (double)o.m) + 1;
    return plant_network_with(o, n > o.d + o.k + 2 ? n : o.d + o.k + 2);
}

static void hostile(void)
{
    enum { RUNS = 10000, NUMBERS = 8, STUDY = 77, STREAM = 900 };
    int runs = runs_of(RUNS) / (share < 1 ? 4 : 1), wrong = 0, exact = 0;
    for (int run = 0; run < runs; run++) {
        double u[NUMBERS];
        unrelu_error err = {0};
        unrelu_network *model = NULL;
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.method = UNRELU_RECOVER_SIGNLESS;
        ur_random_uniforms(STUDY, STREAM, (uint64_t)run * NUMBERS, NUMBERS, u);
        planted_network p = plant_any((uint64_t)run, u);
        o.k = u[6] < .2 ? p.k : 0;
        unrelu_status status = try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err);
        if (status == UNRELU_OK && model->verdict == UNRELU_VERDICT_EXACT) {
            int unseen = model->k < p.k && model->k + count_unseen(&p) == p.k;
            exact++;
            wrong += !unseen && !(error_of_V(p.truth, model) < 1e-6);
        }
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    row("fewer labels than neurons, 1.2 to 6 labels a number", "wrong ones called exact", wrong, 0,
        0, "");
    row("fewer labels than neurons, 1.2 to 6 labels a number", "share exact", (double)exact / runs,
        .3, 1, "");
}

int main(int argc, char **argv)
{
    int full = numbers_begin(argc, argv, .1, "The two-layer network of fewer labels than neurons");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        recovery(&points[i], full);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        other_data(&kinds[i]);
    hostile();
    return numbers_end();
}
