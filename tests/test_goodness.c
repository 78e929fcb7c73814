/* SPDX-License-Identifier: Apache-2.0 */
#include "base/order.h"
#include "base/random.h"
#include "gaussian/check/goodness.h"
#include "law/margin.h"
#include "law/normal.h"

#include "planted.h"

static unrelu_status try_goodness(const unrelu_gaussian *model, const double *x, size_t n, size_t d,
                                  const char *const *names, unrelu_goodness **out,
                                  unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_goodness_options options = {.size = sizeof options, .seed = 7};
    must(unrelu_source_memory(x, n, d, NULL, &source, err), err);
    if (names)
        must(unrelu_source_rename(source, names, err), err);
    unrelu_status status = unrelu_gaussian_goodness(model, source, &options, NULL, out, err);
    unrelu_source_close(source);
    return status;
}

static unrelu_goodness *goodness_of(const unrelu_gaussian *model, const double *x, size_t n)
{
    unrelu_goodness *out;
    unrelu_error err = {0};
    must(try_goodness(model, x, n, model->d, NULL, &out, &err), &err);
    return out;
}

static int increasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- sorting ---- */

static void sort_is_that_of_the_standard_library(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 95, 96, 97, 1000, 5000};
    static double x[5000], y[5000], scratch[5000];
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        ur_random_normals(1, k, 0, n, x);
        for (size_t i = 0; i < n; i++) {
            x[i] = i % 7 == 0 ? round(x[i]) + 0.0 : ldexp(x[i], (int)(i % 40) - 20);
            x[i] = x[i] == 0 ? 0 : x[i];
        }
        memcpy(y, x, sizeof y);
        ur_sort(x, scratch, n);
        qsort(y, n, sizeof *y, increasing);
        assert_memory_equal(x, y, n * sizeof *x);
    }
}

/* ---- one column against loops over its cells ---- */

enum { N = 400 };

/* sup over cells v >= limit of the difference, on both sides of v */
static double naive_distance(const double *x, size_t n, double limit, double b, double s)
{
    double observed = 0, largest = 0;
    for (size_t i = 0; i < n; i++)
        observed += !isnan(x[i]);
    for (size_t i = 0; i < n; i++) {
        double v = x[i] > limit ? x[i] : limit, below = 0, up_to = 0;
        if (isnan(x[i]))
            continue;
        for (size_t j = 0; j < n; j++) {
            double w = isnan(x[j]) || x[j] > limit ? x[j] : limit;
            below += w < v;
            up_to += w <= v;
        }
        double F = 0.5 * erfc((b - v) / (s * sqrt(2)));
        largest = fmax(largest, fabs(up_to / observed - F));
        if (v > limit)
            largest = fmax(largest, fabs(F - below / observed));
    }
    return largest;
}

static void numbers_are_those_of_loops_over_the_cells(void **state)
{
    double b = 0.3, scale = 1.2, sigma = 1.44, one = 1, limit = 0.25, x[N], y[N];
    const char *names[] = {"x1"};
    unrelu_gaussian model = {.d = 1,
                             .names = names,
                             .method = "",
                             .b = &b,
                             .scale = &scale,
                             .sigma = &sigma,
                             .correlation = &one,
                             .limit = &limit};
    size_t kept = 0, above = 0, tied = 0;
    (void)state;
    ur_random_normals(3, 0, 0, N, x);
    for (size_t i = 0; i < N; i++) {
        x[i] = i % 11 == 0 ? NAN : 0.5 + x[i];
        if (i % 5 == 0 && !isnan(x[i]))
            x[i] = round(4 * x[i]) / 4; /* ties, also at the limit */
        if (!isnan(x[i]))
            y[kept++] = x[i] > limit ? x[i] : limit;
    }
    qsort(y, kept, sizeof *y, increasing);
    unrelu_goodness *g = goodness_of(&model, x, N);
    for (size_t i = 0; i < kept; i++) {
        size_t same = 0;
        for (size_t j = 0; j < kept; j++)
            same += y[j] == y[i];
        above += y[i] > limit;
        tied += y[i] > limit && same > 1;
    }
    assert_int_equal(g->n, N);
    assert_true(g->observed[0] == (double)kept);
    assert_true(g->censored[0] == (double)(kept - above));
    assert_true(fabs(g->ties[0] - (double)tied / (double)above) < 1e-15);
    assert_true(tied > 20 && kept > above);
    assert_true(fabs(g->ks[0] - naive_distance(x, N, limit, b, scale)) < 1e-14);
    for (size_t k = 0; k < g->points; k++) {
        double share = ((double)k + 0.5) / (double)g->points;
        double want = y[(size_t)ceil(share * (double)kept) - 1];
        assert_true(want > limit ? g->sample_quantile[k] == want : isnan(g->sample_quantile[k]));
        assert_true(fabs(ur_normal_cdf((g->model_quantile[k] - b) / scale) - share) < 1e-13);
    }
    double total = 0;
    for (size_t k = 0; k < g->bins; k++) {
        double inside = 0;
        for (size_t i = 0; i < kept; i++)
            inside += y[i] > limit && (k == 0 || y[i] > g->edges[k]) && y[i] <= g->edges[k + 1];
        assert_true(g->edges[k] < g->edges[k + 1]);
        assert_true(g->counts[k] == inside);
        total += inside;
    }
    assert_true(total == (double)above);
    unrelu_goodness_free(g);
}

