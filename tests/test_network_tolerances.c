/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tolerances of a recovery lie that are not those of its verdict (test_network_rules):
 * a case on either side of each, on pieces alone, so that one that moves by 100 is noticed. */
#include "planted.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/exact/lift.h"
#include "network/noisy/noisy.h"
#include "network/noisy/score.h"
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
    assert_int_equal(rank_of_labels(3e-7, 1, 0), 2);
    assert_int_equal(rank_of_labels(1e-3, 0, 5), 3);
    assert_int_equal(rank_of_labels(3e-2, 0, 2), 3); /* ten roundings are more than the most */
    assert_int_equal(rank_of_labels(0, 0, 2), 2);
}

static size_t rank_of_a_linear_part(double share, double other, double floor)
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
        a[i * M] += share * x[i * D], a[i * M + 1] += other * x[i * D + 1];
    must(ur_data_hold(N, D, M, x, a, NULL, &arena, &data, &err), &err);
    must(ur_frame_make(&data, N, (ur_terms){0, 0}, 1, &arena, &frame, &err), &err);
    must(ur_frame_enter(&frame, relu, K, V, none, inside, &err), &err);
    must(ur_linear_part(&frame, K, inside, relu, floor, &rank, rows, &err), &err);
    return rank;
}

static void a_linear_part_below_1e_8_of_the_labels_is_rounding(void **state)
{
    (void)state;
    assert_int_equal(rank_of_a_linear_part(1e-7, 0, 1e-12), 1);
    assert_int_equal(rank_of_a_linear_part(1e-9, 0, 1e-12), 0);
}

