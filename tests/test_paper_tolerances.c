/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tolerances of the published algorithms lie: a case on either side of each, so that one
 * that moves by 100 is noticed. */
#include "planted.h"

#include "base/random.h"
#include "dense/blas_pin.h"
#include "network/problem/start.h"
#include "paper/two_layer/two_layer.h"

enum { N = 240, D = 3, K = 3, M = 4 };
static const unrelu_activation relu = {UNRELU_RELU, 0};
static const double rows[K * D] = {1, 0, 0, .8, .6, 0, 0, .6, .8};
static const double U[M * K] = {1, .5, -.7, 1.2, .3, .9, -.4, 1.1, .2, .6, -.8, .7};
static double x[N * D], a[N * M];

/* a = U f(V x) + noise times normal numbers */
static void set_labels(unrelu_activation f, double noise)
{
    static double e[N * M];
    ur_random_normals(5, 98, 0, N * M, e);
    for (size_t i = 0; i < N; i++) {
        double t[K] = {0};
        for (size_t j = 0; j < K; j++)
            for (size_t l = 0; l < D; l++)
                t[j] += rows[j * D + l] * x[i * D + l];
        ur_activation_apply(f, K, t, t, NULL);
        for (size_t r = 0; r < M; r++) {
            a[i * M + r] = noise * e[i * M + r];
            for (size_t j = 0; j < K; j++)
                a[i * M + r] += U[r * K + j] * t[j];
        }
    }
}

/* ---- systems ---- */

/* which of the true rows solve their systems */
static void solve_systems(unrelu_activation f, int *exact)
{
    unrelu_error err = {0};
    double V[K * D], c[K] = {0};
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = f};
    memcpy(V, rows, sizeof V);
    must(ur_exactify_systems(&start, V, c, exact, &err), &err);
}

static int solved_with_noise(double noise)
{
    int exact[K];
    ur_random_normals(7, 99, 0, N * D, x);
    set_labels(relu, noise);
    solve_systems(relu, exact);
    return exact[0] + exact[1] + exact[2];
}

static void systems_are_solved_to_1e_9(void **state)
{
    (void)state;
    assert_int_equal(solved_with_noise(1e-10), 3);
    assert_int_equal(solved_with_noise(1e-8), 0);
}

/* neuron 1 beside neuron 2, which has one sample, of this output, where the first is off */
static int solved_beside(double output)
{
    int exact[K];
    ur_random_normals(7, 99, 0, N * D, x);
    for (size_t i = 0; i < N; i++)
        x[i * D + 1] = copysign(x[i * D + 1], x[i * D]);
    x[0] = -1;
    x[1] = (.8 + output) / .6;
    set_labels(relu, 0);
    solve_systems(relu, exact);
    return exact[0];
}

static void a_null_vector_is_the_only_one_where_the_next_is_above_1e_6(void **state)
{
    (void)state;
    assert_true(solved_beside(1e-5));
    assert_false(solved_beside(1e-7));
}

/* one sample is larger than the others, which are this share of it */
static int solved_below(double share)
{
    int exact[K];
    ur_random_normals(7, 99, 0, N * D, x);
    for (size_t l = 0; l < D; l++)
        x[l] = 3 / share;
    set_labels(relu, 0);
    solve_systems(relu, exact);
    return exact[0] + exact[1] + exact[2];
}

static void outputs_of_1e_4_of_the_largest_are_inverted(void **state)
{
    (void)state;
    assert_int_equal(solved_below(1e-3), 3);
    assert_int_equal(solved_below(1e-5), 0);
}

/* ---- ICA ---- */

/* two neurons of inputs of which the third is the difference of the others but for `apart`: how
 * much a row has of that combination */
static double along_what_depends(double apart, ur_start_note *note)
{
    unrelu_error err = {0};
    double V[2 * D];
    const ur_start start = {.sample = {N, D, M, x, a}, .k = 2, .f = relu, .seed = 7};
    ur_random_normals(7, 99, 0, N * D, x);
    for (size_t i = 0; i < N; i++) {
        for (size_t r = 0; r < M; r++)
            a[i * M + r] = U[r * K] * fmax(0, x[i * D]) + U[r * K + 1] * fmax(0, x[i * D + 1]);
        x[i * D + 2] = x[i * D] - x[i * D + 1] + apart * x[i * D + 2];
    }
    UR_BLAS_PINNED;
    must(ur_start_ica(&start, V, NULL, note, &err), &err);
    return fmax(fabs(V[0] - V[1] - V[2]), fabs(V[3] - V[4] - V[5])) / sqrt(3);
}

