/* SPDX-License-Identifier: Apache-2.0 */
/* Extreme rays of cones: against all subsets of k - 1 rows, known counts of cyclic polytopes,
 * degenerate and flat cones, the bound on the rays held. */
#include "planted.h"

#include "base/random.h"
#include "cone/cone.h"
#include "dense/linear.h"

#define TOLERANCE 1e-9

static ur_rays rays_of(size_t rows, size_t k, const double *Y)
{
    ur_rays rays;
    unrelu_error err = {0};
    must(ur_rays_find(rows, k, Y, TOLERANCE, 100000, NULL, &rays, &err), &err);
    assert_int_equal(rays.words, (rows + 63) / 64);
    return rays;
}

static double along(size_t k, const double *a, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        sum += a[j] * b[j];
    return sum;
}

/* rows of unit length; those parallel to an earlier one leave */
static size_t tidy(size_t rows, size_t k, double *Y)
{
    size_t kept = 0;
    ur_unit_rows(rows, k, Y);
    for (size_t i = 0; i < rows; i++) {
        int fresh = along(k, Y + i * k, Y + i * k) > 0.5;
        for (size_t j = 0; j < kept && fresh; j++)
            fresh = along(k, Y + i * k, Y + j * k) < 1 - 1e-12;
        if (fresh)
            memmove(Y + k * kept++, Y + i * k, k * sizeof *Y);
    }
    return kept;
}

/* the null vector of k - 1 rows by elimination with complete pivoting; 0 where there are more */
static int null_vector(size_t k, const double *rows, double *z)
{
    double A[64];
    size_t column[8];
    memcpy(A, rows, (k - 1) * k * sizeof *A);
    for (size_t j = 0; j < k; j++)
        column[j] = j;
    for (size_t i = 0; i + 1 < k; i++) {
        size_t r = i, c = i;
        for (size_t a = i; a + 1 < k; a++)
            for (size_t b = i; b < k; b++)
                if (fabs(A[a * k + b]) > fabs(A[r * k + c])) {
                    r = a;
                    c = b;
                }
        if (fabs(A[r * k + c]) < 1e-9)
            return 0;
        for (size_t b = 0; b < k; b++) {
            double swap = A[r * k + b];
            A[r * k + b] = A[i * k + b];
            A[i * k + b] = swap;
        }
        for (size_t a = 0; a + 1 < k; a++) {
            double swap = A[a * k + c];
            A[a * k + c] = A[a * k + i];
            A[a * k + i] = swap;
        }
        size_t swap = column[c];
        column[c] = column[i];
        column[i] = swap;
        for (size_t a = 0; a + 1 < k; a++) {
            double factor = a == i ? 0 : A[a * k + i] / A[i * k + i];
            for (size_t b = 0; b < k; b++)
                A[a * k + b] -= factor * A[i * k + b];
        }
    }
    for (size_t i = 0; i + 1 < k; i++)
        z[column[i]] = -A[i * k + k - 1] / A[i * k + i];
    z[column[k - 1]] = 1;
    ur_unit_rows(1, k, z);
    return 1;
}

static int is_inside(size_t rows, size_t k, const double *Y, const double *z)
{
    for (size_t i = 0; i < rows; i++)
        if (along(k, Y + i * k, z) < -TOLERANCE)
            return 0;
    return 1;
}

/* where z is among the `count` found; -1: nowhere */
static int place_of(size_t count, size_t k, const double *Z, const double *z)
{
    for (size_t r = 0; r < count; r++) {
        double far = 0;
        for (size_t j = 0; j < k; j++)
            far = fmax(far, fabs(Z[r * k + j] - z[j]));
        if (far < 1e-7)
            return (int)r;
    }
    return -1;
}

/* rays by all subsets of k - 1 rows; their number */
static size_t by_subsets(size_t rows, size_t k, const double *Y, double *Z)
{
    size_t at[8], count = 0;
    double subset[64], z[8];
    for (size_t i = 0; i + 1 < k; i++)
        at[i] = i;
    for (;;) {
        for (size_t i = 0; i + 1 < k; i++)
            memcpy(subset + i * k, Y + at[i] * k, k * sizeof *Y);
        for (int sign = 0; sign < 2; sign++) {
            if (!null_vector(k, subset, z))
                break;
            for (size_t j = 0; j < k && sign; j++)
                z[j] = -z[j];
            if (is_inside(rows, k, Y, z) && place_of(count, k, Z, z) < 0)
                memcpy(Z + k * count++, z, k * sizeof *z);
        }
        size_t i = k - 1;
        while (i > 0 && at[i - 1] == rows - (k - 1) + i - 1)
            i--;
        if (i == 0)
            return count;
        for (at[i - 1]++; i + 1 < k; i++)
            at[i] = at[i - 1] + 1;
    }
}

