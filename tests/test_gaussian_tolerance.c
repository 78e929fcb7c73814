/* SPDX-License-Identifier: Apache-2.0 */
/* Tolerances of the rectified Gaussian from both sides: each test fails where one of them is 100
 * times larger or smaller. */
#include "gaussian/impute/impute.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/cell_margin.h"
#include "law/normal.h"
#include "planted.h"

enum { N = 256 };

/* two standard normals of this correlation */
static unrelu_gaussian *pair_of(double rho)
{
    static const char *const names[] = {"a", "b"};
    unrelu_error err = {0};
    unrelu_gaussian *m = ur_gaussian_new(&err);
    assert_non_null(m);
    must(ur_gaussian_allocate(m, 2, 0, &err), &err);
    m->names = names;
    for (size_t i = 0; i < 4; i++)
        m->correlation[i] = i == 0 || i == 3 ? 1 : rho;
    for (size_t i = 0; i < 2; i++) {
        m->scale[i] = 1;
    }
    ur_gaussian_set_sigma(m);
    return m;
}

static void correlations_are_repaired_beyond_rounding(void **state)
{
    (void)state;
    unrelu_error err = {0};
    for (int beyond = 0; beyond < 2; beyond++) {
        unrelu_gaussian *m = pair_of(beyond ? 1 + 0x1p-43 : 1 + 0x1p-50); /* 1.1e-13, 8.9e-16 */
        must(ur_gaussian_repair(m, 1, &(ur_repair){0}, &err), &err);
        assert_int_equal(m->repaired, beyond);
        unrelu_gaussian_free(m);
    }
}

static void a_divergence_exists_where_a_factor_has_digits(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian_distance far;
    for (int singular = 0; singular < 2; singular++) {
        unrelu_gaussian *m = pair_of(1 - (singular ? 1e-14 : 1e-12));
        must(unrelu_gaussian_compare(m, m, &far, &err), &err);
        assert_int_equal(isinf(far.kl) != 0, singular);
        unrelu_gaussian_free(m);
    }
}

static void powers_are_the_same_to_rounding(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian_distance far;
    unrelu_gaussian *a = pair_of(0.5), *b = pair_of(0.5);
    double lambda[2] = {0.5, 0.5}, other[2] = {0.5, 0.5 + 1e-13};
    a->transform = b->transform = UNRELU_TRANSFORM_BOXCOX;
    a->lambda = lambda;
    b->lambda = other;
    must(unrelu_gaussian_compare(a, b, &far, &err), &err);
    other[1] = 0.5 + 1e-11;
    assert_int_equal(unrelu_gaussian_compare(a, b, &far, &err), UNRELU_EFORMAT);
    a->lambda = b->lambda = NULL;
    unrelu_gaussian_free(a);
    unrelu_gaussian_free(b);
}

static void a_correlation_may_exceed_1_by_rounding(void **state)
{
    (void)state;
    unrelu_error err = {0};
    for (int beyond = 0; beyond < 2; beyond++) {
        unrelu_gaussian *m = pair_of(1 + (beyond ? 1e-8 : 1e-10));
        assert_int_equal(ur_impute_check(m, &err), beyond ? UNRELU_EDATA : UNRELU_OK);
        unrelu_gaussian_free(m);
    }
}

static void a_cell_that_follows_from_another_is_left_out(void **state)
{
    (void)state;
    static const unsigned char seen[2] = {UR_SEEN, UR_SEEN}, varies[2] = {1, 1};
    for (int follows = 0; follows < 2; follows++) {
        double rho = sqrt(1 - (follows ? 1e-11 : 1e-9)), R[4] = {1, rho, rho, 1}, G[4], V[4], C[4];
        size_t index[2];
        ur_impute_pattern p = {.d = 2, .index = index, .G = G, .V = V, .C = C};
        ur_impute_pattern_set(&p, R, seen, varies);
        assert_int_equal(p.seen, follows ? 1 : 2);
    }
}

