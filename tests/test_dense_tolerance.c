/* SPDX-License-Identifier: Apache-2.0 */
/* Tolerances of cones and of small dense mathematics: each test fails where one of them is 100
 * times larger or smaller (the latter not where that takes longer, and nothing else). */
#include "planted.h"

#include "base/random.h"
#include "cone/cone.h"
#include "cone/facet.h"
#include "dense/als.h"
#include "dense/linear.h"
#include "dense/lp.h"
#include "dense/rank_ones.h"

/* ---- cones ---- */

static void rows_span_the_plane_from_an_angle_of_1e_13_on(void **state)
{
    (void)state;
    for (int spans = 0; spans < 2; spans++) {
        double Y[] = {1, 0, 1, spans ? 1e-12 : 1e-14};
        ur_rays rays;
        unrelu_error err = {0};
        assert_int_equal(ur_rays_find(2, 2, Y, 1e-15, 10, NULL, &rays, &err),
                         spans ? UNRELU_OK : UNRELU_EDATA);
        ur_rays_free(&rays);
    }
}

static void a_row_adds_to_a_projection_from_1e_10_on(void **state)
{
    (void)state;
    for (int adds = 0; adds < 2; adds++) {
        double first[] = {1, 0, 0}, second[] = {1, adds ? 1e-9 : 1e-11, 0}, z[] = {1, 1, 1}, q[9];
        const double *rows[] = {first, second};
        assert_int_equal(ur_cone_project(3, 2, rows, q, z), adds ? 2 : 1);
        assert_near(z[1], adds ? 0 : sqrt(0.5), 1e-6);
    }
}

enum { EACH = 50 };

/* the quarter plane, and one sample more at (length, length off): facets found, and samples on that
 * of the first axis */
static size_t search_quarter_plane(double length, double off, size_t *zeros)
{
    double Y[2 * (3 * EACH + 1)];
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_facets found;
    for (size_t i = 0; i < EACH; i++) {
        double s = 1 + 0.01 * (double)i;
        memcpy(Y + 6 * i, (double[]){s, 0, 0, s, s, 2 - 0.9 * s}, 6 * sizeof *Y);
    }
    memcpy(Y + 6 * EACH, (double[]){length, length * off}, 2 * sizeof *Y);
    ur_facet_search search = {.n = 3 * EACH + 1, .p = 2, .Y = Y, .wanted = 2, .extra = 5};
    must(ur_facets_find(&search, &arena, &found, &err), &err);
    *zeros = 0;
    for (size_t k = 0; k < found.count; k++)
        if (fabs(found.U[2 * k + 1]) > 0.9)
            *zeros = found.zeros[k];
    return found.count;
}

static void a_sample_next_to_a_facet_hides_it_up_to_1e_8(void **state)
{
    (void)state;
    size_t zeros;
    assert_int_equal(search_quarter_plane(1.7, 1e-7, &zeros), 2);
    assert_int_equal(search_quarter_plane(1.7, 3e-9, &zeros), 1);
}

static void a_sample_is_on_a_refined_facet_up_to_1e_11(void **state)
{
    (void)state;
    size_t zeros;
    search_quarter_plane(1.7, 1e-10, &zeros);
    assert_int_equal(zeros, EACH);
    search_quarter_plane(1.7, 1e-12, &zeros);
    assert_int_equal(zeros, EACH + 1);
}

static void a_row_is_0_below_1e_12_of_the_others(void **state)
{
    (void)state;
    size_t zeros;
    search_quarter_plane(1e-11, 0, &zeros);
    assert_int_equal(zeros, EACH + 1);
    search_quarter_plane(1e-13, 0, &zeros);
    assert_int_equal(zeros, EACH);
}