static void values_far_out_get_one_wide_bin(void **state)
{
    unrelu_gaussian *model = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = 1, .kappa = 1, .seed = 2});
    double *x = draw(model, N, 1);
    (void)state;
    x[5] = 1e6;
    unrelu_goodness *g = goodness_of(model, x, N);
    assert_true(g->edges[g->bins] == 1e6 && g->edges[g->bins - 1] < 30);
    assert_true(g->counts[g->bins - 1] == 1);
    unrelu_goodness_free(g);
    unrelu_gaussian_free(model);
    free(x);
}

/* values from 100 to 101 above the limit 0, then from 10 to 101 */
static void a_histogram_starts_at_the_limit_unless_half_of_it_were_empty(void **state)
{
    unrelu_gaussian *model = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = 1, .kappa = 1, .seed = 2});
    double *x = draw(model, N, 1);
    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        double first = empty ? 100 : 10;
        for (size_t i = 0; i < N; i++)
            x[i] = first + (101 - first) * (double)i / (N - 1);
        unrelu_goodness *g = goodness_of(model, x, N);
        assert_true(g->edges[0] == (empty ? first : 0));
        unrelu_goodness_free(g);
    }
    unrelu_gaussian_free(model);
    free(x);
}

/* ---- p-values ---- */

/* a bootstrap as one would write it: n normals, censored, sorted, fitted again */
static double naive_p(double n, double gamma, double distance, int refit, size_t runs)
{
    size_t size = (size_t)n, at_least = 1;
    double *x = malloc(size * sizeof *x);
    for (size_t run = 0; run < runs; run++) {
        ur_margin_sums sums = {.n = n, .shift = 1};
        ur_margin m = {.b = gamma, .s = 1};
        size_t count = 0;
        ur_random_normals(99, run, 0, size, x);
        for (size_t i = 0; i < size; i++) {
            double v = gamma + x[i];
            if (v <= 0)
                continue;
            x[count++] = v;
            sums.sum += v - 1;
            sums.square += (v - 1) * (v - 1);
        }
        sums.positive = (double)count;
        qsort(x, count, sizeof *x, increasing);
        if (refit)
            ur_margin_censored(&sums, &m);
        ur_censored_column column = {x, count, n, 0};
        at_least += ur_censored_distance(&column, m.b, m.s) >= distance;
    }
    free(x);
    return (double)at_least / (double)(runs + 1);
}