static void ica_leaves_out_what_1e_12_of_the_correlations_say(void **state)
{
    (void)state;
    ur_start_note note;
    assert_true(along_what_depends(4e-6, &note) > .99);
    assert_true(along_what_depends(4e-7, &note) < .5);
}

/* the skewness 1.641 and 2.33 / sqrt(240); each step gains a factor of about 5 */
static void ica_says_what_a_rectified_normal_would_have_and_when_it_stood_still(void **state)
{
    (void)state;
    ur_start_note note;
    along_what_depends(1, &note);
    assert_non_null(strstr(note.assumption, "converged in 14 steps"));
    assert_non_null(strstr(note.assumption, "(independent: about 0.15)"));
    assert_non_null(strstr(note.assumption, "(rectified normal: 1.641)"));
}

/* ---- symmetry ---- */

/* inputs of which the first is moved, or near the second */
static ur_symmetry test_symmetry(double moved, double apart)
{
    unrelu_error err = {0};
    ur_symmetry s;
    ur_random_normals(7, 99, 0, N * D, x);
    for (size_t i = 0; i < N; i++)
        x[i * D] = apart > 0 ? x[i * D + 1] + apart * x[i * D] : x[i * D] + moved;
    must(ur_symmetry_test(&(ur_sample){N, D, M, x, a}, 1, NULL, &s, &err), &err);
    return s;
}

static void functions_that_depend_to_1e_10_of_their_products_are_one(void **state)
{
    (void)state;
    assert_int_equal(test_symmetry(0, 1e-4).degrees, 15);
    assert_int_equal(test_symmetry(0, 1e-5).degrees, 13);
}

static void cubes_are_cut_at_three_root_mean_squares(void **state)
{
    (void)state;
    assert_near(test_symmetry(.1, 0).statistic, 18.896205, 1e-5);
}

static unrelu_status start_symmetric_moved_by(double moved)
{
    unrelu_error err = {0};
    double V[K * D];
    ur_start_note note;
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = relu, .seed = 1};
    test_symmetry(moved, 0);
    set_labels(relu, 0);
    return ur_start_symmetric(&start, V, NULL, &note, &err);
}

static void symmetry_is_rejected_at_1e_3(void **state)
{
    (void)state;
    assert_int_equal(start_symmetric_moved_by(.3), UNRELU_OK);
    assert_int_equal(start_symmetric_moved_by(.45), UNRELU_EDATA);
}

/* ---- tensor ---- */

static unrelu_status order_two_of_leaky(double slope)
{
    unrelu_error err = {0};
    double V[K * D];
    ur_start_note note;
    unrelu_activation leaky = {UNRELU_LEAKY, slope};
    const ur_start start = {.sample = {N, D, M, x, a}, .k = K, .f = leaky, .seed = 7};
    ur_random_normals(7, 99, 0, N * D, x);
    set_labels(leaky, 0);
    return ur_start_tensor(&start, 2, V, &note, &err);
}

static void a_hermite_coefficient_below_1e_6_is_none(void **state)
{
    (void)state;
    assert_int_equal(order_two_of_leaky(1 - 3e-5), UNRELU_OK);
    assert_int_equal(order_two_of_leaky(1 - 3e-7), UNRELU_EDATA);
}

/* ---- Algorithm 7 to the letter ---- */

/* Two neurons, each alone in half of the samples, whose sizes are off by `off`; the inputs of the
 * first have this much of their third column. What is missing, "" for nothing. */
