/* SPDX-License-Identifier: Apache-2.0 */
#include "law/normal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { POINTS = 20011 };

static double g[POINTS], h[POINTS];

/* Below 0 not by erfcx, which loses digits there as x^2 does, but by x^2 = a^2 + (x + a)(x - a),
 * the first of which is exact. Not in long double either: valgrind's is a double. */
static double one(double x)
{
    double a = (float)x, phi = exp(-a * a / 2) * exp((x + a) * (a - x) / 2) / sqrt(2 * M_PI);
    return x < 0 ? phi / (1 - erfc(-x * sqrt(0.5)) / 2) : ur_normal_hazard(x);
}

static double worst_of(double low, double high)
{
    double worst = 0;
    for (int i = 0; i < POINTS; i++)
        g[i] = low + (high - low) * i / (POINTS - 1);
    ur_normal_hazards(POINTS, g, h);
    for (int i = 0; i < POINTS; i++)
        worst = fmax(worst, fabs(h[i] / one(g[i]) - 1));
    return worst;
}

static void all_at_once_are_those_of_one_by_one(void **state)
{
    (void)state;
    static const double ends[] = {-37, -30, -20, -6, -1, -1e-3, 1e-3, 1, 6, 40, 1e4, 1e9, 1e150};
    for (size_t k = 0; k + 1 < sizeof ends / sizeof *ends; k++) {
        double worst = worst_of(ends[k], ends[k + 1]);
        if (!(worst < 1e-14))
            fail_msg("from %g to %g: relative error %g", ends[k], ends[k + 1], worst);
    }
}

/* h(g) = g + 1 / g - 2 / g^3 + ...; h(-g) = phi(g) */
static void tails_are_the_asymptotic_ones(void **state)
{
    (void)state;
    double x[] = {1e5, -30, 1e200, INFINITY, -INFINITY, -1e200, NAN, 0}, y[8];
    ur_normal_hazards(8, x, y);
    assert_true(fabs(y[0] - (1e5 + 1e-5)) < 2e-11);
    assert_true(fabs(y[1] * sqrt(2 * M_PI) / exp(-450) - 1) < 1e-14);
    assert_true(fabs(y[2] / 1e200 - 1) < 1e-15 && fabs(y[3] / 1e300 - 1) < 1e-15);
    assert_true(y[4] < 1e-300 && y[5] < 1e-300);
    assert_true(isnan(y[6]));
    assert_true(fabs(y[7] - sqrt(2 / M_PI)) < 1e-15);
}

static void any_number_of_them_and_in_place(void **state)
{
    (void)state;
    double x[40], y[40];
    for (size_t n = 0; n < 20; n++) {
        for (size_t i = 0; i < 40; i++)
            x[i] = y[i] = 0.3 * (double)i - 4;
        ur_normal_hazards(n, x, x);
        for (size_t i = 0; i < 40; i++)
            assert_true(i < n ? fabs(x[i] / one(y[i]) - 1) < 1e-14 : x[i] == y[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_at_once_are_those_of_one_by_one),
        cmocka_unit_test(tails_are_the_asymptotic_ones),
        cmocka_unit_test(any_number_of_them_and_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