static void p_values_are_those_of_a_plain_bootstrap(void **state)
{
    /* of n and gamma on and off the grid, below and beyond the size that is simulated */
    static const struct {
        double n, gamma, distance;
        int fitted;
    } cases[] = {
        {40, 0.0, 0.10, 1},     {40, 0.3, 0.10, 1},       {300, -0.88, 0.023, 1},
        {300, 1.12, 0.045, 1},  {300, 1.06, 0.06, 0},     {1000, 3.0, 0.024, 1},
        {3000, 0.44, 0.012, 1}, {3000, -1.63, 0.0038, 1}, {3000, -0.38, 0.014, 0},
    };
    (void)state;
    skip_sanitized();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ur_distance_test test = {cases[i].distance, cases[i].n, cases[i].gamma, cases[i].fitted, 0};
        unrelu_error err = {0};
        must(ur_distance_tests(&test, 1, 3999, 5, NULL, &err), &err);
        double want = naive_p(cases[i].n, cases[i].gamma, cases[i].distance, cases[i].fitted, 1999);
        double error = sqrt(want * (1 - want) * (1 / 1999.0 + 1 / 3999.0));
        if (fabs(test.p - want) > 4 * error + 0.05 * want)
            fail_msg("case %zu: p %g, bootstrap %g", i, test.p, want);
        assert_true(want > 0.02 && want < 0.9);
    }
}

static void p_values_are_uniform_where_the_model_is_right(void **state)
{
    enum { D = 100, ROWS = 600 };
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    (void)state;
    o.d = D;
    o.bias = UNRELU_BIAS_NORMAL;
    unrelu_gaussian *truth = plant(o), *models[2];
    double *x = draw(truth, ROWS, 3);
    models[0] = truth;
    models[1] = fit(x, ROWS, D, NULL);
    for (int k = 0; k < 2; k++) {
        unrelu_goodness *g = goodness_of(models[k], x, ROWS);
        double mean = 0, small = 0;
        for (size_t i = 0; i < D; i++) {
            mean += g->ks_p[i] / D;
            small += g->ks_p[i] < 0.1;
        }
        /* 4 standard errors: 0.29 / 10 each, and sqrt(100 * 0.09) */
        assert_true(fabs(mean - 0.5) < 0.116);
        assert_true(fabs(small - 10) < 12);
        unrelu_goodness_free(g);
        unrelu_gaussian_free(models[k]);
    }
    free(x);
}

static void a_wrong_model_is_found_out(void **state)
{
    enum { ROWS = 1000 };
    double *x = malloc(ROWS * sizeof *x);
    (void)state;
    ur_random_normals(8, 1, 0, ROWS, x);
    for (size_t i = 0; i < ROWS; i++)
        x[i] = fmax(0, exp(x[i]) - 0.6);
    unrelu_gaussian *model = fit(x, ROWS, 1, NULL);
    unrelu_goodness *g = goodness_of(model, x, ROWS);
    assert_true(fabs(g->ks_p[0] - 0.001) < 1e-15);
    unrelu_goodness_free(g);
    unrelu_gaussian_free(model);
    free(x);
}

/* Of skewed samples of 80 rows some are poor, and some not. What a fit flags as `misfit` is poor;
 * once judged, what is poor is flagged, with one warning, whatever the route. */
static void what_the_judgement_calls_poor_is_flagged(void **state)
{
    enum { ROWS = 80, SETS = 30 };
    static const unrelu_angles routes[] = {UNRELU_ANGLES_H6, UNRELU_ANGLES_LIKELIHOOD};
    double x[ROWS];
    int poor = 0, early = 0;
    (void)state;
    skip_sanitized();
    for (uint64_t run = 0; run < 2 * SETS; run++) {
        unrelu_gaussian_options o;
        unrelu_source *source = NULL;
        unrelu_error err = {0};
        unrelu_gaussian_options_init(&o, sizeof o);
        o.angles = routes[run % 2];
        ur_random_normals(17, run / 2, 0, ROWS, x);
        for (size_t i = 0; i < ROWS; i++)
            x[i] = fmax(0, exp(0.45 * x[i]) - 0.7);
        unrelu_gaussian *model = fit(x, ROWS, 1, &o);
        int flagged = (model->flags[0] & UNRELU_FLAG_MISFIT) != 0;
        must(unrelu_source_memory(x, ROWS, 1, NULL, &source, &err), &err);
        must(unrelu_gaussian_judge(model, source, NULL, NULL, &err), &err);
        unrelu_source_close(source);
        int is_poor = strcmp(model->fit[0], "poor") == 0, warned = 0;
        for (size_t i = 0; i < model->warning_count; i++)
            warned += strcmp(model->warnings[i].code, "misfit") == 0;
        assert_true(is_poor || !flagged);
        assert_true(((model->flags[0] & UNRELU_FLAG_MISFIT) != 0) == is_poor);
        assert_int_equal(warned, is_poor);
        poor += is_poor;
        early += flagged;
        unrelu_gaussian_free(model);
    }
    assert_true(poor > 0.2 * SETS && poor < 1.8 * SETS && early < poor);
}

