/* SPDX-License-Identifier: Apache-2.0 */
/* What cells of two columns say of their joint law: shares of quadrants against counts, against
 * conditional probabilities by hand, and where the law is another. */
#include "base/random.h"
#include "gaussian/joint/quadrants.h"
#include "law/bivariate.h"
#include "law/normal.h"

#include "planted.h"

enum { N = 4000 };
static const double RHO = 0.6;

typedef struct {
    double x[2][N], upper[2][N];
    unsigned char state[2][N];
    ur_quadrant_column c[2];
} rows;

/* N(1, 2^2) and N(-1, 1) of correlation RHO, all of them seen */
static void draw_rows(rows *r, uint64_t seed)
{
    static double z[2 * N];
    ur_random_normals(seed, 1, 0, 2 * N, z);
    for (size_t i = 0; i < N; i++) {
        r->x[0][i] = 1 + 2 * z[2 * i];
        r->x[1][i] = -1 + RHO * z[2 * i] + sqrt(1 - RHO * RHO) * z[2 * i + 1];
        r->state[0][i] = r->state[1][i] = UR_SEEN;
        r->upper[0][i] = r->upper[1][i] = NAN;
    }
    for (int k = 0; k < 2; k++)
        r->c[k] = (ur_quadrant_column){N, r->x[k], r->upper[k], r->state[k], k ? -1 : 1, k ? 1 : 2};
}

static ur_quadrants find(const rows *r)
{
    ur_quadrants q;
    const double cut[2] = {ur_quadrant_cut(&r->c[0], 0.5), ur_quadrant_cut(&r->c[1], 0.5)};
    ur_quadrants_find(r->c, RHO, cut, &q);
    return q;
}

static void values_are_counted_about_the_medians(void **state)
{
    (void)state;
    static rows r;
    double both = 0, first = 0;
    draw_rows(&r, 1);
    r.state[1][7] = UR_MISSING;
    for (size_t i = 0; i < N; i++) {
        both += i != 7 && r.x[0][i] > 1 && r.x[1][i] > -1;
        first += i != 7 && r.x[0][i] > 1 && r.x[1][i] <= -1;
    }
    ur_quadrants q = find(&r);
    assert_near(q.cut[0], 1, 1e-12);
    assert_near(q.cut[1], -1, 1e-12);
    assert_near(q.rows, N - 1, 0);
    assert_near(q.share[0], both / (N - 1), 1e-12);
    assert_near(q.share[1], first / (N - 1), 1e-12);
    assert_near(q.fitted[0], 0.25 + asin(RHO) / (2 * M_PI), 1e-12);
    assert_near(q.fitted[2], 0.25 - asin(RHO) / (2 * M_PI), 1e-12);
    assert_true(q.misfit < 3);
}

/* Limits of any kind, most of them on the other side of a cut than the cell's value may be: shares
 * stay those of the law, and add up to 1. */
static void hidden_cells_count_with_what_is_left_open(void **state)
{
    (void)state;
    static rows r;
    double u[2 * N];
    draw_rows(&r, 2);
    ur_random_uniforms(3, 1, 0, 2 * N, u);
    for (size_t i = 0; i < 2 * N; i++) {
        size_t k = i % 2, at = i / 2;
        double *x = &r.x[k][at], limit = r.c[k].b + r.c[k].s * (3 * u[i] - 1);
        if (i % 7 == 3) {
            r.state[k][at] = UR_BETWEEN;
            r.upper[k][at] = floor(*x) + 1;
            *x = floor(*x);
        } else if (*x < limit) {
            r.state[k][at] = UR_BELOW;
            *x = limit;
        } else if (*x > limit + 1.5 * r.c[k].s) {
            r.state[k][at] = UR_ABOVE;
            *x = limit + 1.5 * r.c[k].s;
        }
    }
    ur_quadrants q = find(&r);
    assert_true(q.cut[0] > 1 && q.cut[1] > -1); /* more than half of the cells lie below a limit */
    assert_near(q.share[0] + q.share[1] + q.share[2] + q.share[3], 1, 1e-12);
    assert_true(q.misfit < 3);
}