/* a half-plane but for an angle: its two normals differ by that */
static void facets_are_one_up_to_a_difference_of_1e_6(void **state)
{
    (void)state;
    for (int two = 0; two < 2; two++) {
        double Y[6 * EACH], angle = two ? 1e-5 : 1e-7;
        unrelu_error err = {0};
        UR_ARENA(arena);
        ur_facets found;
        for (size_t i = 0; i < EACH; i++) {
            double s = 1 + 0.01 * (double)i;
            memcpy(Y + 6 * i, (double[]){s, 0, -s, s * angle, s - 1.2, s}, 6 * sizeof *Y);
        }
        ur_facet_search search = {.n = 3 * EACH, .p = 2, .Y = Y, .wanted = 2, .extra = 5};
        must(ur_facets_find(&search, &arena, &found, &err), &err);
        assert_int_equal(found.count, two ? 2 : 1);
    }
}

/* samples on a facet of three dimensions, that lie on a line but for an angle */
static void samples_on_a_facet_span_it_from_an_angle_of_1e_7_on(void **state)
{
    (void)state;
    for (int spans = 0; spans < 2; spans++) {
        double Y[9 * EACH], angle = spans ? 1e-6 : 1e-8, U[] = {0, 0, 1};
        unrelu_error err = {0};
        size_t certified;
        for (size_t i = 0; i < EACH; i++) {
            double s = 1 + 0.01 * (double)i;
            memcpy(Y + 9 * i, (double[]){s, 0, 0, s, s * angle, 0, s - 1.2, 2 - s, s},
                   9 * sizeof *Y);
        }
        ur_facet_search search = {.n = 3 * EACH, .p = 3, .Y = Y};
        must(ur_facets_check(&search, 1, U, &certified, &err), &err);
        assert_int_equal(certified, spans);
    }
}

/* The quarter plane with noise of deviation 0.01; samples on the first axis times `size`, and some
 * more at (at, off). Facets found, and samples on that of the first axis. */
static size_t search_with_noise(double size, size_t more, double at, double off, size_t *zeros)
{
    enum { MOST = 20 };
    double Y[2 * (3 * EACH + MOST)];
    const double noise[] = {1e-4, 0, 0, 1e-4};
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_facets found;
    for (size_t i = 0; i < EACH; i++) {
        double s = 1 + 0.01 * (double)i;
        memcpy(Y + 6 * i, (double[]){s * size, 0, 0, s, s, 2 - 0.9 * s}, 6 * sizeof *Y);
    }
    for (size_t i = 0; i < more; i++)
        memcpy(Y + 2 * (3 * EACH + i), (double[]){at + 0.01 * (double)i, off}, 2 * sizeof *Y);
    ur_facet_search search = {
        .n = 3 * EACH + more, .p = 2, .Y = Y, .noise = noise, .wanted = 2, .extra = 5};
    must(ur_facets_find(&search, &arena, &found, &err), &err);
    *zeros = 0;
    for (size_t k = 0; k < found.count; k++)
        if (fabs(found.U[2 * k + 1]) > 0.9)
            *zeros = found.zeros[k];
    return found.count;
}

/* chi-square 100 and 8 of 2 degrees: the mean and 6 deviations are 14 */
static void a_sample_is_noise_up_to_six_deviations_of_its_size(void **state)
{
    (void)state;
    size_t zeros;
    search_with_noise(1, 1, 0.1, 0, &zeros);
    assert_int_equal(zeros, EACH + 1);
    search_with_noise(1, 1, sqrt(8) * 0.01, 0, &zeros);
    assert_int_equal(zeros, EACH);
}

static void samples_on_a_facet_vary_from_three_deviations_on(void **state)
{
    (void)state;
    size_t zeros;
    search_with_noise(0.1, 0, 0, 0, &zeros);
    assert_int_equal(zeros, EACH);
}

static void a_facet_has_a_gap_of_nine_deviations_above_it(void **state)
{
    (void)state;
    size_t zeros;
    search_with_noise(1, 20, 1, 0.12, &zeros);
    assert_int_equal(zeros, EACH);
    search_with_noise(1, 20, 1, 0.05, &zeros);
    assert_int_equal(zeros, 0);
}

