/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `unrelu recover`: how often a planted network comes back exactly, that no
 * wrong answer is called exact, and how far noisy fits are from the Cramer-Rao bound. A tenth of
 * the runs in the tests; `--full` does them all. */
#include "noises.h"
#include "numbers.h"

#include "network/newton/newton.h"

#include <time.h>

static unrelu_network_plant_options plan_of(size_t d, size_t k, size_t m, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.seed = seed;
    return o;
}

/* ---- exact recovery ---- */

typedef struct {
    const char *title;
    size_t d, k, m, n;
    int runs;
    double wanted; /* share */
    double kappa, bias, kappa_x;
    unrelu_inputs inputs;
} exact_point;

static const exact_point exact_points[] = {
    {"(10,5,8) n=60", 10, 5, 8, 60, 1000, .995, 0, 0, 1, UNRELU_INPUTS_NORMAL},
    {"(20,10,12) n=120", 20, 10, 12, 120, 200, 1, 0, 0, 1, UNRELU_INPUTS_NORMAL},
    {"(30,30,30) n=180", 30, 30, 30, 180, 20, 1, 0, 0, 1, UNRELU_INPUTS_NORMAL},
    {"(50,20,30) n=200", 50, 20, 30, 200, 20, 1, 0, 0, 1, UNRELU_INPUTS_NORMAL},
    {"kV=kU=20 (10,5,8) n=60", 10, 5, 8, 60, 100, 1, 20, 0, 1, UNRELU_INPUTS_NORMAL},
    {"uniform (10,5,8) n=60", 10, 5, 8, 60, 50, 1, 0, 0, 1, UNRELU_INPUTS_UNIFORM},
    {"binary (10,5,8) n=60", 10, 5, 8, 60, 50, 1, 0, 0, 1, UNRELU_INPUTS_BINARY},
    {"t3 (10,5,8) n=60", 10, 5, 8, 60, 50, 1, 0, 0, 1, UNRELU_INPUTS_T3},
    {"covariance 1e3 (10,5,8) n=60", 10, 5, 8, 60, 50, 1, 0, 0, 1e3, UNRELU_INPUTS_NORMAL},
    {"biases .5 (10,5,8) n=300", 10, 5, 8, 300, 50, 1, 0, .5, 1, UNRELU_INPUTS_NORMAL},
    {"biases .5 (64,64,64) n=4000", 64, 64, 64, 4000, 10, 1, 0, .5, 1, UNRELU_INPUTS_NORMAL},
    {"k>d (10,20,25) n=200", 10, 20, 25, 200, 10, 1, 0, 0, 1, UNRELU_INPUTS_NORMAL},
};