static void a_linear_direction_below_the_rounding_of_the_labels_is_no_part(void **state)
{
    (void)state;
    assert_int_equal(rank_of_a_linear_part(1e-6, 0, 1e-5), 0);
    assert_int_equal(rank_of_a_linear_part(1e-4, 0, 1e-5), 1);
    assert_int_equal(rank_of_a_linear_part(1, 1e-6, 1e-5), 1);
    assert_int_equal(rank_of_a_linear_part(1, 1e-4, 1e-5), 2);
    assert_int_equal(rank_of_a_linear_part(1, 1e-6, 1e-12), 2);
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

/* ---- data ---- */

static unrelu_status hold(double cell, double label)
{
    unrelu_error err = {0};
    ur_data data;
    UR_ARENA(arena);
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    x[5] = cell;
    for (size_t i = 0; i < N * M; i++)
        a[i] *= label;
    return ur_data_hold(N, D, M, x, a, NULL, &arena, &data, &err);
}

static void inputs_and_labels_that_can_be_squared_are_taken(void **state)
{
    (void)state;
    assert_int_equal(hold(3e99, 1), UNRELU_OK);
    assert_int_equal(hold(3e100, 1), UNRELU_EDATA);
    assert_int_equal(hold(3e-100, 1), UNRELU_OK);
    assert_int_equal(hold(3e-101, 1), UNRELU_EDATA);
    assert_int_equal(hold(1, 1e-305), UNRELU_OK);
    assert_int_equal(hold(1, 1e-307), UNRELU_EDATA);
}

/* ---- moments ---- */

static int regress_on_features_with(double left)
{
    unrelu_error err = {0};
    double gram[4] = {1, sqrt(1 - left), sqrt(1 - left), 1}, cross[2] = {1, 0};
    int positive = 0;
    must(ur_regression_solve(2, 1, gram, cross, 0, &positive, &err), &err);
    return positive;
}

static void features_that_leave_1e_8_of_their_variance_are_regressed_on(void **state)
{
    (void)state;
    assert_true(regress_on_features_with(1e-7));
    assert_false(regress_on_features_with(1e-9));
}

/* labels of one neuron, and of another of this share of its size */
static size_t combinations_of_labels(double share)
{
    unrelu_error err = {0};
    ur_white white;
    double *y = NULL;
    size_t r = 0;
    UR_ARENA(arena);
    fill(N * D, x);
    for (size_t i = 0; i < N; i++) {
        a[i * 2] = fmax(0, x[i * D]);
        a[i * 2 + 1] = a[i * 2] + share * fmax(0, x[i * D + 1]);
    }
    const ur_start start = {.sample = {N, D, 2, x, a}, .k = K, .f = {UNRELU_RELU, 0}};
    must(ur_white_new(&start.sample, NULL, &arena, &white, &err), &err);
    must(ur_score_labels(&start, &white, 1, &arena, &r, &y, &err), &err);
    return r;
}

static void combinations_of_labels_below_1e_10_of_their_variance_are_rounding(void **state)
{
    (void)state;
    assert_int_equal(combinations_of_labels(5e-5), 2);
    assert_int_equal(combinations_of_labels(5e-6), 1);
}

/* of a neuron with this bias, beside one without */
static double bias_found(double c)
{
    unrelu_error err = {0};
    size_t weak;
    double rows[K * D] = {1, 0, 0, 0, 1, 0}, found[K];
    fill(N * D, x);
    for (size_t i = 0; i < N; i++) {
        a[i * 2] = fmax(0, x[i * D] + c);
        a[i * 2 + 1] = fmax(0, x[i * D + 1]);
    }
    const ur_start start = {.sample = {N, D, 2, x, a}, .k = K, .f = {UNRELU_RELU, 0}, .hidden = 1};
    must(ur_start_biases(&start, rows, found, &weak, &err), &err);
    return found[0];
}

static void biases_are_held_within_four_deviations(void **state)
{
    (void)state;
    assert_near(bias_found(1), 1, .2);
    assert_near(bias_found(-3), -4, .3);
}

/* whether a neuron that is on for so many of a thousand samples is told to be weak */
static int is_weak(size_t on)
{
    enum { ROWS = 1000, IN = 2, OUT = 2 };
    static double z[ROWS * IN], b[ROWS * OUT], e[ROWS * OUT];
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_outcome out = ur_outcome_in(&arena);
    ur_problem given = {.options = {.activation = {UNRELU_RELU, 0}}};
    ur_newton_fit fit;
    ur_frame frame;
    ur_random_normals(3, 97, 0, ROWS * IN, z);
    ur_random_normals(3, 96, 0, ROWS * OUT, e);
    for (size_t i = 0; i < ROWS; i++) {
        z[i * IN + 1] = i < on ? fabs(z[i * IN + 1]) + 1 : -fabs(z[i * IN + 1]) - 1;
        b[i * OUT] = fmax(0, z[i * IN]) + .01 * e[i * OUT];
        b[i * OUT + 1] = fmax(0, z[i * IN + 1]) + .01 * e[i * OUT + 1];
    }
    must(ur_data_hold(ROWS, IN, OUT, z, b, NULL, &arena, &given.data, &err), &err);
    must(ur_frame_make(&given.data, ROWS, (ur_terms){0, 0}, 0, &arena, &frame, &err), &err);
    ur_newton problem = ur_frame_problem(&frame, given.options.activation, NULL);
    must(ur_newton_alloc(&problem, 2, &arena, &fit, &err), &err);
    double rows[] = {1, 0, 0, 1};
    must(ur_frame_enter(&frame, given.options.activation, 2, rows, (double[2]){0}, fit.V, &err),
         &err);
    must(ur_likelihood(&given, &frame, &fit, &out, &err), &err);
    int weak = 0;
    for (size_t i = 0; i < out.notes.count; i++)
        weak |= strcmp(out.notes.list[i].code, "weak-neuron") == 0;
    return weak;
}

static void a_neuron_that_switches_for_less_than_6_in_1000_is_weak(void **state)
{
    (void)state;
    assert_true(is_weak(4));
    assert_false(is_weak(12));
}

/* ---- starts with noise ---- */

/* normal inputs z (n x d), k unit rows (k x d), and labels b (n x m) of these neurons */
static void set_network(uint64_t seed, size_t n, size_t d, size_t k, size_t m, double noise,
                        double *z, double *rows, double *b)
{
    double *y = calloc(n * k, sizeof *y), *out = calloc(m * k, sizeof *out);
    double *e = calloc(n * m, sizeof *e);
    assert_non_null(y);
    assert_non_null(out);
    assert_non_null(e);
    ur_random_normals(seed, 99, 0, n * d, z);
    ur_random_normals(seed, 95, 0, k * d, rows);
    ur_random_normals(seed, 94, 0, m * k, out);
    ur_random_normals(seed, 93, 0, n * m, e);
    ur_unit_rows(k, d, rows);
    ur_multiply_nt(n, d, k, z, rows, y);
    for (size_t i = 0; i < n * k; i++)
        y[i] = fmax(0, y[i]);
    ur_multiply_nt(n, k, m, y, out, b);
    for (size_t i = 0; i < n * m; i++)
        b[i] += noise * e[i];
    free(y);
    free(out);
    free(e);
}

/* all starts that there are for three neurons: how many, and how many agree on the best */
static ur_best run_starts(uint64_t seed, double noise)
{
    enum { ROWS = 300, WIDE = 4, NEURONS = 3, OUT = 4, NEVER = 50 };
    static double z[ROWS * WIDE], rows[NEURONS * WIDE], b[ROWS * OUT];
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_best best;
    ur_frame frame;
    ur_problem given = {.options = {.activation = {UNRELU_RELU, 0}, .seed = 1}};
    set_network(seed, ROWS, WIDE, NEURONS, OUT, noise, z, rows, b);
    must(ur_data_hold(ROWS, WIDE, OUT, z, b, NULL, &arena, &given.data, &err), &err);
    must(ur_frame_make(&given.data, ROWS, (ur_terms){0, 0}, 0, &arena, &frame, &err), &err);
    must(ur_starts(&given, &frame, NEURONS, NEVER, UR_START_GAIN, NULL, 0, &arena, &best, &err),
         &err);
    return best;
}

static void fixed_points_of_a_correlation_above_9_in_10_make_a_start(void **state)
{
    (void)state;
    assert_int_equal(run_starts(1, .0316).starts, 6);
    assert_int_equal(run_starts(1, .1).starts, 5);
}

static void starts_agree_where_they_are_within_1e_4_of_the_best(void **state)
{
    (void)state;
    assert_int_equal(run_starts(5, .316).agree, 6);
    assert_int_equal(run_starts(4, .316).agree, 3);
}

/* a start that is left where a step gains 1e-5 has not arrived; below 1e-7 it only takes longer */
static void starts_are_led_to_their_minima(void **state)
{
    (void)state;
    assert_int_equal(run_starts(2, .316).agree, 5);
}

/* whether the search for k ended at `most`, of two neurons */
static int is_most_tried(const char *most, size_t n, size_t d, size_t m)
{
    enum { CELLS = 24000 };
    static double z[CELLS], rows[CELLS], b[CELLS];
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_outcome out = ur_outcome_in(&arena);
    ur_problem given = {
        .options = {.activation = {UNRELU_RELU, 0}, .seed = 1, .biases = UNRELU_BIASES_NONE}};
    set_network(1, n, d, 2, m, m > 1 ? .3 : .1, z, rows, b);
    must(ur_data_hold(n, d, m, z, b, NULL, &arena, &given.data, &err), &err);
    must(ur_noisy(&given, &out, &err), &err);
    assert_non_null(strstr(out.how_k, "at k = 2"));
    return strstr(out.how_k, most) != NULL;
}

/* a neuron more and two more are looked at, and none is fitted that cannot lower BIC */
static void two_neurons_more_are_looked_at(void **state)
{
    (void)state;
    assert_true(is_most_tried("up to k = 4", 300, 6, 1));
    assert_true(is_most_tried("up to k = 4", 300, 4, 8));
}

/* ---- the search ---- */

enum { LONG = 7000 };

/* normal inputs z (n x d), k unit rows, and a basis of their outputs */
static void set_neurons(size_t n, size_t d, size_t k, double *z, double *rows, double *basis)
{
    unrelu_error err = {0};
    size_t rank = 0;
    double *y = calloc(n * k, sizeof *y);
    assert_non_null(y);
    ur_random_normals(7, 99, 0, n * d, z);
    ur_random_normals(7, 95, 0, k * d, rows);
    ur_unit_rows(k, d, rows);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            y[i * k + j] = fmax(0, ur_short_dot(d, z + i * d, rows + j * d));
    must(ur_qr_pivoted(n, k, y, 1e-10, &rank, basis, NULL, NULL, &err), &err);
    assert_int_equal(rank, k);
    free(y);
}

static size_t starts_of_a_search(size_t n)
{
    enum { NEURONS = 4 };
    unrelu_error err = {0};
    static double z[LONG * D], basis[LONG * NEURONS];
    double rows[NEURONS * D];
    ur_found found;
    UR_ARENA(arena);
    set_neurons(n, D, NEURONS, z, rows, basis);
    const ur_frame frame = {.n = n, .p = D, .x = z};
    const ur_search search = {.frame = &frame,
                              .y = basis,
                              .rank = NEURONS,
                              .wanted = NEURONS,
                              .degree = 1,
                              .slack = 1e-9,
                              .starts = 60,
                              .patience = 60,
                              .seed = 3};
    must(ur_exact_search(&search, &arena, &found, &err), &err);
    assert_int_equal(found.found, NEURONS);
    return found.starts;
}

/* alone they know all that was found before, in rounds of eight what was before the round */
static void starts_of_2e5_operations_a_step_come_in_rounds(void **state)
{
    (void)state;
    assert_int_equal(starts_of_a_search(N), 35);
    assert_int_equal(starts_of_a_search(LONG), 12);
}

/* neurons found in labels with this noise: their correlations are off by its square */
static size_t neurons_found(double noise)
{
    unrelu_error err = {0};
    ur_data data;
    ur_frame frame;
    ur_found found;
    size_t rank = 0;
    static double y[N * (M + 1)], e[N * M];
    UR_ARENA(arena);
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    ur_random_normals(7, 88, 0, N * M, e);
    for (size_t i = 0; i < N * M; i++)
        a[i] += noise * e[i];
    must(ur_data_hold(N, D, M, x, a, NULL, &arena, &data, &err), &err);
    must(ur_frame_make(&data, N, (ur_terms){0, 0}, 1, &arena, &frame, &err), &err);
    must(ur_frame_labels(&frame, data.tolerance, &rank, y, NULL, &err), &err);
    const ur_search search = {.frame = &frame,
                              .y = y,
                              .rank = rank,
                              .wanted = K,
                              .degree = 1,
                              .slack = ur_exact_slack(&data),
                              .starts = 40,
                              .patience = 40,
                              .seed = 1};
    must(ur_exact_search(&search, &arena, &found, &err), &err);
    return found.found;
}

static void a_correlation_that_is_1e_9_below_1_is_that_of_a_neuron(void **state)
{
    (void)state;
    assert_int_equal(neurons_found(1e-5), 2);
    assert_int_equal(neurons_found(1e-4), 0);
}

/* Two of 400 starts, which end at other neurons where the power method ends a hundred times
 * earlier. Where it ends later it is only slower. */
static void rough_eigenvectors_lead_to_the_same_neurons(void **state)
{
    (void)state;
    enum { ROWS = 200, WIDE = 10, NEURONS = 10 };
    static const struct {
        uint64_t start;
        size_t end;
    } known[] = {{223, 9}, {230, 4}};
    static double z[ROWS * WIDE], basis[ROWS * NEURONS];
    double rows[NEURONS * WIDE], v[WIDE], w[NEURONS];
    UR_ARENA(arena);
    set_neurons(ROWS, WIDE, NEURONS, z, rows, basis);
    ur_pattern problem = {ROWS, WIDE, NEURONS, z, basis, 1};
    ur_pattern_room *room = ur_pattern_room_in(&arena, &problem);
    assert_false(ur_arena_failed(&arena));
    for (size_t i = 0; i < 2; i++) {
        ur_random_normals(7, 94, known[i].start * WIDE, WIDE, v);
        assert_near(ur_pattern_run(&problem, room, NULL, 0, v, w).rho, 1, 1e-12);
        assert_true(ur_is_row_of(1, WIDE, rows + known[i].end * WIDE, v));
    }
}

/* Five neurons, of which the patterns of 28 samples show four: what these leave, .1 of labels of
 * full rank, is no thin layer of noise, and Gauss-Newton finds the fifth. From a thinner layer it
 * would only try in vain. */
static void what_found_neurons_leave_is_filled_where_it_is_no_thin_layer(void **state)
{
    (void)state;
    enum { ROWS = 28, WIDE = 5, NEURONS = 5, OUT = 5 };
    unrelu_error err = {0};
    double z[ROWS * WIDE], b[ROWS * OUT], rows[NEURONS * WIDE];
    UR_ARENA(arena);
    ur_outcome found = ur_outcome_in(&arena);
    ur_problem given = {.options = {.activation = {UNRELU_RELU, 0}, .seed = 1}};
    set_network(27, ROWS, WIDE, NEURONS, OUT, 0, z, rows, b);
    must(ur_data_hold(ROWS, WIDE, OUT, z, b, NULL, &arena, &given.data, &err), &err);
    must(ur_exact(&given, (ur_terms){0, 0}, &found, &err), &err);
    assert_int_equal(found.answer, UR_EXACT);
}

/* ---- facets ---- */

/* facets of labels whose inputs are off by this share, in single precision where asked for */
static unrelu_status facets_of(double off, int single, ur_start_note *note)
{
    unrelu_error err = {0};
    double found[K * D], c[K];
    static double e[N * D];
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    ur_random_normals(7, 93, 0, N * D, e);
    for (size_t i = 0; i < N * D; i++)
        x[i] *= 1 + off * e[i];
    for (size_t i = 0; i < N * M; i++)
        a[i] = single ? (float)a[i] : a[i];
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = {UNRELU_RELU, 0}, .seed = 5};
    unrelu_status status = ur_start_facets(&start, found, c, note, &err);
    skip_what_is_left_out(&err);
    return status;
}