/* ---- rain under a root: detectably no normal, and near to one ---- */

enum { RAIN_ROWS = 5000, RAINS = 20 };

/* columns x = max(0, 0.4 + z + bend (z^2 - 1)), or their squares; a bend is 0.4 away from the
 * normal per unit */
static double *rains_of(double bend, int squared)
{
    double *x = malloc(RAIN_ROWS * RAINS * sizeof *x);
    ur_random_normals(23, 0, 0, (size_t)RAIN_ROWS * RAINS, x);
    for (size_t i = 0; i < RAIN_ROWS * RAINS; i++) {
        x[i] = fmax(0, 0.4 + x[i] + bend * (x[i] * x[i] - 1));
        x[i] = squared ? x[i] * x[i] : x[i];
    }
    return x;
}

static unrelu_gaussian *fit_rains(const double *x, unrelu_angles angles, unrelu_transform transform)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.angles = angles;
    o.transform = transform;
    return fit(x, RAIN_ROWS, RAINS, &o);
}

static size_t misfits_of(const unrelu_gaussian *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->d; i++)
        count += (m->flags[i] & UNRELU_FLAG_MISFIT) != 0;
    return count;
}

/* by the simulation of --judge, check and report */
static void expect_not_poor(unrelu_gaussian *m, const double *x)
{
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_goodness_options o = {.size = sizeof o, .runs = 99};
    must(unrelu_source_memory(x, RAIN_ROWS, RAINS, NULL, &source, &err), &err);
    must(unrelu_gaussian_judge(m, source, &o, NULL, &err), &err);
    for (size_t i = 0; i < RAINS; i++) {
        assert_true(m->ks[i] > 0.01 && m->ks[i] < 0.05);
        assert_int_not_equal(unrelu_fit_judge(m->ks[i], m->ks_p[i], RAIN_ROWS, 1), UNRELU_FIT_POOR);
    }
    assert_int_equal(misfits_of(m), 0);
    unrelu_source_close(source);
}

static void rain_under_a_root_is_never_poor(void **state)
{
    static const double bends[] = {0.1, 0.2};
    (void)state;
    skip_sanitized();
    for (size_t k = 0; k < 2; k++) {
        double *root = rains_of(bends[k], 0), *rain = rains_of(bends[k], 1);
        unrelu_gaussian *m[] = {
            fit_rains(root, UNRELU_ANGLES_H6, UNRELU_TRANSFORM_NONE),
            fit_rains(root, UNRELU_ANGLES_LIKELIHOOD, UNRELU_TRANSFORM_NONE),
            fit_rains(rain, UNRELU_ANGLES_H6, UNRELU_TRANSFORM_SQRT),
        };
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(misfits_of(m[j]), 0);
        expect_not_poor(m[0], root);
        expect_not_poor(m[2], rain);
        for (size_t j = 0; j < 3; j++)
            unrelu_gaussian_free(m[j]);
        free(root);
        free(rain);
    }
}

/* Nearly 0.05 from their normals: of the 1024 rows that a fit by one pass looks at, some columns
 * are 0.07 away, as samples are. */
