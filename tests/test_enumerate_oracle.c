/* SPDX-License-Identifier: Apache-2.0 */
/* --method enumerate against the literal Algorithms 1 and 2 in exact arithmetic, and faces of the
 * cone against its rays alone. test_numbers_oracle.c counts more of both. */
#include "nonnegative_inputs.h"
#include "tiny_instances.h"

/* ---- the oracle itself ---- */

/* f(x), f(-x) at x = 1, -1, 2 */
static literal_instance pair_of_halves(void)
{
    literal_instance in = {.n = 3, .d = 1, .m = 2, .k = 2};
    const int x[] = {1, -1, 2};
    for (int i = 0; i < 3; i++) {
        in.X[i][0] = x[i];
        in.A[i][0] = x[i] > 0 ? x[i] : 0;
        in.A[i][1] = x[i] < 0 ? -x[i] : 0;
    }
    return in;
}

static void the_oracle_knows_two_halves_of_a_line(void **state)
{
    (void)state;
    literal_instance in = pair_of_halves();
    literal_search search;
    assert_int_equal(literal_feasible(&in, &search), 1);
    assert_int_equal(search.systems, 2 * 4); /* rows 1 and 3 are parallel */
    in.A[2][0] = 1;                          /* f(x) is 1 at 1 and at 2 */
    assert_int_equal(literal_feasible(&in, NULL), 0);
    in.A[2][0] = 0;
    in.A[0][0] = 0; /* rank 1 */
    assert_int_equal(literal_feasible(&in, NULL), -1);
}

/* at 1, 2 of one input no neuron is other than a multiple of x, so that rank 2 has no network */
static void the_oracle_knows_that_one_side_has_one_neuron(void **state)
{
    (void)state;
    literal_instance in = {.n = 3, .d = 1, .m = 2, .k = 2, .X = {{1}, {2}, {1}}};
    in.A[0][0] = 1;
    in.A[1][1] = 1;
    in.A[2][0] = 1;
    assert_int_equal(literal_feasible(&in, NULL), 0);
    literal_instance one = {.n = 2, .d = 1, .m = 1, .k = 1, .X = {{1}, {2}}};
    one.A[0][0] = -3;
    one.A[1][0] = -6;
    assert_int_equal(literal_feasible(&one, NULL), 1);
}

static void the_exact_programme_solves_and_refuses(void **state)
{
    (void)state;
    const int rows[][2] = {{1, 0}, {0, 1}, {-1, -1}, {1, -1}};
    rational u[LITERAL_COLUMNS];
    for (int sum = 3; sum <= 4; sum++) { /* u1 >= 2, u2 >= 1, u1 + u2 <= sum, u1 - u2 = 1 */
        programme p = {.columns = 2};
        programme_add(&p, rows[0], 1, 2, 0);
        programme_add(&p, rows[1], 1, 1, 0);
        programme_add(&p, rows[2], 1, -sum, 0);
        programme_add(&p, rows[3], 1, 1, 1);
        assert_int_equal(programme_solve(&p, u), 1);
        assert_true(u[0].up >= 2 * u[0].down && u[1].up >= u[1].down);
        rational gap = rational_plus(u[0], rational_minus(u[1]));
        assert_true(gap.up == 1 && gap.down == 1);
    }
    programme p = {.columns = 2};
    programme_add(&p, rows[0], 1, 2, 0);
    programme_add(&p, rows[1], 1, 1, 0);
    programme_add(&p, rows[2], 1, -2, 0);
    assert_int_equal(programme_solve(&p, u), 0);
}

/* ---- the method ---- */

/* how many are feasible */
static int compare_verdicts(int runs, int few)
{
    int feasible = 0;
    for (int i = 0; i < runs; i++) {
        int shape, origin;
        literal_instance in = tiny_draw(10000 + i, few, &shape, &origin);
        int truth = literal_feasible(&in, NULL), said = tiny_verdict(&in);
        if (origin == TINY_NETWORK)
            assert_int_equal(truth, 1);
        feasible += truth;
        if (truth == said)
            continue;
        tiny_print(&in);
        fail_msg("instance %d: the oracle says %d, --method enumerate %d", i, truth, said);
    }
    return feasible;
}