static void compare(size_t rows, size_t k, const double *Y)
{
    double *Z = malloc(5000 * k * sizeof *Z);
    assert_non_null(Z);
    size_t expected = by_subsets(rows, k, Y, Z);
    ur_rays rays = rays_of(rows, k, Y);
    assert_true(rays.finished);
    assert_int_equal(rays.inserted, rows);
    assert_int_equal(rays.count, expected);
    for (size_t r = 0; r < rays.count; r++) {
        const double *z = rays.z + r * k;
        assert_near(along(k, z, z), 1, 1e-14);
        assert_true(place_of(expected, k, Z, z) >= 0);
        assert_true(place_of(r, k, rays.z, z) < 0);
        for (size_t i = 0; i < rows; i++) {
            double h = along(k, Y + i * k, z);
            assert_true(h >= -1e-12);
            assert_int_equal(ur_bit(rays.zeros + r * rays.words, i), fabs(h) <= TOLERANCE);
        }
    }
    ur_rays_free(&rays);
    free(Z);
}

/* ---- cones ---- */

/* rows around a point inside of the cone, so that there is one */
static size_t generic_cone(size_t rows, size_t k, uint64_t seed, double *Y)
{
    ur_random_normals(seed, 1, 0, rows * k, Y);
    for (size_t i = 0; i < rows; i++)
        Y[i * k] = fabs(Y[i * k]) + 0.3;
    return tidy(rows, k, Y);
}

/* small integers: many rows through one ray, opposite rows, repeated ones */
static size_t integer_cone(size_t rows, size_t k, uint64_t seed, int low, double *Y)
{
    ur_random_uniforms(seed, 2, 0, rows * k, Y);
    for (size_t i = 0; i < rows * k; i++)
        Y[i] = low + floor(Y[i] * (3 - low));
    for (size_t i = 0; i < k; i++) /* of rank k */
        for (size_t j = 0; j < k; j++)
            Y[i * k + j] = i == j;
    return tidy(rows, k, Y);
}

static void rays_of_generic_cones_are_those_of_all_subsets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        double Y[200];
        size_t k = 2 + seed % 4, rows = generic_cone(k + seed % 20, k, seed, Y);
        compare(rows, k, Y);
    }
}

static void rays_of_degenerate_cones_are_those_of_all_subsets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        double Y[200];
        size_t k = 2 + seed % 4;
        size_t rows = integer_cone(k + seed % 13, k, seed, seed % 3 == 0 ? 0 : -2, Y);
        compare(rows, k, Y);
    }
}

/* labels of networks: rows where the same neurons are off lie in one plane */
static void rays_of_network_labels_are_those_of_all_subsets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double Y[160], U[16];
        size_t k = 3 + seed % 2, rows = 30;
        ur_random_normals(seed, 3, 0, rows * k, Y);
        ur_random_normals(seed, 4, 0, k * k, U);
        for (size_t i = 0; i < rows; i++) {
            double mixed[4] = {0};
            for (size_t j = 0; j < k * k; j++)
                mixed[j % k] += fmax(0, Y[i * k + j / k]) * U[j];
            memcpy(Y + i * k, mixed, k * sizeof *Y);
        }
        rows = tidy(rows, k, Y);
        compare(rows, k, Y);
    }
}

static void a_cone_that_is_a_point_has_no_rays(void **state)
{
    (void)state;
    for (size_t k = 1; k <= 5; k++) {
        double Y[60] = {0};
        for (size_t i = 0; i < k; i++) {
            Y[i * k + i] = 1;
            Y[(k + i) * k + i] = -1;
        }
        ur_rays rays = rays_of(2 * k, k, Y);
        assert_int_equal(rays.count, 0);
        assert_true(rays.finished);
        ur_rays_free(&rays);
    }
}

