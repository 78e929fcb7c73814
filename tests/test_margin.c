/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/margin.h"
#include "law/normal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

/* exact moments of n samples of max(0, N(g s, s^2)) about `shift` */
static ur_margin_sums population(double g, double s, double n, double shift)
{
    double Phi = ur_normal_cdf(g), lambda = ur_normal_hazard(-g), m = g + lambda;
    double c = m * s - shift, p = n * Phi;
    return (ur_margin_sums){n, p, shift, p * c, p * ((1 - lambda * m) * s * s + c * c)};
}

static ur_margin_sums sums_of(const double *x, int n, double shift)
{
    ur_margin_sums sums = {.n = n, .shift = shift};
    for (int i = 0; i < n; i++)
        if (x[i] > 0) {
            sums.positive++;
            sums.sum += x[i] - shift;
            sums.square += (x[i] - shift) * (x[i] - shift);
        }
    return sums;
}

static void censored_is_exact_on_population_moments(void **state)
{
    (void)state;
    for (double g = -3; g <= 7; g += 0.125)
        for (int unit = -1; unit <= 1; unit++) {
            double s = pow(10, 150 * unit) * 3, at = g > -1 ? (g + 1.2) * s : s / 3;
            ur_margin_sums sums = population(g, s, 1e6, at);
            ur_margin fit;
            ur_margin_censored(&sums, &fit);
            assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
            near(fit.gamma, g, 1e-12);
            near(fit.s / s, 1, 1e-12);
            near(fit.b / s, g, 1e-12);
            assert_true(fit.iterations <= 6);
        }
}

static void truncated_is_exact_on_population_moments(void **state)
{
    (void)state;
    for (double g = -2; g <= 30; g += 0.25) {
        ur_margin_sums sums = population(g, 2, 1e6, 2 * fmax(g, 0.5));
        ur_margin fit;
        ur_margin_truncated(&sums, &fit);
        assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
        near(fit.gamma, g, 1e-11);
        near(fit.s, 2, 1e-11);
    }
}

static void mean_far_above_the_deviation_costs_no_digits(void **state)
{
    (void)state;
    /* mean / sd = 1e7: no zeros, and one zero that does not belong */
    double x[1000];
    ur_random_normals(1, 1, 0, 1000, x);
    long double sum = 0, square = 0;
    for (int i = 0; i < 1000; i++) {
        x[i] = 1e7 + x[i];
        sum += x[i];
    }
    for (int i = 0; i < 1000; i++)
        square += (x[i] - sum / 1000) * (x[i] - sum / 1000);
    ur_margin_sums sums = sums_of(x, 1000, x[0]);
    ur_margin fit;
    ur_margin_censored(&sums, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_NO_ZEROS);
    double s = (double)sqrtl(square / 1000);
    near(fit.b, (double)(sum / 1000), 1e-8);
    near(fit.s / s, 1, 1e-12);
    near(fit.b_se, s / sqrt(1000), 1e-12);
    near(fit.s_se, s / sqrt(2000), 1e-12);
    assert_true(fit.gamma == 8);
    sums.n += 1;
    ur_margin_censored(&sums, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
    /* at large g the equation is 1 / g - e g = r g: g^2 = 1 / (e + r) up to 1 / g^2 */
    near(fit.gamma, sqrt(1 / 0.001), 0.05);
    assert_true(isfinite(fit.b_se) && isfinite(fit.s_se));
}

static void tobin_1958(void **state)
{
    (void)state;
    double x[20] = {0.7, 10.4, 3.7, 3.0, 3.5, 6.1, 1.5};
    for (int shift = 0; shift < 8; shift += 4) {
        ur_margin_sums sums = sums_of(x, 20, shift);
        ur_margin fit;
        ur_margin_censored(&sums, &fit);
        near(fit.b, -2.2274394, 1e-6);
        near(fit.s, 5.9452622, 1e-6);
        assert_true(fit.iterations <= 6);
    }
}

/* Phi = phi(y) / h(-y): no underflow */
static double log_cdf(double y)
{
    return y > -5 ? log(ur_normal_cdf(y))
                  : -0.5 * (y * y + log(2 * M_PI)) - log(ur_normal_hazard(-y));
}

static double log_likelihood(const double *x, int n, double b, double s, int truncated)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            sum += -log(s) - 0.5 * (x[i] - b) * (x[i] - b) / (s * s) -
                   (truncated ? log_cdf(b / s) : 0);
        else if (!truncated)
            sum += log_cdf(-b / s);
    return sum;
}

