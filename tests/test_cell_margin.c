/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/cell_margin.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SEEN, BELOW, MISSING, MOST = 400, RUNS = 400 };

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

typedef struct {
    size_t n;
    double x[MOST];
    unsigned char state[MOST];
} sample;

static ur_cell_margin fit(const sample *s)
{
    ur_cell_margin out;
    unrelu_error err = {0};
    if (ur_cell_margin_fit(s->n, s->x, NULL, s->state, &out, &err))
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
    sample s = {20, {0.7, 10.4, 3.7, 3.0, 3.5, 6.1, 1.5}, {0}};
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
        long double z = (s->x[i] - b) / scale;
        if (s->state[i] == SEEN)
            sum -= z * z / 2 + logl(scale) + logl(2 * acosl(-1)) / 2;
        else if (s->state[i] == BELOW)
            sum += logl(erfcl(-z / sqrtl(2)) / 2);
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
    expect_maximum(&(sample){4, {2, 1, 0.5, 1.5}, {SEEN, BELOW, BELOW, BELOW}});
    /* a cell below a limit that is above all values */
    expect_maximum(&(sample){5, {1, 2, 4, 9, 0.5}, {SEEN, SEEN, SEEN, BELOW, BELOW}});
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
    ur_cell_margin out = fit(&(sample){3, {1, 2, NAN}, {BELOW, BELOW, MISSING}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_ALL_ZERO);
    assert_true(isnan(out.margin.b) && isnan(out.margin.s) && isnan(out.likelihood));
    out = fit(&(sample){2, {NAN, NAN}, {MISSING, MISSING}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_ALL_ZERO);
    out = fit(&(sample){0, {0}, {0}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_ALL_ZERO);
    out = fit(&(sample){4, {3, 3, NAN, 3}, {SEEN, SEEN, MISSING, SEEN}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_CONSTANT);
    assert_true(out.margin.b == 3 && out.margin.s == 0);
    /* equal values at or below every limit: s -> 0 is ever better */
    out = fit(&(sample){4, {3, 3, 3, 5}, {SEEN, SEEN, BELOW, BELOW}});
    assert_int_equal(out.margin.verdict, UR_MARGIN_NO_MAXIMUM);
    assert_true(isnan(out.margin.b) && isnan(out.margin.s) && isnan(out.margin.b_se));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tobin_1958),
        cmocka_unit_test(limits_of_0_give_the_margin_of_plain_zeros),
        cmocka_unit_test(it_is_where_a_naive_likelihood_is_largest),
        cmocka_unit_test(affine_maps_move_it_with_the_data),
        cmocka_unit_test(without_limits_it_is_mean_and_deviation),
        cmocka_unit_test(what_has_no_maximum_is_told),
        cmocka_unit_test(standard_errors_are_calibrated),
        cmocka_unit_test(b_and_s_move_together_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
