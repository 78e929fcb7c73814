/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in the data's own unit against plain sums over a fine grid, the textbook's formulas of
 * the lognormal, the delta method by differences, and a published analysis. */
#include "planted.h"

#include <unistd.h>

#include "base/random.h"
#include "gaussian/answer/answer.h"
#include "gaussian/model/gaussian_model.h"
#include "law/normal.h"
#include "law/power.h"

/* ---- moments ---- */

/* the midpoint rule over z */
static ur_moments by_grid(const ur_column_law *c)
{
    enum { STEPS = 1000000 };
    double from = -12, to = 40, step = (to - from) / STEPS, one = 0, two = 0, above = 0;
    double x0 = ur_untransform(c->transform, c->lambda, c->b);
    for (size_t i = 0; i < STEPS; i++) {
        double z = from + ((double)i + .5) * step, weight = step * exp(-z * z / 2) / sqrt(2 * M_PI);
        double x = ur_untransform(c->transform, c->lambda, c->b + c->s * z);
        double kept = ur_untransform(c->transform, c->lambda, fmax(c->b + c->s * z, c->limit));
        one += weight * (x - x0);
        two += weight * (x - x0) * (x - x0);
        above += weight * kept;
    }
    return (ur_moments){x0 + one, sqrt(two - one * one), above};
}

/* Of x >= 0, where a root has a kink that a grid of y meets badly: E x = int P(x > t) dt and
 * E x^2 = int 2 t P(x > t) dt, which are smooth. */
static ur_moments by_tail(const ur_column_law *c)
{
    enum { STEPS = 200000 };
    double top = ur_untransform(c->transform, c->lambda, c->b + 12 * c->s);
    double limit = ur_untransform(c->transform, c->lambda, c->limit);
    double mean = 0, square = 0, above = 0;
    for (int i = 0; i < STEPS; i++) {
        double t = (i + .5) / STEPS * top, u = limit + (i + .5) / STEPS * (top - limit);
        double at_t = (ur_transform(c->transform, c->lambda, t) - c->b) / c->s;
        double at_u = (ur_transform(c->transform, c->lambda, u) - c->b) / c->s;
        mean += erfc(at_t / sqrt(2)) / 2 * top / STEPS;
        square += erfc(at_t / sqrt(2)) * t * top / STEPS;
        above += erfc(at_u / sqrt(2)) / 2 * (top - limit) / STEPS;
    }
    return (ur_moments){mean, sqrt(square - mean * mean), limit + above};
}

static void moments_are_those_of_a_fine_grid(void **state)
{
    (void)state;
    const ur_column_law laws[] = {
        {UNRELU_TRANSFORM_NONE, 0, .4, 1.3, 0},
        {UNRELU_TRANSFORM_LOG, 0, 1, .9, .2},
        {UNRELU_TRANSFORM_SQRT, 0, 1, .8, 0},
        {UNRELU_TRANSFORM_SQRT, 0, -1, .8, .3},
        {UNRELU_TRANSFORM_SQRT, 0, 50, .1, -INFINITY},
        {UNRELU_TRANSFORM_BOXCOX, 0, -.3, 1.1, -.5},
        {UNRELU_TRANSFORM_BOXCOX, .1, 1, 1.5, .4},
        {UNRELU_TRANSFORM_BOXCOX, .3, -1, 1, -2},
        {UNRELU_TRANSFORM_BOXCOX, 2, .5, 1, .1},
        {UNRELU_TRANSFORM_BOXCOX, 10, .2, .6, -.05},
        {UNRELU_TRANSFORM_LEAKY, .1, .3, 1, -INFINITY},
        {UNRELU_TRANSFORM_SIGMOID, 0, .5, 2, -INFINITY},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        ur_moments got = ur_answer_moments(&laws[i]), want;
        want = laws[i].lambda > 1 ? by_tail(&laws[i]) : by_grid(&laws[i]);
        const double near = 1e-9;
        assert_near(got.mean, want.mean, near * fabs(want.mean));
        assert_near(got.sd, want.sd, 10 * near * want.sd);
        assert_near(got.rectified, want.rectified, near * fabs(want.rectified));
    }
}

