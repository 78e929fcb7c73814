/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "sanitized.h"

#include "base/random.h"
#include "gaussian/check/goodness.h"
#include "gaussian/check/judge.h"
#include "unrelu/unrelu.h"

#include <math.h>

enum { N = 400, D = 60, KINDS = 3 };

static const double kinds[KINDS] = {-0.3, 0, 0.4}; /* limits, by row */

/* y of column j ~ N(0.2, 1); x is y, or the limit of the row with below set */
static void plant(uint64_t seed, double *x, unsigned char *below)
{
    double z[N];
    for (size_t j = 0; j < D; j++) {
        ur_random_normals(seed, j, 0, N, z);
        for (size_t i = 0; i < N; i++) {
            double l = 1 + kinds[i % KINDS], y = 1.2 + z[i];
            below[i * D + j] = y <= l;
            x[i * D + j] = fmax(y, l);
        }
    }
}

static unrelu_source *write_samples(const double *x, const unsigned char *below)
{
    char *text = malloc(N * D * 30), *end = text;
    unrelu_source *source;
    unrelu_error err = {0};
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++)
            end += sprintf(end, "%s%.17g%c", below[i * D + j] ? "<" : "", x[i * D + j],
                           j + 1 < D ? ',' : '\n');
    if (unrelu_source_open(files_text("s.csv", text), NULL, &source, &err))
        fail_msg("%s", err.text);
    free(text);
    return source;
}

static void plain_zeros_give_the_goodness_of_the_model(void **state)
{
    (void)state;
    static double x[N * D];
    static unsigned char below[N * D];
    double ks[D], p[D], ties[D];
    unrelu_source *source;
    unrelu_error err = {0};
    unrelu_gaussian *model;
    unrelu_goodness *goodness;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_goodness_options g = {.size = sizeof g, .seed = 5, .runs = 199};
    plant(1, x, below);
    for (size_t i = 0; i < N * D; i++)
        x[i] = i % 17 == 3 ? NAN : i % 5 ? fmax(0, x[i] - 1) : round(5 * fmax(0, x[i] - 1)) / 5;
    assert_int_equal(unrelu_source_memory(x, N, D, NULL, &source, &err), UNRELU_OK);
    assert_int_equal(unrelu_gaussian_fit(source, &o, NULL, &model, &err), UNRELU_OK);
    assert_int_equal(unrelu_gaussian_goodness(model, source, &g, NULL, &goodness, &err), UNRELU_OK);
    assert_int_equal(unrelu_columns_distance(source, &g, NULL, ks, p, ties, &err), UNRELU_OK);
    for (size_t j = 0; j < D; j++) {
        assert_true(fabs(ks[j] - goodness->ks[j]) < 1e-9);
        assert_true(fabs(p[j] - goodness->ks_p[j]) < 0.011);
        assert_true(ties[j] == goodness->ties[j] && ties[j] > 0);
    }
    unrelu_goodness_free(goodness);
    unrelu_gaussian_free(model);
    unrelu_source_close(source);
}

/* p is uniform where the model is true, and small where it is not */
static void several_limits_do_not_disturb_p(void **state)
{
    (void)state;
    skip_sanitized();
    static double x[N * D];
    static unsigned char below[N * D];
    double ks[D], p[D], ties[D], mean = 0;
    int small = 0, right = 0;
    unrelu_goodness_options g = {.size = sizeof g, .seed = 5, .runs = 199};
    unrelu_error err = {0};
    plant(2, x, below);
    unrelu_source *source = write_samples(x, below);
    assert_int_equal(unrelu_columns_distance(source, &g, NULL, ks, p, ties, &err), UNRELU_OK);
    unrelu_source_close(source);
    for (size_t j = 0; j < D; j++) {
        mean += p[j] / D;
        small += p[j] < 0.1;
        assert_true(ties[j] == 0);
    }
    assert_true(fabs(mean - 0.5) < 4 * sqrt(1 / 12.0 / D));
    assert_true(small <= 14);
    for (size_t i = 0; i < N * D; i++)
        x[i] = exp(1.5 * x[i]);
    source = write_samples(x, below);
    assert_int_equal(unrelu_columns_distance(source, &g, NULL, ks, p, ties, &err), UNRELU_OK);
    unrelu_source_close(source);
    for (size_t j = 0; j < D; j++)
        right += p[j] > 0.01;
    assert_int_equal(right, 0);
}

