/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `unrelu recover --method any-noise`: what the fit leaves against what the
 * noise is, for ten shapes and five sizes of it, and the weights where an intercept is fitted.
 * A tenth of the runs in the tests; `--full` does them all. */
#include "noises.h"
#include "numbers.h"

typedef struct {
    size_t d, k, m, n;
} shape;

static const shape shapes[] = {{5, 1, 1, 1000}, {10, 1, 4, 2000}, {5, 2, 2, 1500}, {10, 2, 6, 2000},
                               {6, 3, 3, 2000}, {10, 3, 8, 3000}, {8, 4, 4, 2500}, {12, 4, 6, 3000},
                               {8, 5, 5, 3000}, {10, 5, 8, 4000}};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const double levels[] = {1e-3, 1e-2, .1, 1, 10};

static unrelu_network *fit_of(const planted_network *p, int intercept)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_ANY_NOISE;
    o.k = p->k;
    o.biases = intercept ? UNRELU_BIASES_OUTPUT : UNRELU_BIASES_NONE;
    return recover(p, &o);
}

/* the largest |A - U f(V X) - e|_F / |E|_F */
static void ratios(noise_shape noise, int intercept, int full)
{
    double worst = 0;
    int runs = runs_of(full);
    char title[96];
    for (int run = 0; run < runs; run++) {
        /* every run another shape and level, all pairs of them in 50 */
        const shape *s = &shapes[(7 * run + (int)noise) % SHAPES];
        double level = levels[(run / SHAPES + run) % 5];
        uint64_t seed = (uint64_t)run + 9000 + 1000 * (uint64_t)noise;
        planted_network p = plant_network(s->d, s->k, s->m, s->n, 0, seed);
        double size = add_noise(&p, noise, level, seed);
        unrelu_network *model = fit_of(&p, intercept);
        worst = fmax(worst, objective_of(model, &p) / size);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    snprintf(title, sizeof title, "any-noise, %s, 1e-3 to 10, k <= 5%s", noise_names[noise],
             intercept ? ", intercept" : "");
    row(title, "largest objective / noise", worst, 0, 1.001, "");
}

static void weights_beside_an_offset(int full)
{
    double worst = 0;
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        const shape *s = &shapes[7 * run % SHAPES];
        uint64_t seed = (uint64_t)run + 500;
        planted_network p = plant_network(s->d, s->k, s->m, s->n, 0, seed);
        add_noise(&p, NOISE_OFFSET, levels[(run / SHAPES + run) % 5], seed);
        unrelu_network *model = fit_of(&p, 1);
        worst = fmax(worst, error_of_V(p.truth, model));
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    row("any-noise, constant offset, intercept, k <= 5", "largest error of V", worst, 0, 1e-6, "");
}

/* Cauchy noise whose scale is the root mean square of the signal */
static void weights_under_cauchy_noise(int full)
{
    static const shape sizes[] = {
        {5, 3, 3, 40000}, {8, 4, 6, 40000}, {10, 5, 8, 40000}, {10, 3, 4, 40000}};
    double worst = 0, ratio = 0;
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        const shape *s = &sizes[run % 4];
        uint64_t seed = (uint64_t)run + 800;
        planted_network p = plant_network(s->d, s->k, s->m, s->n, 0, seed);
        double size = add_cauchy(&p, 1, seed);
        unrelu_network *model = fit_of(&p, run / 4 % 2);
        worst = fmax(worst, error_of_V(p.truth, model));
        ratio = fmax(ratio, objective_of(model, &p) / size);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    const char *title = "any-noise, Cauchy of the signal's size, n = 40000";
    row(title, "largest error of V", worst, 0, .1, "");
    row(title, "largest objective / noise", ratio, 0, 1.001, "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, .1, "Noise of any shape");
    for (int noise = 0; noise < NOISES; noise++)
        ratios((noise_shape)noise, 0, 50);
    for (int noise = 0; noise < NOISES; noise++)
        ratios((noise_shape)noise, 1, 20);
    weights_beside_an_offset(100);
    weights_under_cauchy_noise(40);
    return numbers_end();
}
