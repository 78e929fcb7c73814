/* SPDX-License-Identifier: Apache-2.0 */
/* The accuracy that we promise, measured: the points of the paper's Figure 1 against the
 * Cramer-Rao limit, the paper's own algorithm against its published behaviour, coverage of the
 * intervals, negative biases, rank. `test_numbers_gaussian` does a quarter of the runs or fewer,
 * `--full` does them all and prints docs/numbers.md. Windows of means are four standard errors and
 * widen as 1 / sqrt(runs). */
#include "numbers.h"

/* ---- Figure 1 ---- */

/* err_b, err_Sigma, sqrt(KL / 2) of one fit: mean over draws, and deviation / mean */
typedef struct {
    double mean[3], spread[3];
    int runs; /* behind the means */
} wanted;

typedef struct {
    size_t n, d;
    double kappa;
    int between; /* two others: for --full alone */
} point;

static const point points[] = {
    {20000, 5, 1, 0},   {110000, 5, 1, 0},  {200000, 5, 1, 0},  {500000, 5, 1, 0},
    {500000, 5, 13, 1}, {500000, 5, 25, 0}, {500000, 13, 1, 1}, {500000, 25, 1, 0},
};
enum { POINTS = sizeof points / sizeof *points };

/* Draws of a seed differ from one BLAS kernel to the next: what a row says must hold for nearly
 * all of them. Means of ours, and all spreads, are those of 400 runs (d = 13: 100, d = 25: 60);
 * means of the paper's algorithm are as published, from fewer. */
static const wanted wanted_ours[POINTS] = {
    {{.00775, .00942, .01894}, {.36, .20, .19}, 400},
    {{.00334, .00410, .00824}, {.34, .21, .18}, 400},
    {{.00250, .00304, .00613}, {.32, .21, .18}, 400},
    {{.00159, .00189, .00382}, {.32, .20, .18}, 400},
    {{.00156, .00197, .00410}, {.36, .31, .20}, 400},
    {{.00157, .00201, .00440}, {.38, .36, .22}, 400},
    {{.00161, .00176, .00863}, {.21, .077, .074}, 100},
    {{.00164, .00169, .01551}, {.15, .045, .045}, 60},
};

static const wanted wanted_paper[POINTS] = {
    {{.107, .182, 0}, {.27, .27, 0}, 30}, /* a quarter of these fits has no KL */
    {{.0308, .0562, .1151}, {.36, .38, .42}, 20},
    {{.0180, .0320, .0635}, {.41, .43, .46}, 20},
    {{.01154, .02060, .0398}, {.45, .48, .49}, 100},
    {{.01143, .01927, .0666}, {.51, .53, .76}, 100},
    {{.01070, .01772, .0794}, {.55, .56, .88}, 100},
    {{.0113, .0209, .1071}, {.25, .27, .31}, 20},
    {{.0123, .0240, .2779}, {.16, .19, .28}, 20},
};

typedef struct {
    double sum[3];
    int count[3], indefinite;
} errors;

static void add_errors(errors *e, const unrelu_gaussian *truth, const unrelu_gaussian *model)
{
    unrelu_gaussian_distance far;
    unrelu_error err = {0};
    must(unrelu_gaussian_compare(truth, model, &far, &err), &err);
    double kl = sqrt(fmin(far.kl, far.kl_reverse) / 2);
    double values[3] = {far.b_error, far.sigma_error, kl};
    e->indefinite += model->lambda_min <= 0; /* before any repair */
    for (int k = 0; k < 3; k++)
        if (isfinite(values[k])) { /* an indefinite estimate has no KL */
            e->sum[k] += values[k];
            e->count[k]++;
        }
}

static unrelu_gaussian_options paper(uint64_t seed)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.norms = UNRELU_NORMS_SGD;
    o.angles = UNRELU_ANGLES_SIGNS;
    o.literal = 1;
    o.seed = seed;
    return o;
}

static void run_point(const point *p, int runs, int paper_runs, errors *ours, errors *theirs)
{
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian_plant_options plan;
        unrelu_gaussian_plant_options_init(&plan, sizeof plan);
        plan.d = p->d;
        plan.kappa = p->kappa;
        plan.seed = (uint64_t)run + 1;
        unrelu_gaussian *truth = plant(plan);
        double *x = draw(truth, p->n, (uint64_t)run + 1000);
        unrelu_gaussian *m = fit(x, p->n, p->d, NULL);
        add_errors(ours, truth, m);
        unrelu_gaussian_free(m);
        if (run < paper_runs) {
            unrelu_gaussian_options o = paper((uint64_t)run);
            m = fit(x, p->n, p->d, &o);
            add_errors(theirs, truth, m);
            unrelu_gaussian_free(m);
        }
        unrelu_gaussian_free(truth);
        free(x);
    }
}

