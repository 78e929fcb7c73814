/* SPDX-License-Identifier: Apache-2.0 */
#include "law/normal.h"
#include "unrelu/unrelu.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static long double cdf(long double x)
{
    return 0.5L * erfcl(-x * sqrtl(0.5L));
}

static long double pdf(long double x)
{
    return expl(-0.5L * x * x) / sqrtl(2 * acosl(-1));
}

static void close_to(double found, long double want, double relative)
{
    double error = (double)fabsl((long double)found - want);
    if (!(error <= relative * fabs((double)want)))
        fail_msg("%.17g, expected %.17g within %g of it", found, (double)want, relative);
}

static void cdf_and_pdf_keep_their_digits_in_the_tail(void **state)
{
    (void)state;
    for (double x = -37; x < 9; x += 0.37) {
        close_to(ur_normal_cdf(x), cdf(x), 1e-12); /* erfc of a rounded argument: x^2 eps */
        close_to(ur_normal_pdf(x), pdf(x), 1e-12);
    }
}

static void hazard_is_exact_in_both_tails(void **state)
{
    (void)state;
    for (double g = -36; g < 100; g += 0.61)
        close_to(ur_normal_hazard(g), pdf(g) / cdf(-g), g < 0 ? 1e-12 : 1e-14);
    close_to(ur_normal_hazard(1e8), 1e8L + 1e-8L, 1e-15);
    assert_true(ur_normal_hazard(-50) == 0);
}

static void quantile_inverts_the_cdf(void **state)
{
    (void)state;
    for (int i = 1; i < 4000; i++) {
        double p = i < 2000 ? i / 2000.0 : pow(10, -(i - 1999) / 6.5);
        double x = ur_normal_quantile(p);
        if (p == 0.5) {
            assert_true(x == 0);
            continue;
        }
        /* the residual in units of x */
        long double off = (cdf(x) - p) / pdf(x);
        if (!(fabsl(off) <= 2e-15L * fabsl((long double)x)))
            fail_msg("p = %.17g: x = %.17g is off by %.3Lg", p, x, off);
    }
}

static void quantile_is_odd_and_has_its_limits(void **state)
{
    (void)state;
    for (int i = 1; i < 64; i++)
        assert_true(ur_normal_quantile(i / 128.0) == -ur_normal_quantile(1 - i / 128.0));
    assert_true(ur_normal_quantile(0) == -INFINITY);
    assert_true(ur_normal_quantile(1) == INFINITY);
    assert_true(isnan(ur_normal_quantile(-0.1)) && isnan(ur_normal_quantile(1.1)));
    assert_true(isnan(ur_normal_quantile(NAN)));
    assert_true(unrelu_normal_quantile(0.975) == ur_normal_quantile(0.975));
    close_to(ur_normal_quantile(DBL_TRUE_MIN), -38.467405617144346L, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cdf_and_pdf_keep_their_digits_in_the_tail),
        cmocka_unit_test(hazard_is_exact_in_both_tails),
        cmocka_unit_test(quantile_inverts_the_cdf),
        cmocka_unit_test(quantile_is_odd_and_has_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
