/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `unrelu unmix`: how often A comes back to rounding, that no wrong A is called
 * exact, how accurate A is with noise, and that W W' and b err as their standard errors say. A
 * tenth of the runs in the tests; `--full` does them all. */
#include "numbers.h"
#include "units.h"

/* ---- without noise: A to rounding ---- */

static void exact_recovery(size_t p, size_t n, double bias, int full)
{
    int runs = runs_of(full), good = 0;
    for (int run = 0; run < runs; run++) {
        planted_mixture planted = plant_mixture(2 * p, p, 0, n, bias, 0, (uint64_t)run + 1000);
        unrelu_mixture *model;
        unrelu_error err = {0};
        if (try_unmix(planted.x, n, 2 * p, NULL, NULL, &model, &err) == UNRELU_OK)
            good +=
                model->verdict == UNRELU_VERDICT_EXACT && error_of_A(planted.truth, model) <= 1e-12;
        unrelu_mixture_free(model);
        planted_mixture_free(&planted);
    }
    char what[96];
    snprintf(what, sizeof what, "p=%zu b=%g n=%zu", p, bias, n);
    row(what, "share of runs: exact, A to 1e-12", (double)good / runs, 1, 1, "");
}

/* ---- nothing wrong is called exact ---- */

typedef struct {
    int runs, exact, ambiguous, wrong;
} claims;

static void claim(size_t p, size_t k, size_t n, unrelu_unmix_method method, uint64_t seed,
                  claims *c)
{
    planted_mixture planted = plant_mixture(p + 3, p, k, n, 0, 0, seed);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    unrelu_mixture *model;
    unrelu_error err = {0};
    o.method = method;
    c->runs++;
    if (try_unmix(planted.x, n, p + 3, &o, NULL, &model, &err) == UNRELU_OK) {
        int exact = model->verdict == UNRELU_VERDICT_EXACT;
        c->exact += exact;
        c->ambiguous += model->verdict == UNRELU_VERDICT_AMBIGUOUS;
        c->wrong += exact && !(error_of_A(planted.truth, model) <= 1e-9);
    }
    unrelu_mixture_free(model);
    planted_mixture_free(&planted);
}

/* k columns of W for p units: with k < p there are facets that are no units */
static void false_claims(int full)
{
    static const size_t sizes[][2] = {{5, 5}, {10, 10}, {5, 3}, {5, 4}, {8, 4}, {10, 5}, {10, 8}};
    claims all = {0}, deficient = {0};
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        const size_t *s = sizes[run % 7];
        claim(s[0], s[1], 100 * s[0], UNRELU_UNMIX_FACETS, (uint64_t)run + 20000,
              s[0] == s[1] ? &all : &deficient);
    }
    row("W of rank p, n=100p", "runs", all.runs, 1, INFINITY, "");
    row("W of rank p, n=100p", "called exact", all.exact, all.runs, all.runs, "");
    row("W of rank p, n=100p", "of these wrong", all.wrong, 0, 0, "");
    row("W of rank below p, n=100p", "runs", deficient.runs, 1, INFINITY, "");
    row("W of rank below p, n=100p", "called exact", deficient.exact, 0, deficient.runs, "");
    row("W of rank below p, n=100p", "called ambiguous", deficient.ambiguous, .1 * deficient.runs,
        deficient.runs, "");
    row("W of rank below p, n=100p", "wrong, but called exact", deficient.wrong, 0, 0, "");
}

/* too few samples, as chance has them */
static void small_claims(unrelu_unmix_method method, const char *title, int full)
{
    claims c = {0};
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        size_t p = 2 + (size_t)run % 4, n = p * (3 + (size_t)run / 4 % 10);
        claim(p, 0, n, method, (uint64_t)run + 60000, &c);
    }
    row(title, "runs", c.runs, 1, INFINITY, "");
    row(title, "called exact", c.exact, .02 * c.runs, c.runs, "");
    row(title, "of these wrong", c.wrong, 0, 0, "");
}

/* ---- noise ---- */

static double relative_error(const planted_mixture *planted, const unrelu_mixture *model)
{
    unrelu_mixture_distance far;
    unrelu_error err = {0};
    must(unrelu_mixture_compare(planted->truth, model, &far, &err), &err);
    return far.missing + far.extra > 0 ? INFINITY
                                       : far.A_frobenius / sqrt((double)planted->truth->p);
}

typedef struct {
    size_t p, n;
    double noise, error; /* relative, |A - A*|_F / |A*|_F */
    double found, good;  /* shares of the runs wanted: found; with that error at most */
    int runs;
} noise_point;

static const noise_point noise_points[] = {
    {5, 346, 1e-4, 5e-5, 1, 1, 50},   {5, 346, 1e-3, 5e-4, 1, 1, 50},
    {5, 346, 1e-2, 5e-3, 1, .95, 50}, {8, 480, 1e-2, 1e-2, 1, .95, 50},
    {5, 346, 3e-2, 3e-2, .8, .8, 50}, {5, 2000, 3e-2, 1e-2, .9, .8, 50},
};

