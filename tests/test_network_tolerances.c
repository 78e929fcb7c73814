/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tolerances of a recovery lie that are not those of its verdict (test_network_rules):
 * a case on either side of each, on pieces alone, so that one that moves by 100 is noticed. */
#include "planted.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/pattern/pattern.h"

enum { N = 200, D = 3, K = 2, M = 3 };
static double x[N * 2 * D], a[N * M];
static const double V[K * D] = {.6, .8, 0, 0, -.6, .8};
static const double U[M * K] = {1, .5, -.7, 1.2, .3, .9};

static void fill(size_t count, double *to)
{
    ur_random_normals(7, 99, 0, count, to);
}

/* a = U f(V x) */
static void set_labels(unrelu_activation f)
{
    fill(N * D, x);
    for (size_t i = 0; i < N; i++) {
        double t[K] = {0};
        for (size_t j = 0; j < K; j++)
            for (size_t l = 0; l < D; l++)
                t[j] += V[j * D + l] * x[i * D + l];
        ur_activation_apply(f, K, t, t, NULL);
        for (size_t r = 0; r < M; r++)
            a[i * M + r] = U[r * K] * t[0] + U[r * K + 1] * t[1];
    }
}

/* ---- dimensions ---- */

static size_t rank_of_inputs_apart_by(double apart)
{
    unrelu_error err = {0};
    ur_data data;
    ur_frame frame;
    UR_ARENA(arena);
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    for (size_t i = 0; i < N; i++)
        x[i * D + 2] = x[i * D] - x[i * D + 1] + apart * x[i * D + 2];
    must(ur_data_hold(N, D, M, x, a, NULL, &arena, &data, &err), &err);
    must(ur_frame_make(&data, N, (ur_terms){0, 0}, 1, &arena, &frame, &err), &err);
    return frame.p;
}

static void inputs_that_depend_to_within_rounding_lose_a_dimension(void **state)
{
    (void)state;
    assert_int_equal(rank_of_inputs_apart_by(1e-11), 3);
    assert_int_equal(rank_of_inputs_apart_by(2e-12), 3);
    assert_int_equal(rank_of_inputs_apart_by(1e-14), 2);
    assert_int_equal(rank_of_inputs_apart_by(0), 2);
}

/* rank of labels of two neurons and a third direction of this share, kept in single precision or
 * rounded to so many digits behind the point (0: neither) */
static size_t rank_of_labels(double share, int single, double digits)
{
    unrelu_error err = {0};
    ur_data data;
    ur_frame frame;
    size_t rank = 0;
    static double y[N * (M + 1)];
    UR_ARENA(arena);
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    for (size_t i = 0; i < N; i++)
        a[i * M] += share * x[i * D];
    for (size_t i = 0; i < N * M; i++)
        a[i] = single        ? (float)a[i]
               : digits != 0 ? rint(a[i] * pow(10, digits)) / pow(10, digits)
                             : a[i];
    must(ur_data_hold(N, D, M, x, a, NULL, &arena, &data, &err), &err);
    must(ur_frame_make(&data, N, (ur_terms){0, 0}, 1, &arena, &frame, &err), &err);
    must(ur_frame_labels(&frame, data.tolerance, &rank, y, NULL, &err), &err);
    return rank;
}

static void directions_of_labels_below_their_tolerance_are_rounding(void **state)
{
    (void)state;
    assert_int_equal(rank_of_labels(3e-9, 0, 0), 3);
    assert_int_equal(rank_of_labels(1e-11, 0, 0), 2);
    assert_int_equal(rank_of_labels(3e-5, 1, 0), 3);
    assert_int_equal(rank_of_labels(0, 1, 0), 2);
    assert_int_equal(rank_of_labels(3e-2, 0, 2), 3); /* ten roundings are more than the most */
    assert_int_equal(rank_of_labels(0, 0, 2), 2);
}

static size_t rank_of_a_linear_part(double share)
{
    unrelu_error err = {0};
    ur_data data;
    ur_frame frame;
    size_t rank = 9;
    double rows[D * D], inside[K * D], none[K] = {0};
    unrelu_activation relu = {UNRELU_RELU, 0};
    UR_ARENA(arena);
    set_labels(relu);
    for (size_t i = 0; i < N; i++)
        a[i * M] += share * x[i * D];
    must(ur_data_hold(N, D, M, x, a, NULL, &arena, &data, &err), &err);
    must(ur_frame_make(&data, N, (ur_terms){0, 0}, 1, &arena, &frame, &err), &err);
    must(ur_frame_enter(&frame, relu, K, V, none, inside, &err), &err);
    must(ur_linear_part(&frame, K, inside, relu, 1e-6, &rank, rows, &err), &err);
    return rank;
}

static void a_linear_part_below_1e_8_of_the_labels_is_rounding(void **state)
{
    (void)state;
    assert_int_equal(rank_of_a_linear_part(1e-7), 1);
    assert_int_equal(rank_of_a_linear_part(1e-9), 0);
}

