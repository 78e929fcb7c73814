/* SPDX-License-Identifier: Apache-2.0 */
/* The rank of labels with wrong cells: where the search for it ends, and when a larger one is
 * better. Labels are made of a planted rank, on either side of each tolerance. */
#include "networks.h"

#include "base/random.h"
#include "network/hard/sparse_noise/sparse_noise.h"

enum { N = 300, M = 24, MOST = 12 };

/* a (N x M) of rank r: of orthogonal directions (cosines) each row has normal numbers times their
 * strengths, a `share` of the rows of all, the others of the first `short_rank` alone */
static void fill_labels(size_t r, const double *strength, size_t short_rank, double share,
                        double *a)
{
    static double C[N * MOST], u[N];
    const double pi = acos(-1);
    ur_random_normals(1, 2, 0, N * r, C);
    ur_random_uniforms(1, 3, 0, N, u);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++) {
            a[i * M + j] = 0;
            for (size_t l = 0; l < r && (l < short_rank || u[i] < share); l++)
                a[i * M + j] +=
                    strength[l] * C[i * r + l] * cos(pi * ((double)j + .5) * (double)l / M);
        }
}

/* of a (N x M) without a given number of neurons; 0: no space was accepted */
static size_t rank_of(const double *a)
{
    UR_ARENA(arena);
    unrelu_error err = {0};
    ur_problem given = {0};
    ur_sparse_cells cells;
    ur_subspace s;
    unrelu_recover_options_init(&given.options, sizeof given.options);
    given.options.method = UNRELU_RECOVER_SPARSE_NOISE;
    given.options.budget = 300;
    given.data = (ur_data){.n = N, .m = M, .a = a};
    must(ur_sparse_cells_open(&given, &arena, &cells, &err), &err);
    must(ur_subspace_find(&cells, 0, 0, N, MOST, 0, &arena, &s, &err), &err);
    return ur_subspace_accepted(&s) ? s.r : 0;
}

/* Beside one direction of labels eleven that hardly show. Where each is half of the one before,
 * every rank leaves half as much, down to nothing. Where all are alike a rank more leaves nearly as
 * much, as in noise, and three such ranks are enough. */
static void the_search_goes_on_while_a_rank_leaves_a_third_less(void **state)
{
    (void)state;
    static double a[N * M];
    double halves[MOST] = {1, .004}, alike[MOST] = {1, .004};
    for (size_t l = 2; l < MOST; l++) {
        halves[l] = halves[l - 1] / 2;
        alike[l] = alike[l - 1];
    }
    fill_labels(MOST, halves, MOST, 1, a);
    assert_int_equal(rank_of(a), MOST);
    fill_labels(MOST, alike, MOST, 1, a);
    assert_int_equal(rank_of(a), 0);
}

/* A third direction in three rows of ten: without it these are undecided, with it only those that
 * are wrong in all cells, one in 16. */
static void a_larger_rank_that_decides_more_rows_is_taken(void **state)
{
    (void)state;
    static double a[N * M];
    const double strength[3] = {1, 1, 1};
    double off[M];
    fill_labels(3, strength, 2, .3, a);
    for (size_t i = 0; i < N; i += 16) {
        ur_random_normals(1, 4, i * M, M, off);
        for (size_t j = 0; j < M; j++)
            a[i * M + j] += 3 * off[j];
    }
    assert_int_equal(rank_of(a), 3);
}

/* of a thousand rows, the others without a wrong cell */
static void one_row_in_two_hundred_may_stay_undecided(void **state)
{
    (void)state;
    enum { ROWS = 1000 };
    static unsigned char clean[ROWS * M], idle[ROWS];
    static size_t met[ROWS];
    unrelu_error err = {0};
    memset(clean, 1, sizeof clean);
    for (size_t undecided = 4; undecided <= 6; undecided += 2) {
        ur_consensus c = {.rows = ROWS, .m = M, .r = 2, .width = M};
        ur_subspace s = {.r = 2};
        c.met = met;
        c.clean = clean;
        c.idle = idle;
        for (size_t i = 0; i < ROWS; i++)
            met[i] = i < undecided ? 0 : M;
        must(ur_subspace_judge(&c, &s, &err), &err);
        assert_near(s.undecided, (double)undecided / ROWS, 1e-15);
        assert_int_equal(s.undecided <= s.expected, undecided == 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_goes_on_while_a_rank_leaves_a_third_less),
        cmocka_unit_test(a_larger_rank_that_decides_more_rows_is_taken),
        cmocka_unit_test(one_row_in_two_hundred_may_stay_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