static void a_facet_that_is_1e_6_off_its_inputs_is_no_neuron(void **state)
{
    (void)state;
    ur_start_note note = {"", ""};
    assert_int_equal(facets_of(1e-7, 0, &note), UNRELU_OK);
    assert_int_equal(facets_of(1e-5, 0, &note), UNRELU_EDATA);
}

/* labels off by the floor of doubles: what is off is known all the same */
static void facets_of_labels_that_are_1e_12_off_are_neurons(void **state)
{
    (void)state;
    unrelu_error err = {0};
    ur_start_note note = {"", ""};
    double found[K * D], c[K];
    static double e[N * M];
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    ur_random_normals(7, 93, 0, N * M, e);
    for (size_t i = 0; i < N * M; i++)
        a[i] *= 1 + 1e-12 * e[i];
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = {UNRELU_RELU, 0}, .seed = 5};
    unrelu_status status = ur_start_facets(&start, found, c, &note, &err);
    skip_what_is_left_out(&err);
    must(status, &err);
    for (size_t j = 0; j < K; j++)
        assert_true(ur_is_row_of(K, D, V, found + j * D));
}

static void labels_in_single_precision_have_noise_of_3e_8(void **state)
{
    (void)state;
    ur_start_note note = {"", ""};
    assert_int_equal(facets_of(0, 1, &note), UNRELU_OK);
    assert_non_null(strstr(note.assumption, "noise 3e-08"));
}