static void a_flat_cone_has_the_rays_of_its_plane(void **state)
{
    (void)state;
    double Y[] = {0, 0, 1, 0, 0, -1, 1, 0, 0, 0, 1, 0, 1, -1, 0};
    size_t rows = tidy(5, 3, Y);
    compare(rows, 3, Y); /* z3 = 0, z1 >= z2 >= 0 */
    ur_rays rays = rays_of(rows, 3, Y);
    assert_int_equal(rays.count, 2);
    assert_true(ur_bit(rays.zeros, 0) && ur_bit(rays.zeros, 1));
    ur_rays_free(&rays);
    double line[] = {1, 0, -1, 0, 0, 1};
    rays = rays_of(3, 2, line);
    assert_int_equal(rays.count, 1);
    assert_near(rays.z[1], 1, 1e-15);
    ur_rays_free(&rays);
}

static void one_dimension_has_a_ray_or_none(void **state)
{
    (void)state;
    double Y[] = {-1, 1};
    ur_rays rays = rays_of(1, 1, Y);
    assert_int_equal(rays.count, 1);
    assert_near(rays.z[0], -1, 0);
    ur_rays_free(&rays);
    rays = rays_of(2, 1, Y);
    assert_int_equal(rays.count, 0);
    ur_rays_free(&rays);
}

/* (1, cos t, sin t, cos 2t, ..): a cyclic polytope of dimension k - 1 */
static void cyclic_cone(size_t rows, size_t k, double *Y)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++) {
            double t = 2 * M_PI * (double)i / (double)rows * (double)((j + 1) / 2);
            Y[i * k + j] = j % 2 ? cos(t) : j ? sin(t) : 1;
        }
    ur_unit_rows(rows, k, Y);
}

/* n / (n - q) C(n - q, q) facets in dimension 2 q */
static void cyclic_cones_have_the_known_number_of_rays(void **state)
{
    (void)state;
    double Y[600];
    cyclic_cone(80, 5, Y);
    ur_rays rays = rays_of(80, 5, Y);
    assert_int_equal(rays.count, 80 * 77 / 2);
    for (size_t r = 0; r < rays.count; r++)
        assert_int_equal(ur_bits_count(rays.words, rays.zeros + r * rays.words), 4);
    ur_rays_free(&rays);
    cyclic_cone(25, 7, Y);
    rays = rays_of(25, 7, Y);
    assert_int_equal(rays.count, 25 * 21 * 20 / 6);
    ur_rays_free(&rays);
    cyclic_cone(100, 3, Y);
    rays = rays_of(100, 3, Y);
    assert_int_equal(rays.count, 100);
    ur_rays_free(&rays);
}

/* the cube in 7 dimensions and its dual: 2 7 rows and 2^7 rays, 2^7 rows and 2 7 rays */
static void cubes_and_cross_polytopes_are_found(void **state)
{
    (void)state;
    double Y[128 * 8] = {0};
    for (size_t i = 0; i < 14; i++) {
        Y[i * 8] = 1;
        Y[i * 8 + 1 + i / 2] = i % 2 ? 1 : -1;
    }
    ur_unit_rows(14, 8, Y);
    ur_rays rays = rays_of(14, 8, Y);
    assert_int_equal(rays.count, 128);
    ur_rays_free(&rays);
    for (size_t i = 0; i < 128; i++)
        for (size_t j = 0; j < 8; j++)
            Y[i * 8 + j] = j == 0 || i >> (j - 1) & 1 ? 1 : -1;
    ur_unit_rows(128, 8, Y);
    rays = rays_of(128, 8, Y);
    assert_int_equal(rays.count, 14);
    for (size_t r = 0; r < 14; r++)
        assert_int_equal(ur_bits_count(rays.words, rays.zeros + r * rays.words), 64);
    ur_rays_free(&rays);
}

static void too_many_rays_end_it_with_rays_of_the_cone(void **state)
{
    (void)state;
    double Y[400];
    unrelu_error err = {0};
    ur_rays rays;
    cyclic_cone(80, 5, Y);
    for (size_t most = 0; most <= 3000; most += 600) {
        must(ur_rays_find(80, 5, Y, TOLERANCE, most, NULL, &rays, &err), &err);
        assert_false(rays.finished);
        assert_true(rays.count <= (most > 5 ? most : 5) && rays.inserted < 80);
        for (size_t r = 0; r < rays.count; r++) {
            assert_true(is_inside(80, 5, Y, rays.z + r * 5));
            assert_int_equal(ur_bits_count(rays.words, rays.zeros + r * rays.words), 4);
        }
        ur_rays_free(&rays);
    }
    must(ur_rays_find(80, 5, Y, TOLERANCE, 3080, NULL, &rays, &err), &err);
    assert_true(rays.finished);
    ur_rays_free(&rays);
}