/* F of the steps by its definition: the product over values above x of 1 - seen there / known to
 * lie there or below */
static double naive_below(const double *x, const unsigned char *below, size_t n, double at,
                          int with)
{
    double F = 1;
    for (size_t i = 0; i < n; i++) {
        double same = 0, known = 0, first = 1;
        if (below[i] || (with ? x[i] <= at : x[i] < at))
            continue;
        for (size_t k = 0; k < n; k++) {
            first = k < i && !below[k] && x[k] == x[i] ? 0 : first;
            same += !below[k] && x[k] == x[i];
            known += x[k] <= x[i];
        }
        F *= first > 0 ? 1 - same / known : 1;
    }
    return F;
}

static void steps_are_the_product_over_the_values_above(void **state)
{
    (void)state;
    static double x[N * D];
    static unsigned char below[N * D], cells[N];
    double column[N];
    ur_steps steps;
    unrelu_error err = {0};
    UR_ARENA(arena);
    plant(7, x, below);
    for (size_t i = 0; i < N; i++) { /* ties among values, and of values with limits */
        column[i] = i % 3 ? x[i * D] : round(10 * x[i * D]) / 10;
        cells[i] = below[i * D] ? UR_BELOW : UR_SEEN;
    }
    assert_int_equal(ur_steps_find(&arena, &(ur_known){N, column, NULL, cells, {0}}, &steps, &err),
                     UNRELU_OK);
    double largest = 0, smallest = INFINITY;
    for (size_t i = 0; i < N; i++)
        smallest = fmin(smallest, cells[i] == UR_SEEN ? column[i] : INFINITY);
    for (size_t i = 0; i < N; i++) {
        double v = column[i], F = 0.5 * erfc((1.1 - v) / (0.9 * sqrt(2)));
        double before = naive_below(column, cells, N, v, 0),
               up_to = naive_below(column, cells, N, v, 1);
        if (cells[i] == UR_BELOW && v > smallest)
            continue; /* nothing is seen there */
        assert_true(fabs(ur_steps_before(&steps, v) - before) < 1e-12);
        largest = fmax(largest, fabs(F - before));
        largest = fmax(largest, cells[i] == UR_SEEN ? fabs(F - up_to) : 0);
    }
    assert_true(steps.hidings == KINDS && steps.observed == N);
    assert_true(fabs(ur_steps_distance(&steps, 1.1, 0.9, NULL) - largest) < 1e-12);
    for (size_t k = 1; k < 20; k++) { /* a quantile: the first value that has the share */
        double share = (double)k / 20, q = ur_steps_quantile(&steps, share);
        if (isnan(q))
            assert_true(naive_below(column, cells, N, smallest, 0) >= share - 1e-12);
        else
            assert_true(naive_below(column, cells, N, q, 0) < share &&
                        naive_below(column, cells, N, q, 1) >= share - 1e-12);
    }
}

/* Greenwood's sum by counts: over values above `at`, or from it on, n seen / (known (known -
 * seen)), known to lie at the value or below */
static double naive_greenwood(const double *x, const unsigned char *below, size_t n, double at,
                              int with)
{
    double C = 0;
    for (size_t i = 0; i < n; i++) {
        double same = 0, known = 0, first = 1;
        if (below[i] || (with ? x[i] < at : x[i] <= at))
            continue;
        for (size_t k = 0; k < n; k++) {
            first = k < i && !below[k] && x[k] == x[i] ? 0 : first;
            same += !below[k] && x[k] == x[i];
            known += x[k] <= x[i];
        }
        C += first > 0 ? (double)n * same / (known * (known - same)) : 0;
    }
    return C;
}

