/* SPDX-License-Identifier: Apache-2.0 */
/* Tolerances of one and of two rectified normals: each test fails where one of them is 100 times
 * larger or smaller. Where searches end is seen by how many steps they take. */
#include "planted.h"

#include "law/cell_pair.h"
#include "law/information.h"
#include "law/normal.h"

/* ---- one column ---- */

static void margins_end_after_few_steps(void **state)
{
    (void)state;
    double censored = 0, truncated = 0, count = 0;
    for (double g = -2; g <= 3; g += 0.01, count++) {
        double Phi = ur_normal_cdf(g), lambda = ur_normal_hazard(-g), m = g + lambda, n = 1000;
        ur_margin_sums sums = {n, n * Phi, 0, n * Phi * m, n * Phi * (1.05 - lambda * m + m * m)};
        ur_margin out;
        ur_margin_censored(&sums, &out);
        censored += out.iterations;
        ur_margin_truncated(&sums, &out);
        truncated += out.iterations;
    }
    assert_near(censored / count, 3.29, 0.1);
    assert_near(truncated / count, 3.9, 0.1);
}

/* the determinant of the information over the product of its diagonal */
static double determinacy(double g)
{
    double phi = ur_normal_pdf(g), Phi = ur_normal_cdf(g), w = phi * (ur_normal_hazard(g) - g);
    double bb = Phi + w, bs = phi - g * w, ss = 2 * Phi - g * phi + g * g * w;
    return 1 - bs * bs / (bb * ss);
}

static void a_column_that_is_hardly_ever_positive_has_no_errors(void **state)
{
    (void)state;
    double V[3], known = 0, unknown = 0;
    for (double g = 0; g > -30; g -= 0.01) {
        known = determinacy(g) > 1e-6 ? g : known;
        unknown = unknown == 0 && determinacy(g) < 1e-8 ? g : unknown;
    }
    ur_information_margin(known, V);
    assert_true(isfinite(V[0]));
    ur_information_margin(unknown, V);
    assert_true(isnan(V[0]));
}

/* Pivots of the information of a pair, over its diagonal, are of order 1 - rho^2, here 2e-6, and
 * fall with gamma: 2.2e-7 at -5 and 8.6e-8 at -8. */
static void a_pair_has_errors_while_its_information_has_digits(void **state)
{
    (void)state;
    double rho, product;
    ur_information_bounds(1, 1, 0.999999, &rho, &product);
    assert_true(isfinite(rho) && isfinite(product));
    ur_information_bounds(-5, -5, 0.999999, &rho, &product);
    assert_true(isfinite(rho) && isfinite(product));
    ur_information_bounds(-8, -8, 0.999999, &rho, &product);
    assert_true(isnan(rho) && isnan(product));
}

/* N(g, 1) above 0, for g far below: its moments by their series in 1 / g^2 */
static ur_margin fit_far_below(double g)
{
    double a = 1 / (g * g), n = 1000;
    double mean = -(1 + a * (-2 + a * (10 - 74 * a))) / g;
    double variance = a * (1 + a * (-6 + a * (50 - 518 * a)));
    ur_margin_sums sums = {n, n, mean, 0, n * variance};
    ur_margin out;
    ur_margin_truncated(&sums, &out);
    return out;
}

static void truncated_margins_have_errors_while_their_information_has_digits(void **state)
{
    (void)state;
    assert_true(isfinite(fit_far_below(-40).b_se));
    assert_true(isnan(fit_far_below(-80).b_se));
}

static void truncated_margins_are_found_far_below(void **state)
{
    (void)state;
    assert_near(fit_far_below(-800).gamma / -800, 1, 1e-7);
}

static void a_column_that_is_never_positive_has_pairs_that_are_numbers(void **state)
{
    (void)state;
    ur_pair_margin m;
    ur_pair_margin_set(-40, &m);
    assert_true(isfinite(m.V[0]) && isfinite(m.V[1]) && isfinite(m.V[2]));
}

static void hazards_far_below_are_0(void **state)
{
    (void)state;
    double g[] = {-40, -100, -1000, -3000}, h[4];
    ur_normal_hazards(4, g, h);
    for (size_t i = 0; i < 4; i++)
        assert_true(h[i] >= 0 && h[i] < 1e-300);
}

/* ---- pairs of cells with limits ---- */

enum { ROWS = 1001 };