/* ---- rank-one matrices in a span ---- */

/* e1 e1', e2 e2', and e1 e1' + t e3 e3' */
static void a_matrix_adds_to_a_span_from_1e_14_of_the_first_on(void **state)
{
    (void)state;
    for (int adds = 0; adds < 2; adds++) {
        double span[27] = {0}, Z[9], worst;
        unrelu_error err = {0};
        span[0] = span[9 + 4] = span[18] = 1;
        span[18 + 8] = adds ? 3e-13 : 3e-15;
        must(ur_span_split(3, span, 1, 3, Z, &worst, &err), &err);
        assert_int_equal(isfinite(worst), adds);
    }
}

/* z3 lies in the plane of the others but for d: the determinants of the span are of order d^2 */
static void members_of_a_span_are_invertible_from_1e_13_on(void **state)
{
    (void)state;
    for (int invertible = 0; invertible < 2; invertible++) {
        double z[] = {1, 0, 0, 0, 1, 0, 0.6, 0.6, sqrt(invertible ? 1e-12 : 1e-14)};
        double span[27], Z[9], worst;
        unrelu_error err = {0};
        for (size_t i = 0; i < 27; i++)
            span[i] = z[i / 9 * 3 + i % 9 / 3] * z[i / 9 * 3 + i % 3];
        must(ur_span_split(3, span, 1, 3, Z, &worst, &err), &err);
        assert_int_equal(isfinite(worst), invertible);
    }
}

/* ---- alternating least squares ---- */

enum { R = 3, Q = 3, K = 2 };

/* two terms at an angle, from a random start or from the truth: the fit, and what five more sweeps
 * gain of it */
static double decompose(double angle, double noise, int from_truth, int steps, double *gain)
{
    double V[K * Q] = {1, 0, 0, cos(angle), sin(angle), 0}, G[K * R] = {1, 0.2, -0.3, 0.5, 1, 0.4};
    double T[R * Q * Q] = {0}, drawn[R * Q * Q], fit, next;
    unrelu_error err = {0};
    ur_random_normals(1, 1, 0, R * Q * Q, drawn);
    for (size_t s = 0; s < R; s++)
        for (size_t a = 0; a < Q; a++)
            for (size_t b = 0; b < Q; b++) {
                double *t = &T[(s * Q + a) * Q + b];
                *t = noise * (drawn[(s * Q + a) * Q + b] + drawn[(s * Q + b) * Q + a]);
                for (size_t j = 0; j < K; j++)
                    *t += G[j * R + s] * V[j * Q + a] * V[j * Q + b];
            }
    const ur_als problem = {.r = R, .q = Q, .k = K, .T = T};
    if (!from_truth)
        ur_random_normals(2, 1, 0, K * Q, V);
    must(ur_als_run(&problem, steps, V, G, &fit, &err), &err);
    must(ur_als_run(&problem, 5, V, G, &next, &err), &err);
    *gain = (fit - next) / fit;
    return fit;
}

static void sweeps_end_where_five_gain_1e_10_of_the_residual(void **state)
{
    (void)state;
    double gain;
    decompose(0.1, 1e-3, 0, 200000, &gain);
    assert_true(gain > 2e-11 && gain < 2e-10);
}

static void sweeps_of_exact_tensors_end_at_rounding(void **state)
{
    (void)state;
    double gain;
    assert_true(decompose(0.45, 0, 0, 200000, &gain) < 1e-14);
}

static void the_first_ridge_is_rounding(void **state)
{
    (void)state;
    double gain;
    assert_true(decompose(0.01, 0, 1, 1, &gain) < 5e-13);
}

/* Of many terms that coincide the system is singular to more than the first ridge: the second, 100
 * times as large, shares the weight among them and costs no digit of the sum. */