/* of F, and of 1 - F of the mirror image; all in view, or below one limit, nothing is lacking */
static void steps_are_known_by_the_formula_of_greenwood(void **state)
{
    (void)state;
    static double x[N * D], known[N + 2], mirrored[N + 2];
    static unsigned char below[N * D], cells[N], turned[N];
    double column[N], negative[N];
    ur_steps steps, other;
    unrelu_error err = {0};
    UR_ARENA(arena);
    plant(7, x, below);
    for (int limits = 0; limits < 3; limits++) { /* none, one, three */
        for (size_t i = 0; i < N; i++) {
            double v = i % 3 ? x[i * D] : round(10 * x[i * D]) / 10;
            cells[i] = limits == 0 ? UR_SEEN : below[i * D] ? UR_BELOW : UR_SEEN;
            if (limits == 1) {
                cells[i] = v <= 1 ? UR_BELOW : UR_SEEN;
                v = fmax(v, 1);
            }
            turned[i] = cells[i] == UR_BELOW ? UR_ABOVE : UR_SEEN;
            column[i] = v;
            negative[i] = -v;
        }
        assert_int_equal(
            ur_steps_find(&arena, &(ur_known){N, column, NULL, cells, {0}}, &steps, &err),
            UNRELU_OK);
        assert_int_equal(
            ur_steps_find(&arena, &(ur_known){N, negative, NULL, turned, {0}}, &other, &err),
            UNRELU_OK);
        ur_steps_known(&steps, known);
        ur_steps_known(&other, mirrored);
        size_t first = steps.low[0] == -INFINITY;
        double least = 1;
        for (size_t k = first; k < steps.count; k++) {
            double v = steps.value[k], before = k ? steps.sum[k - 1] : 0;
            double at = 1 / ((1 + naive_greenwood(column, cells, N, v, 0)) * steps.sum[k]);
            double under = 1 / ((1 + naive_greenwood(column, cells, N, v, 1)) * before);
            assert_true(fabs(known[k + 1] - at) < 1e-10);
            if (before > 0)
                assert_true(fabs(known[k] - under) < 1e-10);
            assert_true(fabs(mirrored[other.count - k] - known[k]) < 1e-7); /* Turnbull's to 1e-9 */
            least = fmin(least, known[k]);
        }
        assert_true(limits < 2 ? least > 1 - 1e-12 : least < 0.9);
    }
}

/* Of 30 cells and two limits: one set in 77 of a right law had p < 0.05 while how much hides where,
 * which few cells tell badly, was taken for known. */
static void few_cells_do_not_make_p_too_large(void **state)
{
    enum { SETS = 1000, CELLS = 30 };
    static const double limits[] = {-1.04, -0.13};
    double z[CELLS], ks, p, ties;
    unsigned char cells[CELLS];
    int small = 0;
    unrelu_error err = {0};
    (void)state;
    skip_sanitized();
    for (uint64_t run = 0; run < SETS; run++) {
        ur_random_normals(run, 85, 0, CELLS, z);
        for (size_t i = 0; i < CELLS; i++) {
            cells[i] = z[i] <= limits[i % 2] ? UR_BELOW : UR_SEEN;
            z[i] = fmax(z[i], limits[i % 2]);
        }
        const ur_known known = {CELLS, z, NULL, cells, {0}};
        const ur_judging how = {.d = 1, .columns = &known, .seed = run};
        assert_int_equal(ur_judge_columns(&how, NULL, &ks, &p, &ties, &err), UNRELU_OK);
        small += p < 0.05;
    }
    if (small < 0.025 * SETS || small > 0.07 * SETS)
        fail_msg("p < 0.05 in %d of %d sets", small, SETS);
}

/* ---- cells above limits, and between two ---- */

/* Finkelstein and Wolfe (1985), table 1, radiotherapy: months between the last visit before and the
 * first after cosmetic retraction; 0 above the other: not seen by then */
static const double visits[][2] = {
    {0, 7},   {0, 8},   {0, 5},   {4, 11},  {5, 12},  {5, 11},  {6, 10},  {7, 16},
    {7, 14},  {11, 15}, {11, 18}, {15, 0},  {17, 0},  {17, 25}, {17, 25}, {18, 0},
    {19, 35}, {18, 26}, {22, 0},  {24, 0},  {24, 0},  {25, 37}, {26, 40}, {27, 34},
    {32, 0},  {33, 0},  {34, 0},  {36, 44}, {36, 48}, {36, 0},  {36, 0},  {37, 44},
    {37, 0},  {37, 0},  {37, 0},  {38, 0},  {40, 0},  {45, 0},  {46, 0},  {46, 0},
    {46, 0},  {46, 0},  {46, 0},  {46, 0},  {46, 0},  {46, 0},
};