/* uncorrelated rows that are seen, and one where both lie below the limit */
static ur_pair fit_with_corner(double limit)
{
    static double a[2][ROWS], zero[ROWS], below[ROWS], room[ROWS * 64];
    static unsigned char seen[ROWS];
    static size_t level[ROWS];
    static const ur_cell_margin margin = {.margin = {.verdict = UR_MARGIN_FITTED, .s = 1}};
    for (size_t i = 0; i + 1 < ROWS; i++) {
        a[0][i] = i & 1 ? 1 : -1;
        a[1][i] = i & 2 ? 1 : -1;
    }
    a[0][ROWS - 1] = a[1][ROWS - 1] = limit;
    seen[ROWS - 1] = UR_BELOW;
    below[ROWS - 1] = ur_normal_cdf(limit);
    ur_cell_column c[2];
    for (int k = 0; k < 2; k++)
        c[k] = (ur_cell_column){.n = ROWS,
                                .state = seen,
                                .margin = margin,
                                .a = a[k],
                                .expected = a[k],
                                .below = below,
                                .b_by = zero,
                                .s_by = zero,
                                .level = level,
                                .levels = 1};
    ur_pair pair;
    static double expected[2][ROWS];
    for (int k = 0; k < 2; k++) { /* of what was seen alone, so that the search starts at 0 */
        memcpy(expected[k], a[k], sizeof expected[k]);
        expected[k][ROWS - 1] = 0;
        c[k].expected = expected[k];
    }
    ur_cell_pair_fit(&c[0], &c[1], room, &pair);
    return pair;
}

static void a_corner_counts_while_its_probability_has_digits(void **state)
{
    (void)state;
    double near = ur_normal_quantile(sqrt(1e-289)), far = ur_normal_quantile(sqrt(1e-291));
    assert_true(fit_with_corner(near).rho > 0.1);
    assert_near(fit_with_corner(far).rho, 0, 1e-9);
}

/* columns that are equal have no maximum below 1: the bracket closes at the limit */
static void searches_for_cells_end_where_their_bracket_is_closed(void **state)
{
    (void)state;
    enum { N = 200 };
    UR_ARENA(arena);
    double x[N];
    unsigned char cells[N];
    unrelu_error err = {0};
    ur_cell_column c;
    ur_pair pair;
    for (size_t i = 0; i < N; i++) {
        x[i] = fmax(0, ur_normal_quantile(((double)i + 0.5) / N));
        cells[i] = (unsigned char)(x[i] > 0 ? UR_SEEN : UR_BELOW);
    }
    must(ur_cell_column_open(&arena, N, x, NULL, cells, &c, &err), &err);
    double *room = ur_cell_pair_room(&arena, N);
    assert_non_null(room);
    ur_cell_pair_fit(&c, &c, room, &pair);
    assert_true(pair.rho > 0.99998);
    assert_in_range(pair.evaluations, 40, 48);
}

/* Phi2 is moved by an integral over short steps of rho alone: the maximum is where the score,
 * computed anew, is 0 */
static void long_steps_of_rho_lose_no_digits(void **state)
{
    (void)state;
    enum { N = 400 };
    UR_ARENA(arena);
    double x[2][N];
    unsigned char cells[2][N];
    unrelu_error err = {0};
    ur_cell_column c[2];
    ur_pair pair;
    for (size_t i = 0; i < N; i++)
        for (int k = 0; k < 2; k++) {
            double z = ur_normal_quantile(((double)i + 0.5) / N);
            double e = ur_normal_quantile(((double)(i * 149 % N) + 0.5) / N);
            double y = k ? 0.99 * z + sqrt(1 - 0.99 * 0.99) * e : z;
            cells[k][i] = (unsigned char)(y > 1.2 ? UR_SEEN : UR_BELOW);
            x[k][i] = fmax(y, 1.2);
        }
    for (int k = 0; k < 2; k++)
        must(ur_cell_column_open(&arena, N, x[k], NULL, cells[k], &c[k], &err), &err);
    double *room = ur_cell_pair_room(&arena, N), score = 0;
    assert_non_null(room);
    ur_cell_pair_fit(&c[0], &c[1], room, &pair);
    double r = pair.rho, o2 = 1 - r * r, o = sqrt(o2);
    for (size_t i = 0; i < N; i++) {
        double a = c[0].a[i], b = c[1].a[i];
        double seen = cells[0][i] == UR_SEEN ? a : b, limit = cells[0][i] == UR_SEEN ? b : a;
        double w = (limit - r * seen) / o, square = a * a - 2 * r * a * b + b * b;
        if (cells[0][i] == UR_SEEN && cells[1][i] == UR_SEEN)
            score += r / o2 + (a * b * (1 + r * r) - r * (a * a + b * b)) / (o2 * o2);
        else if (cells[0][i] == cells[1][i])
            score += exp(-square / (2 * o2)) / (2 * acos(-1) * o) / ur_bivariate_normal(a, b, r);
        else
            score += ur_normal_hazard(-w) * (r * limit - seen) / (o2 * o);
    }
    assert_near(score * o2, 0, 1e-6);
}

/* ---- pairs by their statistics ---- */

