/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "base/random.h"
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

/* what lies between two limits counts as below: by hand with limits 0.5 and 2 */
static void values_below_the_largest_limit_do_not_enter(void **state)
{
    (void)state;
    const char *one = "<2\n1\n<0.5\n3\n3\n4.5\n6\nNA\n", *other = "0\n0\n0\n1\n1\n2.5\n4\nNA\n";
    double ks[2], p[2], ties[2];
    unrelu_goodness_options g = {.size = sizeof g, .runs = 19};
    for (int k = 0; k < 2; k++) {
        unrelu_source *source;
        unrelu_error err = {0};
        assert_int_equal(
            unrelu_source_open(files_text("s.csv", k ? other : one), NULL, &source, &err),
            UNRELU_OK);
        if (unrelu_columns_distance(source, &g, NULL, &ks[k], &p[k], &ties[k], &err))
            fail_msg("%s", err.text);
        unrelu_source_close(source);
    }
    assert_true(fabs(ks[0] - ks[1]) < 1e-12 && p[0] == p[1]);
    assert_true(ties[0] == 0.5 && ties[1] == 0.5);
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
        cmocka_unit_test(values_below_the_largest_limit_do_not_enter),
        cmocka_unit_test(what_cannot_be_fitted_is_nan),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