/* Tight where the algebra is known: squares of normals, and the tenth root of half of one. */
static void the_square_of_a_normal_has_its_known_moments(void **state)
{
    (void)state;
    for (double b = 12; b < 1e4; b *= 7) {
        ur_moments got =
            ur_answer_moments(&(ur_column_law){UNRELU_TRANSFORM_SQRT, 0, b, 1, -INFINITY});
        assert_near(got.mean, b * b + 1, 1e-9 * b * b);
        assert_near(got.sd, sqrt(4 * b * b + 2), 1e-9 * b); /* Var y^2 = 4 b^2 s^2 + 2 s^4 */
        assert_true(got.rectified == got.mean);
    }
    /* half a normal: E max(0, y)^(2 k) = (2 k - 1)!! / 2, and with lambda = 10, E u^(1/10) of
     * u = 10 s z, z > 0: (10 s)^(1/10) 2^(1/20) Gamma(0.55) / (2 sqrt(pi)) */
    ur_moments half = ur_answer_moments(&(ur_column_law){UNRELU_TRANSFORM_SQRT, 0, 0, 1, 0});
    assert_near(half.mean, .5, 1e-9);
    assert_near(half.sd, sqrt(1.5 - .25), 1e-9);
    assert_near(half.rectified, .5, 1e-9);
    ur_moments root =
        ur_answer_moments(&(ur_column_law){UNRELU_TRANSFORM_BOXCOX, 10, -.1, .6, -INFINITY});
    double want = pow(6, .1) * pow(2, .05) * tgamma(.55) / 2 / sqrt(M_PI);
    assert_near(root.mean, want, 1e-9);
}

static void what_does_not_exist_is_nan(void **state)
{
    (void)state;
    ur_moments none = ur_answer_moments(&(ur_column_law){UNRELU_TRANSFORM_BOXCOX, -.2, 1, .5, 0});
    assert_true(isnan(none.mean) && isnan(none.sd) && isnan(none.rectified));
    none = ur_answer_moments(&(ur_column_law){UNRELU_TRANSFORM_NONE, 0, NAN, NAN, 0});
    assert_true(isnan(none.mean) && isnan(none.sd) && isnan(none.rectified));
    ur_moments constant = ur_answer_moments(&(ur_column_law){UNRELU_TRANSFORM_LOG, 0, 2, 0, 3});
    assert_near(constant.mean, exp(2), 1e-15);
    assert_true(constant.sd == 0);
    assert_near(constant.rectified, exp(3), 1e-14);
}

/* ---- a model of one column ---- */

static unrelu_gaussian *one_column(unrelu_transform transform, double b, double s, double b_se,
                                   double s_se, double correlation)
{
    unrelu_error err = {0};
    unrelu_gaussian *m = ur_gaussian_new(&err);
    static const char *const names[] = {"lead"};
    assert_non_null(m);
    must(ur_gaussian_allocate(m, 1, 1, &err), &err);
    m->names = names;
    m->transform = transform;
    m->b[0] = b;
    m->scale[0] = s;
    m->b_se[0] = b_se;
    m->scale_se[0] = s_se;
    m->b_scale_cov[0] = correlation * b_se * s_se;
    must(unrelu_gaussian_answer(m, .95, &err), &err);
    return m;
}

static const double Z95 = 1.959963984540054;