static void visits_of_patients_have_the_published_masses(void **state)
{
    (void)state;
    enum { COUNT = sizeof visits / sizeof *visits, MASSES = 8 };
    static const double published[MASSES][3] = {{4, 5, .0463},   {6, 7, .0334},   {7, 8, .0887},
                                                {11, 12, .0708}, {24, 25, .0926}, {33, 34, .0818},
                                                {38, 40, .1209}, {46, 48, .4656}};
    double low[COUNT], high[COUNT];
    unsigned char cells[COUNT];
    ur_steps steps;
    unrelu_error err = {0};
    UR_ARENA(arena);
    for (size_t i = 0; i < COUNT; i++) {
        cells[i] = visits[i][1] == 0 ? UR_ABOVE : visits[i][0] == 0 ? UR_BELOW : UR_BETWEEN;
        low[i] = visits[i][cells[i] == UR_BELOW];
        high[i] = cells[i] == UR_BETWEEN ? visits[i][1] : NAN;
    }
    assert_int_equal(ur_steps_find(&arena, &(ur_known){COUNT, low, high, cells, {0}}, &steps, &err),
                     UNRELU_OK);
    size_t found = 0;
    for (size_t k = 0; k < steps.count; k++) {
        double mass = steps.sum[k] - (k ? steps.sum[k - 1] : 0);
        if (mass < 5e-5)
            continue;
        assert_true(found < MASSES && steps.low[k] == published[found][0]);
        assert_true(steps.value[k] == published[found][1]);
        assert_true(fabs(mass - published[found++][2]) < 6e-5);
    }
    assert_int_equal(found, MASSES);
}

/* a column with cells of every kind, and values among ends and limits */
static void plant_every_kind(uint64_t seed, size_t n, double *x, double *upper,
                             unsigned char *cells)
{
    double *z = malloc(2 * n * sizeof *z);
    ur_random_normals(seed, 1, 0, n, z);
    ur_random_uniforms(seed, 1, 0, n, z + n);
    for (size_t i = 0; i < n; i++) {
        double y = z[i], u = z[n + i], wide = u < .3 ? .5 : 1.5;
        upper[i] = NAN;
        cells[i] = u < .2 && y < -.5 ? UR_BELOW : u > .8 && y > 1 ? UR_ABOVE : UR_SEEN;
        x[i] = cells[i] == UR_BELOW ? -.5 : cells[i] == UR_ABOVE ? 1 : y;
        if (cells[i] == UR_SEEN && u < .5) { /* on one of two grids */
            cells[i] = UR_BETWEEN;
            x[i] = wide * floor(y / wide);
            upper[i] = x[i] + wide;
        } else if (cells[i] == UR_SEEN && i % 4 == 0)
            x[i] = round(2 * y) / 2;
    }
    free(z);
}

static int holds(const double *x, const double *upper, const unsigned char *cells, size_t i,
                 double at)
{
    return cells[i] == UR_SEEN    ? at == x[i]
           : cells[i] == UR_BELOW ? at < x[i]
           : cells[i] == UR_ABOVE ? at > x[i]
                                  : at > x[i] && at < upper[i];
}

/* The likelihood is at its maximum where no place holds more than its share: for every place y, the
 * mean over the cells of 1{y may be i's value} / mass of i is at most 1; and 1 where there is mass.
 */
static void masses_are_the_maximum_of_the_likelihood(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    double x[ROWS], upper[ROWS], mass[ROWS], places[4 * ROWS];
    unsigned char cells[ROWS];
    ur_steps steps;
    unrelu_error err = {0};
    UR_ARENA(arena);
    plant_every_kind(5, ROWS, x, upper, cells);
    assert_int_equal(ur_steps_find(&arena, &(ur_known){ROWS, x, upper, cells, {0}}, &steps, &err),
                     UNRELU_OK);
    assert_true(steps.observed == ROWS && steps.sum[steps.count - 1] == 1);
    size_t gaps = 0, count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        mass[i] = 0;
        for (size_t k = 0; k < steps.count; k++) {
            double at = fmax(-9, fmin(9, steps.low[k])), to = fmax(-9, fmin(9, steps.value[k]));
            double p = steps.sum[k] - (k ? steps.sum[k - 1] : 0);
            mass[i] += holds(x, upper, cells, i, at + (to - at) / 2) ? p : 0;
            gaps += i == 0 && to > at;
        }
        places[count++] = x[i] - 1e-9;
        places[count++] = x[i];
        places[count++] = x[i] + 1e-9;
        places[count++] = isnan(upper[i]) ? 3 : upper[i] - 1e-9;
    }
    assert_true(gaps > 0);
    for (size_t k = 0; k < count; k++) {
        double share = 0;
        for (size_t i = 0; i < ROWS; i++)
            share += holds(x, upper, cells, i, places[k]) ? 1 / mass[i] / ROWS : 0;
        assert_true(share <= 1 + 2e-6);
    }
}

