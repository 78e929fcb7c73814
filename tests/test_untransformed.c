/* SPDX-License-Identifier: Apache-2.0 */
/* Against Simpson's rule on g times the density, scaled by its largest value between the ends. */
#include "planted.h"

#include "law/power.h"
#include "law/untransformed.h"

enum { STEPS = 400000 };

static double simpson(unrelu_transform transform, double lambda, double c, double s, double lower,
                      double upper)
{
    double nearest = lower > 0 ? lower : upper < 0 ? upper : 0, sum = 0, mass = 0;
    double reach = sqrt(nearest * nearest + 184);
    double from = fmax(lower, -reach), width = fmin(upper, reach) - from;
    for (int i = 0; i <= STEPS; i++) {
        double z = from + width * i / STEPS;
        double weight = (i == 0 || i == STEPS ? 1
                         : i % 2              ? 4
                                              : 2) *
                        exp(-0.5 * (z - nearest) * (z + nearest));
        mass += weight;
        sum += weight * ur_untransform(transform, lambda, c + s * z);
    }
    return sum / mass;
}

static const double ends[][2] = {
    {-INFINITY, INFINITY}, {-INFINITY, 0.5}, {-INFINITY, -3}, {-INFINITY, -9}, {1, INFINITY},
    {6, INFINITY},         {-1, 2},          {0.3, 0.35},     {-7, -6.9}};

static void check(unrelu_transform transform, double lambda, double c, double s, double tolerance)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        double got = ur_untransformed_mean(transform, lambda, c, s, ends[i][0], ends[i][1]);
        double want = simpson(transform, lambda, c, s, ends[i][0], ends[i][1]);
        if (!(fabs(got - want) <= tolerance * fabs(want)))
            fail_msg("transform %d lambda %g c %g s %g between %g and %g: %.15g, not %.15g",
                     (int)transform, lambda, c, s, ends[i][0], ends[i][1], got, want);
    }
}

static void means_agree_with_quadrature(void **state)
{
    (void)state;
    check(UNRELU_TRANSFORM_NONE, 0, 2, 0.7, 1e-9);
    check(UNRELU_TRANSFORM_LOG, 0, 1, 0.3, 1e-9);
    check(UNRELU_TRANSFORM_LOG, 0, -2, 1.5, 1e-9);
    check(UNRELU_TRANSFORM_SQRT, 0, 12, 1, 1e-9);
    check(UNRELU_TRANSFORM_SQRT, 0, 0.5, 2, 1e-6); /* Simpson's rule meets a kink */
    check(UNRELU_TRANSFORM_BOXCOX, 0, 0.5, 1, 1e-9);
    check(UNRELU_TRANSFORM_BOXCOX, 0.3, 9, 1, 1e-9);
    check(UNRELU_TRANSFORM_BOXCOX, 0.3, 0.2, 1.5, 1e-8);
    check(UNRELU_TRANSFORM_BOXCOX, 0.05, 1, 1, 1e-9);
    check(UNRELU_TRANSFORM_BOXCOX, 1.6, 0.5, 1, 1e-3); /* a derivative that is infinite at 0 */
}

/* a power of 1/2 is 4 times the square of 1 + y / 2 over 4: Box-Cox against sqrt */
static void the_square_root_is_a_power_of_a_half(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        double root =
            ur_untransformed_mean(UNRELU_TRANSFORM_SQRT, 0, 1.5, 0.8, ends[i][0], ends[i][1]);
        double power =
            ur_untransformed_mean(UNRELU_TRANSFORM_BOXCOX, 0.5, 1, 1.6, ends[i][0], ends[i][1]);
        assert_near(power, root, 1e-9 * root);
    }
}

static void a_negative_power_without_an_upper_end_has_no_mean(void **state)
{
    (void)state;
    assert_true(
        isinf(ur_untransformed_mean(UNRELU_TRANSFORM_BOXCOX, -0.5, 0, 1, -INFINITY, INFINITY)));
    double cut = ur_untransformed_mean(UNRELU_TRANSFORM_BOXCOX, -0.5, 0, 1, -INFINITY, 1.5);
    assert_near(cut, simpson(UNRELU_TRANSFORM_BOXCOX, -0.5, 0, 1, -INFINITY, 1.5), 1e-8 * cut);
    /* what does not vary is what it is */
    assert_near(ur_untransformed_mean(UNRELU_TRANSFORM_LOG, 0, 2, 0, -1, 1), exp(2), 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_agree_with_quadrature),
        cmocka_unit_test(the_square_root_is_a_power_of_a_half),
        cmocka_unit_test(a_negative_power_without_an_upper_end_has_no_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