static void lognormal_answers_are_the_formulas(void **state)
{
    (void)state;
    double b = 1, s = .8, b_se = 1e-5, s_se = 2e-5, rho = -.3;
    unrelu_gaussian *m = one_column(UNRELU_TRANSFORM_LOG, b, s, b_se, s_se, rho);
    double mean = exp(b + s * s / 2), spread = exp(s * s);
    assert_near(m->mean[0], mean, 1e-14 * mean);
    assert_near(m->sd[0], mean * sqrt(spread - 1), 1e-13 * mean);
    assert_near(m->median[0], exp(b), 1e-14);
    assert_near(m->quantiles[0], exp(b - 1.6448536269514722 * s), 1e-13);
    assert_near(m->quantiles[1], exp(b + 1.6448536269514722 * s), 1e-13);
    /* where errors are small, the delta method: derivatives of the logarithm by b and by s */
    const struct {
        const double *ci;
        double value, by_b, by_s;
    } answers[] = {
        {m->mean_ci, m->mean[0], 1, s},
        {m->sd_ci, m->sd[0], 1, s + s * spread / (spread - 1)},
        {m->median_ci, m->median[0], 1, 0},
        {m->quantiles_ci, m->quantiles[0], 1, -1.6448536269514722},
        {m->quantiles_ci + 2, m->quantiles[1], 1, 1.6448536269514722},
    };
    for (size_t i = 0; i < 5; i++) {
        double of_b = answers[i].by_b * b_se, of_s = answers[i].by_s * s_se;
        double se = sqrt(of_b * of_b + of_s * of_s + 2 * rho * of_b * of_s);
        assert_near(log(answers[i].value / answers[i].ci[0]) / se, Z95, 1e-3);
        assert_near(log(answers[i].ci[1] / answers[i].value) / se, Z95, 1e-3);
    }
    double of_mean = sqrt(b_se * b_se + s * s * s_se * s_se + 2 * rho * b_se * s * s_se);
    assert_near(log(m->ucl95[0] / mean) / of_mean, 1.6448536269514722, 1e-3);
    unrelu_gaussian_free(m);
}

/* Zou, Huo and Taleb's interval, by the numbers: b 1 +- z 0.1, s 0.8 exp(+- z 0.1 / 0.8) */
static void the_interval_of_a_lognormal_mean_reaches_farther_up(void **state)
{
    (void)state;
    unrelu_gaussian *m = one_column(UNRELU_TRANSFORM_LOG, 1, .8, .1, .1, 0);
    double half = .32, of_b = Z95 * .1;
    double down = half - half * exp(-2 * Z95 * .125), up = half * exp(2 * Z95 * .125) - half;
    assert_near(log(m->mean_ci[0]), 1.32 - hypot(of_b, down), 1e-12);
    assert_near(log(m->mean_ci[1]), 1.32 + hypot(of_b, up), 1e-12);
    unrelu_gaussian_free(m);
}

static void plain_columns_keep_the_intervals_of_b(void **state)
{
    (void)state;
    unrelu_gaussian *m = one_column(UNRELU_TRANSFORM_NONE, -.5, 2, .1, .2, .4);
    assert_true(m->mean[0] == -.5 && m->median[0] == -.5 && m->sd[0] == 2 && m->level == .95);
    assert_near(m->mean_ci[0], -.5 - Z95 * .1, 1e-14);
    assert_near(m->mean_ci[1], -.5 + Z95 * .1, 1e-14);
    assert_near(m->sd_ci[0], 2 * exp(-Z95 * .1), 1e-14);
    assert_near(m->sd_ci[1], 2 * exp(Z95 * .1), 1e-13);
    assert_near(m->ucl95[0], -.5 + 1.6448536269514722 * .1, 1e-14);
    /* E max(0, y) = b Phi(b / s) + s phi(b / s) */
    double want = -.5 * .5 * erfc(.25 / sqrt(2)) + 2 * exp(-.25 * .25 / 2) / sqrt(2 * M_PI);
    assert_near(m->rectified_mean[0], want, 1e-14);
    assert_true(m->rectified_mean_ci[0] > 0 && m->rectified_mean_ci[0] < want);
    assert_true(m->rectified_mean_ci[1] > want);
    unrelu_gaussian_free(m);
}

static void answers_without_errors_have_no_intervals(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian *m = one_column(UNRELU_TRANSFORM_LOG, 0, 1, NAN, .1, 0);
    double share, ci[2];
    assert_near(m->mean[0], exp(.5), 1e-14);
    assert_true(isnan(m->mean_ci[0]) && isnan(m->mean_ci[1]) && isnan(m->ucl95[0]));
    assert_true(isnan(m->median_ci[0]) && isnan(m->quantiles_ci[3]));
    must(unrelu_gaussian_exceed(m, 0, 1, .95, &share, ci, &err), &err);
    assert_near(share, .5, 1e-15);
    assert_true(isnan(ci[0]) && isnan(ci[1]));
    assert_int_equal(unrelu_gaussian_answer(m, 1, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "not 1"));
    unrelu_gaussian_free(m);
}