static double mean_of(const errors *e, int k)
{
    return e->sum[k] / e->count[k];
}

/* means within four standard errors of their difference from the wanted ones */
static void mean_rows(const char *what, const wanted *w, const errors *e)
{
    static const char *const names[] = {"err_b", "err_Sigma", "sqrt(KL/2)"};
    for (int k = 0; k < 3 && w->mean[k] > 0; k++) {
        double slack = 4 * w->spread[k] * sqrt(1.0 / e->count[k] + 1.0 / w->runs);
        row(what, names[k], mean_of(e, k), w->mean[k] * (1 - slack), w->mean[k] * (1 + slack), "");
    }
}

static void figure1(void)
{
    for (size_t i = 0; i < POINTS; i++) {
        const point *p = &points[i];
        errors ours = {0}, theirs = {0};
        if (share < 1 && p->between)
            continue;
        int runs = runs_of(share < 1 && p->d > 5 ? 20 : 80); /* five columns are cheap */
        run_point(p, runs, runs < 20 ? runs : 20, &ours, &theirs);
        char what[64];
        snprintf(what, sizeof what, "n=%zu d=%zu kappa=%g, default", p->n, p->d, p->kappa);
        mean_rows(what, &wanted_ours[i], &ours);
        row(what, "non-PSD fits", ours.indefinite, 0, 0, "");
        snprintf(what, sizeof what, "n=%zu d=%zu kappa=%g, paper", p->n, p->d, p->kappa);
        mean_rows(what, &wanted_paper[i], &theirs);
        if (p->d == 25) /* 7.4 on the whole, .22 the spread of one run */
            row(what, "err_b of the paper / default", mean_of(&theirs, 0) / mean_of(&ours, 0),
                7.4 * (1 - 4 * .22 / sqrt(theirs.count[0])), INFINITY, "");
    }
}

/* ---- coverage: d = 6, kappa = 25, b / s from -1 to 2.5 ---- */

static void coverage_of(size_t n, int full)
{
    enum { D = 6 };
    static const double gamma[D] = {-1, -.3, .4, 1.1, 1.8, 2.5};
    int runs = runs_of(full);
    double in[4] = {0}, of[4] = {0}, z = 1.959963984540054;
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian_plant_options plan;
        unrelu_gaussian_plant_options_init(&plan, sizeof plan);
        plan.d = D;
        plan.kappa = 25;
        plan.seed = (uint64_t)run + 77;
        unrelu_gaussian *truth = plant(plan);
        for (size_t i = 0; i < D; i++)
            truth->b[i] = gamma[i] * truth->scale[i];
        double *x = draw(truth, n, (uint64_t)run + 5000);
        unrelu_gaussian *m = fit(x, n, D, NULL);
        for (size_t i = 0; i < D; i++)
            for (size_t j = i; j < D; j++) {
                size_t at = i * D + j;
                int k = i == j ? 1 : 2;
                if (i == j) {
                    in[0] += fabs(m->b[i] - truth->b[i]) <= z * m->b_se[i];
                    of[0]++;
                } else if (!isnan(m->correlation_se[at])) {
                    in[3] += fabs(m->correlation[at] - truth->correlation[at]) <=
                             z * m->correlation_se[at];
                    of[3]++;
                }
                if (!isnan(m->sigma_se[at])) {
                    in[k] += fabs(m->sigma[at] - truth->sigma[at]) <= z * m->sigma_se[at];
                    of[k]++;
                }
            }
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        free(x);
    }
    static const char *const names[] = {"b", "Sigma_ii", "Sigma_ij", "rho"};
    char what[64];
    snprintf(what, sizeof what, "95 %% intervals, n=%zu", n);
    for (int k = 0; k < 4; k++) {
        /* quick runs: three binomial deviations more, pairs of one run are not independent */
        double slack = share < 1 ? 3 * sqrt(.95 * .05 / (runs * D)) : 0;
        row(what, names[k], in[k] / of[k], .93 - slack, .97 + slack, "");
    }
}

/* ---- negative bias: unit rows, b / s = -1, n = 1e5 ----
 * Over eight times 40 runs the mean of err_b was .0086 +- .0004, the rms of rho .0063 +- .00027,
 * that over its standard error .987 +- .045: windows are four of these. */