static void ridges_grow_while_they_cost_no_digit(void **state)
{
    (void)state;
    enum { SAME = 60 };
    double V[SAME * Q], G[SAME * R], T[R * Q * Q], fit;
    unrelu_error err = {0};
    for (size_t i = 0; i < SAME * Q; i++)
        V[i] = (const double[]){.6, .64, .48}[i % Q];
    for (size_t i = 0; i < R * Q * Q; i++)
        T[i] = (1 + (double)(i / Q / Q)) * V[i / Q % Q] * V[i % Q];
    const ur_als problem = {.r = R, .q = Q, .k = SAME, .T = T};
    must(ur_als_run(&problem, 1, V, G, &fit, &err), &err);
    assert_true(fit < 1e-13);
}

/* ---- linear programmes ---- */

/* rows of mixtures with noise of 1e-10: vertices that are next to each other */
static void vertices_are_told_apart_by_1e_11(void **state)
{
    (void)state;
    enum { N = 1000, P = 10, CASES = 4 };
    static double rows[N * P], M[N * P], noise[N * P];
    double worst = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        double A[P * P], price[P] = {0}, r[P], u[P];
        ur_lp_outcome outcome = UR_LP_INFEASIBLE;
        unrelu_error err = {0};
        ur_random_normals(seed, 1, 0, P * P, A);
        ur_random_normals(seed, 2, 0, N * P, M);
        ur_random_normals(seed, 3, 0, N * P, noise);
        ur_random_normals(seed, 4, 0, P, r);
        for (size_t i = 0; i < N * P; i++)
            M[i] = fmax(0, M[i]);
        ur_multiply(N, P, P, M, A, rows);
        ur_unit_rows(N, P, rows);
        for (size_t i = 0; i < N * P; i++) {
            rows[i] += 1e-10 * noise[i];
            price[i % P] += rows[i] / N;
        }
        for (int turn = 0; turn < 2 && outcome != UR_LP_OPTIMAL; turn++) {
            must(ur_lp_ray(N, P, rows, price, r, u, &outcome, &err), &err);
            for (size_t j = 0; j < P; j++)
                r[j] = -r[j];
        }
        assert_int_equal(outcome, UR_LP_OPTIMAL);
        for (size_t i = 0; i < N; i++)
            worst = fmin(worst, ur_short_dot(P, rows + i * P, u));
    }
    assert_true(worst > -3e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_span_the_plane_from_an_angle_of_1e_13_on),
        cmocka_unit_test(a_row_adds_to_a_projection_from_1e_10_on),
        cmocka_unit_test(a_sample_next_to_a_facet_hides_it_up_to_1e_8),
        cmocka_unit_test(a_sample_is_on_a_refined_facet_up_to_1e_11),
        cmocka_unit_test(a_row_is_0_below_1e_12_of_the_others),
        cmocka_unit_test(facets_are_one_up_to_a_difference_of_1e_6),
        cmocka_unit_test(samples_on_a_facet_span_it_from_an_angle_of_1e_7_on),
        cmocka_unit_test(a_sample_is_noise_up_to_six_deviations_of_its_size),
        cmocka_unit_test(samples_on_a_facet_vary_from_three_deviations_on),
        cmocka_unit_test(a_facet_has_a_gap_of_nine_deviations_above_it),
        cmocka_unit_test(a_matrix_adds_to_a_span_from_1e_14_of_the_first_on),
        cmocka_unit_test(members_of_a_span_are_invertible_from_1e_13_on),
        cmocka_unit_test(sweeps_end_where_five_gain_1e_10_of_the_residual),
        cmocka_unit_test(sweeps_of_exact_tensors_end_at_rounding),
        cmocka_unit_test(the_first_ridge_is_rounding),
        cmocka_unit_test(ridges_grow_while_they_cost_no_digit),
        cmocka_unit_test(vertices_are_told_apart_by_1e_11),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