/* ---- shares above a value ---- */

static void the_share_above_a_quantile_is_known(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian *m = one_column(UNRELU_TRANSFORM_LOG, 1, .8, 1e-4, 2e-4, .5);
    double share, ci[2];
    must(unrelu_gaussian_exceed(m, 0, m->quantiles[1], .95, &share, ci, &err), &err);
    assert_near(share, .05, 1e-14);
    /* of (b - y) / s the derivatives are 1 / s and -(b - y) / s^2 */
    double z = -1.6448536269514722, of_b = 1e-4 / .8, of_s = -z * 2e-4 / .8;
    double se = sqrt(of_b * of_b + of_s * of_s + 2 * .5 * of_b * of_s);
    double density = exp(-z * z / 2) / sqrt(2 * M_PI);
    assert_near((ci[1] - share) / density / se, Z95, 2e-3);
    assert_near((share - ci[0]) / density / se, Z95, 2e-3);
    must(unrelu_gaussian_exceed(m, 0, 0, .95, &share, ci, &err), &err);
    assert_true(share == 1 && ci[0] == 1 && ci[1] == 1);
    assert_int_equal(unrelu_gaussian_exceed(m, 0, -1, .95, &share, ci, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "column 1 (lead)"));
    assert_int_equal(unrelu_gaussian_exceed(m, 0, INFINITY, .95, &share, ci, &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_gaussian_exceed(m, 1, 1, .95, &share, ci, &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_gaussian_exceed(m, 0, 1, 0, &share, ci, &err), UNRELU_EUSAGE);
    unrelu_gaussian_free(m);
}

/* ---- fits ---- */

/* Copper in 114 wells (examples/water.csv; -v: below v): the package NADA gives median 2.67, mean
 * 3.88 and sd 4.07, by the formulas below from survreg's 0.98251 and 0.86268. Its interval of the
 * mean, [3.22, 4.66], is z sqrt(s^2 / n + s^4 / (2 (n + 1))), as if no cell were censored: ours
 * holds it. */
static void copper_has_the_published_answers(void **state)
{
    (void)state;
    enum { N = 114 };
    static const double copper[N] = {
        -1,  -1, 3,  3,  5,   1,   4,   4,  2, 2,   1,  2,   -5, 11,  -1,  2,  2,   2,   2,
        -20, 2,  2,  3,  3,   -20, -10, 7,  5, 2,   2,  -10, 7,  12,  -1,  20, 16,  -5,  1,
        2,   -5, 3,  2,  8,   7,   5,   -5, 2, -10, -5, -5,  2,  10,  2,   4,  -5,  2,   3,
        9,   -5, 2,  2,  2,   2,   1,   1,  2, 2,   12, 2,   1,  -10, -10, 4,  -10, -1,  1,
        -2,  -2, 1,  2,  -10, 3,   -1,  1,  1, 3,   -5, 17,  23, 9,   9,   3,  3,   -15, -5,
        4,   -5, -5, -5, 4,   8,   1,   15, 3, 3,   1,  6,   3,  6,   3,   4,  5,   14,  4};
    double x[N], limit[N];
    unrelu_source *source = NULL, *limits = NULL;
    unrelu_gaussian *m = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    for (size_t i = 0; i < N; i++) {
        x[i] = fmax(0, copper[i]);
        limit[i] = copper[i] < 0 ? -copper[i] : NAN;
    }
    unrelu_gaussian_options_init(&o, sizeof o);
    must(unrelu_source_memory(x, N, 1, NULL, &source, &err), &err);
    must(unrelu_source_memory(limit, N, 1, NULL, &limits, &err), &err);
    o.transform = UNRELU_TRANSFORM_LOG;
    o.limits = limits;
    must(unrelu_gaussian_fit(source, &o, NULL, &m, &err), &err);
    unrelu_source_close(source);
    unrelu_source_close(limits);
    assert_near(m->median[0], 2.67, .005);
    assert_near(m->mean[0], 3.88, .005);
    assert_near(m->sd[0], 4.07, .005);
    double s = .86268, n = 114, as_if = Z95 * sqrt(s * s / n + pow(s, 4) / 2 / (n + 1));
    assert_near(3.8753 * exp(-as_if), 3.22, .005);
    assert_near(3.8753 * exp(as_if), 4.66, .005);
    assert_true(m->mean_ci[0] < 3.22 + .005 && m->mean_ci[1] > 4.66);
    assert_true(m->mean_ci[0] > 3.22 * .97 && m->mean_ci[1] < 4.66 * 1.06);
    assert_true(m->ucl95[0] < m->mean_ci[1] && m->ucl95[0] > m->mean[0]);
    unrelu_gaussian_free(m);
}

static void answers_are_kept_in_files(void **state)
{
    (void)state;
    enum { N = 400, D = 2 };
    char path[] = "/tmp/unrelu_answer_XXXXXX.npz";
    int file = mkstemps(path, 4);
    double x[N * D];
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian *loaded = NULL;
    assert_true(file >= 0);
    close(file);
    unrelu_gaussian_options_init(&o, sizeof o);
    ur_random_normals(5, 1, 0, N * D, x);
    for (size_t i = 0; i < N * D; i++)
        x[i] = fmax(0, x[i] + (double)(i % D));
    unrelu_gaussian *m = fit(x, N, D, &o);
    must(unrelu_gaussian_save(m, path, &err), &err);
    must(unrelu_gaussian_load(path, &loaded, &err), &err);
    const double *pairs[][2] = {{m->mean, loaded->mean},
                                {m->sd, loaded->sd},
                                {m->median, loaded->median},
                                {m->ucl95, loaded->ucl95},
                                {m->rectified_mean, loaded->rectified_mean},
                                {m->mean_ci, loaded->mean_ci},
                                {m->sd_ci, loaded->sd_ci},
                                {m->median_ci, loaded->median_ci},
                                {m->rectified_mean_ci, loaded->rectified_mean_ci},
                                {m->quantiles, loaded->quantiles},
                                {m->quantiles_ci, loaded->quantiles_ci}};
    for (size_t i = 0; i < 11; i++) {
        size_t each = i < 5 ? 1 : i < 10 ? 2 : 4;
        assert_memory_equal(pairs[i][0], pairs[i][1], D * each * sizeof(double));
    }
    assert_true(loaded->level == .95);
    must(unrelu_gaussian_answer(loaded, .5, &err), &err);
    assert_true(loaded->level == .5 && loaded->mean_ci[0] > m->mean_ci[0]);
    assert_true(loaded->ucl95[1] == m->ucl95[1]);
    /* the mean as recorded is that of the samples, to within its interval */
    for (size_t j = 0; j < D; j++) {
        double mean = 0;
        for (size_t i = 0; i < N; i++)
            mean += x[i * D + j] / N;
        assert_true(m->rectified_mean_ci[2 * j] < mean && m->rectified_mean_ci[2 * j + 1] > mean);
    }
    unrelu_gaussian_free(loaded);
    unrelu_gaussian_free(m);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_a_fine_grid),
        cmocka_unit_test(the_square_of_a_normal_has_its_known_moments),
        cmocka_unit_test(what_does_not_exist_is_nan),
        cmocka_unit_test(lognormal_answers_are_the_formulas),
        cmocka_unit_test(the_interval_of_a_lognormal_mean_reaches_farther_up),
        cmocka_unit_test(plain_columns_keep_the_intervals_of_b),
        cmocka_unit_test(answers_without_errors_have_no_intervals),
        cmocka_unit_test(the_share_above_a_quantile_is_known),
        cmocka_unit_test(copper_has_the_published_answers),
        cmocka_unit_test(answers_are_kept_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
