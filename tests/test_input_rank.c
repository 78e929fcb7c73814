/* SPDX-License-Identifier: Apache-2.0 */
/* The rank of inputs of known rank: over many blocks of rows, whatever the units of the columns, on
 * both sides of rounding. */
#include "planted.h"

#include "base/random.h"
#include "network/data/data.h"

enum { N = 3000, D = 9, BLOCK = 512 };
static double x[N * D], labels[N];

/* the first n rows are n x rank times rank x D, and noise */
static void fill(size_t n, size_t rank, double noise)
{
    static double z[N * D], B[D * D], e[N * D];
    ur_random_normals(1, 99, 0, N * D, z);
    ur_random_normals(2, 99, 0, D * D, B);
    ur_random_normals(3, 99, 0, N * D, e);
    for (size_t i = 0; i < N * D; i++)
        x[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < D; l++) {
            for (size_t r = 0; r < rank; r++)
                x[i * D + l] += z[i * D + r] * B[r * D + l];
            x[i * D + l] += noise * e[i * D + l];
        }
}

static size_t rank_of(size_t n, int ones)
{
    unrelu_error err = {0};
    ur_data data;
    size_t rank = 0;
    UR_ARENA(arena);
    for (size_t i = 0; i < N; i++)
        labels[i] = (double)i;
    must(ur_data_hold(n, D, 1, x, labels, NULL, &arena, &data, &err), &err);
    must(ur_input_rank(&data, ones, NULL, &rank, &err), &err);
    return rank;
}

static void products_have_their_rank_in_any_number_of_rows(void **state)
{
    (void)state;
    static const size_t rows[] = {D + 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK, N};
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        for (size_t rank = 1; rank <= D; rank++) {
            fill(rows[t], rank, 0);
            assert_int_equal(rank_of(rows[t], 0), rank);
            assert_int_equal(rank_of(rows[t], 1), rank + 1);
        }
}

static void units_of_columns_change_nothing(void **state)
{
    (void)state;
    fill(N, 5, 0);
    for (size_t i = 0; i < N * D; i++)
        x[i] *= pow(10, 5 * (double)(i % D) - 20);
    assert_int_equal(rank_of(N, 0), 5);
    assert_int_equal(rank_of(N, 1), 6);
}

static void noise_counts_and_rounding_does_not(void **state)
{
    (void)state;
    fill(N, 3, 1e-11);
    assert_int_equal(rank_of(N, 0), D);
    fill(N, 3, 1e-15);
    assert_int_equal(rank_of(N, 0), 3);
}

/* the last rows of the last block, and some in the middle */
static void one_row_of_many_counts(void **state)
{
    (void)state;
    fill(N, 4, 0);
    x[(N - 1) * D] += 1;
    assert_int_equal(rank_of(N, 0), 5);
    x[1700 * D + 3] += 1e-3;
    assert_int_equal(rank_of(N, 0), 6);
}

static void a_constant_column_of_any_value_adds_nothing_to_the_ones(void **state)
{
    (void)state;
    static const double values[] = {0, 1, -3e5, 1e-9};
    for (size_t t = 0; t < 4; t++) {
        fill(N, D, 0);
        for (size_t i = 0; i < N; i++)
            x[i * D + 4] = values[t];
        assert_int_equal(rank_of(N, 1), D);
        assert_int_equal(rank_of(N, 0), t == 0 ? D - 1 : D);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_their_rank_in_any_number_of_rows),
        cmocka_unit_test(units_of_columns_change_nothing),
        cmocka_unit_test(noise_counts_and_rounding_does_not),
        cmocka_unit_test(one_row_of_many_counts),
        cmocka_unit_test(a_constant_column_of_any_value_adds_nothing_to_the_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