/* the fit beats every point of shrinking rings around it, and the curvature gives its errors */
static void fits_maximise_the_likelihood(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int truncated = 0; truncated < 2; truncated++) {
            double x[200], g = -1 + 0.08 * (double)seed;
            ur_random_normals(seed, 5, 0, 200, x);
            for (int i = 0; i < 200; i++)
                x[i] = fmax(0, 3 * (x[i] + g));
            ur_margin_sums sums = sums_of(x, 200, 2);
            ur_margin fit;
            (truncated ? ur_margin_truncated : ur_margin_censored)(&sums, &fit);
            if (fit.verdict != UR_MARGIN_FITTED)
                continue;
            double top = log_likelihood(x, 200, fit.b, fit.s, truncated);
            for (double size = 1; size > 1e-4; size *= 0.5)
                for (int turn = 0; turn < 12; turn++) {
                    double b = fit.b + size * fit.s * cos(turn), s = fit.s * (1 + size * sin(turn));
                    if (s > 0)
                        assert_true(log_likelihood(x, 200, b, s, truncated) < top + 1e-10);
                }
        }
}

static void standard_errors_are_calibrated(void **state)
{
    (void)state;
    enum { RUNS = 1000, N = 2000 };
    static double x[N];
    static const double gammas[] = {-1, 0, 1, 2.5};
    for (int k = 0; k < 4; k++)
        for (int truncated = 0; truncated < 2; truncated++) {
            double g = gammas[k] + truncated; /* truncated: its errors are not normal below 0 */
            double z2[3] = {0};
            for (int run = 0; run < RUNS; run++) {
                ur_random_normals(77, (uint64_t)(run + 10000 * k), 0, N, x);
                for (int i = 0; i < N; i++)
                    x[i] = fmax(0, 2 * (x[i] + g));
                ur_margin_sums sums = sums_of(x, N, 1);
                ur_margin fit;
                (truncated ? ur_margin_truncated : ur_margin_censored)(&sums, &fit);
                z2[0] += pow((fit.b - 2 * g) / fit.b_se, 2) / RUNS;
                z2[1] += pow((fit.s - 2) / fit.s_se, 2) / RUNS;
                z2[2] += pow((fit.gamma - g) / fit.gamma_se, 2) / RUNS;
            }
            for (int j = 0; j < 3; j++) /* sd of the rms of 1000 z: 0.022 */
                near(sqrt(z2[j]), 1, truncated && k == 0 ? 0.15 : 0.09);
        }
}

static void edge_cases_have_their_verdict(void **state)
{
    (void)state;
    ur_margin fit;
    ur_margin_censored(&(ur_margin_sums){10, 0, 0, 0, 0}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_ALL_ZERO);
    assert_true(isnan(fit.b) && isnan(fit.s) && isnan(fit.b_se));
    ur_margin_censored(&(ur_margin_sums){0}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_ALL_ZERO);
    ur_margin_truncated(&(ur_margin_sums){10, 0, 0, 0, 0}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_ALL_ZERO);

    double same[10];
    for (int i = 0; i < 10; i++)
        same[i] = 0.1;
    for (int far = 0; far < 2; far++) {
        ur_margin_sums sums = sums_of(same, 10, far ? 0 : 0.1);
        ur_margin_censored(&sums, &fit);
        assert_int_equal(fit.verdict, UR_MARGIN_CONSTANT);
        near(fit.b, 0.1, 1e-16);
        assert_true(fit.s == 0 && fit.b_se == 0);
        sums.n = 15; /* constant positives and zeros: a proper fit */
        ur_margin_censored(&sums, &fit);
        assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
        assert_true(fit.s > 0 && isfinite(fit.b) && isfinite(fit.b_se));
    }
    ur_margin_censored(&(ur_margin_sums){10, 1, 0, 3, 9}, &fit); /* one positive of ten */
    near(fit.gamma, -1.26, 0.01);
    near(fit.s / 3, 1.81, 0.01);
    ur_margin_censored(&(ur_margin_sums){2, 1, 3, 0, 0}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
    ur_margin_censored(&(ur_margin_sums){1e15, 1, 3, 0, 0}, &fit);
    assert_true(fit.verdict == UR_MARGIN_FITTED && fit.gamma < -5 && fit.iterations < 20);

    /* an exponential has second moment / mean^2 = 2, more than any truncated normal */
    ur_margin_truncated(&(ur_margin_sums){100, 100, 0, 100, 209}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_NO_MAXIMUM);
    assert_true(isnan(fit.b) && isnan(fit.s));
    ur_margin_truncated(&(ur_margin_sums){100, 100, 0, 100, 200 - 1e-4}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
    near(fit.gamma, -sqrt(2 / 1e-6), 10);
    assert_true(isnan(fit.b_se));
    ur_margin_censored(&(ur_margin_sums){100, 97, 0, 97, 191}, &fit);
    assert_int_equal(fit.verdict, UR_MARGIN_FITTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(censored_is_exact_on_population_moments),
        cmocka_unit_test(truncated_is_exact_on_population_moments),
        cmocka_unit_test(mean_far_above_the_deviation_costs_no_digits),
        cmocka_unit_test(tobin_1958),
        cmocka_unit_test(fits_maximise_the_likelihood),
        cmocka_unit_test(standard_errors_are_calibrated),
        cmocka_unit_test(edge_cases_have_their_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