static const char *run_literal(double off, double third)
{
    enum { LABELS = 3 };
    static char failure[500];
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_outcome out = ur_outcome_in(&arena);
    ur_problem given = {0};
    ur_frame frame;
    ur_peel peel;
    int ready = 0;
    ur_random_normals(7, 99, 0, N * D, x);
    for (size_t i = 0; i < N; i++) {
        double *row = x + i * D, size = 1 + off * (i % 3 ? 1 : -1);
        row[i % 2] = fabs(row[i % 2]); /* x1 > 0 > x2, or the reverse */
        row[1 - i % 2] = -fabs(row[1 - i % 2]);
        row[2] *= i % 2 ? 1 : third;
        for (size_t r = 0; r < LABELS; r++)
            a[i * LABELS + r] = U[r * K + i % 2] * row[i % 2] * size;
    }
    must(ur_data_hold(N, D, LABELS, x, a, NULL, &arena, &given.data, &err), &err);
    must(ur_frame_make(&given.data, N, (ur_terms){0, 0}, 1, &arena, &frame, &err), &err);
    must(ur_peel_open(&frame, given.data.floor, 1, 1000, NULL, &arena, &peel, &err), &err);
    must(ur_literal(&given, &peel, &ready, &out, &err), &err);
    assert_int_equal(ready, !out.failure[0]);
    snprintf(failure, sizeof failure, "%s", out.failure);
    return failure;
}

static void equations_of_a_class_agree_to_1e_7(void **state)
{
    (void)state;
    assert_string_equal(run_literal(1e-8, 1), "");
    assert_non_null(strstr(run_literal(1e-6, 1), "contradict"));
}

static void equations_that_span_to_1e_9_determine_a_neuron(void **state)
{
    (void)state;
    assert_string_equal(run_literal(0, 1e-8), "");
    assert_non_null(strstr(run_literal(0, 1e-10), "needs 3 rows"));
}

/* ---- principal component pursuit ---- */

static void the_pursuit_takes_as_many_steps_as_it_did(void **state)
{
    (void)state;
    unrelu_error err = {0};
    static double L[N * M], S[N * M];
    int steps = 0;
    ur_random_normals(7, 99, 0, N * D, x);
    set_labels(relu, 0);
    for (size_t i = 0; i < N; i += 7)
        a[i * M + i % M] += 10;
    must(ur_pcp(N, M, a, 1 / sqrt(N), NULL, L, S, NULL, &steps, &err), &err);
    assert_int_equal(steps, 125);
}

/* of two neurons, the second of this share of the output */
static int is_k_of_the_pursuit(const char *k, double share)
{
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_outcome out = ur_outcome_in(&arena);
    ur_problem given = {
        .options = {.activation = relu, .pcp = 1, .seed = 1, .biases = UNRELU_BIASES_NONE}};
    ur_random_normals(7, 99, 0, N * D, x);
    for (size_t i = 0; i < N; i++)
        for (size_t r = 0; r < M; r++)
            a[i * M + r] =
                U[r * K] * fmax(0, x[i * D]) + share * U[r * K + 1] * fmax(0, x[i * D + 1]);
    must(ur_data_hold(N, D, M, x, a, NULL, &arena, &given.data, &err), &err);
    must(ur_pcp_recover(&given, &out, &err), &err);
    return strstr(out.how_k, k) != NULL;
}

static void singular_values_of_the_pursuit_end_at_1e_6(void **state)
{
    (void)state;
    assert_true(is_k_of_the_pursuit("(2)", 5e-3));
    assert_true(is_k_of_the_pursuit("(1)", 5e-4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_are_solved_to_1e_9),
        cmocka_unit_test(a_null_vector_is_the_only_one_where_the_next_is_above_1e_6),
        cmocka_unit_test(outputs_of_1e_4_of_the_largest_are_inverted),
        cmocka_unit_test(ica_leaves_out_what_1e_12_of_the_correlations_say),
        cmocka_unit_test(ica_says_what_a_rectified_normal_would_have_and_when_it_stood_still),
        cmocka_unit_test(functions_that_depend_to_1e_10_of_their_products_are_one),
        cmocka_unit_test(cubes_are_cut_at_three_root_mean_squares),
        cmocka_unit_test(symmetry_is_rejected_at_1e_3),
        cmocka_unit_test(a_hermite_coefficient_below_1e_6_is_none),
        cmocka_unit_test(equations_of_a_class_agree_to_1e_7),
        cmocka_unit_test(equations_that_span_to_1e_9_determine_a_neuron),
        cmocka_unit_test(the_pursuit_takes_as_many_steps_as_it_did),
        cmocka_unit_test(singular_values_of_the_pursuit_end_at_1e_6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
