/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/linear.h"
#include "dense/lp.h"
#include "planted.h"

#include <limits.h>

static ur_lp_outcome solve(size_t n, size_t p, const double *R, const double *c, const double *r,
                           double *u)
{
    ur_lp_outcome outcome;
    unrelu_error err = {0};
    must(ur_lp_ray(n, p, R, c, r, u, &outcome, &err), &err);
    return outcome;
}

static double dot(size_t p, const double *a, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++)
        sum += a[j] * b[j];
    return sum;
}

/* non-negative mixtures of p random vectors (n x p), rows of length 1, and their mean */
static void mixtures(size_t n, size_t p, uint64_t seed, double *R, double *mean)
{
    double *A = malloc(p * p * sizeof *A), *M = malloc(n * p * sizeof *M);
    assert_non_null(A);
    assert_non_null(M);
    ur_random_normals(seed, 1, 0, p * p, A);
    ur_random_normals(seed, 2, 0, n * p, M);
    for (size_t i = 0; i < n * p; i++)
        M[i] = fmax(0, M[i] + 0.2);
    ur_multiply(n, p, p, M, A, R);
    memset(mean, 0, p * sizeof *mean);
    for (size_t i = 0; i < n; i++) {
        double length = sqrt(dot(p, R + i * p, R + i * p));
        for (size_t j = 0; j < p; j++) {
            R[i * p + j] /= length > 0 ? length : 1;
            mean[j] += R[i * p + j] / (double)n;
        }
    }
    free(A);
    free(M);
}

static void the_cheaper_corner_of_a_quadrant_is_found(void **state)
{
    (void)state;
    const double R[] = {1, 0, 0, 1}, c[] = {1, 2}, r[] = {1, 1};
    double u[2];
    assert_int_equal(solve(2, 2, R, c, r, u), UR_LP_OPTIMAL);
    assert_near(u[0], 1, 1e-12);
    assert_near(u[1], 0, 1e-12);
}

static void a_price_that_falls_for_ever_is_unbounded(void **state)
{
    (void)state;
    const double R[] = {1, 0, 0, 1}, c[] = {-1, -1}, r[] = {1, -1};
    double u[] = {7, 8};
    assert_int_equal(solve(2, 2, R, c, r, u), UR_LP_UNBOUNDED);
    assert_true(u[0] == 7 && u[1] == 8);
}

static void contradictory_rows_are_infeasible_at_any_price(void **state)
{
    (void)state;
    const double R[] = {-1, 0}, r[] = {1, 0}, bounded[] = {1, 0}, unbounded[] = {0, 1};
    double u[2];
    assert_int_equal(solve(1, 2, R, bounded, r, u), UR_LP_INFEASIBLE);
    assert_int_equal(solve(1, 2, R, unbounded, r, u), UR_LP_INFEASIBLE);
    assert_int_equal(solve(0, 0, NULL, NULL, NULL, u), UR_LP_INFEASIBLE);
}

/* all corners of {u: R u >= 0, r'u = 1} in three dimensions: each is on two of the planes */
static double best_corner(size_t n, const double *R, const double *c, const double *r)
{
    double best = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double *a = R + 3 * i, *b = R + 3 * j;
            double u[] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                          a[0] * b[1] - a[1] * b[0]};
            double scale = dot(3, r, u);
            int inside = fabs(scale) > 1e-9;
            for (size_t l = 0; l < 3; l++)
                u[l] /= scale;
            for (size_t l = 0; l < n && inside; l++)
                inside = l == i || l == j || dot(3, R + 3 * l, u) >= -1e-12;
            if (inside)
                best = fmin(best, dot(3, c, u));
        }
    return best;
}

static void the_optimum_is_the_best_of_all_corners(void **state)
{
    (void)state;
    enum { N = 14 };
    double R[3 * N], c[3], r[3], u[3];
    int optimal = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        mixtures(N, 3, seed, R, c);
        ur_random_normals(seed, 3, 0, 3, r);
        double best = best_corner(N, R, c, r);
        if (solve(N, 3, R, c, r, u) == UR_LP_OPTIMAL) {
            optimal++;
            assert_near(dot(3, c, u), best, 1e-10 * fabs(best));
        } else {
            assert_true(best == INFINITY);
        }
    }
    assert_true(optimal > 5);
}

