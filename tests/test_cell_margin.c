/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/cell_left_out.h"
#include "law/cell_margin.h"
#include "law/left_out.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SEEN, BELOW, MISSING, ABOVE, BETWEEN, MOST = 400, RUNS = 400 };

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

typedef struct {
    size_t n;
    double x[MOST];
    unsigned char state[MOST];
    double upper[MOST];
} sample;

static ur_cell_margin fit(const sample *s)
{
    ur_cell_margin out;
    unrelu_error err = {0};
    const double *upper = memchr(s->state, BETWEEN, s->n) ? s->upper : NULL;
    if (ur_cell_margin_fit(s->n, s->x, upper, s->state, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

/* y ~ N(b, s^2), of which the cells have limit[0], limit[1], ... in turn, and some are missing */
static void draw(double b, double s, const double *limit, size_t limits, double missing, size_t n,
                 uint64_t seed, sample *out)
{
    double u[MOST];
    ur_random_normals(seed, 1, 0, n, out->x);
    ur_random_uniforms(seed, 2, 0, n, u);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        double y = b + s * out->x[i], l = limits ? limit[i % limits] : -INFINITY;
        out->state[i] = u[i] < missing ? MISSING : y <= l ? BELOW : SEEN;
        out->x[i] = u[i] < missing ? NAN : fmax(y, l);
    }
}

static void tobin_1958(void **state)
{
    (void)state;
    sample s = {20, {0.7, 10.4, 3.7, 3.0, 3.5, 6.1, 1.5}, {0}, {0}};
    memset(s.state + 7, BELOW, 13);
    ur_cell_margin out = fit(&s);
    assert_int_equal(out.margin.verdict, UR_MARGIN_FITTED);
    near(out.margin.b, -2.2274394, 1e-6);
    near(out.margin.s, 5.9452622, 1e-6);
    assert_int_equal(out.seen, 7);
    assert_int_equal(out.below, 13);
}

static void limits_of_0_give_the_margin_of_plain_zeros(void **state)
{
    (void)state;
    for (int k = -3; k <= 6; k++) {
        sample s;
        ur_margin plain;
        draw(0.5 * k, 1, (double[]){0}, 1, 0.1, MOST, 20 + (uint64_t)(k + 3), &s);
        ur_margin_sums sums = {.shift = 1};
        for (size_t i = 0; i < s.n; i++) {
            sums.n += s.state[i] != MISSING;
            if (s.state[i] != SEEN)
                continue;
            sums.positive++;
            sums.sum += s.x[i] - 1;
            sums.square += (s.x[i] - 1) * (s.x[i] - 1);
        }
        ur_margin_censored(&sums, &plain);
        ur_cell_margin out = fit(&s);
        near(out.margin.b, plain.b, 1e-11);
        near(out.margin.s, plain.s, 1e-11);
        near(out.margin.gamma, plain.gamma, 1e-11);
        assert_int_equal(out.margin.verdict, plain.verdict);
        /* one observed, the other expected information */
        near(out.margin.b_se / plain.b_se, 1, 0.15);
        near(out.margin.s_se / plain.s_se, 1, 0.15);
        near(out.margin.gamma_se / plain.gamma_se, 1, 0.15);
    }
}

/* ---- the likelihood, written down naively ---- */

static long double log_likelihood(const sample *s, long double b, long double scale)
{
    long double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        long double z = (s->x[i] - b) / scale, top = (s->upper[i] - b) / scale;
        if (s->state[i] == SEEN)
            sum -= z * z / 2 + logl(scale) + logl(2 * acosl(-1)) / 2;
        else if (s->state[i] == BELOW)
            sum += logl(erfcl(-z / sqrtl(2)) / 2);
        else if (s->state[i] == ABOVE)
            sum += logl(erfcl(z / sqrtl(2)) / 2);
        else if (s->state[i] == BETWEEN) /* in the tail on its side, where digits are */
            sum += z > 0 ? logl((erfcl(z / sqrtl(2)) - erfcl(top / sqrtl(2))) / 2)
                         : logl((erfcl(-top / sqrtl(2)) - erfcl(-z / sqrtl(2))) / 2);
    }
    return sum;
}

static long double best_b(const sample *s, long double scale, long double *value)
{
    long double low = -20, high = 20;
    while (high - low > 1e-9L) {
        long double left = low + (high - low) * 0.4L, right = low + (high - low) * 0.6L;
        if (log_likelihood(s, left, scale) < log_likelihood(s, right, scale))
            low = left;
        else
            high = right;
    }
    *value = log_likelihood(s, (low + high) / 2, scale);
    return (low + high) / 2;
}

static void expect_maximum(const sample *s)
{
    long double low = 0.05L, high = 20, left, right, value;
    while (high - low > 1e-8L) {
        best_b(s, low + (high - low) * 0.4L, &left);
        best_b(s, low + (high - low) * 0.6L, &right);
        if (left < right)
            low += (high - low) * 0.4L;
        else
            high = low + (high - low) * 0.6L;
    }
    double b = (double)best_b(s, (low + high) / 2, &value);
    ur_cell_margin out = fit(s);
    near(out.margin.b, b, 1e-6);
    near(out.margin.s, (double)(low + high) / 2, 1e-6);
    near(out.likelihood, (double)value, 1e-9 * (1 + fabs((double)value)));
}

static void it_is_where_a_naive_likelihood_is_largest(void **state)
{
    (void)state;
    static const double limits[] = {-0.5, 0.25, 0.25, 1, 2.5};
    sample s;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        draw(1.2 - 0.6 * (double)seed, 1.5, limits, 5, 0.1, 30, seed, &s);
        expect_maximum(&s);
    }
    draw(0.3, 1, NULL, 0, 0, 30, 4, &s);
    expect_maximum(&s);
    /* one value alone, held apart from its limits */
    expect_maximum(&(sample){4, {2, 1, 0.5, 1.5}, {SEEN, BELOW, BELOW, BELOW}, {0}});
    /* a cell below a limit that is above all values */
    expect_maximum(&(sample){5, {1, 2, 4, 9, 0.5}, {SEEN, SEEN, SEEN, BELOW, BELOW}, {0}});
}