/* 5 + y and 5 + y + delta e */
static unrelu_gaussian *fit_near_copies(double delta, unrelu_precision precision)
{
    double x[N * 2];
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *truth = pair_of(0);
    truth->b[0] = truth->b[1] = 9; /* no zeros */
    double *y = draw(truth, N, 3);
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = y[2 * i];
        x[2 * i + 1] = y[2 * i] + delta * (y[2 * i + 1] - 9);
    }
    o.precision = precision;
    free(y);
    unrelu_gaussian_free(truth);
    return fit(x, N, 2, &o);
}

static void columns_are_copies_to_the_precision_of_the_sums(void **state)
{
    (void)state;
    static const struct {
        double delta;
        unrelu_precision precision;
        int copy;
    } cases[] = {{3e-7, UNRELU_PRECISION_DOUBLE, 1},
                 {3e-6, UNRELU_PRECISION_DOUBLE, 0},
                 {3e-4, UNRELU_PRECISION_SINGLE, 1},
                 {3e-3, UNRELU_PRECISION_SINGLE, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        unrelu_gaussian *m = fit_near_copies(cases[k].delta, cases[k].precision);
        assert_int_equal(m->correlation[1] == 1, cases[k].copy);
        unrelu_gaussian_free(m);
    }
}

static void a_variance_is_flagged_where_it_loses_digits(void **state)
{
    (void)state;
    unrelu_gaussian *truth = pair_of(0);
    double *y = draw(truth, N, 4);
    for (int lost = 0; lost < 2; lost++) {
        double x[2 * N];
        for (size_t i = 0; i < 2 * N; i++)
            x[i] = y[i] * sqrt(lost ? 1e-308 : 1e-306);
        unrelu_gaussian *m = fit(x, N, 2, NULL);
        assert_int_equal(!!(m->flags[0] & UNRELU_FLAG_SIGMA_RANGE), lost);
        unrelu_gaussian_free(m);
    }
    free(y);
    unrelu_gaussian_free(truth);
}

/* squares of cells must be numbers: those far out are taken in another unit, which is exact */
static void cells_far_out_are_fitted_as_others(void **state)
{
    (void)state;
    unrelu_gaussian_options o = {.size = 0};
    unrelu_gaussian_options_init(&o, sizeof o);
    o.angles = UNRELU_ANGLES_LIKELIHOOD;
    unrelu_gaussian *truth = pair_of(0.5), *m[2];
    double *x = draw(truth, N, 9);
    for (int far = 0; far < 2; far++) {
        for (size_t i = 0; far && i < 2 * N; i++)
            x[i] = ldexp(x[i], 600);
        m[far] = fit(x, N, 2, &o);
    }
    assert_near(ldexp(m[1]->scale[0], -600), m[0]->scale[0], 1e-12);
    assert_near(m[1]->correlation[1], m[0]->correlation[1], 1e-9);
    free(x);
    unrelu_gaussian_free(truth);
    unrelu_gaussian_free(m[0]);
    unrelu_gaussian_free(m[1]);
}

/* ---- what a user is warned of ---- */

static void columns_are_weak_by_their_positives_and_by_their_error(void **state)
{
    (void)state;
    static const struct {
        double positive, gamma_se;
        int weak;
    } cases[] = {{30, 0.1, 0}, {3, 0.1, 1}, {30, 1, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ur_margin m = {.verdict = UR_MARGIN_FITTED, .gamma_se = cases[k].gamma_se};
        uint32_t flags = ur_fit_flags(100, cases[k].positive, &m);
        assert_int_equal(!!(flags & UNRELU_FLAG_FEW_POSITIVES), cases[k].weak);
    }
}

static void pairs_are_weak_by_joint_positives_and_by_their_error(void **state)
{
    (void)state;
    static const struct {
        double joint, rho_se;
        int weak;
    } cases[] = {{30, 0.05, 0}, {3, 0.05, 1}, {30, 0.9, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double rho[4];
        uint8_t flags[4];
        ur_fit_pairs out = {.rho = rho, .flags = flags};
        ur_fit_store(&out, 2, 0, 1, 100, cases[k].joint,
                     (ur_pair){.rho = 0.5, .rho_se = cases[k].rho_se});
        assert_int_equal(!!(flags[1] & UNRELU_FLAG_FEW_JOINT), cases[k].weak);
    }
}

static void noise_is_measured_by_some_negatives(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *truth = pair_of(0);
    double *x = draw(truth, N, 5);
    o.additive_noise = UNRELU_NOISE_AUTO;
    for (int few = 0; few < 2; few++) {
        size_t negative[2] = {0, 0};
        for (size_t i = 0; i < 2 * N; i++)
            if (x[i] <= 0)
                x[i] = negative[i % 2]++ < (few ? 3 : 50) ? -0.01 : 0;
        unrelu_gaussian *m = fit(x, N, 2, &o);
        assert_int_equal(has_warning(m, "noise-unmeasured"), few);
        unrelu_gaussian_free(m);
    }
    free(x);
    unrelu_gaussian_free(truth);
}

/* Negative values that are noise alone, of deviation 1, taken within 4 of them: whether so many
 * within 1.5 and beyond 4 are called odd. Of normal ones 0.866 and 0.000063 are. */
static int is_odd(double n, double inner, double beyond)
{
    unrelu_gaussian *m = pair_of(0);
    double noise[2] = {1, 0}, variance_se[2];
    uint32_t flags[2] = {0};
    ur_fit_column columns[2] = {{.index = 0}, {.index = 1}};
    ur_fit_negatives negatives[2] = {
        {.bound = 4, .within = n - beyond, .square = 1 / 16.0, .inner = inner, .beyond = beyond}};
    m->noise = noise;
    m->flags = flags;
    m->b[0] = -100;
    m->scale[0] = 10;
    ur_fit_settle_noise(&(ur_fit){.columns = columns, .negatives = negatives, .model = m},
                        variance_se);
    int odd = has_warning(m, "noise-shape");
    assert_near(noise[0], 1, 0.01);
    unrelu_gaussian_free(m);
    return odd;
}

/* in deviations of the share within 1.5: 9 and 23 of 10000 values, 3 and 7 of 100 */
static void noise_is_odd_where_its_shape_matters_and_is_sure(void **state)
{
    (void)state;
    assert_false(is_odd(10000, 10000 * (0.866 - 0.03), 0));
    assert_true(is_odd(10000, 10000 * (0.866 - 0.08), 0));
    assert_false(is_odd(100, 100 * (0.866 - 0.1), 0));
    assert_true(is_odd(100, 100 * (0.866 - 0.25), 0));
    assert_false(is_odd(100, 86, 2)); /* beyond 4: chance, and some outliers */
    assert_true(is_odd(100, 86, 6));
    assert_false(is_odd(1e6, 866000, 90)); /* 63, and 5 of its deviations */
    assert_true(is_odd(1e6, 866000, 130));
}

/* a share of zeros above 1/2 by 1 and by 6 of its deviations */
static void a_negative_bias_must_be_shown(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *truth = pair_of(0);
    o.norms = UNRELU_NORMS_MEDIAN;
    for (int shown = 0; shown < 2; shown++) {
        double *x = draw(truth, N, 6);
        size_t zeros = N / 2 + (size_t)(shown ? 48 : 8);
        for (size_t i = 0; i < 2 * N; i++)
            x[i] = i / 2 < zeros ? 0 : 0.1 + x[i] * x[i];
        unrelu_gaussian *m = fit(x, N, 2, &o);
        assert_int_equal(!!(m->flags[0] & UNRELU_FLAG_NEGATIVE_BIAS), shown);
        unrelu_gaussian_free(m);
        free(x);
    }
    unrelu_gaussian_free(truth);
}

/* two points lie on a line through 0 by chance, three do not */
static void two_joint_positives_make_no_copy(void **state)
{
    (void)state;
    for (int copy = 0; copy < 2; copy++) {
        double x[2 * N] = {0};
        for (size_t i = 0; i < (copy ? 4 : 2); i++) {
            x[2 * i] = 1 + 0.3 * (double)i;
            x[2 * i + 1] = 2 * x[2 * i];
        }
        unrelu_gaussian *m = fit(x, N, 2, NULL);
        assert_int_equal(m->correlation[1] == 1, copy);
        unrelu_gaussian_free(m);
    }
}

/* values far from 0, and a few zeros among them: no censored ones */
static void zeros_are_inexplicable_from_three_on(void **state)
{
    (void)state;
    unrelu_gaussian *truth = pair_of(0);
    truth->b[0] = truth->b[1] = 4.5; /* 0.005 of the zeros are expected */
    double *x = draw(truth, N, 7);
    for (size_t zeros = 1; zeros <= 5; zeros += 4) {
        for (size_t i = 0; i < zeros; i++)
            x[2 * i] = 0;
        unrelu_gaussian *m = fit(x, N, 2, NULL);
        assert_int_equal(!!(m->flags[0] & UNRELU_FLAG_MISFIT), zeros > 1);
        unrelu_gaussian_free(m);
    }
    free(x);
    unrelu_gaussian_free(truth);
}

/* of 12 rows the share of zeros is often off by more than 0.05 */
static void a_misfit_of_few_rows_is_chance(void **state)
{
    (void)state;
    unrelu_gaussian *truth = pair_of(0);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        double *x = draw(truth, 12, seed);
        unrelu_gaussian *m = fit(x, 12, 2, NULL);
        assert_false((m->flags[0] | m->flags[1]) & UNRELU_FLAG_MISFIT);
        unrelu_gaussian_free(m);
        free(x);
    }
    unrelu_gaussian_free(truth);
}

/* a share of zeros that is off by 0.03 of all cells is sure among 20000, and does not matter */
static void a_misfit_must_matter(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    unrelu_gaussian *truth = pair_of(0);
    for (int matters = 0; matters < 2; matters++) {
        double *x = draw(truth, MANY, 10);
        for (size_t i = 0; i < 2 * MANY; i++)
            x[i] = pow(x[i], matters ? 3 : 1.4);
        unrelu_gaussian *m = fit(x, MANY, 2, NULL);
        assert_int_equal(!!(m->flags[0] & UNRELU_FLAG_MISFIT), matters);
        unrelu_gaussian_free(m);
        free(x);
    }
    unrelu_gaussian_free(truth);
}

static void a_fit_needs_three_rows(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 1.5, 2.5, 1.2, 3};
    unrelu_error err = {0};
    unrelu_gaussian *m;
    must(try_fit(x, 3, 2, NULL, &m, &err), &err);
    unrelu_gaussian_free(m);
    assert_int_equal(try_fit(x, 2, 2, NULL, &m, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "2 rows cannot support a fit: at least 3"));
}

/* of rank 2 in 5 columns: the other eigenvalues are noise, and of either sign */
static void eigenvalues_of_noise_are_not_counted(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_plant_options plant;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian_plant_options_init(&plant, sizeof plant);
    o.rank = UNRELU_RANK_AUTO;
    plant.k = 2;
    for (plant.seed = 1; plant.seed <= 30; plant.seed++) {
        unrelu_gaussian *truth;
        must(unrelu_gaussian_plant(&plant, &truth, &err), &err);
        double *x = draw(truth, 2000, 11);
        unrelu_gaussian *m = fit(x, 2000, 5, &o);
        assert_int_equal(m->k, 2);
        unrelu_gaussian_free(m);
        free(x);
        unrelu_gaussian_free(truth);
    }
}

/* Of rank 2 and no Gaussian any more: others are above 0 by 14 and more of their standard errors,
 * and 0.8 and 0.4 of what the most negative one is below it. */
static void eigenvalues_like_the_most_negative_are_not_counted(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_plant_options plant;
    unrelu_gaussian *truth;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian_plant_options_init(&plant, sizeof plant);
    o.rank = UNRELU_RANK_AUTO;
    plant.k = 2;
    must(unrelu_gaussian_plant(&plant, &truth, &err), &err);
    double *x = draw(truth, MANY, 3);
    for (size_t i = 0; i < 5 * MANY; i++)
        x[i] = pow(x[i], 1.5);
    unrelu_gaussian *m = fit(x, MANY, 5, &o);
    assert_int_equal(m->k, 2);
    assert_true(m->eigenvalues[2] > 8 * m->eigenvalues_se[2]);
    unrelu_gaussian_free(m);
    free(x);
    unrelu_gaussian_free(truth);
}

/* Outlier cuts are of the normal through two upper quantiles: where half of the cells are another
 * law's, where the last 15 % are wider than the others, and where only 5 % are positive. */
static void outliers_are_told_by_the_upper_tail(void **state)
{
    (void)state;
    enum { ROWS = 1000 };
    static const size_t dropped[] = {1, 0, 1};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.robust = 1;
    for (int k = 0; k < 3; k++) {
        double x[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            double q = ((double)i + 0.5) / ROWS, z = ur_normal_quantile(q);
            x[i] = k == 0   ? q < 0.5 ? 0.1 + q : 5 + z
                   : k == 1 ? 5 + (q < 0.85 ? 0.01 : 1) * z
                            : fmax(0, z - ur_normal_quantile(0.95));
        }
        if (k != 1)
            x[ROWS - 1] = k == 0 ? 10 : 5;
        unrelu_gaussian *m = fit(x, ROWS, 1, &o);
        assert_int_equal(m->rows_dropped, dropped[k]);
        unrelu_gaussian_free(m);
    }
}

static void a_jackknife_needs_some_rows_in_each_group(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *truth = pair_of(0.5);
    unrelu_error err = {0};
    double *x = draw(truth, N, 8);
    o.rank = 1;
    for (int few = 0; few < 2; few++) {
        unrelu_gaussian *m;
        must(try_fit(x, few ? 30 : N, 2, &o, &m, &err), &err); /* in 10 groups */
        assert_int_equal(isnan(m->eigenvalues_se[0]) != 0, few);
        unrelu_gaussian_free(m);
    }
    free(x);
    unrelu_gaussian_free(truth);
}

/* columns of correlation 1 - e differ by sqrt(2 e) of a normal, or not at all */
static void samples_have_no_direction_that_is_rounding(void **state)
{
    (void)state;
    for (int rounding = 0; rounding < 2; rounding++) {
        unrelu_gaussian *m = pair_of(1 - (rounding ? 8.9e-16 : 2e-14));
        double *x = draw(m, N, 9), most = 0;
        for (size_t i = 0; i < N; i++)
            most = fmax(most, fabs(x[2 * i] - x[2 * i + 1]));
        assert_true(rounding ? most < 1e-14 : most > 1e-8);
        free(x);
        unrelu_gaussian_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correlations_are_repaired_beyond_rounding),
        cmocka_unit_test(a_divergence_exists_where_a_factor_has_digits),
        cmocka_unit_test(powers_are_the_same_to_rounding),
        cmocka_unit_test(a_correlation_may_exceed_1_by_rounding),
        cmocka_unit_test(a_cell_that_follows_from_another_is_left_out),
        cmocka_unit_test(columns_are_copies_to_the_precision_of_the_sums),
        cmocka_unit_test(a_variance_is_flagged_where_it_loses_digits),
        cmocka_unit_test(cells_far_out_are_fitted_as_others),
        cmocka_unit_test(columns_are_weak_by_their_positives_and_by_their_error),
        cmocka_unit_test(pairs_are_weak_by_joint_positives_and_by_their_error),
        cmocka_unit_test(noise_is_measured_by_some_negatives),
        cmocka_unit_test(noise_is_odd_where_its_shape_matters_and_is_sure),
        cmocka_unit_test(a_negative_bias_must_be_shown),
        cmocka_unit_test(two_joint_positives_make_no_copy),
        cmocka_unit_test(zeros_are_inexplicable_from_three_on),
        cmocka_unit_test(a_misfit_of_few_rows_is_chance),
        cmocka_unit_test(a_misfit_must_matter),
        cmocka_unit_test(a_fit_needs_three_rows),
        cmocka_unit_test(eigenvalues_of_noise_are_not_counted),
        cmocka_unit_test(eigenvalues_like_the_most_negative_are_not_counted),
        cmocka_unit_test(outliers_are_told_by_the_upper_tail),
        cmocka_unit_test(a_jackknife_needs_some_rows_in_each_group),
        cmocka_unit_test(samples_have_no_direction_that_is_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