static void distances_of_some_rows_are_no_misfit(void **state)
{
    enum { ROWS = 8192, COLUMNS = 60 };
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_goodness_options o = {.size = sizeof o, .runs = 20};
    (void)state;
    skip_sanitized();
    double *x = malloc(ROWS * COLUMNS * sizeof *x);
    ur_random_normals(29, 0, 0, (size_t)ROWS * COLUMNS, x);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        x[i] = 6 + x[i] + 0.1 * (x[i] * x[i] - 1);
    unrelu_gaussian *m = fit(x, ROWS, COLUMNS, NULL);
    assert_int_equal(misfits_of(m), 0);
    must(unrelu_source_memory(x, ROWS, COLUMNS, NULL, &source, &err), &err);
    must(unrelu_gaussian_judge(m, source, &o, NULL, &err), &err);
    for (size_t i = 0; i < COLUMNS; i++)
        assert_true(m->ks[i] > 0.03 && m->ks[i] < 0.05);
    unrelu_source_close(source);
    unrelu_gaussian_free(m);
    free(x);
}

/* rain as it is: every route says so */
static void rain_itself_is_a_misfit(void **state)
{
    (void)state;
    skip_sanitized();
    double *rain = rains_of(0.06, 1);
    for (int route = 0; route < 2; route++) {
        unrelu_gaussian *m = fit_rains(rain, route ? UNRELU_ANGLES_LIKELIHOOD : UNRELU_ANGLES_H6,
                                       UNRELU_TRANSFORM_NONE);
        assert_int_equal(misfits_of(m), RAINS);
        unrelu_gaussian_free(m);
    }
    free(rain);
}

static void threads_change_no_bit(void **state)
{
    enum { D = 19, ROWS = 700 };
    unrelu_gaussian *truth = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = D, .kappa = 4, .seed = 6});
    double *x = draw(truth, ROWS, 3);
    unrelu_goodness *g[3];
    (void)state;
    for (int k = 0; k < 3; k++) {
        unrelu_source *source = NULL;
        unrelu_error err = {0};
        unrelu_exec exec = {.size = sizeof exec, .threads = (int[]){1, 2, 7}[k]};
        must(unrelu_source_memory(x, ROWS, D, NULL, &source, &err), &err);
        must(unrelu_gaussian_goodness(truth, source, NULL, &exec, &g[k], &err), &err);
        unrelu_source_close(source);
        assert_memory_equal(g[k]->ks, g[0]->ks, D * sizeof(double));
        assert_memory_equal(g[k]->ks_p, g[0]->ks_p, D * sizeof(double));
        assert_memory_equal(g[k]->counts, g[0]->counts, D * g[0]->bins * sizeof(double));
    }
    for (int k = 0; k < 3; k++)
        unrelu_goodness_free(g[k]);
    unrelu_gaussian_free(truth);
    free(x);
}

/* pairs of a model, by name of its columns, and what no pair is */
static void pairs_are_looked_at_that_are_asked_for(void **state)
{
    enum { D = 4, ROWS = 900 };
    static const size_t pairs[] = {2, 0, 1, 3}, wrong[][2] = {{1, 1}, {0, D}};
    unrelu_gaussian *truth = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = D, .kappa = 4, .seed = 6});
    double *x = draw(truth, ROWS, 3);
    unrelu_goodness *g = NULL;
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_goodness_options o = {.size = sizeof o, .pairs = pairs, .pair_count = 2, .runs = 9};
    (void)state;
    must(unrelu_source_memory(x, ROWS, D, NULL, &source, &err), &err);
    must(unrelu_gaussian_goodness(truth, source, &o, NULL, &g, &err), &err);
    assert_int_equal(g->pairs, 2);
    for (size_t k = 0; k < 2; k++) {
        double both = 0, fitted = 0, *cut = g->pair_cut + 2 * k;
        size_t i = pairs[2 * k], j = pairs[2 * k + 1];
        for (size_t row = 0; row < ROWS; row++)
            both += x[row * D + i] > cut[0] && x[row * D + j] > cut[1];
        for (size_t q = 0; q < 4; q++)
            fitted += g->pair_fitted[4 * k + q];
        assert_near(g->pair_observed[k], ROWS, 0);
        assert_near(g->pair_share[4 * k], both / ROWS, 1e-12);
        assert_near(fitted, 1, 1e-12);
        assert_near(g->pair_correlation[k], truth->correlation[i * D + j], 1e-15);
        assert_true(g->pair_misfit[k] < 4);
        assert_true(g->pair_cells[2 * g->pair_rows * k] == x[i] || g->pair_states[0] != 0);
    }
    unrelu_goodness_free(g);
    for (int k = 0; k < 2; k++) {
        o.pairs = wrong[k];
        o.pair_count = 1;
        assert_int_equal(unrelu_gaussian_goodness(truth, source, &o, NULL, &g, &err),
                         UNRELU_EUSAGE);
        assert_non_null(strstr(err.text, "two different ones of 0 to 3"));
    }
    unrelu_source_close(source);
    unrelu_gaussian_free(truth);
    free(x);
}