/* a statistic that the start does not look at is off, so that the search goes on from there */
static void errors_are_those_of_where_the_search_ends(void **state)
{
    (void)state;
    const double n[2] = {1000, 1000};
    ur_pair_margin m1, m2;
    ur_pair moved, plain;
    double T[6];
    ur_pair_margin_set(-0.5, &m1);
    ur_pair_margin_set(0.7, &m2);
    ur_pair_expect(&m1, &m2, 0.5, T);
    ur_pair_moments t = {1000, T[0], T[1], T[2], T[3], T[4] + 0.05, T[5]};
    ur_pair_six_statistics(&m1, &m2, &t, n, &moved);
    double step = fabs(moved.rho - moved.start) / (1 - moved.start * moved.start);
    assert_true(step > 0.01 && step < 0.09);
    ur_pair_expect(&m1, &m2, moved.rho, T);
    t = (ur_pair_moments){1000, T[0], T[1], T[2], T[3], T[4], T[5]};
    ur_pair_six_statistics(&m1, &m2, &t, n, &plain);
    assert_near(plain.rho, moved.rho, 1e-6);
    assert_near(moved.rho_se / plain.rho_se, 1, 1e-3);
}

static void orthants_end_after_few_steps(void **state)
{
    (void)state;
    const double n[2] = {1000, 1000};
    double evaluations = 0, count = 0;
    ur_pair pair;
    for (double g = -1.5; g < -0.1; g += 0.1)
        for (double rho = -0.8; rho < 0.9; rho += 0.05, count++) {
            ur_pair_margin m1, m2;
            ur_pair_margin_set(g, &m1);
            ur_pair_margin_set(g / 2, &m2);
            ur_pair_from_signs(&m1, &m2, 1000, ur_bivariate_normal(g, g / 2, rho), n, &pair);
            assert_true(pair.converged);
            evaluations += pair.evaluations;
        }
    assert_near(evaluations / count, 3.82, 0.1);
}

static void an_orthant_beyond_the_limit_closes_its_bracket(void **state)
{
    (void)state;
    const double n[2] = {1000, 1000};
    ur_pair_margin m, other;
    ur_pair pair;
    double limit = asin(UR_PAIR_LIMIT);
    ur_pair_margin_set(-0.5, &m);
    ur_pair_margin_set(-1.5, &other);
    ur_pair_from_signs(&m, &other, 1000, 1.001 * ur_normal_cdf(-1.5), n, &pair); /* rho above 1 */
    assert_false(pair.converged);
    assert_in_range(pair.evaluations, 37, 44);
    for (int stopped = 0; stopped < 2; stopped++) {
        double P = ur_bivariate_normal(-0.5, -0.5, sin(limit - (stopped ? 1e-10 : 1e-8)));
        ur_pair_from_signs(&m, &m, 1000, P, n, &pair);
        assert_int_equal(pair.converged, !stopped);
    }
}

/* ---- the information of a pair ---- */

/* that of rho where the second is never censored, by a plain sum over z2 and w = (z1 - rho z2) / o
 */
static double information_of_rho(double g1, double r)
{
    enum { STEPS = 3000 };
    double o = sqrt(1 - r * r), sum = 0, h = 18.0 / STEPS, k = 14.0 / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double z2 = -9 + (i + 0.5) * h, w0 = (-g1 - r * z2) / o, inner = 0;
        for (int j = 0; j < STEPS && w0 + j * k < 9; j++) {
            double w = fmax(w0, -9) + (j + 0.5) * k, v = (z2 - r * (r * z2 + o * w)) / o;
            double score = (w * v + r) / (o * o);
            inner += k * ur_normal_pdf(w) * score * score;
        }
        double score = ur_normal_hazard(-w0) * (z2 + r * g1) / (o * o * o);
        sum += h * ur_normal_pdf(z2) * (inner + ur_normal_cdf(w0) * score * score);
    }
    return sum;
}

static void information_is_summed_finely_where_it_steps(void **state)
{
    (void)state;
    double information[UR_PAIR_PARAMETERS][UR_PAIR_PARAMETERS];
    ur_information_pair(0.3, 8, 0.999, information);
    double found = information[UR_RHO][UR_RHO], want = information_of_rho(0.3, 0.999);
    assert_near(found / want, 1, 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins_end_after_few_steps),
        cmocka_unit_test(a_column_that_is_hardly_ever_positive_has_no_errors),
        cmocka_unit_test(a_pair_has_errors_while_its_information_has_digits),
        cmocka_unit_test(truncated_margins_have_errors_while_their_information_has_digits),
        cmocka_unit_test(truncated_margins_are_found_far_below),
        cmocka_unit_test(a_column_that_is_never_positive_has_pairs_that_are_numbers),
        cmocka_unit_test(hazards_far_below_are_0),
        cmocka_unit_test(a_corner_counts_while_its_probability_has_digits),
        cmocka_unit_test(searches_for_cells_end_where_their_bracket_is_closed),
        cmocka_unit_test(long_steps_of_rho_lose_no_digits),
        cmocka_unit_test(errors_are_those_of_where_the_search_ends),
        cmocka_unit_test(orthants_end_after_few_steps),
        cmocka_unit_test(an_orthant_beyond_the_limit_closes_its_bracket),
        cmocka_unit_test(information_is_summed_finely_where_it_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