/* the same chances of hiding, so that p is uniform where the law is right */
static void cells_of_every_kind_do_not_disturb_p(void **state)
{
    (void)state;
    skip_sanitized();
    enum { ROWS = 200, COLUMNS = 60 };
    static double x[ROWS * COLUMNS], upper[ROWS * COLUMNS];
    static unsigned char cells[ROWS * COLUMNS];
    double ks[COLUMNS], p[COLUMNS], ties[COLUMNS], mean = 0;
    int small = 0, right = 0;
    ur_known columns[COLUMNS];
    unrelu_error err = {0};
    const ur_judging how = {.d = COLUMNS, .columns = columns, .runs = 199, .seed = 3};
    for (size_t j = 0; j < COLUMNS; j++) {
        columns[j] = (ur_known){ROWS, x + j * ROWS, upper + j * ROWS, cells + j * ROWS, {0}};
        plant_every_kind(100 + j, ROWS, x + j * ROWS, upper + j * ROWS, cells + j * ROWS);
    }
    assert_int_equal(ur_judge_columns(&how, NULL, ks, p, ties, &err), UNRELU_OK);
    for (size_t j = 0; j < COLUMNS; j++) {
        mean += p[j] / COLUMNS;
        small += p[j] < 0.1;
    }
    assert_true(fabs(mean - 0.5) < 4 * sqrt(1 / 12.0 / COLUMNS));
    assert_true(small <= 14);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = exp(1.5 * x[i]);
        upper[i] = exp(1.5 * upper[i]);
    }
    assert_int_equal(ur_judge_columns(&how, NULL, ks, p, ties, &err), UNRELU_OK);
    for (size_t j = 0; j < COLUMNS; j++)
        right += p[j] > 0.01;
    assert_int_equal(right, 0);
}

/* lognormal, with limit 0.5 and one cell below 8: judged above 8 alone they would pass */
static void one_large_limit_does_not_hide_that_a_normal_is_wrong(void **state)
{
    (void)state;
    enum { SETS = 40, ROWS = 100 };
    unrelu_goodness_options g = {.size = sizeof g, .seed = 5};
    char *text = malloc(ROWS * SETS * 30), *end = text;
    double z[ROWS * SETS], ks[SETS], p[SETS], ties[SETS];
    unrelu_source *source;
    unrelu_error err = {0};
    int found = 0;
    ur_random_normals(3, 1, 0, ROWS * SETS, z);
    for (size_t i = 0; i < ROWS * SETS; i++) {
        double v = exp(z[i]);
        end += i < SETS   ? sprintf(end, "<8")
               : v <= 0.5 ? sprintf(end, "<0.5")
                          : sprintf(end, "%.17g", v);
        end += sprintf(end, "%c", i % SETS + 1 < SETS ? ',' : '\n');
    }
    if (unrelu_source_open(files_text("s.csv", text), NULL, &source, &err))
        fail_msg("%s", err.text);
    if (unrelu_columns_distance(source, &g, NULL, ks, p, ties, &err))
        fail_msg("%s", err.text);
    for (size_t j = 0; j < SETS; j++)
        found += p[j] < 0.01 && ks[j] > 0.05;
    assert_true(found >= 38);
    unrelu_source_close(source);
    free(text);
}