static void exact_recovery(const exact_point *p)
{
    int runs = runs_of(p->runs), good = 0;
    for (int run = 0; run < runs; run++) {
        unrelu_network_plant_options o = plan_of(p->d, p->k, p->m, (uint64_t)run + 1000);
        o.kappa_v = o.kappa_u = p->kappa;
        o.bias = p->bias;
        o.kappa_x = p->kappa_x;
        o.inputs = p->inputs;
        planted_network planted = plant_network_with(o, p->n);
        unrelu_network *model = recover(&planted, NULL);
        good += model->residual <= 1e-12 && error_of_V(planted.truth, model) <= 1e-9;
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    row(p->title, "share recovered to 1e-9", (double)good / runs, p->wanted, 1, "");
}

/* many neurons: the processor time too, of one thread, where no test runs beside it */
typedef struct {
    size_t d, k, m, n;
    double bias, seconds;
} many_point;

static const many_point many_points[] = {
    {64, 64, 80, 4000, .5, 1}, {64, 60, 64, 4000, .5, 1},  {128, 64, 80, 4000, .5, 3},
    {20, 64, 80, 4000, .5, 3}, {100, 50, 64, 800, 0, .15}, {64, 128, 140, 4000, .5, 6},
};

static void many_neurons(const many_point *p)
{
    enum { RUNS = 3 };
    double seconds = 0, good = 0;
    char what[64];
    for (int run = 0; run < RUNS; run++) {
        unrelu_network_plant_options o = plan_of(p->d, p->k, p->m, (uint64_t)run + 4000);
        unrelu_network *model;
        unrelu_error err = {0};
        unrelu_exec exec = {.size = sizeof exec, .threads = 1};
        o.bias = p->bias;
        planted_network planted = plant_network_with(o, p->n);
        clock_t start = clock();
        must(try_recover(planted.x, planted.a, p->n, p->d, p->m, NULL, &exec, &model, &err), &err);
        seconds += (double)(clock() - start) / CLOCKS_PER_SEC / RUNS;
        good += model->verdict == UNRELU_VERDICT_EXACT && error_of_V(planted.truth, model) <= 1e-9;
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    snprintf(what, sizeof what, "many neurons%s (%zu,%zu,%zu) n=%zu", p->bias > 0 ? ", biases" : "",
             p->d, p->k, p->m, p->n);
    row(what, "share exact, V to 1e-9", good / RUNS, 1, 1, "");
    row(what, "processor time, seconds", seconds, 0, p->seconds, "");
}

/* ---- nothing wrong is called exact ---- */

typedef struct {
    int runs, exact, wrong;
} claims;

/* inputs of few values, or of one sign: what few certificates are made for */
static void coarsen(planted_network *p, int how)
{
    unrelu_error err = {0};
    for (size_t i = 0; i < p->n * p->d; i++)
        p->x[i] = how == 1 ? rint(p->x[i]) : how == 2 ? fabs(p->x[i]) : rint(2 * p->x[i]) / 2;
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
}

static void claim(const unrelu_network_plant_options *o, size_t n, int how,
                  unrelu_recover_method method, claims *c)
{
    unrelu_recover_options recovery;
    unrelu_recover_options_init(&recovery, sizeof recovery);
    recovery.labels = UNRELU_LABELS_NOISELESS;
    recovery.method = method;
    planted_network p = plant_network_with(*o, n);
    if (how > 0)
        coarsen(&p, how);
    unrelu_network *model;
    unrelu_network_distance far = {0};
    unrelu_error err = {0};
    c->runs++;
    if (try_recover(p.x, p.a, n, o->d, o->m, &recovery, NULL, &model, &err) == UNRELU_OK &&
        model->verdict == UNRELU_VERDICT_EXACT) {
        c->exact++;
        /* a planted neuron that is never on is no part of the data: it may be missing */
        must(unrelu_network_compare(p.truth, model, &far, &err), &err);
        c->wrong += far.V_max > 1e-6 || far.extra > 0;
    }
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void report_claims(const char *title, const claims *c, double share_exact)
{
    row(title, "runs", c->runs, 1, INFINITY, "");
    row(title, "called exact", c->exact, share_exact * c->runs, c->runs, "");
    row(title, "of these wrong", c->wrong, 0, 0, "");
}

/* around the edge of what can be certified, and beyond */
static void false_claims(int full)
{
    static const size_t sizes[][3] = {{3, 2, 2}, {5, 3, 3}, {5, 3, 5},  {5, 8, 8},
                                      {8, 4, 6}, {2, 3, 4}, {10, 5, 8}, {10, 5, 5}};
    claims c = {0};
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        const size_t *s = sizes[run % 8];
        unrelu_network_plant_options o = plan_of(s[0], s[1], s[2], (uint64_t)run + 50000);
        o.inputs = (unrelu_inputs)(run / 8 % 6);
        o.bias = run / 48 % 4 == 3 ? .5 : 0;
        claim(&o, (size_t)(4 + run / 192 % 6) * (s[0] + 4), 0, UNRELU_RECOVER_EXACT, &c);
    }
    report_claims("mixed sizes, laws and n", &c, .25);
}

/* inputs of few values, positive ones, fewer labels than neurons */
static void coarse_claims(int full)
{
    static const size_t sizes[][3] = {{1, 2, 3}, {2, 3, 2}, {3, 2, 3}, {4, 3, 1}, {3, 4, 5}};
    claims c = {0};
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        const size_t *s = sizes[run % 5];
        unrelu_network_plant_options o = plan_of(s[0], s[1], s[2], (uint64_t)run + 7000);
        o.bias = run / 5 % 3 == 2 ? .5 : 0;
        claim(&o, (size_t)(60 + 40 * (run / 15 % 5)), run / 75 % 4, UNRELU_RECOVER_AUTO, &c);
    }
    report_claims("few values, one sign, m < k", &c, .05);
}

/* ---- noise ---- */

/* the standard errors at the planted network itself: the Cramer-Rao bound */
static void bound(const planted_network *p, double sigma, double *V_square, double *U_square)
{
    size_t k = p->k, d = p->d, m = p->m;
    ur_newton problem = {
        .n = p->n, .p = d, .m = m, .x = p->x, .a = p->a, .f = p->truth->activation};
    ur_newton_fit fit = {.k = k, .V = p->truth->V, .U = p->truth->U, .e = p->truth->e};
    double *V_se = malloc(k * d * sizeof *V_se), *U_se = malloc(m * k * sizeof *U_se);
    unrelu_error err = {0};
    int singular = 0;
    must(ur_newton_errors(&problem, &fit, d, sigma, V_se, U_se, NULL, &singular, &err), &err);
    for (size_t i = 0; i < k * d; i++)
        *V_square += V_se[i] * V_se[i];
    for (size_t i = 0; i < m * k; i++)
        *U_square += U_se[i] * U_se[i];
    free(V_se);
    free(U_se);
}

typedef struct {
    double V_error, U_error, V_bound, U_bound, in, of, reached;
} noisy_sums;

static void add_noisy(const planted_network *p, const unrelu_network *model, noisy_sums *s)
{
    const unrelu_network *truth = p->truth;
    for (size_t j = 0; j < p->k; j++) {
        size_t l = nearest(truth, model, j);
        for (size_t i = 0; i < p->d; i++) {
            double away = model->V[l * p->d + i] - truth->V[j * p->d + i];
            s->V_error += away * away;
            s->in += fabs(away) <= 1.959963984540054 * model->V_se[l * p->d + i];
            s->of++;
        }
        for (size_t i = 0; i < p->m; i++) {
            double away = model->U[i * p->k + l] - truth->U[i * p->k + j];
            s->U_error += away * away;
            s->in += fabs(away) <= 1.959963984540054 * model->U_se[i * p->k + l];
            s->of++;
        }
    }
}

/* sum of squares that the planted V leaves after descending from it */
static double best_from_truth(const planted_network *p)
{
    ur_newton problem = {
        .n = p->n, .p = p->d, .m = p->m, .x = p->x, .a = p->a, .f = p->truth->activation};
    UR_ARENA(arena);
    ur_newton_fit fit;
    unrelu_error err = {0};
    must(ur_newton_alloc(&problem, p->k, &arena, &fit, &err), &err);
    memcpy(fit.V, p->truth->V, p->k * p->d * sizeof *fit.V);
    must(ur_newton_solve(&problem, 100, 1e-10, 0, &fit, &err), &err);
    return fit.rss;
}

static void noisy(size_t d, size_t k, size_t m, size_t n, double sigma, int full, int bounds)
{
    int runs = runs_of(full);
    noisy_sums s = {0};
    for (int run = 0; run < runs; run++) {
        planted_network p = plant_network(d, k, m, n, sigma, (uint64_t)run + 300);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.k = k;
        o.labels = UNRELU_LABELS_NOISY;
        o.biases = UNRELU_BIASES_NONE;
        unrelu_network *model = recover(&p, &o);
        double cells = (double)(n * m), left = cells - (double)(k * (d + m - 1));
        double rss = model->noise * model->noise * left;
        s.reached += rss <= best_from_truth(&p) * (1 + 1e-4);
        if (bounds) {
            bound(&p, sigma, &s.V_bound, &s.U_bound);
            add_noisy(&p, model, &s);
        }
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    char what[96];
    snprintf(what, sizeof what, "(%zu,%zu,%zu) sigma %g n=%zu", d, k, m, sigma, n);
    row(what, "share that reached the likelihood's maximum", s.reached / runs, 1, 1, "");
    if (!bounds)
        return;
    double slack = share < 1 ? 1.1 : 1;
    row(what, "rms error of V / Cramer-Rao", sqrt(s.V_error / s.V_bound), .8, 1.15 * slack, "");
    row(what, "rms error of U / Cramer-Rao", sqrt(s.U_error / s.U_bound), .8, 1.15 * slack, "");
    row(what, "coverage of 95 % intervals", s.in / s.of, share < 1 ? .9 : .92,
        share < 1 ? .99 : .98, "");
}

/* k and the biases by BIC, nothing given */
static void k_found(size_t d, size_t k, size_t m, size_t n, double sigma, int full)
{
    int runs = runs_of(full), good = 0;
    for (int run = 0; run < runs; run++) {
        planted_network p = plant_network(d, k, m, n, sigma, (uint64_t)run + 1);
        unrelu_network *model = recover(&p, NULL);
        good += model->k == k && strcmp(model->biases, "none") == 0;
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    char what[96];
    snprintf(what, sizeof what, "(%zu,%zu,%zu) sigma %g n=%zu", d, k, m, sigma, n);
    row(what, "share where k was found", (double)good / runs, .95, 1, "");
}

/* ---- noise, fewer labels than neurons ---- */

static unrelu_network *recover_few(const planted_network *p, size_t k, int from_truth)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.k = k;
    o.labels = UNRELU_LABELS_NOISY;
    o.start = from_truth ? p->truth : NULL;
    return recover(p, &o);
}

static double few_bic(const unrelu_network *model)
{
    double cells = (double)(model->n * model->m), biases = strcmp(model->biases, "both") == 0;
    double used =
        (double)model->k * ((double)(model->d + model->m) - 1 + biases) + biases * (double)model->m;
    return cells * log(model->noise * model->noise * (cells - used)) + used * log(cells);
}

/* the same place as from the planted weights, or a better one */
static void few_labels(size_t d, size_t k, size_t m, size_t n, double sigma, int full)
{
    int runs = runs_of(full);
    noisy_sums s = {0};
    double found = 0;
    for (int run = 0; run < runs; run++) {
        unrelu_network_plant_options o = plan_of(d, k, m, (uint64_t)run + 400);
        o.bias = .5;
        o.noise = sigma;
        planted_network p = plant_network_with(o, n);
        unrelu_network *best = recover_few(&p, 0, 1), *model = recover_few(&p, k, 0),
                       *open = recover_few(&p, 0, 0);
        s.reached += model->noise <= best->noise * (1 + 5e-5);
        found += few_bic(open) <= few_bic(best) + 1; /* a weak neuron may be left out */
        add_noisy(&p, model, &s);
        unrelu_network_free(best);
        unrelu_network_free(model);
        unrelu_network_free(open);
        planted_network_free(&p);
    }
    char what[96];
    snprintf(what, sizeof what, "(%zu,%zu,%zu) sigma %g n=%zu, biases .5", d, k, m, sigma, n);
    row(what, "share at the likelihood's maximum, k given", s.reached / runs, .95, 1, "");
    row(what, "share where BIC is that of the planted network, or less", found / runs, .95, 1, "");
    row(what, "coverage of 95 % intervals", s.in / s.of, share < 1 ? .9 : .92,
        share < 1 ? .99 : .98, "");
}

/* ---- noise of Student's law, --robust ---- */

/* scale .5 as the normal noise of k_found: k and biases found out, then coverage with k given */
static void student(double degrees, int full)
{
    int runs = runs_of(full), good = 0, told = 0;
    noisy_sums s = {0};
    for (int run = 0; run < runs; run++) {
        planted_network p = plant_network(10, 5, 8, 2000, 0, (uint64_t)run + 1);
        add_student(&p, degrees, .5 / root_mean_square(p.a, 2000 * 8), (uint64_t)run);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.labels = UNRELU_LABELS_NOISY;
        o.robust = 1;
        if (run % 5 == 0) {
            unrelu_network *model = recover(&p, &o);
            good += model->k == 5 && strcmp(model->biases, "none") == 0;
            unrelu_network_free(model);
        }
        o.k = 5;
        o.biases = UNRELU_BIASES_NONE;
        unrelu_network *model = recover(&p, &o);
        add_noisy(&p, model, &s);
        unrelu_network_free(model);
        o.robust = 0;
        model = recover(&p, &o);
        for (size_t i = 0; i < model->warning_count; i++)
            told += strcmp(model->warnings[i].code, "heavy-tails") == 0;
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    char what[96];
    snprintf(what, sizeof what, "Student noise, %g degrees, (10,5,8) scale .5 n=2000", degrees);
    row(what, "share where k was found, robust", good / ceil(runs / 5.), .9, 1, "");
    row(what, "coverage of 95 % intervals, robust", s.in / s.of, share < 1 ? .91 : .93,
        share < 1 ? .98 : .97, "");
    row(what, "share where heavy tails are told", (double)told / runs, isfinite(degrees),
        isfinite(degrees), "");
}

/* ---- methods by name: exact after their own start ---- */

typedef struct {
    const char *title;
    unrelu_recover_method method;
    unrelu_exactify exactify;
    size_t d, k, m, n;
    double kappa_v;
    unrelu_inputs inputs;
    double wanted;
} method_point;

static const method_point method_points[] = {
    {"ica, orthonormal V", UNRELU_RECOVER_ICA, UNRELU_EXACTIFY_CCA, 10, 5, 8, 200, 1,
     UNRELU_INPUTS_NORMAL, 1},
    {"ica, orthonormal V", UNRELU_RECOVER_ICA, UNRELU_EXACTIFY_CCA, 20, 10, 12, 300, 1,
     UNRELU_INPUTS_NORMAL, 1},
    {"tensor, order 2", UNRELU_RECOVER_TENSOR, UNRELU_EXACTIFY_CCA, 10, 5, 8, 2000, 0,
     UNRELU_INPUTS_NORMAL, 1},
    {"tensor, order 2", UNRELU_RECOVER_TENSOR, UNRELU_EXACTIFY_CCA, 20, 10, 12, 4000, 0,
     UNRELU_INPUTS_NORMAL, 1},
    {"symmetric, normal", UNRELU_RECOVER_SYMMETRIC, UNRELU_EXACTIFY_CCA, 10, 5, 5, 5000, 0,
     UNRELU_INPUTS_NORMAL, 1},
    {"symmetric, uniform", UNRELU_RECOVER_SYMMETRIC, UNRELU_EXACTIFY_CCA, 10, 5, 5, 5000, 0,
     UNRELU_INPUTS_UNIFORM, 1},
    {"symmetric, uniform", UNRELU_RECOVER_SYMMETRIC, UNRELU_EXACTIFY_CCA, 20, 8, 12, 5000, 0,
     UNRELU_INPUTS_UNIFORM, 1},
    {"lifted", UNRELU_RECOVER_LIFTED, UNRELU_EXACTIFY_CCA, 10, 5, 5, 120, 0, UNRELU_INPUTS_NORMAL,
     1},
    {"lifted, laplace", UNRELU_RECOVER_LIFTED, UNRELU_EXACTIFY_CCA, 20, 8, 12, 245, 0,
     UNRELU_INPUTS_LAPLACE, 1},
    {"facets", UNRELU_RECOVER_FACETS, UNRELU_EXACTIFY_CCA, 10, 5, 5, 120, 0, UNRELU_INPUTS_NORMAL,
     1},
    {"facets, uniform", UNRELU_RECOVER_FACETS, UNRELU_EXACTIFY_CCA, 20, 8, 12, 192, 0,
     UNRELU_INPUTS_UNIFORM, 1},
};

static void by_method(const method_point *p)
{
    int runs = runs_of(20), good = 0;
    for (int run = 0; run < runs; run++) {
        unrelu_network_plant_options o = plan_of(p->d, p->k, p->m, (uint64_t)run + 70);
        o.kappa_v = p->kappa_v;
        o.inputs = p->inputs;
        planted_network planted = plant_network_with(o, p->n);
        unrelu_recover_options recovery;
        unrelu_recover_options_init(&recovery, sizeof recovery);
        recovery.method = p->method;
        recovery.exactify = p->exactify;
        unrelu_network *model;
        unrelu_error err = {0};
        if (try_recover(planted.x, planted.a, p->n, p->d, p->m, &recovery, NULL, &model, &err) ==
            UNRELU_OK)
            good +=
                model->verdict == UNRELU_VERDICT_EXACT && error_of_V(planted.truth, model) <= 1e-9;
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    char what[96];
    snprintf(what, sizeof what, "%s, (%zu,%zu,%zu) n=%zu", p->title, p->d, p->k, p->m, p->n);
    row(what, "share exact to 1e-9", (double)good / runs, p->wanted, 1, "");
}

/* ---- how far the raw estimates of the methods are, as published or measured before ---- */

typedef struct {
    unrelu_recover_method method;
    const char *title;
    size_t d, k, m, n;
    double kappa_v, error; /* root mean square of |v_j - v_j*|: median of the runs */
} raw_point;

static const raw_point raw_points[] = {
    {UNRELU_RECOVER_ICA, "ica", 10, 5, 8, 1000, 1, .071},
    {UNRELU_RECOVER_ICA, "ica", 10, 5, 8, 5000, 1, .032},
    {UNRELU_RECOVER_ICA, "ica", 20, 10, 12, 1000, 1, .104},
    {UNRELU_RECOVER_TENSOR, "tensor, order 2", 10, 5, 8, 2000, 0, .165},
    {UNRELU_RECOVER_TENSOR, "tensor, order 2", 10, 5, 8, 10000, 0, .088},
    {UNRELU_RECOVER_TENSOR, "tensor, order 2", 20, 10, 12, 2000, 0, .25},
    {UNRELU_RECOVER_SYMMETRIC, "symmetric", 10, 5, 5, 5000, 3, .10},
    {UNRELU_RECOVER_SYMMETRIC, "symmetric", 20, 8, 12, 5000, 3, .10},
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void raw_errors(const raw_point *p)
{
    enum { RUNS = 11 };
    double error[RUNS];
    for (int run = 0; run < RUNS; run++) {
        unrelu_network_plant_options o = plan_of(p->d, p->k, p->m, (uint64_t)run + 900);
        o.kappa_v = p->kappa_v;
        planted_network planted = plant_network_with(o, p->n);
        unrelu_recover_options recovery;
        unrelu_recover_options_init(&recovery, sizeof recovery);
        recovery.method = p->method;
        recovery.k = p->k;
        recovery.exactify = UNRELU_EXACTIFY_NONE;
        unrelu_network *model = recover(&planted, &recovery);
        unrelu_network_distance far;
        unrelu_error err = {0};
        must(unrelu_network_compare(planted.truth, model, &far, &err), &err);
        error[run] = far.V_frobenius / sqrt((double)p->k);
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    qsort(error, RUNS, sizeof *error, ascending);
    char what[96];
    snprintf(what, sizeof what, "%s alone, (%zu,%zu,%zu) n=%zu", p->title, p->d, p->k, p->m, p->n);
    row(what, "median error of a row of V", error[RUNS / 2], 0, 1.2 * p->error, "");
}

int main(int argc, char **argv)
{
    int full = numbers_begin(argc, argv, 0.1, "The two-layer network");
    for (size_t i = 0; i < sizeof exact_points / sizeof *exact_points; i++)
        exact_recovery(&exact_points[i]);
    for (size_t i = 0; full && i < sizeof many_points / sizeof *many_points; i++)
        many_neurons(&many_points[i]);
    false_claims(full ? 100000 : 25000); /* every kind more than once in a tenth of these too */
    coarse_claims(10000);
    noisy(10, 5, 8, 1000, .1, 100, 1);
    noisy(10, 5, 8, 1000, .5, 100, 1);
    noisy(10, 5, 8, 10000, .1, 40, 1);
    noisy(10, 5, 8, 10000, .5, 40, 1);
    noisy(20, 10, 12, 2000, .5, 20, 0);
    k_found(10, 5, 8, 500, .1, 20);
    k_found(10, 5, 8, 500, .5, 20);
    k_found(10, 5, 5, 1000, .5, 20);
    k_found(10, 5, 8, 2000, 1, 20);
    k_found(20, 10, 12, 2000, .1, 10);
    k_found(10, 5, 8, 40000, .5, 10);
    few_labels(10, 16, 1, 6000, .01, share < 1 ? 10 : 20);
    if (share == 1) { /* seconds each */
        few_labels(20, 16, 2, 6000, .01, 20);
        few_labels(20, 10, 1, 6000, .01, 20);
    }
    student(2, 100);
    if (full)
        student(3, 100);
    student(INFINITY, 100);
    for (size_t i = 0; i < sizeof method_points / sizeof *method_points; i++)
        by_method(&method_points[i]);
    for (size_t i = 0; i < sizeof raw_points / sizeof *raw_points; i++)
        raw_errors(&raw_points[i]);
    return numbers_end();
}