/* ---- which column is which, and what is refused ---- */

static void columns_are_found_by_name(void **state)
{
    enum { ROWS = 300 };
    unrelu_gaussian *model = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = 3, .kappa = 4, .seed = 6});
    double *x = draw(model, ROWS, 1), *y = malloc(ROWS * 4 * sizeof *y);
    const char *names[] = {"c", "other", "a", "b"};
    unrelu_goodness *swapped;
    unrelu_error err = {0};
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const double *row = x + 3 * i;
        memcpy(y + 4 * i, (double[]){row[2], 1, row[0], row[1]}, 4 * sizeof *y);
    }
    unrelu_goodness *g = goodness_of(model, x, ROWS); /* x1, x2, x3 on both sides */
    model->names = ((const char *const[]){"a", "b", "c"});
    unrelu_goodness *in_order = goodness_of(model, x, ROWS); /* numbers there, names here */
    must(try_goodness(model, y, ROWS, 4, names, &swapped, &err), &err);
    assert_memory_equal(in_order->ks, g->ks, 3 * sizeof *g->ks);
    assert_memory_equal(swapped->ks, g->ks, 3 * sizeof *g->ks);
    unrelu_goodness_free(g);
    unrelu_goodness_free(in_order);
    unrelu_goodness_free(swapped);
    unrelu_gaussian_free(model);
    free(x);
    free(y);
}

static void refuse(const unrelu_gaussian *model, const double *x, size_t n, size_t d,
                   const char *const *names, unrelu_status want, const char *sentence)
{
    unrelu_goodness *g;
    unrelu_error err = {0};
    assert_int_equal(try_goodness(model, x, n, d, names, &g, &err), want);
    assert_string_equal(err.text, sentence);
    assert_null(g);
}

static void other_samples_are_refused(void **state)
{
    double x[12] = {1, 2, 0, 4, 5, INFINITY, 7, 8, 9, 1, 2, 3};
    const char *names[] = {"a", "b", "d"};
    unrelu_gaussian *model = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = 3, .kappa = 4, .seed = 6});
    (void)state;
    refuse(model, x, 6, 2, NULL, UNRELU_EFORMAT,
           "matrix in memory has 2 columns, and the model 3: give the samples of the model, or "
           "choose its columns with `columns`");
    refuse(model, x, 4, 3, NULL, UNRELU_EFORMAT,
           "matrix in memory: row 2, column 3 is infinite: mend it, or make it NaN");
    model->names = ((const char *const[]){"a", "b", "c"});
    refuse(model, x, 1, 3, names, UNRELU_EFORMAT,
           "matrix in memory has no column 'c', which the model has: its 3 columns are 'a', ...");
    refuse(model, x, 6, 2, NULL, UNRELU_EFORMAT,
           "matrix in memory has no column 'a', which the model has: its 2 columns are 'x1', ...");
    unrelu_gaussian_free(model);
}

