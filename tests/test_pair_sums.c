/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over rows in vectors against plain loops over formulas, for numbers of rows that fill the
 * vectors and that do not. */
#include "base/random.h"
#include "law/normal.h"
#include "law/pair_sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1003, COLUMNS = 5 };
/* sums of up to 1003 terms, each of them near 1 in size, in another order */
static const double ROUNDING = 1e-11;
static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 64, ROWS};
static const double rhos[] = {-0.8, 0, 0.3, 0.9};

static double x[COLUMNS][ROWS];

static int draw(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < COLUMNS; k++)
        ur_random_normals(7, k, 0, ROWS, x[k]);
    return 0;
}

static void near(double found, double want)
{
    if (!(fabs(found - want) <= ROUNDING * (1 + fabs(want))))
        fail_msg("%.17g, expected %.17g", found, want);
}

/* the logarithm of the density of two that are seen, without constants, and of one seen with the
 * other below l: their slopes by rho are the scores */
static double log_seen(double a, double b, double r)
{
    return -log(1 - r * r) / 2 - (a * a - 2 * r * a * b + b * b) / (2 * (1 - r * r));
}

static double log_mixed(double u, double l, double r)
{
    return ur_normal_log_cdf((l - r * u) / sqrt(1 - r * r));
}

static const double STEP = 1e-4;
/* of a difference over 2 STEP: its square times the third derivative, which is below 1e4 here, and
 * the rounding of two logarithms */
static const double SLOPE = 2e-4;

static void near_slope(double found, double want)
{
    if (!(fabs(found - want) <= SLOPE * (1 + fabs(want))))
        fail_msg("slope %.17g, expected %.17g", found, want);
}

static void sums_of_seen_rows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        double found[5], want[5] = {0};
        ur_sum_seen(n, x[0], x[1], found);
        for (size_t i = 0; i < n; i++) {
            double a = x[0][i], b = x[1][i], term[5] = {a, b, a * a, a * b, b * b};
            for (int t = 0; t < 5; t++)
                want[t] += term[t];
        }
        for (int t = 0; t < 5; t++)
            near(found[t], want[t]);
        near(ur_sum_products(n, x[0], x[1]), want[3]);
    }
}

static void scores_of_seen_rows_are_slopes_of_the_density(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rhos / sizeof *rhos; k++) {
        double r = rhos[k], score[ROWS];
        ur_score_seen(ROWS, x[0], x[1], r, score);
        for (size_t i = 0; i < ROWS; i++)
            near_slope(score[i], (log_seen(x[0][i], x[1][i], r + STEP) -
                                  log_seen(x[0][i], x[1][i], r - STEP)) /
                                     (2 * STEP));
    }
}

static double score_mixed(double u, double l, double r)
{
    double o2 = 1 - r * r, o = sqrt(o2);
    return ur_normal_hazard((r * u - l) / o) * (r * l - u) / (o * o2);
}

static void mixed_rows(size_t n, double r)
{
    double g[ROWS], m[ROWS], sum[2], slopes[4], h = STEP;
    double want[2] = {0}, wanted[4] = {0};
    ur_mixed_rows rows = {n, x[0], x[1], g, m};
    ur_sum_mixed(&rows, r, sum);
    ur_slopes_mixed(&rows, r, slopes);
    for (size_t i = 0; i < n; i++) {
        double u = x[0][i], l = x[1][i];
        near(g[i], score_mixed(u, l, r));
        near_slope(g[i], (log_mixed(u, l, r + h) - log_mixed(u, l, r - h)) / (2 * h));
        double by_u = (score_mixed(u + h, l, r) - score_mixed(u - h, l, r)) / (2 * h);
        double by_l = (score_mixed(u, l + h, r) - score_mixed(u, l - h, r)) / (2 * h);
        want[0] += score_mixed(u, l, r);
        want[1] -= (score_mixed(u, l, r + h) - score_mixed(u, l, r - h)) / (2 * h);
        wanted[0] += by_u;
        wanted[1] += by_u * u;
        wanted[2] += by_l;
        wanted[3] += by_l * l;
    }
    near(sum[0], want[0]);
    near_slope(sum[1], want[1]);
    for (int t = 0; t < 4; t++)
        near_slope(slopes[t], wanted[t]);
}

static void sums_of_rows_where_one_is_seen(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t t = 0; t < sizeof rhos / sizeof *rhos; t++)
            mixed_rows(sizes[k], rhos[t]);
}

/* from a rho as far away as the shares of the longest step that each series takes, and beyond both
 */
static void hazards_follow_rho(void **state)
{
    enum { SHARES = 5 };
    static const double longest[] = {1e-3, 0.09}, shares[SHARES] = {1e-3, 0.3, 0.99, 20, -0.99};
    static double u[ROWS], l[ROWS], g[ROWS], m[ROWS], to[ROWS], hazard[ROWS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) { /* |u - rho l| below 4 in most rows, and in all */
        u[i] = x[0][i] / 2;
        l[i] = x[1][i] / 2;
    }
    for (size_t k = 0; k < 10 * SHARES * sizeof rhos / sizeof *rhos; k++) {
        size_t n = sizes[k % 10];
        double r = rhos[k / 10 / SHARES], share = shares[k / 10 % SHARES], found[2], want[2];
        double unit = pow(1 - r * r, 1.5) / 4; /* of rho, that moves an ordinary g by 1 at most */
        for (int which = 0; which < 2; which++) {
            double from = r - 0.95 * share * longest[which] * unit;
            const ur_mixed_rows rows = {n, u, l, g, m}, plain = {n, u, l, to, hazard};
            ur_sum_mixed(&plain, r, want);
            ur_sum_mixed(&rows, from, found);
            ur_move_mixed(&rows, from, r, found);
            for (size_t i = 0; i < n; i++)
                if (g[i] != to[i] || !(fabs(m[i] - hazard[i]) <= 1e-13 * (1 + hazard[i])))
                    fail_msg("from %g to %g: m %.17g, expected %.17g", from, r, m[i], hazard[i]);
            near(found[0], want[0]);
            near(found[1], want[1]);
        }
    }
}

static void moves_of_rows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        double score[ROWS], sum[6], want[6] = {0};
        ur_moving_rows rows = {.n = n,
                               .by = {x[0], x[1], x[2], x[3]},
                               .slope = {0.3, -0.7, 0.2, 1.1},
                               .information = 2.5,
                               .relative = {0.4, -0.6}};
        memcpy(score, x[4], sizeof score);
        ur_move_rows(&rows, score, sum);
        for (size_t i = 0; i < n; i++) {
            double move = x[4][i], product;
            for (int t = 0; t < 4; t++)
                move -= rows.slope[t] * x[t][i];
            move /= rows.information;
            product = move + 0.4 * x[1][i] - 0.6 * x[3][i];
            near(score[i], move);
            want[0] += move * move;
            want[1] += product * product;
            for (int t = 0; t < 4; t++)
                want[2 + t] += x[t / 2][i] * x[2 + t % 2][i];
        }
        for (int t = 0; t < 6; t++)
            near(sum[t], want[t]);
        if (n < ROWS)
            assert_true(score[n] == x[4][n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_seen_rows),
        cmocka_unit_test(scores_of_seen_rows_are_slopes_of_the_density),
        cmocka_unit_test(sums_of_rows_where_one_is_seen),
        cmocka_unit_test(hazards_follow_rho),
        cmocka_unit_test(moves_of_rows),
    };
    return cmocka_run_group_tests(tests, draw, NULL);
}