/* as draw; of the values that are seen, those above top are known to be above it, and every third
 * of the others lies in an interval of this width */
static void draw_all_kinds(double b, double scale, double top, double width, size_t n,
                           uint64_t seed, sample *out)
{
    static const double limits[] = {-0.5, 0.25};
    draw(b, scale, limits, 2, 0.1, n, seed, out);
    for (size_t i = 0; i < n; i++) {
        if (out->state[i] == SEEN && out->x[i] > top) {
            out->state[i] = ABOVE;
            out->x[i] = top;
        } else if (out->state[i] == SEEN && i % 3 == 0) {
            out->state[i] = BETWEEN;
            out->x[i] = floor((out->x[i] - limits[0]) / width) * width + limits[0];
            out->upper[i] = out->x[i] + width;
        }
    }
}

static void cells_above_and_between_enter_the_likelihood(void **state)
{
    (void)state;
    static const double widths[] = {0.01, 0.3, 2};
    sample s;
    for (uint64_t k = 0; k < 3; k++) {
        draw_all_kinds(0.6, 1.2, 1.4, widths[k], 40, 70 + k, &s);
        expect_maximum(&s);
    }
    /* nothing is seen: intervals alone, with both ends or one */
    expect_maximum(&(sample){
        5, {0, 1, 2, 1, 3}, {BETWEEN, BETWEEN, BETWEEN, BETWEEN, ABOVE}, {1, 2, 3, 2, NAN}});
    /* limits of either side alone, that overlap */
    expect_maximum(
        &(sample){6, {0, 1, 3, 1, 2, 0.5}, {BELOW, BELOW, BELOW, ABOVE, ABOVE, ABOVE}, {0}});
}

/* Values with a cell in place of each: an interval so narrow that it is the value, but for the
 * logarithm of its width. */
static void a_narrow_interval_is_a_value(void **state)
{
    (void)state;
    for (int digits = 3; digits <= 12; digits += 3) {
        sample s, narrow;
        double width = pow(10, -digits);
        draw(0.4, 1, (double[]){0}, 1, 0.1, MOST, 5, &s);
        narrow = s;
        ur_cell_margin out = fit(&s);
        for (size_t i = 0; i < s.n; i++)
            if (s.state[i] == SEEN) {
                narrow.state[i] = BETWEEN;
                narrow.x[i] = s.x[i] - width / 2;
                narrow.upper[i] = s.x[i] + width / 2;
            }
        ur_cell_margin other = fit(&narrow);
        double tolerance = fmax(width * width, 1e-15 / width) + 1e-10;
        near(other.margin.b, out.margin.b, tolerance);
        near(other.margin.s, out.margin.s, tolerance);
        near(other.margin.b_se, out.margin.b_se, tolerance);
        near(other.margin.s_se, out.margin.s_se, tolerance);
        near(other.likelihood - (double)out.seen * log(width), out.likelihood,
             (double)MOST * tolerance);
        assert_int_equal(other.between, out.seen);
    }
}