/* they have no image: counted as missing, they would hide that the samples are other ones */
static void values_that_no_transform_takes_are_refused(void **state)
{
    static const struct {
        unrelu_transform transform;
        double x;
        int taken;
    } cases[] = {{UNRELU_TRANSFORM_SIGMOID, 0, 0},   {UNRELU_TRANSFORM_SIGMOID, 1, 0},
                 {UNRELU_TRANSFORM_SIGMOID, -.5, 0}, {UNRELU_TRANSFORM_SIGMOID, 1.25, 0},
                 {UNRELU_TRANSFORM_SIGMOID, NAN, 1}, {UNRELU_TRANSFORM_SIGMOID, .5, 1},
                 {UNRELU_TRANSFORM_LOG, -.5, 0},     {UNRELU_TRANSFORM_SQRT, -.5, 0},
                 {UNRELU_TRANSFORM_LOG, NAN, 1},     {UNRELU_TRANSFORM_LOG, 0, 1},
                 {UNRELU_TRANSFORM_LEAKY, -.5, 1}};
    double slope[] = {.1, .1}, none[] = {-INFINITY, -INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x[] = {.2, .3, .4, .9, .6, cases[i].x, .7, .1};
        unrelu_gaussian *model = plant((unrelu_gaussian_plant_options){
            .size = sizeof(unrelu_gaussian_plant_options), .d = 2, .kappa = 4, .seed = 6});
        model->transform = cases[i].transform;
        model->lambda = cases[i].transform == UNRELU_TRANSFORM_LEAKY ? slope : NULL;
        model->limit = none;
        unrelu_goodness *g = NULL;
        unrelu_error err = {0};
        unrelu_status status = try_goodness(model, x, 4, 2, NULL, &g, &err);
        assert_int_equal(status, cases[i].taken ? UNRELU_OK : UNRELU_EFORMAT);
        if (cases[i].taken)
            assert_true(g->observed[1] == (isnan(cases[i].x) ? 3 : 4));
        else
            assert_non_null(strstr(err.text, "row 3, column 2 is "));
        unrelu_goodness_free(g);
        unrelu_gaussian_free(model);
    }
}

static void columns_without_values_have_no_test(void **state)
{
    double x[6] = {NAN, 0, NAN, 0, NAN, 0};
    unrelu_gaussian *model = plant((unrelu_gaussian_plant_options){
        .size = sizeof(unrelu_gaussian_plant_options), .d = 2, .kappa = 4, .seed = 6});
    (void)state;
    model->scale[1] = 0;
    unrelu_goodness *g = goodness_of(model, x, 3);
    assert_true(g->observed[0] == 0 && isnan(g->ks[0]) && isnan(g->ks_p[0]) && isnan(g->ties[0]));
    assert_true(g->censored[1] == 3 && isnan(g->ks[1]) && isnan(g->ks_p[1]));
    unrelu_goodness_free(g);
    unrelu_gaussian_free(model);
}

/* ---- limits of cells ---- */

static unrelu_goodness *with_limit(const unrelu_gaussian *model, const double *x, size_t n,
                                   const double *limit, const double *limits)
{
    unrelu_source *source = NULL, *cells = NULL;
    unrelu_goodness *g;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, n, 1, NULL, &source, &err), &err);
    if (limits)
        must(unrelu_source_memory(limits, n, 1, NULL, &cells, &err), &err);
    unrelu_goodness_options o = {.size = sizeof o, .seed = 7, .limit = limit, .limits = cells};
    must(unrelu_gaussian_goodness(model, source, &o, NULL, &g, &err), &err);
    unrelu_source_close(source);
    unrelu_source_close(cells);
    return g;
}

static unrelu_gaussian standard_normal(double *numbers)
{
    static const char *names[] = {"x1"};
    memcpy(numbers, (double[]){1, 1, 0}, 3 * sizeof *numbers);
    return (unrelu_gaussian){.d = 1,
                             .names = names,
                             .method = "",
                             .b = numbers,
                             .scale = numbers + 1,
                             .sigma = numbers + 1,
                             .correlation = numbers + 1,
                             .limit = numbers + 2};
}

/* the product over values t above x (from x on, where it is to lie below x) of 1 - how many were
 * seen at t / how many are known to lie at or below t */
static double reversed_product(const double *x, const double *limit, size_t n, double at, int from)
{
    double product = 1;
    for (size_t i = 0; i < n; i++) {
        double equal = 0, below = 0;
        int first = x[i] > 0 && (x[i] > at || (from && x[i] == at));
        for (size_t j = 0; j < n; j++) {
            first &= !(j < i && x[j] == x[i]);
            equal += x[j] == x[i];
            below += (x[j] > 0 ? x[j] : limit[j]) <= x[i];
        }
        product *= first ? 1 - equal / below : 1;
    }
    return product;
}

