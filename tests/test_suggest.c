/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "base/random.h"
#include "gaussian/cells/cells.h"
#include "law/normal.h"
#include "law/power.h"
#include "unrelu/unrelu.h"

#include <math.h>

enum { N = 3000, COLUMNS = 6 };

static const struct {
    unrelu_transform transform;
    double lambda, b, s, zero; /* zero: values at or below are written as 0 */
} planted[COLUMNS] = {
    {UNRELU_TRANSFORM_NONE, 1, 0.4, 1, 0},           {UNRELU_TRANSFORM_SQRT, 0.5, 0.5, 1, 0},
    {UNRELU_TRANSFORM_LOG, 0, 1, 1.2, 1.5},          {UNRELU_TRANSFORM_BOXCOX, 0.22, 4, 1.5, 2},
    {UNRELU_TRANSFORM_BOXCOX, -0.7, 0.2, 0.25, 1.1}, {UNRELU_TRANSFORM_NONE, 1, 6, 1, 0},
};

/* (N, columns) of which column j is that of planted[first + j] */
static void plant(size_t first, size_t columns, uint64_t seed, double *x)
{
    double z[N];
    for (size_t j = 0; j < columns; j++) {
        size_t k = first + j;
        ur_random_normals(seed, k, 0, N, z);
        for (size_t i = 0; i < N; i++) {
            double y = planted[k].b + planted[k].s * z[i];
            double value = ur_untransform(planted[k].transform, planted[k].lambda, y);
            x[i * columns + j] = value > planted[k].zero ? value : 0;
        }
    }
}

static void suggest(const double *x, size_t n, size_t d, unrelu_transform_advice *advice)
{
    unrelu_source *source;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 2};
    assert_int_equal(unrelu_source_memory(x, n, d, NULL, &source, &err), UNRELU_OK);
    if (unrelu_transform_suggest(source, NULL, NULL, &exec, advice, &err))
        fail_msg("%s", err.text);
    unrelu_source_close(source);
}

/* the level of the choice is 1 %: some samples of 60 may call a plain one Box-Cox */
static void the_planted_transform_is_suggested(void **state)
{
    (void)state;
    static double x[N * COLUMNS];
    unrelu_transform_advice advice[COLUMNS + 1];
    int other = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        plant(0, COLUMNS, seed, x);
        suggest(x, N, COLUMNS, advice);
        for (size_t j = 0; j < COLUMNS; j++) {
            int same = advice[j].transform == planted[j].transform;
            other += !same;
            if (!same && advice[j].transform != UNRELU_TRANSFORM_BOXCOX)
                fail_msg("column %zu: %d, lambda %g, lost %g %g %g", j, (int)advice[j].transform,
                         advice[j].lambda, advice[j].lost[0], advice[j].lost[1], advice[j].lost[2]);
            /* that of a fit, to which a zero is a limit of 0, where those planted lie higher */
            if (planted[j].zero == 0)
                assert_true(fabs(advice[j].lambda - planted[j].lambda) < 0.25);
            assert_true(!(advice[j].ks >= 0.05) && isnan(advice[j].ks) == !advice[j].transform);
        }
        /* all together: none of the three */
        assert_int_equal(advice[COLUMNS].transform, UNRELU_TRANSFORM_BOXCOX);
    }
    assert_true(other <= 2);
}

static void columns_of_one_kind_get_one_transform(void **state)
{
    (void)state;
    static double x[N * 3], one[N];
    unrelu_transform_advice advice[4];
    for (size_t k = 0; k < 3; k++) {
        for (size_t j = 0; j < 3; j++) {
            plant(k, 1, 10 + j, one);
            for (size_t i = 0; i < N; i++)
                x[i * 3 + j] = one[i] * (double)(j + 1);
        }
        suggest(x, N, 3, advice);
        assert_int_equal(advice[3].transform, planted[k].transform);
        assert_true(isnan(advice[3].lambda));
        for (int t = 0; t < 3; t++)
            assert_true(fabs(advice[3].lost[t] - advice[0].lost[t] - advice[1].lost[t] -
                             advice[2].lost[t]) < 1e-9 * (1 + advice[3].lost[t]));
    }
}

/* a true log: lost is chi-squared */
static void a_true_transform_is_seldom_rejected(void **state)
{
    (void)state;
    enum { RUNS = 100, FEW = 150 };
    unrelu_transform_advice advice[2];
    double x[N], mean = 0;
    int rejected = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        plant(2, 1, 100 + run, x);
        suggest(x, FEW, 1, advice);
        mean += advice[0].lost[2] / RUNS;
        rejected += advice[0].transform != UNRELU_TRANSFORM_LOG;
    }
    assert_true(rejected <= 5);
    assert_true(mean > 0.6 && mean < 1.5); /* of chi-squared: 1 */
}

static void without_values_nothing_is_said(void **state)
{
    (void)state;
    double x[40][4];
    unrelu_transform_advice advice[5];
    for (size_t i = 0; i < 40; i++) {
        x[i][0] = 0;
        x[i][1] = 7;
        x[i][2] = i < 9 ? (double)i + 1 : 0;
        x[i][3] = NAN;
    }
    suggest(&x[0][0], 40, 4, advice);
    for (size_t j = 0; j < 5; j++) {
        assert_int_equal(advice[j].transform, UNRELU_TRANSFORM_NONE);
        assert_true(isnan(advice[j].lambda));
    }
}

static void limits_are_used(void **state)
{
    (void)state;
    char *text = malloc(N * 40), *end = text + sprintf(text, "lead,zinc\n");
    double z[N];
    unrelu_source *source;
    unrelu_error err = {0};
    unrelu_transform_advice advice[3];
    ur_random_normals(1, 1, 0, N, z);
    for (int i = 0; i < N; i++) {
        double v = exp(z[i]);
        end += v > 1 ? sprintf(end, "%.6f,%.6f\n", v, v) : sprintf(end, "<1,ND\n");
    }
    assert_int_equal(unrelu_source_open(files_text("s.csv", text), NULL, &source, &err), UNRELU_OK);
    if (unrelu_transform_suggest(source, (double[]){NAN, 1}, NULL, NULL, advice, &err))
        fail_msg("%s", err.text);
    assert_int_equal(advice[0].transform, UNRELU_TRANSFORM_LOG);
    assert_true(advice[0].lambda == advice[1].lambda && advice[0].lost[0] == advice[1].lost[0]);
    assert_int_equal(unrelu_transform_suggest(source, NULL, NULL, NULL, advice, &err),
                     UNRELU_EFORMAT);
    unrelu_source_close(source);
    free(text);
}

/* the quantiles of a normal to a power near 1: of so many values that is shown, and not to be seen
 */
static void what_no_one_would_see_is_no_reason_to_transform(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static double x[MANY];
    unrelu_transform_advice advice[2];
    for (size_t i = 0; i < MANY; i++)
        x[i] = pow(1 + 0.1 * ur_normal_quantile(((double)i + 0.5) / MANY), 1.24);
    suggest(x, MANY, 1, advice);
    assert_true(advice[0].lost[0] > 10 && advice[0].lost[0] < 35);
    assert_int_equal(advice[0].transform, UNRELU_TRANSFORM_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_planted_transform_is_suggested),
        cmocka_unit_test(columns_of_one_kind_get_one_transform),
        cmocka_unit_test(a_true_transform_is_seldom_rejected),
        cmocka_unit_test(without_values_nothing_is_said),
        cmocka_unit_test(limits_are_used),
        cmocka_unit_test(what_no_one_would_see_is_no_reason_to_transform),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