static void negative_bias(void)
{
    enum { D = 5 };
    int runs = runs_of(160);
    double b = 0, rho = 0, z = 0, pairs = 0;
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian_plant_options plan;
        unrelu_gaussian_plant_options_init(&plan, sizeof plan);
        plan.d = 2 * D; /* Gaussian W with unit rows: five of them */
        plan.k = D;
        plan.seed = (uint64_t)run + 1;
        unrelu_gaussian *wide = plant(plan);
        plan.d = D;
        plan.k = 0;
        unrelu_gaussian *truth = plant(plan);
        for (size_t i = 0; i < D; i++) {
            truth->b[i] = -1;
            truth->scale[i] = 1;
            for (size_t j = 0; j < D; j++)
                truth->sigma[i * D + j] = truth->correlation[i * D + j] =
                    wide->correlation[i * 2 * D + j];
        }
        double *x = draw(truth, 100000, (uint64_t)run + 9000);
        unrelu_gaussian *m = fit(x, 100000, D, NULL);
        unrelu_gaussian_distance far;
        unrelu_error err = {0};
        must(unrelu_gaussian_compare(truth, m, &far, &err), &err);
        b += far.b_error / runs;
        for (size_t i = 0; i < D; i++)
            for (size_t j = i + 1; j < D; j++) {
                size_t at = i * D + j;
                if (m->pair_flags[at]) /* rho near -1: never positive together, a bound only */
                    continue;
                double away = m->correlation[at] - truth->correlation[at];
                rho += away * away;
                z += pow(away / m->correlation_se[at], 2);
                pairs++;
            }
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        unrelu_gaussian_free(wide);
        free(x);
    }
    row("b/s=-1, n=1e5, d=5", "err_b", b, 0, .012, "");
    double wide = 4 * sqrt(40.0 / runs);
    row("b/s=-1, n=1e5, d=5", "rms of rho, pairs not flagged", sqrt(rho / pairs), 0,
        .0063 + wide * .00027, "");
    row("b/s=-1, n=1e5, d=5", "rms of rho / standard error", sqrt(z / pairs), 1 - wide * .045,
        1 + wide * .045, "");
}

/* ---- repair: W of rank k < d, biases of both signs, against every pair fitted alone ---- */

static const double LOWEST = -2; /* b, in scales */

typedef struct {
    double in, of, strong_in, strong_of; /* strong: |rho| > 0.9 */
    double square, errors;               /* sums of error^2 and of (error / standard error)^2 */
} covered;

static void cover(covered *c, double rho, double truth, double se)
{
    double away = rho - truth, in = fabs(away) <= 1.959963984540054 * se;
    c->in += in;
    c->of++;
    c->square += away * away;
    c->errors += pow(away / fmax(se, 1e-6), 2);
    if (fabs(truth) > .9) {
        c->strong_in += in;
        c->strong_of++;
    }
}

static void repair_run(size_t d, size_t k, size_t n, uint64_t seed, covered *alone, covered *all)
{
    unrelu_gaussian_plant_options plan;
    unrelu_gaussian_plant_options_init(&plan, sizeof plan);
    plan.d = d;
    plan.k = k;
    plan.bias = UNRELU_BIAS_NORMAL;
    plan.seed = seed;
    unrelu_gaussian *truth = plant(plan);
    for (size_t i = 0; i < d; i++) /* else a column may have no positive value */
        truth->b[i] = fmax(truth->b[i], LOWEST);
    double *x = draw(truth, n, seed + 20000), *two = malloc(2 * n * sizeof *two);
    unrelu_gaussian *m = fit(x, n, d, NULL);
    assert_non_null(two);
    for (size_t i = 0; m->repaired && i < d; i++)
        for (size_t j = i + 1; j < d; j++) {
            size_t at = i * d + j;
            for (size_t r = 0; r < n; r++) {
                two[2 * r] = x[r * d + i];
                two[2 * r + 1] = x[r * d + j];
            }
            unrelu_gaussian *pair = fit(two, n, 2, NULL);
            double se = pair->correlation_se[1];
            if (isfinite(se) && m->correlation_se[at] == se) {
                cover(alone, pair->correlation[1], truth->correlation[at], se);
                cover(all, m->correlation[at], truth->correlation[at], se);
            }
            unrelu_gaussian_free(pair);
        }
    free(two);
    free(x);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
}

