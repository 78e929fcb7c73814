/* SPDX-License-Identifier: Apache-2.0 */
/* What samples may be: their sizes where they are unmixed, and the powers that make them normal.
 * Each test fails where a bound is 100 times larger or smaller. */
#include "planted.h"

#include "gaussian/cells/cells.h"
#include "law/normal.h"
#include "mixture/problem/unmix.h"

/* mixtures of two columns, the largest value of which is about `size` */
static unrelu_status measure(double size)
{
    double x[] = {1, 0.2, 0.3, 1, 0.5, 0.7, 0.9, 0.1};
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_span span;
    for (size_t i = 0; i < 8; i++)
        x[i] *= size;
    must(unrelu_source_memory(x, 4, 2, NULL, &source, &err), &err);
    const ur_table table = {.rows = 4, .columns = 2, .cells = x};
    unrelu_status status = ur_span_measure(source, &table, NULL, &arena, &span, &err);
    unrelu_source_close(source);
    return status;
}

static void samples_are_unmixed_between_1e_minus_100_and_1e_100(void **state)
{
    (void)state;
    assert_int_equal(measure(1e99), UNRELU_OK);
    assert_int_equal(measure(1e101), UNRELU_EDATA);
    assert_int_equal(measure(1e-99), UNRELU_OK);
    assert_int_equal(measure(1e-101), UNRELU_EDATA);
}

/* normal after a power: quantiles of (10 + g)^(1 / power) */
static double estimate(double power)
{
    enum { N = 500 };
    double x[N], lambda;
    unsigned char seen[N];
    unrelu_error err = {0};
    for (size_t i = 0; i < N; i++) {
        x[i] = pow(10 + ur_normal_quantile(((double)i + 0.5) / N), 1 / power);
        seen[i] = UR_SEEN;
    }
    must(ur_transform_estimate(N, x, NULL, seen, "x", &lambda, &err), &err);
    return lambda;
}

static void powers_are_searched_between_minus_3_and_3(void **state)
{
    (void)state;
    assert_near(estimate(2.5), 2.5, 0.1);
    assert_true(estimate(5) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_unmixed_between_1e_minus_100_and_1e_100),
        cmocka_unit_test(powers_are_searched_between_minus_3_and_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