static void with_noise(const noise_point *t)
{
    int runs = runs_of(t->runs), good = 0, found = 0;
    size_t d = t->p + 4;
    double low = INFINITY, high = 0, square = 0;
    for (int run = 0; run < runs; run++) {
        planted_mixture planted =
            plant_mixture(d, t->p, 0, t->n, 0, t->noise, (uint64_t)run + 3000);
        unrelu_mixture *model;
        unrelu_error err = {0};
        if (try_unmix(planted.x, t->n, d, NULL, NULL, &model, &err) == UNRELU_OK) {
            double error = relative_error(&planted, model);
            found += error < INFINITY;
            good += error < t->error;
            square += error < INFINITY ? error * error : 0;
            low = fmin(low, model->noise / t->noise);
            high = fmax(high, model->noise / t->noise);
        }
        unrelu_mixture_free(model);
        planted_mixture_free(&planted);
    }
    char what[96], metric[96];
    snprintf(what, sizeof what, "noise %g, p=%zu n=%zu", t->noise, t->p, t->n);
    snprintf(metric, sizeof metric, "share of runs: relative error of A below %g", t->error);
    row(what, "share of runs: found", (double)found / runs, t->found, 1, "");
    row(what, metric, (double)good / runs, t->good, 1, "");
    row(what, "rms of the relative error of A", sqrt(square / found), 0, t->error, "");
    row(what, "noise found / noise, least", low, .9, 1.1, "");
    row(what, "noise found / noise, most", high, .9, 1.1, "");
}

/* ---- standard errors ---- */

/* a bound of the full number of runs, widened for fewer of them */
static double bound(double middle, double away)
{
    return middle + away * (share < .1 ? 6 : share < 1 ? 2.5 : 1);
}

static void coverage(const char *what, const char *metric, const z_scores *z)
{
    row(what, metric, z->in / z->of, bound(.95, -.02), fmin(1, bound(.95, .02)), "");
}

/* root mean square of the error of W W', relative to the scales of the units */
static double sigma_error(size_t n, double bias, int full, z_scores *b, z_scores *sigma)
{
    double square = 0, count = 0;
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        planted_mixture planted = plant_mixture(9, 5, 0, n, bias, 0, (uint64_t)run + 500);
        unrelu_mixture *model = unmix(&planted, NULL);
        const unrelu_gaussian *truth = planted.truth->hidden;
        z_add_b(b, planted.truth, model);
        z_add_sigma(sigma, planted.truth, model);
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j <= i; j++, count++) {
                size_t k = nearest_unit(planted.truth, model, i);
                size_t l = nearest_unit(planted.truth, model, j);
                double away = model->hidden->sigma[k * 5 + l] - truth->sigma[i * 5 + j];
                away /= truth->scale[i] * truth->scale[j];
                square += away * away;
            }
        unrelu_mixture_free(model);
        planted_mixture_free(&planted);
    }
    return sqrt(square / count);
}

static void hidden_layer(double bias, int full)
{
    z_scores b = {0}, sigma = {0};
    char what[96];
    double few = sigma_error(2000, bias, full, &b, &sigma);
    double many = sigma_error(32000, bias, full, &b, &sigma);
    snprintf(what, sizeof what, "W W' and b, p=5 b=%g", bias);
    row(what, "rms error of W W' at n=2000 / at n=32000 (n^-1/2: 4)", few / many, bound(4, -.4),
        bound(4, .6), "");
    coverage(what, "coverage of 95 % intervals of b", &b);
    coverage(what, "coverage of 95 % intervals of W W'", &sigma);
}

static void noisy_errors(size_t p, size_t n, double noise, int full)
{
    z_scores A = {0}, b = {0}, sigma = {0};
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        planted_mixture planted = plant_mixture(p + 4, p, 0, n, 0, noise, (uint64_t)run + 700);
        unrelu_mixture *model;
        unrelu_error err = {0};
        if (try_unmix(planted.x, n, p + 4, NULL, NULL, &model, &err) == UNRELU_OK &&
            model->p == p) {
            z_add_A(&A, planted.truth, model);
            z_add_b(&b, planted.truth, model);
            z_add_sigma(&sigma, planted.truth, model);
        }
        unrelu_mixture_free(model);
        planted_mixture_free(&planted);
    }
    char what[96];
    snprintf(what, sizeof what, "noise %g, p=%zu n=%zu", noise, p, n);
    coverage(what, "coverage of 95 % intervals of A", &A);
    coverage(what, "coverage of 95 % intervals of b", &b);
    coverage(what, "coverage of 95 % intervals of W W'", &sigma);
    row(what, "rms of error of A / standard error", z_rms(&A), bound(1, -.08), bound(1, .08), "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, 0.1, "Mixtures");
    for (size_t p = 5; p <= 10; p += 5) {
        exact_recovery(p, 20 * p, 0, 50);
        exact_recovery(p, 41 * p, .7, 50);
        exact_recovery(p, 103 * p, 1.3, 50);
    }
    exact_recovery(20, 400, 0, 20);
    false_claims(1000);
    small_claims(UNRELU_UNMIX_FACETS, "p=2..5, n=3p..12p", 2000);
    small_claims(UNRELU_UNMIX_SEPARABLE, "separable, p=2..5, n=3p..12p", 2000);
    for (size_t i = 0; i < sizeof noise_points / sizeof *noise_points; i++)
        with_noise(&noise_points[i]);
    hidden_layer(0, 100);
    hidden_layer(.7, 100);
    noisy_errors(5, 346, .01, 100);
    noisy_errors(5, 2000, .01, 100);
    noisy_errors(5, 2000, .03, 100);
    return numbers_end();
}
