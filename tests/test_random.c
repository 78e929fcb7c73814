/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/normal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1000000 };
static double x[N], y[N];

static void within(double value, double want, double sd, double sigmas)
{
    if (!(fabs(value - want) <= sigmas * sd))
        fail_msg("%.10g, expected %.10g +- %.3g", value, want, sigmas * sd);
}

static void uniforms_are_philox_4x64_10(void **state)
{
    (void)state;
    /* counters 1 and 2 of key (42, 7): what numpy.random.Philox(key=[42, 7]) draws first */
    static const uint64_t words[8] = {0xa64064f34e84b9a3, 0xe287959a866a08fd, 0x8dc181f009b96c03,
                                      0xf3f6001d4fa83454, 0x69c633ee791df6b3, 0x89327f7a8f0127a4,
                                      0x1ed8260458996ff6, 0x4299f7433fb1683e};
    double u[8];
    ur_random_uniforms(42, 7, 4, 8, u);
    for (int i = 0; i < 8; i++)
        assert_true(u[i] == ((double)(words[i] >> 12) * 2 + 1) * 0x1p-53);
}

static void normals_are_box_muller_of_philox_words(void **state)
{
    (void)state;
    /* counters {0, 1, 0, 0} and on: normals have their own; the radius and the angle of a pair
     * must be those of uniforms in (0, 1) with the right laws, checked by their inverse */
    ur_random_normals(3, 4, 0, 20000, x);
    double turned = 0, n = 10000, ks = 0;
    for (int i = 0; i < 20000; i += 2) {
        double u = exp(-0.5 * (x[i] * x[i] + x[i + 1] * x[i + 1]));
        assert_true(u > 0 && u < 1);
        turned += u;
        ks += atan2(x[i + 1], x[i]) / M_PI;
    }
    within(turned / n, 0.5, 1 / sqrt(12 * n), 4);
    within(ks / n, 0, 1 / sqrt(3 * n), 4);
}

static void normals_have_their_moments(void **state)
{
    (void)state;
    static const double moment[9] = {1, 0, 1, 0, 3, 0, 15, 0, 105};
    ur_random_normals(20240607, 0, 0, N, x);
    for (int k = 1; k <= 4; k++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += pow(x[i], k);
        within(sum / N, moment[k], sqrt((moment[2 * k] - moment[k] * moment[k]) / N), 4);
    }
    double lag = 0;
    for (int i = 0; i + 1 < N; i++)
        lag += x[i] * x[i + 1];
    within(lag / N, 0, 1 / sqrt(N), 4);
}

static int ascending(const void *a, const void *b)
{
    double s = *(const double *)a, t = *(const double *)b;
    return (s > t) - (s < t);
}

static void normals_pass_kolmogorov_smirnov(void **state)
{
    (void)state;
    ur_random_normals(5, 6, 7, N, x);
    qsort(x, N, sizeof *x, ascending);
    double distance = 0;
    for (int i = 0; i < N; i++) {
        double p = ur_normal_cdf(x[i]);
        distance = fmax(distance, fmax(fabs(p - (double)i / N), fabs(p - (i + 1.0) / N)));
    }
    assert_true(distance * sqrt(N) < 1.95); /* probability 0.001 */
}

static void slices_equal_the_whole(void **state)
{
    (void)state;
    ur_random_normals(1, 2, 0, 5000, x);
    for (uint64_t first = 0; first < 600; first += 37)
        for (uint64_t count = 0; count < 1500; count += 211) {
            ur_random_normals(1, 2, first, count, y);
            assert_memory_equal(x + first, y, count * sizeof *y);
        }
    ur_random_uniforms(1, 2, 0, 5000, x);
    ur_random_uniforms(1, 2, 4001, 999, y);
    assert_memory_equal(x + 4001, y, 999 * sizeof *y);
}

static void streams_seeds_and_kinds_are_uncorrelated(void **state)
{
    (void)state;
    ur_random_normals(9, 1, 0, N, x);
    for (int other = 0; other < 3; other++) {
        if (other == 0)
            ur_random_normals(9, 2, 0, N, y);
        else if (other == 1)
            ur_random_normals(10, 1, 0, N, y);
        else
            ur_random_uniforms(9, 1, 0, N, y);
        double sum = 0, square = 0;
        for (int i = 0; i < N; i++) {
            double v = other == 2 ? (y[i] - 0.5) * sqrt(12) : y[i];
            sum += x[i] * v;
            square += (x[i] * x[i] - 1) * v;
        }
        within(sum / N, 0, 1 / sqrt(N), 4);
        within(square / N, 0, sqrt(2.0 / N), 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniforms_are_philox_4x64_10),
        cmocka_unit_test(normals_are_box_muller_of_philox_words),
        cmocka_unit_test(normals_have_their_moments),
        cmocka_unit_test(normals_pass_kolmogorov_smirnov),
        cmocka_unit_test(slices_equal_the_whole),
        cmocka_unit_test(streams_seeds_and_kinds_are_uncorrelated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
