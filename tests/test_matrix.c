/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix in memory in any order, of either float type, gives the bits of a plain copy of it. */
#include "files.h"

#include <math.h>

enum { N = 9000, D = 5 };

static double x[N * D];

static void draw(void)
{
    unrelu_gaussian_plant_options options;
    unrelu_gaussian *truth = NULL;
    unrelu_sampler *sampler = NULL;
    unrelu_gaussian_plant_options_init(&options, sizeof options);
    options.d = D;
    options.kappa = 4;
    assert_int_equal(unrelu_gaussian_plant(&options, &truth, NULL), UNRELU_OK);
    assert_int_equal(unrelu_gaussian_sampler(truth, 7, &sampler, NULL), UNRELU_OK);
    assert_int_equal(unrelu_sampler_draw(sampler, 0, N, NULL, x, NULL), UNRELU_OK);
    for (size_t i = 0; i < N * D; i++)
        x[i] = (double)(float)x[i]; /* so that floats hold the same numbers */
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(truth);
}

static unrelu_gaussian *fit_of(const unrelu_matrix *matrix, const unrelu_source_options *options)
{
    unrelu_source *source = NULL;
    unrelu_gaussian *model = NULL;
    assert_int_equal(unrelu_source_matrix(matrix, NULL, N, D, NULL, options, &source, NULL), 0);
    assert_int_equal(unrelu_gaussian_fit(source, NULL, NULL, &model, NULL), UNRELU_OK);
    unrelu_source_close(source);
    return model;
}

static void expect_fit(const unrelu_gaussian *wanted, const unrelu_matrix *matrix,
                       const unrelu_source_options *options)
{
    unrelu_gaussian *got = fit_of(matrix, options);
    size_t d = wanted->d;
    assert_int_equal(got->d, d);
    assert_memory_equal(got->b, wanted->b, d * sizeof *got->b);
    assert_memory_equal(got->sigma, wanted->sigma, d * d * sizeof *got->sigma);
    assert_memory_equal(got->correlation_se, wanted->correlation_se, d * d * sizeof *got->sigma);
    unrelu_gaussian_free(got);
}

static void orders_and_types_do_not_change_bits(void **state)
{
    (void)state;
    enum { WIDE = D + 3 };
    static double fortran[N * D], wide[N * WIDE], backwards[N * D];
    static float narrow[N * D];
    static char odd[N * D * sizeof(double) + 1];
    draw();
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) {
            double value = x[i * D + j];
            fortran[j * N + i] = wide[i * WIDE + j] = backwards[(N - 1 - i) * D + D - 1 - j] =
                value;
            narrow[i * D + j] = (float)value;
        }
    memcpy(odd + 1, x, sizeof x);
    const ptrdiff_t item = sizeof(double), single = sizeof(float);
    const unrelu_matrix plain = {x, UNRELU_DOUBLES, D * item, item};
    const unrelu_matrix others[] = {
        {fortran, UNRELU_DOUBLES, item, N * item},
        {wide, UNRELU_DOUBLES, WIDE * item, item},
        {backwards + N * D - 1, UNRELU_DOUBLES, -D * item, -item},
        {narrow, UNRELU_FLOATS, D * single, single},
        {odd + 1, UNRELU_DOUBLES, D * item, item},
    };
    unrelu_source_options some;
    unrelu_source_options_init(&some, sizeof some);
    some.columns = "4,2";
    unrelu_gaussian *all = fit_of(&plain, NULL), *two = fit_of(&plain, &some);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect_fit(all, &others[i], NULL);
        expect_fit(two, &others[i], &some);
    }
    unrelu_gaussian_free(all);
    unrelu_gaussian_free(two);
}

