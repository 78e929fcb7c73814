/* SPDX-License-Identifier: Apache-2.0 */
/* The likelihood of rows against formulas, quadrature, and the fit's own. */
#include "planted.h"

static double log_phi(double t)
{
    return -t * t / 2 - 0.5 * log(2 * M_PI);
}

static double Phi(double t)
{
    return 0.5 * erfc(-t / sqrt(2));
}

/* a planted model made to measure: b, scales and one correlation of all pairs */
static unrelu_gaussian *model_of(size_t d, const double *b, const double *scale, double rho)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = d;
    unrelu_gaussian *m = plant(o);
    for (size_t i = 0; i < d; i++) {
        m->b[i] = b[i];
        m->scale[i] = scale[i];
        for (size_t j = 0; j < d; j++)
            m->correlation[i * d + j] = i == j ? 1 : rho;
    }
    return m;
}

static void score(const unrelu_gaussian *m, const double *x, const double *upper, size_t n,
                  double *loglik, double *error)
{
    const ptrdiff_t item = sizeof(double), row = (ptrdiff_t)m->d * item;
    const unrelu_matrix lower = {x, UNRELU_DOUBLES, row, item};
    const unrelu_matrix high = {upper, UNRELU_DOUBLES, row, item};
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    must(unrelu_source_matrix(&lower, upper ? &high : NULL, n, m->d, NULL, NULL, &source, &err),
         &err);
    must(unrelu_gaussian_score(m, source, NULL, NULL, loglik, error, &err), &err);
    unrelu_source_close(source);
}

static void one_column_has_a_formula(void **state)
{
    (void)state;
    const double b = 0.3, s = 2, low[] = {1.5, 0, NAN, 4, 1}, high[] = {1.5, 0, NAN, INFINITY, 3};
    double got[5], error[5];
    unrelu_gaussian *m = model_of(1, &b, &s, 0);
    const double want[] = {log_phi((1.5 - b) / s) - log(s), log(Phi(-b / s)), 0,
                           log(Phi(-(4 - b) / s)), log(Phi((3 - b) / s) - Phi((1 - b) / s))};
    score(m, low, high, 5, got, error);
    for (size_t i = 0; i < 5; i++) {
        assert_near(got[i], want[i], 1e-13);
        assert_true(error[i] == 0);
    }
    score(m, low, NULL, 2, got, NULL); /* of a model that is censored at 0 a plain 0 is below it */
    assert_near(got[0], want[0], 1e-13);
    assert_near(got[1], want[1], 1e-13);
    unrelu_gaussian_free(m);
}

/* the midpoint rule over 12 deviations: 1e-6 is its error */
static double both_below(double u, double v, double rho)
{
    enum { STEPS = 20000 };
    double sum = 0, low = -12, width = (u - low) / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double t = low + (i + 0.5) * width;
        sum += exp(log_phi(t)) * Phi((v - rho * t) / sqrt(1 - rho * rho));
    }
    return sum * width;
}

static void two_columns_agree_with_quadrature(void **state)
{
    (void)state;
    const double b[] = {0.5, -0.2}, s[] = {1, 3}, rho = 0.7;
    const double x[] = {1.2, 0.8, 1.2, 0, 0, 0};
    double got[3];
    unrelu_gaussian *m = model_of(2, b, s, rho);
    double u = (1.2 - b[0]) / s[0], v = (0.8 - b[1]) / s[1], root = sqrt(1 - rho * rho);
    score(m, x, NULL, 3, got, NULL);
    assert_near(got[0], log_phi(u) + log_phi((v - rho * u) / root) - log(root * s[0] * s[1]),
                1e-13);
    assert_near(got[1], log_phi(u) - log(s[0]) + log(Phi((-b[1] / s[1] - rho * u) / root)), 1e-13);
    assert_near(got[2], log(both_below(-b[0] / s[0], -b[1] / s[1], rho)), 1e-6);
    unrelu_gaussian_free(m);
}

/* given z, cells of one common correlation are independent: x_i = sqrt(rho) z + sqrt(1 - rho) e_i
 */
static void five_hidden_cells_lie_within_their_error(void **state)
{
    (void)state;
    enum { D = 5, STEPS = 20000 };
    const double b[D] = {0.5, -0.2, 0, 1, -1}, s[D] = {1, 1, 2, 1, 1}, x[D] = {0}, rho = 0.6;
    double got, error, sum = 0, width = 24.0 / STEPS;
    unrelu_gaussian *m = model_of(D, b, s, rho);
    for (int i = 0; i < STEPS; i++) {
        double z = -12 + (i + 0.5) * width, product = exp(log_phi(z));
        for (size_t j = 0; j < D; j++)
            product *= Phi((-b[j] / s[j] - sqrt(rho) * z) / sqrt(1 - rho));
        sum += product * width;
    }
    score(m, x, NULL, 1, &got, &error);
    assert_true(error > 0 && error < 1e-3);
    assert_near(got, log(sum), 5 * error);
    unrelu_gaussian_free(m);
}

/* a fit cell by cell says how likely its own samples are; logarithms, so that the unit counts */
static void the_sum_is_the_likelihood_of_the_fit(void **state)
{
    (void)state;
    enum { N = 400, D = 2 };
    const double b[] = {0.4, 0.1}, s[] = {1, 0.7};
    unrelu_gaussian_options options;
    unrelu_gaussian *truth = model_of(D, b, s, 0.5), *model;
    double *x = draw(truth, N, 3), loglik[N], sum = 0;
    for (size_t i = 0; i < N * D; i++)
        x[i] = x[i] > 0 ? exp(x[i]) : 0;
    unrelu_gaussian_options_init(&options, sizeof options);
    options.transform = UNRELU_TRANSFORM_LOG;
    const double limit[] = {1, 1};
    options.limit = limit;
    model = fit(x, N, D, &options);
    unrelu_impute_options with;
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_impute_options_init(&with, sizeof with);
    with.limit = limit;
    must(unrelu_source_memory(x, N, D, NULL, &source, &err), &err);
    must(unrelu_gaussian_score(model, source, &with, NULL, loglik, NULL, &err), &err);
    for (size_t i = 0; i < N; i++)
        sum += loglik[i];
    assert_near(sum, model->joint_loglik, 1e-8);
    unrelu_source_close(source);
    unrelu_gaussian_free(model);
    unrelu_gaussian_free(truth);
    free(x);
}

static void what_has_no_density(void **state)
{
    (void)state;
    const double b[] = {0.5, 0.5}, s[] = {1, 1}, x[] = {1, 1, 2, 1};
    double got[2];
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    unrelu_gaussian *m = model_of(2, b, s, 1);
    score(m, x, NULL, 2, got, NULL);
    assert_true(isnan(got[1]));
    m->scale[1] = 0;
    must(unrelu_source_memory(x, 2, 2, NULL, &source, &err), &err);
    assert_int_equal(unrelu_gaussian_score(m, source, NULL, NULL, got, NULL, &err), UNRELU_EDATA);
    assert_string_equal(err.text,
                        "column 2 (x2) of the model is constant: samples have no density");
    unrelu_source_close(source);
    unrelu_gaussian_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_column_has_a_formula),
        cmocka_unit_test(two_columns_agree_with_quadrature),
        cmocka_unit_test(five_hidden_cells_lie_within_their_error),
        cmocka_unit_test(the_sum_is_the_likelihood_of_the_fit),
        cmocka_unit_test(what_has_no_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