/* c = R_active' l + t r with l >= 0: nothing feasible is cheaper than t */
static void a_tall_optimum_is_a_vertex_and_has_its_multipliers(void **state)
{
    (void)state;
    enum { N = 3000, P = 20 };
    double *R = malloc(N * P * sizeof *R), c[P], r[P], u[P], again[P];
    double active[P * P], multipliers[P];
    size_t count = 0;
    assert_non_null(R);
    mixtures(N, P, 4, R, c);
    for (size_t i = 0; i < N; i++) /* general position, inside the quadrant of c */
        for (size_t j = 0; j < P; j++)
            R[i * P + j] += 3 * c[j];
    ur_random_normals(5, 3, 0, P, r);
    assert_int_equal(solve(N, P, R, c, r, u), UR_LP_OPTIMAL);
    assert_near(dot(P, r, u), 1, 1e-10);
    for (size_t i = 0; i < N; i++) {
        double h = dot(P, R + i * P, u);
        assert_true(h >= -1e-10);
        if (h <= 1e-10) {
            assert_true(count < P - 1);
            for (size_t j = 0; j < P; j++)
                active[j * P + count] = R[i * P + j];
            count++;
        }
    }
    assert_int_equal(count, P - 1);
    for (size_t j = 0; j < P; j++)
        active[j * P + P - 1] = r[j];
    unrelu_error err = {0};
    size_t rank;
    must(ur_least_squares(P, P, 1, active, c, 1e-13, multipliers, &rank, &err), &err);
    assert_int_equal(rank, P);
    for (size_t j = 0; j < P - 1; j++)
        assert_true(multipliers[j] >= -1e-10);
    assert_near(multipliers[P - 1], dot(P, c, u), 1e-9 * (1 + fabs(dot(P, c, u))));
    solve(N, P, R, c, r, again);
    assert_memory_equal(u, again, sizeof u);
    free(R);
}

static void a_programme_beyond_the_solvers_integers_is_refused(void **state)
{
    (void)state;
    double u[2];
    ur_lp_outcome outcome;
    unrelu_error err = {0};
    assert_int_equal(ur_lp_ray(INT_MAX / 2, 3, NULL, NULL, NULL, u, &outcome, &err), UNRELU_EDATA);
    assert_string_equal(err.text,
                        "a linear programme of 1073741823 rows and 3 unknowns is too large");
}

static unrelu_status solve_within(size_t limit, size_t n, size_t p, const double *R,
                                  const double *c, unrelu_error *err)
{
    double u[4];
    ur_lp_outcome outcome;
    size_t before = unrelu_memory_used();
    unrelu_memory_limit(before + limit);
    unrelu_status status = ur_lp_ray(n, p, R, c, c, u, &outcome, err);
    unrelu_memory_limit(0);
    assert_int_equal(unrelu_memory_used(), before);
    return status;
}

/* 100 rows: .01 MB of ours, and 1.3 MB of Clp whatever the rows are */
static void the_workspace_of_the_solver_counts_against_the_limit_of_memory(void **state)
{
    (void)state;
    enum { N = 100, P = 4, ENOUGH = 1600000, TOO_LITTLE = 1200000 };
    double R[N * P], c[P];
    unrelu_error err = {0};
    mixtures(N, P, 6, R, c);
    must(solve_within(ENOUGH, N, P, R, c, &err), &err);
    assert_int_equal(solve_within(TOO_LITTLE, N, P, R, c, &err), UNRELU_ENOMEM);
    assert_non_null(strstr(err.text, "bytes were wanted"));
    assert_non_null(strstr(err.text, "`max-memory` is"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheaper_corner_of_a_quadrant_is_found),
        cmocka_unit_test(a_price_that_falls_for_ever_is_unbounded),
        cmocka_unit_test(contradictory_rows_are_infeasible_at_any_price),
        cmocka_unit_test(the_optimum_is_the_best_of_all_corners),
        cmocka_unit_test(a_tall_optimum_is_a_vertex_and_has_its_multipliers),
        cmocka_unit_test(a_programme_beyond_the_solvers_integers_is_refused),
        cmocka_unit_test(the_workspace_of_the_solver_counts_against_the_limit_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