/* one limit is the plainest pattern: both ways of simulating it give one p */
static void a_pattern_of_one_limit_has_the_p_of_its_law(void **state)
{
    (void)state;
    static const double distances[] = {0.04, 0.05, 0.06};
    double z[N], x[N];
    unsigned char cells[N];
    unrelu_error err = {0};
    ur_steps steps;
    UR_ARENA(arena);
    ur_random_normals(4, 4, 0, N, z);
    for (size_t i = 0; i < N; i++) {
        cells[i] = z[i] <= -0.5 ? UR_BELOW : UR_SEEN;
        x[i] = fmax(z[i], -0.5);
    }
    assert_int_equal(ur_steps_find(&arena, &(ur_known){N, x, NULL, cells, {0}}, &steps, &err),
                     UNRELU_OK);
    for (size_t k = 0; k < 6; k++) {
        int fitted = k < 3;
        double p, distance = distances[k % 3] - (fitted ? 0.01 : 0);
        const ur_pattern_test test = {&steps, distance, 0, 1, fitted, 0};
        ur_distance_test law = {distance, N, 0.5, fitted, 0};
        assert_int_equal(ur_pattern_p(&test, 1999, 1, &p, &err), UNRELU_OK);
        assert_int_equal(ur_distance_tests(&law, 1, 1999, 2, NULL, &err), UNRELU_OK);
        /* ENOUGH far ones leave 10 % of p, 1999 runs sqrt(p / 1999) */
        if (fabs(p - law.p) > 4 * (0.1 * law.p + sqrt(law.p / 1999)))
            fail_msg("distance %g: p %g and %g", distance, p, law.p);
    }
}

/* by p and by size, on both sides of each bound */
static void words_are_by_p_and_by_distance(void **state)
{
    (void)state;
    static const struct {
        double ks, p, seen;
        size_t columns;
        const char *word;
    } cases[] = {
        {0.03, 0.001, 50, 1, "slight"},  {0.049, 0.001, 50, 1, "slight"},
        {0.051, 0.001, 50, 1, "poor"},   {0.3, 0.049, 50, 1, "poor"},
        {0.3, 0.051, 50, 1, "good"},     {0.3, 0.0049, 50, 10, "poor"},
        {0.3, 0.0051, 50, 10, "good"},   {0.3, 0.0019, 50, 1000, "poor"},
        {0.3, 0.0021, 50, 1000, "good"}, {NAN, 0.001, 50, 1, ""},
        {0.3, NAN, 50, 1, ""},           {0.01, 0.5, 10, 1, "good"},
        {0.01, 0.5, 9, 1, ""},           {0.3, 0.001, 9, 1, "poor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(unrelu_fit_word_name(unrelu_fit_judge(cases[i].ks, cases[i].p,
                                                                  cases[i].seen, cases[i].columns)),
                            cases[i].word);
}

static void what_cannot_be_fitted_is_nan(void **state)
{
    (void)state;
    const double x[] = {0, 5, NAN, 1, 0, 5, NAN, 2, 0, 5, NAN, 0};
    double ks[4], p[4], ties[4];
    unrelu_source *source;
    unrelu_error err = {0};
    assert_int_equal(unrelu_source_memory(x, 3, 4, NULL, &source, &err), UNRELU_OK);
    assert_int_equal(unrelu_columns_distance(source, NULL, NULL, ks, p, ties, &err), UNRELU_OK);
    for (size_t j = 0; j < 3; j++)
        assert_true(isnan(ks[j]) && isnan(p[j]));
    assert_true(isfinite(ks[3]) && isfinite(p[3]));
    assert_true(isnan(ties[0]) && ties[1] == 1 && isnan(ties[2]) && ties[3] == 0);
    unrelu_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_zeros_give_the_goodness_of_the_model),
        cmocka_unit_test(several_limits_do_not_disturb_p),
        cmocka_unit_test(steps_are_the_product_over_the_values_above),
        cmocka_unit_test(steps_are_known_by_the_formula_of_greenwood),
        cmocka_unit_test(few_cells_do_not_make_p_too_large),
        cmocka_unit_test(visits_of_patients_have_the_published_masses),
        cmocka_unit_test(masses_are_the_maximum_of_the_likelihood),
        cmocka_unit_test(cells_of_every_kind_do_not_disturb_p),
        cmocka_unit_test(one_large_limit_does_not_hide_that_a_normal_is_wrong),
        cmocka_unit_test(a_pattern_of_one_limit_has_the_p_of_its_law),
        cmocka_unit_test(words_are_by_p_and_by_distance),
        cmocka_unit_test(what_cannot_be_fitted_is_nan),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