/* mirrored data: what was below is above */
static void above_is_the_mirror_image_of_below(void **state)
{
    (void)state;
    sample s, mirror;
    draw_all_kinds(0.3, 1, 1, 0.5, MOST, 8, &s);
    mirror = s;
    for (size_t i = 0; i < s.n; i++) {
        int between = s.state[i] == BETWEEN;
        mirror.x[i] = between ? -s.upper[i] : -s.x[i];
        mirror.upper[i] = -s.x[i];
        mirror.state[i] = (unsigned char)(s.state[i] == BELOW   ? ABOVE
                                          : s.state[i] == ABOVE ? BELOW
                                                                : s.state[i]);
    }
    ur_cell_margin one = fit(&s), other = fit(&mirror);
    near(one.margin.b, -other.margin.b, 1e-12);
    near(one.margin.s, other.margin.s, 1e-12);
    near(one.V[1], -other.V[1], 1e-12);
    near(one.likelihood, other.likelihood, 1e-9);
    assert_int_equal(one.above, other.below);
    assert_int_equal(one.between, other.between);
}

static void an_infinite_end_is_none(void **state)
{
    (void)state;
    sample s = {5, {1, 2, 4, 9, 0.5}, {SEEN, SEEN, SEEN, BELOW, ABOVE}, {0}}, ends = s;
    ends.state[3] = ends.state[4] = BETWEEN;
    ends.x[3] = -INFINITY;
    ends.upper[3] = 9;
    ends.upper[4] = INFINITY;
    ur_cell_margin one = fit(&s), other = fit(&ends);
    assert_true(one.margin.b == other.margin.b && one.margin.s == other.margin.s);
    assert_true(other.below == 1 && other.above == 1 && other.between == 0);
}

static void affine_maps_move_it_with_the_data(void **state)
{
    (void)state;
    static const double limits[] = {-0.5, 0.25, 1}, scales[] = {1e-150, 1e-9, 3, 1e8, 1e150};
    sample s, moved;
    draw(0.4, 1, limits, 3, 0.1, MOST, 5, &s);
    ur_cell_margin out = fit(&s);
    for (size_t k = 0; k < 5; k++)
        for (int shift = -1; shift <= 1; shift++) {
            double a = scales[k], c = 1000 * shift * a;
            moved = s;
            for (size_t i = 0; i < s.n; i++)
                moved.x[i] = a * s.x[i] + c;
            ur_cell_margin other = fit(&moved);
            near((other.margin.b - c) / a, out.margin.b, 1e-9);
            near(other.margin.s / a, out.margin.s, 1e-9);
            near(other.margin.gamma, out.margin.gamma, 1e-9);
            near(other.margin.b_se / a, out.margin.b_se, 1e-9);
            near(other.margin.s_se / a, out.margin.s_se, 1e-9);
            near(other.margin.gamma_se, out.margin.gamma_se, 1e-9);
            near(other.likelihood, out.likelihood - (double)out.seen * log(a), 1e-6);
        }
}

static void without_limits_it_is_mean_and_deviation(void **state)
{
    (void)state;
    sample s;
    draw(7, 2, NULL, 0, 0.2, MOST, 6, &s);
    double mean = 0, square = 0, n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.state[i] == SEEN) {
            mean += s.x[i];
            n++;
        }
    mean /= n;
    for (size_t i = 0; i < s.n; i++)
        if (s.state[i] == SEEN)
            square += (s.x[i] - mean) * (s.x[i] - mean);
    double deviation = sqrt(square / n);
    ur_cell_margin out = fit(&s);
    assert_int_equal(out.margin.verdict, UR_MARGIN_NO_ZEROS);
    near(out.margin.b, mean, 1e-12);
    near(out.margin.s, deviation, 1e-12);
    near(out.margin.b_se, deviation / sqrt(n), 1e-12);
    near(out.margin.s_se, deviation / sqrt(2 * n), 1e-12);
    assert_true(out.margin.gamma == 8);
}

