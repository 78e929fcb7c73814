/* SPDX-License-Identifier: Apache-2.0 */
#include "law/interval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double found, double want, double tolerance, const char *what, double m, double w)
{
    if (!(fabs(found - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%s at %g, width %g: %.17g, expected %.17g", what, m, w, found, want);
}

/* P / phi(m) = int exp(-m t - t^2 / 2) dt over |t| < w / 2, and its means of t and t^2, by
 * Simpson's rule in many pieces: no cancellation at any width */
static void integrate(long double m, long double w, long double mean[3])
{
    enum { PIECES = 100000 };
    long double h = w / PIECES;
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i <= PIECES; i++) {
        long double t = -w / 2 + i * h, ends = i == 0 || i == PIECES, odd = i % 2;
        long double f = (ends != 0 ? 1 : odd != 0 ? 4 : 2) * expl(-t * (m + t / 2)) * h / 3;
        mean[0] += f;
        mean[1] += f * t;
        mean[2] += f * t * t;
    }
    mean[1] /= mean[0];
    mean[2] /= mean[0];
}

static const double middles[] = {0, 0.3, -0.3, 1, -2, 3.9, -4.1, 8, -12, 30},
                    widths[] = {1e-12, 1e-6, 0.01, 0.3, 0.49, 0.51, 1, 4};

static void probability_and_mean_are_those_of_integrals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
            double m = middles[i], w = widths[k];
            long double mean[3], variance;
            integrate(m, w, mean);
            variance = mean[2] - mean[1] * mean[1];
            ur_interval at = ur_interval_at((ur_hidden){0, m, w});
            near(at.log_p,
                 (double)(logl(mean[0]) - (long double)m * m / 2 - logl(2 * acosl(-1)) / 2), 1e-13,
                 "log P", m, w);
            near(at.by_m, -(double)(m + mean[1]), 1e-12, "by m", m, w);
            near(at.by_mm, (double)variance - 1, 1e-11, "by m twice", m, w);
            /* by log w: w / 2 times the density at both ends */
            long double ends = expl(-(long double)w * w / 8) * coshl((long double)m * w / 2);
            near(at.by_w, (double)(w * ends / mean[0]), 1e-12, "by w", m, w);
        }
}

static void second_derivatives_are_differences_of_first_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
            double m = middles[i], w = widths[k], h = 1e-4;
            ur_interval at = ur_interval_at((ur_hidden){0, m, w}),
                        wider = ur_interval_at((ur_hidden){0, m, w * exp(h)}),
                        narrower = ur_interval_at((ur_hidden){0, m, w * exp(-h)});
            double size = 1 + fabs(m) * w + w * w;
            near(at.by_mw, (wider.by_m - narrower.by_m) / (2 * h), 3e-7 * size, "by m and w", m, w);
            near(at.by_ww, (wider.by_w - narrower.by_w) / (2 * h), 3e-7 * size, "by w twice", m, w);
        }
}

static void one_limit_is_the_end_of_a_wide_interval(void **state)
{
    (void)state;
    for (double at = -6; at <= 6; at += 0.5) {
        /* from 40 below to at: the middle moves by half of it */
        ur_interval below = ur_interval_at((ur_hidden){-1, at, 0}),
                    above = ur_interval_at((ur_hidden){1, -at, 0}),
                    wide = ur_interval_at((ur_hidden){0, at - 20, 40});
        near(below.log_p, wide.log_p, 1e-13, "log P", at, 40);
        near(below.by_m, wide.by_m, 1e-12, "by m", at, 40);
        near(below.by_mm, wide.by_mm, 1e-10, "by m twice", at, 40);
        near(above.log_p, below.log_p, 0, "above", at, 0);
        near(above.by_m, -below.by_m, 0, "above", at, 0);
        near(above.by_mm, below.by_mm, 0, "above", at, 0);
        assert_true(below.by_w == 0 && below.by_mw == 0 && below.by_ww == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probability_and_mean_are_those_of_integrals),
        cmocka_unit_test(second_derivatives_are_differences_of_first_ones),
        cmocka_unit_test(one_limit_is_the_end_of_a_wide_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
