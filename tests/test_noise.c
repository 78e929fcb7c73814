/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/noise.h"
#include "law/normal.h"
#include "planted.h"

/* the same by a sum over y and x on a fine grid */
static ur_negative_part naive(double gamma, double ratio, double bound)
{
    enum { STEPS = 1500 };
    double sum[3] = {0}, top = fmin(bound, 12) / STEPS, step = 10.0 / STEPS;
    for (int i = -1; i < STEPS; i++) { /* -1: y <= 0 */
        double t = i < 0 ? 0 : (i + 0.5) * step;
        double mass =
            i < 0 ? ur_normal_cdf(-gamma) : step * ratio * ur_normal_pdf(ratio * t - gamma);
        for (int k = 0; k < STEPS; k++) {
            double x = (k + 0.5) * top, p = mass * top * ur_normal_pdf(x + t);
            sum[0] += p;
            sum[1] += p * x * x;
            sum[2] += p * x * x * x * x;
        }
    }
    return (ur_negative_part){sum[0], sum[1] / sum[0], sum[2] / sum[0]};
}

static void negative_values_have_the_moments_of_a_sum(void **state)
{
    (void)state;
    static const double cases[][3] = {{-INFINITY, 0, INFINITY}, {0, .2, 4},   {1.5, .4, 3},
                                      {3, 1, INFINITY},         {-1, .05, 4}, {0.5, 5, 1.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i];
        ur_negative_part is = ur_negative_part_of(c[0], c[1], c[2]), was = naive(c[0], c[1], c[2]);
        assert_near(is.share / was.share, 1, 3e-5);
        assert_near(is.square / was.square, 1, 3e-5);
        assert_near(is.fourth / was.fourth, 1, 3e-5);
    }
    ur_negative_part half = ur_negative_part_of(-INFINITY, 0, INFINITY);
    assert_near(half.share, 0.5, 1e-15);
    assert_near(half.square, 1, 1e-15);
    assert_near(half.fourth, 3, 1e-15);
}

static void population_moments_give_the_noise(void **state)
{
    (void)state;
    for (double gamma = -2; gamma <= 2; gamma++)
        for (double ratio = 0.05; ratio < 1; ratio *= 3) {
            double sigma = 0.24, s = sigma / ratio; /* in units of the bound */
            double square = sigma * sigma * ur_negative_part_of(gamma, ratio, 1 / sigma).square;
            ur_noise is = ur_noise_from(100, square, gamma * s, hypot(s, sigma));
            assert_near(is.sigma / sigma, 1, 1e-6);
        }
    assert_near(ur_noise_from(100, 0.0576 * 0.99, 0, 0).sigma, 0.24, 0.002); /* half-normal */
    for (double gamma = -1; gamma <= 1; gamma++) { /* 93 % of the variance is noise */
        double s = 0.24 / 3.6, square = 0.0576 * ur_negative_part_of(gamma, 3.6, 1 / 0.24).square;
        assert_near(ur_noise_from(100, square, gamma * s, hypot(s, 0.24)).sigma, 0.24, 1e-6);
    }
}

/* the spread of sigma^2 over samples is what its error says */
static void the_error_of_the_noise_is_its_spread(void **state)
{
    (void)state;
    enum { N = 400, RUNS = 2000 };
    double z[2 * N], mean = 0, squares = 0, said = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        double square = 0, count = 0; /* b 1, s 1, sigma 0.25, bound 0.8: 3.2 of them */
        ur_random_normals(run + 1, 1, 0, 2 * N, z);
        for (size_t i = 0; i < N; i++) {
            double x = (fmax(0, 1 + z[2 * i]) + 0.25 * z[2 * i + 1]) / 0.8;
            count += x < 0 && x > -1;
            square += x < 0 && x > -1 ? x * x : 0;
        }
        ur_noise is = ur_noise_from(count, square / count, 1 / 0.8, hypot(1, 0.25) / 0.8);
        double variance = is.sigma * is.sigma * 0.64;
        mean += variance / RUNS;
        squares += variance * variance / RUNS;
        said += is.variance_se * 0.64 / RUNS;
    }
    assert_near(mean / 0.0625, 1, 0.03); /* 5 standard errors */
    assert_near(said / sqrt(squares - mean * mean), 1, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negative_values_have_the_moments_of_a_sum),
        cmocka_unit_test(population_moments_give_the_noise),
        cmocka_unit_test(the_error_of_the_noise_is_its_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