/* one row, by hand; the cuts are the medians */
static double share_of(double x1, unsigned char s1, double x2, unsigned char s2, int quadrant)
{
    double NONE = NAN;
    const ur_quadrant_column c[2] = {{1, &x1, &NONE, &s1, 0, 1}, {1, &x2, &NONE, &s2, 0, 1}};
    ur_quadrants q;
    ur_quadrants_find(c, RHO, (double[]){0, 0}, &q);
    return q.share[quadrant];
}

static void a_row_that_is_open_is_split_by_the_law(void **state)
{
    (void)state;
    double o = sqrt(1 - RHO * RHO), u = 0.5, l = 1;
    double up_to = ur_normal_cdf((l - RHO * u) / o), below = ur_normal_cdf(-RHO * u / o);
    assert_near(share_of(u, UR_SEEN, l, UR_BELOW, 0), (up_to - below) / up_to, 1e-12);
    assert_near(share_of(u, UR_SEEN, l, UR_BELOW, 1), below / up_to, 1e-12);
    assert_near(share_of(l, UR_BELOW, u, UR_SEEN, 2), below / up_to, 1e-12);
    assert_near(share_of(-1, UR_BELOW, -2, UR_BELOW, 3), 1, 0); /* nothing is open */
    double all = ur_bivariate_normal(l, 2, RHO);
    assert_near(share_of(l, UR_BELOW, 2, UR_BELOW, 3), ur_bivariate_normal(0, 0, RHO) / all, 1e-12);
    assert_near(share_of(-1, UR_ABOVE, 30, UR_BELOW, 1),
                (ur_normal_cdf(0) - ur_bivariate_normal(0, 0, RHO)) / ur_normal_cdf(1), 1e-12);
    /* so far out that their probability is rounding: each column by itself */
    assert_near(share_of(-9, UR_BELOW, 9, UR_ABOVE, 2), 1, 1e-12);
}

/* Both margins are normal, but values above the medians are equal, and others have nothing to do
 * with one another: no column shows that, nor do quadrants about the medians, at the correlation
 * that makes these right. */
static void another_joint_law_is_seen(void **state)
{
    (void)state;
    static rows r;
    static double z[2 * N];
    draw_rows(&r, 4);
    ur_random_normals(5, 2, 0, 2 * N, z);
    for (size_t i = 0; i < N; i++) {
        double one = z[2 * i], two = z[2 * i + 1];
        r.x[0][i] = 1 + 2 * one;
        r.x[1][i] = -1 + (one > 0 && two > 0 ? one : two);
    }
    ur_quadrants q;
    ur_quadrants_worst(r.c, 0, &q);
    assert_true(q.misfit > 6);
    assert_true(q.share[0] > q.fitted[0]);
    const double cut[2] = {1, -1};
    ur_quadrants_find(r.c, 0, cut, &q);
    assert_true(q.misfit < 3);
    draw_rows(&r, 7);
    ur_quadrants_worst(r.c, RHO, &q);
    assert_true(q.misfit < 3);
}

static void rows_are_drawn_evenly_and_none_that_are_missing(void **state)
{
    (void)state;
    static rows r;
    double cells[20];
    unsigned char states[20];
    draw_rows(&r, 6);
    for (size_t i = 0; i < 1000; i++)
        r.state[0][i] = UR_MISSING;
    ur_quadrant_rows(r.c, 10, cells, states);
    for (size_t i = 0; i < 10; i++)
        assert_near(cells[2 * i + 1], r.x[1][1000 + 300 * i], 0);
    for (size_t i = 3; i < N; i++)
        r.state[1][i] = UR_MISSING;
    ur_quadrant_rows(r.c, 10, cells, states);
    assert_true(isnan(cells[0]) && states[0] == UR_MISSING);
    ur_quadrants q = find(&r);
    assert_true(q.rows == 0 && isnan(q.misfit));
    for (size_t i = 0; i < N; i++)
        r.state[1][i] = UR_MISSING;
    assert_true(isnan(ur_quadrant_cut(&r.c[1], 0.5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_counted_about_the_medians),
        cmocka_unit_test(hidden_cells_count_with_what_is_left_open),
        cmocka_unit_test(a_row_that_is_open_is_split_by_the_law),
        cmocka_unit_test(another_joint_law_is_seen),
        cmocka_unit_test(rows_are_drawn_evenly_and_none_that_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
