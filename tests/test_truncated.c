/* SPDX-License-Identifier: Apache-2.0 */
/* Against Simpson's rule on the density, scaled by its largest value between the bounds. */
#include "planted.h"

#include "law/truncated.h"

enum { STEPS = 200000 };

typedef struct {
    double mass, log_mass, mean;
} integral;

/* where the density falls below 1e-40 of its largest value it is left out */
static void finite_bounds(double *lower, double *upper)
{
    double nearest = *lower > 0 ? *lower : *upper < 0 ? *upper : 0;
    double reach = sqrt(nearest * nearest + 184) - fabs(nearest);
    *lower = fmax(*lower, nearest - reach);
    *upper = fmin(*upper, nearest + reach);
}

static integral integrate(double lower, double upper, double end)
{
    finite_bounds(&lower, &upper);
    double nearest = lower > 0 ? lower : upper < 0 ? upper : 0, width = fmin(upper, end) - lower;
    integral sum = {0};
    for (int i = 0; i <= STEPS; i++) {
        double away = lower - nearest + width * i / STEPS; /* x = nearest + away */
        double weight = (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * width / STEPS / 3;
        weight *= exp(-away * (nearest + away / 2));
        sum.mass += weight;
        sum.mean += weight * away;
    }
    sum.mean = nearest + sum.mean / sum.mass;
    sum.log_mass = log(sum.mass) - 0.5 * nearest * nearest - 0.5 * log(2 * M_PI);
    return sum;
}

static const double cases[][2] = {
    {-INFINITY, 0},
    {-INFINITY, 3},
    {-INFINITY, -1},
    {-INFINITY, -4.99},
    {-INFINITY, -5.01},
    {-INFINITY, -10},
    {-INFINITY, -45},
    {-INFINITY, -1e3},
    {0, INFINITY},
    {7, INFINITY},
    {40, INFINITY},
    {-1, 2},
    {-2, 1},
    {0.5, 0.6},
    {-0.001, 0.001},
    {-1e-7, 3e-7},
    {10, 10.2},
    {10, 10 + 1e-6},
    {-30.01, -30},
    {-6, -5.0000001},
    {-4.9999, -4.999},
    {2, 2 + 1.2e-4},
    {2, 2 + 0.8e-4},
    {-5, 9},
    {-300, -299},
    {-9, 9},
    {5.5, 5.5 + 2e-5},
    {-1e3, -1e3 + 1e-9},
};
enum { CASES = sizeof cases / sizeof *cases };

static double spread(double lower, double upper)
{
    finite_bounds(&lower, &upper);
    double nearest = lower > 0 ? lower : upper < 0 ? -upper : 0;
    return fmin(upper - lower, 1 / fmax(1, nearest));
}

static void masses_and_means_are_those_of_the_integral(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        double lower = cases[i][0], upper = cases[i][1];
        integral want = integrate(lower, upper, INFINITY);
        double size = fmax(1, fabs(want.log_mass));
        assert_near(ur_truncated_log_mass(lower, upper), want.log_mass, 2e-9 * size);
        ur_mass mass;
        ur_truncated_draw(lower, upper, 0.3, &mass);
        assert_near(log(mass.factor) + mass.log, ur_truncated_log_mass(lower, upper), 1e-13);
        assert_true(mass.factor >= 1e-11 && mass.factor <= 1);
        assert_near(ur_truncated_mean(lower, upper), want.mean,
                    1e-6 * spread(lower, upper) + 4e-16 * fabs(want.mean));
    }
}

static void draws_are_quantiles_of_the_integral(void **state)
{
    (void)state;
    static const double levels[] = {1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6};
    for (size_t i = 0; i < CASES; i++)
        for (size_t j = 0; j < sizeof levels / sizeof *levels; j++) {
            double lower = cases[i][0], upper = cases[i][1];
            double x = ur_truncated_draw(lower, upper, levels[j], NULL);
            assert_true(x >= lower && x <= upper);
            double share = integrate(lower, upper, x).mass / integrate(lower, upper, INFINITY).mass;
            double rounding = 1e-15 * fabs(x) / spread(lower, upper);
            assert_near(share, levels[j], 1e-7 * fmin(levels[j], 1 - levels[j]) + 1e-10 + rounding);
        }
}

static void far_out_the_distance_to_the_bound_is_exponential(void **state)
{
    (void)state;
    for (double t = 1e4; t < 1e15; t *= 10)
        for (double u = 0.05; u < 1; u += 0.1) {
            double x = ur_truncated_draw(-INFINITY, -t, u, NULL);
            assert_near((-t - x) * t, -log(u), 1e-6 * -log(u) + 4e-16 * t * t);
            assert_near((-t - ur_truncated_mean(-INFINITY, -t)) * t, 1, 1e-7 + 4e-16 * t * t);
        }
}

static void a_reflection_reflects(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        double lower = cases[i][0], upper = cases[i][1];
        double log_mass = ur_truncated_log_mass(lower, upper);
        assert_near(ur_truncated_log_mass(-upper, -lower), log_mass, 1e-15 * fabs(log_mass));
        assert_true(ur_truncated_mean(-upper, -lower) == -ur_truncated_mean(lower, upper));
        double x = ur_truncated_draw(lower, upper, 0.75, NULL);
        assert_near(ur_truncated_draw(-upper, -lower, 0.25, NULL), -x,
                    1e-12 * spread(lower, upper));
    }
}

static void without_bounds_it_is_the_normal(void **state)
{
    (void)state;
    ur_mass mass;
    assert_near(ur_truncated_draw(-INFINITY, INFINITY, 0.975, &mass), 1.959963984540054, 1e-14);
    assert_true(mass.factor == 1 && mass.log == 0);
    assert_true(ur_truncated_mean(-INFINITY, INFINITY) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_and_means_are_those_of_the_integral),
        cmocka_unit_test(draws_are_quantiles_of_the_integral),
        cmocka_unit_test(far_out_the_distance_to_the_bound_is_exponential),
        cmocka_unit_test(a_reflection_reflects),
        cmocka_unit_test(without_bounds_it_is_the_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