static void rows_within_1e_6_are_one_neuron(void **state)
{
    (void)state;
    double v[D];
    memcpy(v, V + D, sizeof v);
    v[0] += 1e-5;
    assert_false(ur_is_row_of(K, D, V, v));
    v[0] -= .99e-5;
    assert_true(ur_is_row_of(K, D, V, v));
}

/* ---- patterns ---- */

/* the labels of one neuron of degree q, whose last input has this scale */
static ur_pattern_end run_pattern(double scale, double degree, int look, double *error)
{
    static double y[N];
    double v[D] = {.6, .7, .2}, w[1], truth[D] = {.6, .8, 0}, size = 0;
    UR_ARENA(arena);
    fill(N * D, x);
    for (size_t i = 0; i < N; i++) {
        x[i * D + 2] *= scale;
        y[i] = pow(fmax(0, .6 * x[i * D] + .8 * x[i * D + 1]), degree);
        size += y[i] * y[i];
    }
    for (size_t i = 0; i < N; i++)
        y[i] /= sqrt(size);
    ur_pattern problem = {N, D, 1, x, y, degree};
    ur_pattern_room *room = ur_pattern_room_in(&arena, &problem);
    assert_false(ur_arena_failed(&arena));
    ur_pattern_end end = look ? ur_pattern_look(&problem, room, truth, 0)
                              : ur_pattern_run(&problem, room, NULL, 0, v, w);
    *error = 0;
    for (size_t l = 0; l < D; l++)
        *error = fmax(*error, fabs(v[l] - truth[l]));
    return end;
}

static void inputs_of_a_spread_below_1e_10_do_not_span(void **state)
{
    (void)state;
    double error;
    assert_near(run_pattern(3e-5, 1, 1, &error).rho, 1, 1e-12);
    assert_true(run_pattern(3e-6, 1, 1, &error).rho == 0);
}

static void damped_patterns_end_where_rounding_begins(void **state)
{
    (void)state;
    double error;
    assert_near(run_pattern(1, 2, 0, &error).rho, 1, 1e-14);
    assert_true(error < 1e-15);
}

/* ---- Gauss-Newton ---- */

static double rss_after(int steps, unrelu_activation f, const double *start)
{
    unrelu_error err = {0};
    ur_newton problem = {.n = N, .p = D, .m = M, .x = x, .a = a, .f = f};
    ur_newton_fit fit;
    double size = 0;
    UR_ARENA(arena);
    for (size_t i = 0; i < N * M; i++)
        size += a[i] * a[i];
    must(ur_newton_alloc(&problem, K, &arena, &fit, &err), &err);
    memcpy(fit.V, start, sizeof V);
    must(ur_newton_solve(&problem, steps, 0, 0, &fit, &err), &err);
    return fit.rss / size;
}

/* what is left of |a|^2 after so many steps: the first damping, its fall after a step that keeps
 * its promise and its growth after one that does not, and the longest step where f is not
 * homogeneous */
static void the_walk_of_gauss_newton_is_as_it_was(void **state)
{
    (void)state;
    static const double near[] = {.7, .6, .3, .2, -.7, .6}, far[] = {-.6, .5, .6, .9, .1, .4};
    static const unrelu_activation f[] = {{UNRELU_RELU, 0}, {UNRELU_TANH_POS, 0}};
    static const double left[2][2][4] = {
        {{0.00190367, 4.257e-06, 2.09165e-13, 5.79697e-24},
         {0.262791, 0.0216936, 0.000366034, 2.598e-07}},
        {{0.00678401, 9.43011e-05, 5.84501e-08, 1.42619e-15},
         {0.430045, 0.287767, 0.164328, 0.0431746}},
    };
    for (size_t t = 0; t < 2; t++) {
        set_labels(f[t]);
        for (int steps = 0; steps < 4; steps++) {
            assert_near(rss_after(steps + 1, f[t], near) / left[t][0][steps], 1, 1e-3);
            assert_near(rss_after(steps + 1, f[t], far) / left[t][1][steps], 1, 1e-3);
        }
    }
    double stuck[K * D]; /* from step 9 on it takes seven to damp enough */
    unrelu_activation expm1_of = {UNRELU_EXPM1, 0};
    ur_random_normals(11, 98, 0, K * D, stuck);
    set_labels(expm1_of);
    assert_near(rss_after(9, expm1_of, stuck), 0.124616, 1e-5);
    assert_near(rss_after(15, expm1_of, stuck), 0.124616, 1e-5);
    assert_near(rss_after(16, expm1_of, stuck), 0.123933, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_that_depend_to_within_rounding_lose_a_dimension),
        cmocka_unit_test(directions_of_labels_below_their_tolerance_are_rounding),
        cmocka_unit_test(a_linear_part_below_1e_8_of_the_labels_is_rounding),
        cmocka_unit_test(rows_within_1e_6_are_one_neuron),
        cmocka_unit_test(inputs_of_a_spread_below_1e_10_do_not_span),
        cmocka_unit_test(damped_patterns_end_where_rounding_begins),
        cmocka_unit_test(the_walk_of_gauss_newton_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