/* ---- lifting ---- */

static void a_sample_at_0_weighs_as_one_of_a_length_of_root_3(void **state)
{
    (void)state;
    unrelu_error err = {0};
    ur_lift lift;
    UR_ARENA(arena);
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    memset(x, 0, D * sizeof *x);
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = {UNRELU_RELU, 0}};
    must(ur_lift_new(&start, &(ur_lift_options){.method = "lifted"}, &arena, &lift, &err), &err);
    assert_near(lift.factor[0], 1 / sqrt(.3), 1e-12);
}

/* noise of a tenth: the second eigenvalue is a twelfth of the next */
static void a_gap_of_two_makes_a_start(void **state)
{
    (void)state;
    unrelu_error err = {0};
    ur_start_note note = {"", ""};
    double found[K * D], c[K];
    static double e[N * M];
    set_labels((unrelu_activation){UNRELU_RELU, 0});
    ur_random_normals(7, 88, 0, N * M, e);
    for (size_t i = 0; i < N * M; i++)
        a[i] += .1 * e[i];
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = {UNRELU_RELU, 0}, .seed = 5};
    must(ur_start_lifted(&start, found, c, &note, &err), &err);
}

/* ---- Gauss-Newton by conjugate gradients ---- */

/* 260 unknown weights: how sharply the first systems are solved */
static void the_walk_by_conjugate_gradients_is_as_it_was(void **state)
{
    (void)state;
    enum { ROWS = 400, WIDE = 26, NEURONS = 10, OUT = 12 };
    static const double left[] = {.144593, .0399228, .0173744};
    static double z[ROWS * WIDE], b[ROWS * OUT], rows[NEURONS * WIDE], start[NEURONS * WIDE];
    unrelu_error err = {0};
    double size = 0;
    set_network(7, ROWS, WIDE, NEURONS, OUT, 0, z, rows, b);
    ur_random_normals(7, 90, 0, NEURONS * WIDE, start);
    for (size_t i = 0; i < ROWS * OUT; i++)
        size += b[i] * b[i];
    ur_newton problem = {.n = ROWS, .p = WIDE, .m = OUT, .x = z, .a = b, .f = {UNRELU_RELU, 0}};
    for (int steps = 1; steps <= 3; steps++) {
        UR_ARENA(arena);
        ur_newton_fit fit;
        must(ur_newton_alloc(&problem, NEURONS, &arena, &fit, &err), &err);
        for (size_t i = 0; i < NEURONS * WIDE; i++)
            fit.V[i] = rows[i] + .3 * start[i];
        must(ur_newton_solve(&problem, steps, 0, 0, &fit, &err), &err);
        assert_near(fit.rss / size / left[steps - 1], 1, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_that_depend_to_within_rounding_lose_a_dimension),
        cmocka_unit_test(directions_of_labels_below_their_tolerance_are_rounding),
        cmocka_unit_test(a_linear_part_below_1e_8_of_the_labels_is_rounding),
        cmocka_unit_test(a_linear_direction_below_the_rounding_of_the_labels_is_no_part),
        cmocka_unit_test(rows_within_1e_6_are_one_neuron),
        cmocka_unit_test(inputs_of_a_spread_below_1e_10_do_not_span),
        cmocka_unit_test(damped_patterns_end_where_rounding_begins),
        cmocka_unit_test(the_walk_of_gauss_newton_is_as_it_was),
        cmocka_unit_test(inputs_and_labels_that_can_be_squared_are_taken),
        cmocka_unit_test(features_that_leave_1e_8_of_their_variance_are_regressed_on),
        cmocka_unit_test(combinations_of_labels_below_1e_10_of_their_variance_are_rounding),
        cmocka_unit_test(biases_are_held_within_four_deviations),
        cmocka_unit_test(a_neuron_that_switches_for_less_than_6_in_1000_is_weak),
        cmocka_unit_test(fixed_points_of_a_correlation_above_9_in_10_make_a_start),
        cmocka_unit_test(starts_agree_where_they_are_within_1e_4_of_the_best),
        cmocka_unit_test(starts_are_led_to_their_minima),
        cmocka_unit_test(two_neurons_more_are_looked_at),
        cmocka_unit_test(starts_of_2e5_operations_a_step_come_in_rounds),
        cmocka_unit_test(a_correlation_that_is_1e_9_below_1_is_that_of_a_neuron),
        cmocka_unit_test(rough_eigenvectors_lead_to_the_same_neurons),
        cmocka_unit_test(what_found_neurons_leave_is_filled_where_it_is_no_thin_layer),
        cmocka_unit_test(a_facet_that_is_1e_6_off_its_inputs_is_no_neuron),
        cmocka_unit_test(facets_of_labels_that_are_1e_12_off_are_neurons),
        cmocka_unit_test(labels_in_single_precision_have_noise_of_3e_8),
        cmocka_unit_test(a_sample_at_0_weighs_as_one_of_a_length_of_root_3),
        cmocka_unit_test(a_gap_of_two_makes_a_start),
        cmocka_unit_test(the_walk_by_conjugate_gradients_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