static void verdicts_are_those_of_the_oracle(void **state)
{
    (void)state;
    enum { RUNS = 120 };
    assert_in_range(compare_verdicts(RUNS, 0), RUNS / 3, 2 * RUNS / 3); /* both kinds are there */
}

/* n <= d and the like: an instance of Theorem 1 as any other */
static void so_they_are_with_fewer_rows_than_weights(void **state)
{
    (void)state;
    enum { RUNS = 240 };
    assert_in_range(compare_verdicts(RUNS, 1), RUNS / 3, RUNS - RUNS / 12);
}

/* Ten inputs in five rows are met, and other weights are as well: never called the only ones. */
static void few_rows_are_never_certified(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 12; n++) {
        planted_network p = plant_network(10, 2, 3, n, 0, n);
        unrelu_recover_options o;
        unrelu_network *model;
        unrelu_error err = {0};
        unrelu_recover_options_init(&o, sizeof o);
        o.method = UNRELU_RECOVER_ENUMERATE;
        must(try_recover(p.x, p.a, n, p.d, p.m, &o, NULL, &model, &err), &err);
        assert_int_equal(model->verdict, UNRELU_VERDICT_UNCERTIFIED);
        assert_true(model->residual <= 1e-12);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

/* one neuron of each is never off: no ray, but a face */
static void a_neuron_that_is_never_off_is_a_face(void **state)
{
    (void)state;
    int rays = 0, faces = 0, runs = 10;
    for (int i = 0; i < runs; i++) {
        nonnegative_case c = nonnegative_draw(i, 95);
        nonnegative_counts counts = nonnegative_count(&c);
        rays += counts.by_rays == c.k;
        faces += counts.by_faces == c.k;
        assert_true(nonnegative_residual(&c) <= 1e-12);
        nonnegative_free(&c);
    }
    assert_int_equal(faces, runs);
    assert_true(rays < runs / 2);
}

/* The budget is counted, and what is missing is said. */
static void a_small_budget_proves_nothing(void **state)
{
    (void)state;
    nonnegative_case c = nonnegative_draw(60, 95);
    nonnegative_counts all = nonnegative_count(&c), few = nonnegative_count_with(&c, 2);
    assert_true(all.finished);
    assert_false(few.finished);
    assert_true(few.looked <= 2);
    nonnegative_free(&c);
}

/* noise in the labels: rays are closed, and the proof needs no other faces */
static void rays_alone_prove_it_on_data_in_general_position(void **state)
{
    (void)state;
    nonnegative_case c = nonnegative_draw(3, 95);
    double *noise = malloc(c.n * c.k * sizeof *noise);
    assert_non_null(noise);
    ur_random_normals(5, 5, 0, c.n * c.k, noise);
    for (size_t i = 0; i < c.n * c.k; i++)
        c.a[i] += 1e-3 * noise[i];
    nonnegative_counts counts = nonnegative_count(&c);
    assert_true(counts.finished);
    assert_int_equal(counts.by_faces, 0);
    assert_int_equal(counts.looked, counts.rays);
    assert_true(counts.rays > 6);
    assert_false(nonnegative_count_with(&c, 6).finished); /* the rays are not all there */
    free(noise);
    nonnegative_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_knows_two_halves_of_a_line),
        cmocka_unit_test(the_oracle_knows_that_one_side_has_one_neuron),
        cmocka_unit_test(the_exact_programme_solves_and_refuses),
        cmocka_unit_test(verdicts_are_those_of_the_oracle),
        cmocka_unit_test(so_they_are_with_fewer_rows_than_weights),
        cmocka_unit_test(few_rows_are_never_certified),
        cmocka_unit_test(a_neuron_that_is_never_off_is_a_face),
        cmocka_unit_test(a_small_budget_proves_nothing),
        cmocka_unit_test(rays_alone_prove_it_on_data_in_general_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
