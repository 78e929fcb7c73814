/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

#include "base/random.h"
#include "dense/match.h"

enum { MOST = 6 };

/* the least total over all ways to pair min(rows, columns), by trying each */
static double brute(size_t rows, size_t columns, const double *cost, size_t row, unsigned used,
                    size_t skips)
{
    double best = INFINITY;
    if (row == rows)
        return 0;
    if (skips > 0)
        best = brute(rows, columns, cost, row + 1, used, skips - 1);
    for (size_t j = 0; j < columns; j++)
        if (!(used >> j & 1))
            best = fmin(best, cost[row * columns + j] +
                                  brute(rows, columns, cost, row + 1, used | 1u << j, skips));
    return best;
}

/* the total of the pairs, which must be one to one and as many as there can be */
static double total(size_t rows, size_t columns, const double *cost)
{
    size_t match[64], pairs = 0;
    int used[64] = {0};
    double sum = 0;
    unrelu_error err = {0};
    must(ur_match(rows, columns, cost, match, &err), &err);
    for (size_t i = 0; i < rows; i++) {
        if (match[i] == UR_UNMATCHED)
            continue;
        assert_true(match[i] < columns);
        assert_int_equal(used[match[i]]++, 0);
        sum += cost[i * columns + match[i]];
        pairs++;
    }
    assert_int_equal(pairs, rows < columns ? rows : columns);
    return sum;
}

static void no_pairing_is_cheaper(void **state)
{
    (void)state;
    double cost[MOST * MOST];
    for (uint64_t run = 0; run < 40; run++)
        for (size_t rows = 1; rows <= MOST; rows++)
            for (size_t columns = 1; columns <= MOST; columns++) {
                ur_random_normals(1, run, 0, rows * columns, cost);
                if (run % 2) /* ties */
                    for (size_t i = 0; i < rows * columns; i++)
                        cost[i] = round(2 * cost[i]);
                size_t skips = rows > columns ? rows - columns : 0;
                assert_near(total(rows, columns, cost), brute(rows, columns, cost, 0, 0, skips),
                            1e-12);
            }
}

static void a_cheap_first_pair_does_not_mislead(void **state)
{
    (void)state;
    double cost[] = {1, 2, 2, 100};
    assert_near(total(2, 2, cost), 4, 0);
}

static void a_hidden_permutation_is_found(void **state)
{
    (void)state;
    enum { K = 60 };
    static double cost[K * K];
    size_t match[K];
    unrelu_error err = {0};
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            cost[i * K + j] = pow((double)((i * 7 + 3) % K) - (double)j, 2);
    must(ur_match(K, K, cost, match, &err), &err);
    for (size_t i = 0; i < K; i++)
        assert_int_equal(match[i], (i * 7 + 3) % K);
}

static void nothing_to_pair_is_no_error(void **state)
{
    (void)state;
    size_t match[2] = {0, 0};
    double none = 0;
    unrelu_error err = {0};
    must(ur_match(0, 3, &none, match, &err), &err);
    must(ur_match(2, 0, &none, match, &err), &err);
    assert_int_equal(match[0], UR_UNMATCHED);
    assert_int_equal(match[1], UR_UNMATCHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pairing_is_cheaper),
        cmocka_unit_test(a_cheap_first_pair_does_not_mislead),
        cmocka_unit_test(a_hidden_permutation_is_found),
        cmocka_unit_test(nothing_to_pair_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