static void a_cone_with_a_line_is_refused(void **state)
{
    (void)state;
    double Y[] = {1, 0, 0, 0, 1, 0};
    unrelu_error err = {0};
    ur_rays rays;
    assert_int_equal(ur_rays_find(2, 3, Y, TOLERANCE, 10, NULL, &rays, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "rank 2"));
    assert_null(rays.z);
}

static int stop(void *context)
{
    ++*(int *)context;
    return 1;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    double Y[400];
    int asked = 0;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .cancelled = stop, .context = &asked};
    ur_rays rays;
    cyclic_cone(80, 5, Y);
    assert_int_equal(ur_rays_find(80, 5, Y, TOLERANCE, 10000, &exec, &rays, &err),
                     UNRELU_ECANCELLED);
    assert_int_equal(asked, 1);
    assert_null(rays.z);
}

/* each ray is the child of many before it */
static void rays_do_not_drift_from_their_zeros(void **state)
{
    (void)state;
    enum { ROWS = 150, K = 6 };
    double *Y = malloc(ROWS * K * sizeof *Y), off = 0;
    assert_non_null(Y);
    size_t rows = generic_cone(ROWS, K, 1, Y);
    ur_rays rays = rays_of(rows, K, Y);
    assert_true(rays.finished && rays.count > 200);
    for (size_t r = 0; r < rays.count; r++) {
        assert_true(ur_bits_count(rays.words, rays.zeros + r * rays.words) >= K - 1);
        for (size_t i = 0; i < rows; i++)
            if (ur_bit(rays.zeros + r * rays.words, i))
                off = fmax(off, fabs(along(K, Y + i * K, rays.z + r * K)));
    }
    assert_near(off, 0, 2e-14);
    ur_rays_free(&rays);
    free(Y);
}

/* rows 1, 2 and their sum: rank 2, and what is left of z is the third axis */
static void a_vector_is_projected_onto_its_zeros(void **state)
{
    (void)state;
    double rows[3][3] = {{0.6, 0.8, 0}, {1, 0, 0}, {1.6, 0.8, 0}}, q[9];
    double z[3] = {1e-5, -2e-5, -3};
    const double *tight[] = {rows[0], rows[1], rows[2]};
    ur_unit_rows(3, 3, rows[0]);
    assert_int_equal(ur_cone_project(3, 3, tight, q, z), 2);
    assert_near(hypot(z[0], z[1]), 0, 1e-18);
    assert_near(z[2], -1, 1e-15);
}

/* more rows are inserted than the first bits hold */
static void hundreds_of_rows_may_matter(void **state)
{
    (void)state;
    enum { ROWS = 600 };
    double *Y = malloc(ROWS * 3 * sizeof *Y);
    assert_non_null(Y);
    cyclic_cone(ROWS, 3, Y);
    ur_rays rays = rays_of(ROWS, 3, Y);
    assert_int_equal(rays.count, ROWS);
    for (size_t r = 0; r < ROWS; r++)
        assert_int_equal(ur_bits_count(rays.words, rays.zeros + r * rays.words), 2);
    ur_rays_free(&rays);
    free(Y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_of_generic_cones_are_those_of_all_subsets),
        cmocka_unit_test(rays_of_degenerate_cones_are_those_of_all_subsets),
        cmocka_unit_test(rays_of_network_labels_are_those_of_all_subsets),
        cmocka_unit_test(a_cone_that_is_a_point_has_no_rays),
        cmocka_unit_test(a_flat_cone_has_the_rays_of_its_plane),
        cmocka_unit_test(one_dimension_has_a_ray_or_none),
        cmocka_unit_test(cyclic_cones_have_the_known_number_of_rays),
        cmocka_unit_test(cubes_and_cross_polytopes_are_found),
        cmocka_unit_test(too_many_rays_end_it_with_rays_of_the_cone),
        cmocka_unit_test(a_cone_with_a_line_is_refused),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(a_vector_is_projected_onto_its_zeros),
        cmocka_unit_test(rays_do_not_drift_from_their_zeros),
        cmocka_unit_test(hundreds_of_rows_may_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