/* the same cells in a text file */
static void intervals_are_read_as_those_of_a_file(void **state)
{
    (void)state;
    static const char text[] = "lead,zinc\n0.5,2\n<0.25,3\n,1..4\n>9,7\n<0.25,<1\n3,2.5\n1.5,4\n";
    static const double low[] = {0.5, 2,         -INFINITY, 3, NAN, 1,   9,
                                 7,   -INFINITY, -INFINITY, 3, 2.5, 1.5, 4};
    static const double high[] = {0.5, 2, 0.25, 3, 1, 4, INFINITY, 7, 0.25, 1, 3, 2.5, 1.5, 4};
    static const char *const names[] = {"lead", "zinc"};
    const ptrdiff_t item = sizeof(double);
    const unrelu_matrix lower = {low, UNRELU_DOUBLES, 2 * item, item};
    const unrelu_matrix upper = {high, UNRELU_DOUBLES, 2 * item, item};
    unrelu_source *source = NULL;
    unrelu_gaussian *got = NULL, *wanted = NULL;
    unrelu_error err;
    const char *path = files_write("cells.csv", text, sizeof text - 1);
    assert_int_equal(unrelu_source_open(path, NULL, &source, &err), UNRELU_OK);
    assert_int_equal(unrelu_gaussian_fit(source, NULL, NULL, &wanted, &err), UNRELU_OK);
    unrelu_source_close(source);
    assert_int_equal(unrelu_source_matrix(&lower, &upper, 7, 2, names, NULL, &source, &err), 0);
    assert_int_equal(unrelu_gaussian_fit(source, NULL, NULL, &got, &err), UNRELU_OK);
    unrelu_source_close(source);
    assert_memory_equal(got->b, wanted->b, 2 * sizeof *got->b);
    assert_memory_equal(got->sigma, wanted->sigma, 4 * sizeof *got->sigma);
    assert_true(got->observed[0] == 6 && got->observed[1] == 7);
    assert_string_equal(got->names[1], "zinc");
    unrelu_gaussian_free(got);
    unrelu_gaussian_free(wanted);
}

static void what_is_no_matrix_is_refused(void **state)
{
    (void)state;
    static const double low[] = {1, 2, 5, 4}, high[] = {1, 2, 3, 4};
    static const char *const names[] = {"a", "b"};
    const ptrdiff_t item = sizeof(double);
    const unrelu_matrix lower = {low, UNRELU_DOUBLES, 2 * item, item};
    const unrelu_matrix upper = {high, UNRELU_DOUBLES, 2 * item, item};
    const unrelu_matrix whole = {low, UNRELU_INTS, 2 * item, item};
    unrelu_source *source = NULL;
    unrelu_error err;
    double *loaded = NULL;
    size_t n;
    assert_int_equal(unrelu_source_matrix(&whole, NULL, 2, 2, NULL, NULL, &source, &err),
                     UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "doubles or floats"));
    assert_int_equal(unrelu_source_matrix(&lower, NULL, 0, 2, NULL, NULL, &source, &err),
                     UNRELU_EDATA);
    assert_int_equal(unrelu_source_matrix(&lower, &upper, 2, 2, names, NULL, &source, &err), 0);
    assert_int_equal(unrelu_source_load(source, NULL, &loaded, &n, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "row 2, column 1 (a) lies between 5 and 3"));
    assert_true(err.row == 2 && err.column == 1);
    unrelu_source_close(source);
}

/* whoever needs numbers says so */
static void limits_are_refused_where_numbers_are_needed(void **state)
{
    (void)state;
    static const double low[] = {1, 2, -INFINITY, 4}, high[] = {1, 2, 3, 4};
    const ptrdiff_t item = sizeof(double);
    const unrelu_matrix lower = {low, UNRELU_DOUBLES, 2 * item, item};
    const unrelu_matrix upper = {high, UNRELU_DOUBLES, 2 * item, item};
    unrelu_source *source = NULL;
    unrelu_error err;
    double *loaded = NULL;
    size_t n;
    assert_int_equal(unrelu_source_matrix(&lower, &upper, 2, 2, NULL, NULL, &source, &err), 0);
    assert_int_equal(unrelu_source_load(source, NULL, &loaded, &n, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "row 2, column 1 is no value but a limit"));
    assert_null(loaded);
    unrelu_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_types_do_not_change_bits),
        cmocka_unit_test(intervals_are_read_as_those_of_a_file),
        cmocka_unit_test(what_is_no_matrix_is_refused),
        cmocka_unit_test(limits_are_refused_where_numbers_are_needed),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
