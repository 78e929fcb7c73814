/* SPDX-License-Identifier: Apache-2.0 */
#include "mixtures.h"

#include "base/random.h"
#include "mixture/problem/unmix.h"

/* max(0, W z + b) for W (p x k) of normal entries */
static double *units(size_t n, size_t p, size_t k, double b, uint64_t seed)
{
    double *W = malloc(p * k * sizeof *W), *z = malloc(n * k * sizeof *z),
           *M = calloc(n * p, sizeof *M);
    assert_true(W && z && M);
    ur_random_normals(seed, 1, 0, p * k, W);
    ur_random_normals(seed, 2, 0, n * k, z);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) {
            double t = b;
            for (size_t l = 0; l < k; l++)
                t += W[j * k + l] * z[i * k + l];
            M[i * p + j] = t > 0 ? t : 0;
        }
    free(W);
    free(z);
    return M;
}

static ur_latent look(const double *M, size_t n, size_t p)
{
    ur_latent found;
    unrelu_error err = {0};
    must(ur_unmix_latent(n, p, M, &found, &err), &err);
    return found;
}

static void independent_units_vary_in_all_dimensions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double *M = units(2000, 5, 5, .3, seed);
        assert_int_equal(look(M, 2000, 5).samples, 0);
        free(M);
    }
}

static void units_of_fewer_dimensions_are_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (size_t k = 1; k <= 3; k++) {
            double *M = units(2000, 5, k, .3, seed);
            ur_latent found = look(M, 2000, 5);
            assert_true(found.samples >= 8 && found.rank <= k && found.units > found.rank);
            free(M);
        }
}

static void few_samples_of_each_pattern_show_nothing(void **state)
{
    (void)state;
    double *M = units(12, 5, 2, 0, 3);
    assert_int_equal(look(M, 12, 5).samples, 0);
    free(M);
}

/* on or off, and nothing between: no dimension is missing */
static void units_that_are_constant_do_not_count(void **state)
{
    (void)state;
    double *M = units(500, 4, 4, 0, 5);
    for (size_t i = 0; i < 500 * 4; i++)
        if (i % 4 != 1)
            M[i] = M[i] > 0 ? 2 : 0;
    assert_int_equal(look(M, 500, 4).samples, 0);
    free(M);
}

/* ---- what p units leave ---- */

static double growth(double own, double common, uint64_t seed)
{
    enum { N = 3000, D = 4 };
    static double x[N * D], y[N], e[N * D], C[D] = {.5, -.5, .5, .5}, unit[D] = {1, 1, 1, 1};
    double ratio;
    unrelu_error err = {0};
    ur_random_normals(seed, 1, 0, N, y);
    ur_random_normals(seed, 2, 0, N * D, e);
    for (size_t i = 0; i < N; i++) {
        y[i] = fabs(y[i]);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = y[i] * C[j] + (common + own * y[i]) * e[i * D + j];
    }
    ur_cone cone = {.n = N, .d = D, .p = 1, .x = x, .y = y, .C = C, .unit = unit};
    must(ur_cone_growth(&cone, &ratio, &err), &err);
    return ratio;
}

static void noise_is_the_same_in_long_samples_and_short(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        assert_near(growth(0, .01, seed), 1, .1); /* 4 standard errors of 2 x 6000 squares */
        /* E y^2 of the longer half of |N(0, 1)| over that of the shorter: .9289 / .0711 */
        assert_near(growth(.01, 0, seed), 13.05, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_units_vary_in_all_dimensions),
        cmocka_unit_test(units_of_fewer_dimensions_are_seen),
        cmocka_unit_test(few_samples_of_each_pattern_show_nothing),
        cmocka_unit_test(units_that_are_constant_do_not_count),
        cmocka_unit_test(noise_is_the_same_in_long_samples_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