static double standard_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static void values_below_the_limits_of_others_are_compared_and_drawn(void **state)
{
    double x[N], limits[N], given[N], numbers[3], column = 0.9, drawn = 0, most = 0, zeros = 0;
    unrelu_gaussian model = standard_normal(numbers);
    (void)state;
    ur_random_normals(11, 0, 0, N, x);
    for (size_t i = 0; i < N; i++) {
        limits[i] = i % 2 ? 0.5 : 0.9;
        given[i] = i % 2 ? 0.5 : NAN; /* the others have that of the column */
        x[i] = 1 + x[i] <= limits[i] ? 0 : 1 + x[i];
        zeros += x[i] == 0;
        most = fmax(most, x[i]);
    }
    unrelu_goodness *g = with_limit(&model, x, N, &column, given);
    double low = reversed_product(x, limits, N, 0.5, 0), want = fabs(low - standard_cdf(-0.5));
    for (size_t i = 0; i < N; i++)
        for (int from = 0; from < 2 && x[i] > 0; from++)
            want = fmax(want,
                        fabs(reversed_product(x, limits, N, x[i], from) - standard_cdf(x[i] - 1)));
    assert_true(g->censored[0] == zeros);
    assert_true(fabs(g->ks[0] - want) < 1e-12 && want < 0.1);
    for (size_t k = 0; k < g->bins; k++)
        drawn += g->counts[k];
    assert_true(fabs(drawn - (1 - low) * N) < 1e-9 && g->edges[0] >= 0.5 && g->edges[0] < 0.9);
    assert_true(g->edges[g->bins] == most);
    /* the median of the samples: the estimate reaches a half there, and not before */
    double middle = g->sample_quantile[g->points / 2], share = 0.5 + 0.5 / (double)g->points;
    assert_true(reversed_product(x, limits, N, middle, 0) >= share);
    assert_true(reversed_product(x, limits, N, middle, 1) < share);
    unrelu_goodness_free(g);
}

/* that it lies below 3 says nothing of a cell where all values seen do */
static void a_limit_above_all_values_changes_nothing(void **state)
{
    double x[4] = {1, 2, 0, 1.5}, limits[4] = {NAN, NAN, 3, NAN}, numbers[3], drawn = 0;
    double seen[3] = {1, 2, 1.5};
    unrelu_gaussian model = standard_normal(numbers);
    (void)state;
    unrelu_goodness *g = with_limit(&model, x, 4, NULL, limits);
    assert_true(fabs(g->ks[0] - naive_distance(seen, 3, 0, 1, 1)) < 1e-14);
    assert_true(g->ks_p[0] > 0 && g->ks_p[0] <= 1);
    assert_true(g->observed[0] == 4 && g->censored[0] == 1);
    for (size_t k = 0; k < g->bins; k++)
        drawn += g->counts[k];
    assert_true(fabs(drawn - 4) < 1e-12);
    unrelu_goodness_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_is_that_of_the_standard_library),
        cmocka_unit_test(numbers_are_those_of_loops_over_the_cells),
        cmocka_unit_test(values_far_out_get_one_wide_bin),
        cmocka_unit_test(a_histogram_starts_at_the_limit_unless_half_of_it_were_empty),
        cmocka_unit_test(p_values_are_those_of_a_plain_bootstrap),
        cmocka_unit_test(p_values_are_uniform_where_the_model_is_right),
        cmocka_unit_test(a_wrong_model_is_found_out),
        cmocka_unit_test(what_the_judgement_calls_poor_is_flagged),
        cmocka_unit_test(rain_under_a_root_is_never_poor),
        cmocka_unit_test(distances_of_some_rows_are_no_misfit),
        cmocka_unit_test(rain_itself_is_a_misfit),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(other_samples_are_refused),
        cmocka_unit_test(values_that_no_transform_takes_are_refused),
        cmocka_unit_test(columns_without_values_have_no_test),
        cmocka_unit_test(values_below_the_limits_of_others_are_compared_and_drawn),
        cmocka_unit_test(a_limit_above_all_values_changes_nothing),
        cmocka_unit_test(pairs_are_looked_at_that_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