/* pairs of one run go together: as if only d of them were independent */
static void repair(size_t d, size_t k, size_t n, int full)
{
    int runs = runs_of(full);
    covered alone = {0}, all = {0};
    for (int run = 0; run < runs; run++)
        repair_run(d, k, n, (uint64_t)run + 1, &alone, &all);
    char what[64];
    snprintf(what, sizeof what, "repaired, d=%zu k=%zu n=%zu", d, k, n);
    double slack = 3 * sqrt(.95 * .05 / (runs * (double)d)), quick = share < 1 ? slack : 0;
    if (d < 25)
        row(what, "95 % intervals of rho", all.in / all.of, .93 - quick, .985 + quick, "");
    row(what, "coverage / that of the pairs alone", all.in / all.of / (alone.in / alone.of),
        1 - slack / 3, 1.06, "");
    row(what, "rho beyond .9", all.strong_in / all.strong_of, .90 - quick, 1, "");
    row(what, "rho beyond .9 / that of the pairs alone",
        all.strong_in / all.strong_of / (alone.strong_in / alone.strong_of), 1 - slack, 1.06, "");
    row(what, "rms error / that of the pairs alone", sqrt(all.square / alone.square), 0, 1, "");
    row(what, "in standard errors", sqrt(all.errors / alone.errors), 0, 1, "");
}

/* ---- noise added after the rectifier, measured by the negative values ---- */

static void noisy_coverage(size_t n, double noise, int full)
{
    enum { D = 5 };
    static const double gamma[D] = {-.7, 0, .5, 1, 1.5};
    int runs = runs_of(full);
    double in = 0, z = 1.959963984540054, size = 0;
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian_plant_options plan;
        unrelu_gaussian_plant_options_init(&plan, sizeof plan);
        plan.d = D;
        plan.kappa = 4;
        plan.seed = (uint64_t)run + 1;
        unrelu_gaussian *truth = plant(plan);
        for (size_t i = 0; i < D; i++)
            truth->b[i] = gamma[i] * truth->scale[i];
        double *x = draw(truth, n, (uint64_t)run + 40000);
        plan.kappa = 1; /* independent normals, far from 0 */
        plan.bias = UNRELU_BIAS_FIXED;
        plan.bias_value = 50;
        unrelu_gaussian *normals = plant(plan);
        double *e = draw(normals, n, (uint64_t)run + 50000);
        for (size_t i = 0; i < n * D; i++)
            x[i] += noise * truth->scale[i % D] * (e[i] - 50);
        unrelu_gaussian_options o;
        unrelu_gaussian_options_init(&o, sizeof o);
        o.additive_noise = UNRELU_NOISE_AUTO;
        unrelu_gaussian *m = fit(x, n, D, &o);
        for (size_t i = 0; i < D; i++) {
            size_t at = i * D + i;
            in += fabs(m->sigma[at] - truth->sigma[at]) <= z * m->sigma_se[at];
            size += m->noise[i] / (noise * truth->scale[i]) / (runs * D);
        }
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(normals);
        unrelu_gaussian_free(truth);
        free(e);
        free(x);
    }
    char what[64];
    snprintf(what, sizeof what, "noise %g scales, n=%zu", noise, n);
    double slack = share < 1 ? 3 * sqrt(.95 * .05 / (runs * D)) : 0;
    row(what, "95 % intervals of Sigma_ii", in / runs / D, .93 - slack, .97 + slack, "");
    row(what, "noise / planted", size, .99, 1.01, "");
}

/* ---- rank: how often auto finds the planted k ---- */

static void rank_found(size_t d, size_t k, size_t n, double wanted)
{
    int runs = runs_of(20), found = 0;
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian_plant_options plan;
        unrelu_gaussian_plant_options_init(&plan, sizeof plan);
        plan.d = d;
        plan.k = k;
        plan.seed = (uint64_t)run + 1;
        unrelu_gaussian *truth = plant(plan);
        double *x = draw(truth, n, (uint64_t)run + 700);
        unrelu_gaussian_options o;
        unrelu_gaussian_options_init(&o, sizeof o);
        o.rank = UNRELU_RANK_AUTO;
        unrelu_gaussian *m = fit(x, n, d, &o);
        found += m->k == k;
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        free(x);
    }
    char what[64];
    snprintf(what, sizeof what, "rank auto, d=%zu k=%zu n=%zu", d, k, n);
    row(what, "share found", (double)found / runs, wanted, 1, "");
}

int main(int argc, char **argv)
{
    int full = numbers_begin(argc, argv, 0.25, "The rectified Gaussian");
    figure1();
    coverage_of(500, 1000);
    coverage_of(5000, 500);
    coverage_of(50000, 400);
    negative_bias();
    repair(6, 2, 3000, 800);
    repair(10, 3, 3000, 200);
    repair(25, 3, 3000, 40);
    repair(6, 2, 100000, 80);
    noisy_coverage(2000, .2, 400);
    noisy_coverage(2000, .4, 400);
    noisy_coverage(20000, .2, 200);
    noisy_coverage(100000, .1, 80);
    rank_found(10, 3, 2000, full ? .95 : .5);
    rank_found(25, 5, 2000, full ? .95 : .5);
    return numbers_end();
}