static void what_has_no_maximum_is_told(void **state)
{
    (void)state;
    ur_cell_margin out = fit(&(sample){3, {1, 2, NAN}, {BELOW, BELOW, MISSING}, {0}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_ALL_ZERO);
    assert_true(isnan(out.margin.b) && isnan(out.margin.s) && isnan(out.likelihood));
    out = fit(&(sample){2, {NAN, NAN}, {MISSING, MISSING}, {0}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_ALL_ZERO);
    out = fit(&(sample){0, {0}, {0}, {0}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_ALL_ZERO);
    out = fit(&(sample){4, {3, 3, NAN, 3}, {SEEN, SEEN, MISSING, SEEN}, {0}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_CONSTANT);
    assert_true(out.margin.b == 3 && out.margin.s == 0);
    /* equal values at or below every limit: s -> 0 is ever better */
    out = fit(&(sample){4, {3, 3, 3, 5}, {SEEN, SEEN, BELOW, BELOW}, {0}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_NO_MAXIMUM);
    assert_true(isnan(out.margin.b) && isnan(out.margin.s) && isnan(out.margin.b_se));
}

static void cells_that_agree_with_one_value_have_no_maximum(void **state)
{
    (void)state;
    static const struct {
        sample s;
        ur_margin_verdict verdict;
    } cases[] = {
        {{2, {1, 2}, {ABOVE, ABOVE}, {0}}, UR_MARGIN_ALL_ZERO},
        /* in all of them lies 2.5; 3 is an end of all */
        {{3, {2, 1, 0}, {BETWEEN, BETWEEN, ABOVE}, {3, 4}}, UR_MARGIN_NO_MAXIMUM},
        {{3, {2, 3, 1}, {BETWEEN, BETWEEN, ABOVE}, {3, 4}}, UR_MARGIN_NO_MAXIMUM},
        {{3, {5, 5, 4}, {SEEN, ABOVE, ABOVE}, {0}}, UR_MARGIN_NO_MAXIMUM},
        /* below 1 and above 2: ever wider is ever better */
        {{4, {1, 0, 2, 3}, {BELOW, BELOW, ABOVE, ABOVE}, {0}}, UR_MARGIN_NO_MAXIMUM},
        {{3, {5, 6, 4}, {SEEN, ABOVE, ABOVE}, {0}}, UR_MARGIN_FITTED},
        {{3, {2, 3.5, 1}, {BETWEEN, BETWEEN, ABOVE}, {3, 4}}, UR_MARGIN_FITTED},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (fit(&cases[k].s).margin.verdict != cases[k].verdict)
            fail_msg("case %zu: verdict %d", k, fit(&cases[k].s).margin.verdict);
}

static void errors_with_cells_of_all_kinds_are_calibrated(void **state)
{
    (void)state;
    double z2[3] = {0};
    for (uint64_t run = 0; run < RUNS; run++) {
        sample s;
        draw_all_kinds(0.4, 1, 1, 0.75, MOST, 5000 + run, &s);
        ur_cell_margin out = fit(&s);
        z2[0] += pow(out.margin.b - 0.4, 2) / out.V[0];
        z2[1] += pow(out.margin.s - 1, 2) / out.V[2];
        z2[2] += pow(out.margin.b + out.margin.s - 1.4, 2) / (out.V[0] + 2 * out.V[1] + out.V[2]);
    }
    for (int k = 0; k < 3; k++)
        near(sqrt(z2[k] / RUNS), 1, 0.08);
}

static void standard_errors_are_calibrated(void **state)
{
    (void)state;
    static const double limits[] = {-0.5, 0.25, 1};
    double z2[3] = {0};
    for (uint64_t run = 0; run < RUNS; run++) {
        sample s;
        draw(0.4, 2, limits, 3, 0.1, MOST, 100 + run, &s);
        ur_cell_margin out = fit(&s);
        z2[0] += pow((out.margin.b - 0.4) / out.margin.b_se, 2);
        z2[1] += pow((out.margin.s - 2) / out.margin.s_se, 2);
        z2[2] += pow((out.margin.gamma + 0.3) / out.margin.gamma_se, 2);
        near(out.V[0], out.margin.b_se * out.margin.b_se, 1e-12);
        near(out.V[2], out.margin.s_se * out.margin.s_se, 1e-12);
    }
    for (int k = 0; k < 3; k++)
        near(sqrt(z2[k] / RUNS), 1, 0.07);
}

/* var(b + s) = bb + 2 bs + ss against its spread */
static void b_and_s_move_together_as_told(void **state)
{
    (void)state;
    double z2 = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        sample s;
        draw(-0.5, 1, (double[]){0}, 1, 0, MOST, 1000 + run, &s);
        ur_cell_margin out = fit(&s);
        double variance = out.V[0] + 2 * out.V[1] + out.V[2];
        assert_true(variance < 0.9 * (out.V[0] + out.V[2]));
        z2 += pow(out.margin.b + out.margin.s - 0.5, 2) / variance;
    }
    near(sqrt(z2 / RUNS), 1, 0.08);
}

/* Of 40 rows with cells of every kind: sums of squares of what the margin moves by where a row is
 * left out are those of fits without it, and those of V times the score are short of them. */
static void what_rows_move_is_that_of_fits_without_them(void **state)
{
    (void)state;
    enum { FEW = 40 };
    double told = 0, plain = 0, left = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        UR_ARENA(arena);
        sample s;
        ur_cell_column column;
        unrelu_error err = {0};
        draw(1, 2, (double[]){0, 0.7}, 2, 0.1, FEW, 700 + seed, &s);
        for (size_t i = 0; i < FEW; i++) {
            double x = s.x[i];
            s.upper[i] = NAN;
            if (s.state[i] == SEEN && x > 4) {
                s.state[i] = ABOVE;
                s.x[i] = 4;
            } else if (s.state[i] == SEEN && i % 3 == 0) {
                s.state[i] = BETWEEN;
                s.x[i] = floor(x);
                s.upper[i] = floor(x) + 1;
            }
        }
        assert_int_equal(ur_cell_column_open(&arena, FEW, s.x, s.upper, s.state, &column, &err),
                         UNRELU_OK);
        ur_cell_left_out sums = ur_cell_left_out_sums(&column);
        const ur_margin *m = &column.margin.margin;
        double bb = 0, bs = 0, ss = 0;
        for (size_t i = 0; i < FEW; i++) {
            sample without = s;
            without.state[i] = MISSING;
            ur_cell_margin other = fit(&without);
            bb += pow(other.margin.b - m->b, 2);
            bs += (other.margin.b - m->b) * (other.margin.s - m->s);
            ss += pow(other.margin.s - m->s, 2);
            plain += column.s_by[i] * column.s_by[i] / (m->s * m->s);
        }
        near(sums.bb / bb, 1, 0.09);
        near(sums.ss / ss, 1, 0.07);
        near((sums.bs - bs) / sqrt(bb * ss), 0, 0.08);
        told += sums.ss / (m->s * m->s);
        left += ss / (m->s * m->s);
    }
    near(told / left, 1, 0.04);
    assert_true(plain / left < 0.94);
}

/* H = 1, and a row that knows a share of e: beyond 95 % its move is that of the whole */
static void a_row_that_carries_all_is_not_left_out(void **state)
{
    (void)state;
    const double H[3] = {1, 0, 1};
    double move[2];
    ur_left_out_move(H, &(ur_margin_row){{1, 0.5}, {0.94, 0, 0}}, move);
    near(move[0], 1 / 0.06, 1e-12 / 0.06);
    near(move[1], -0.5, 1e-12);
    ur_left_out_move(H, &(ur_margin_row){{1, 0.5}, {0.96, 0, 0}}, move);
    near(move[0], 1, 1e-12);
    ur_left_out_move(H, &(ur_margin_row){{1, 0.5}, {2, 0, 2}}, move);
    near(move[0], 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tobin_1958),
        cmocka_unit_test(limits_of_0_give_the_margin_of_plain_zeros),
        cmocka_unit_test(it_is_where_a_naive_likelihood_is_largest),
        cmocka_unit_test(cells_above_and_between_enter_the_likelihood),
        cmocka_unit_test(a_narrow_interval_is_a_value),
        cmocka_unit_test(above_is_the_mirror_image_of_below),
        cmocka_unit_test(an_infinite_end_is_none),
        cmocka_unit_test(cells_that_agree_with_one_value_have_no_maximum),
        cmocka_unit_test(errors_with_cells_of_all_kinds_are_calibrated),
        cmocka_unit_test(affine_maps_move_it_with_the_data),
        cmocka_unit_test(without_limits_it_is_mean_and_deviation),
        cmocka_unit_test(what_has_no_maximum_is_told),
        cmocka_unit_test(standard_errors_are_calibrated),
        cmocka_unit_test(b_and_s_move_together_as_told),
        cmocka_unit_test(what_rows_move_is_that_of_fits_without_them),
        cmocka_unit_test(a_row_that_carries_all_is_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
