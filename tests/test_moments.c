/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

#include "pass/pass.h"
#include "summary/moments.h"

enum { D = 5 };
static const double no_limit[D] = {0};

typedef struct {
    ur_moments_plan plan;
    double *s;
} moments;

static moments summarise_as(const double *x, size_t n, size_t groups, int single, int pairs)
{
    moments m;
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    m.plan = (ur_moments_plan){.d = D,
                               .groups = groups,
                               .pairs = pairs,
                               .single = single,
                               .limit = no_limit,
                               .head = calloc(2 * D, sizeof *m.plan.head)};
    m.s = calloc(ur_moments.len(&m.plan), sizeof *m.s);
    must(unrelu_source_memory(x, n, D, NULL, &source, &err), &err);
    must(ur_pass(source, &ur_moments, &m.plan, NULL, "test", m.s, &err), &err);
    unrelu_source_close(source);
    return m;
}

static moments summarise(const double *x, size_t n, size_t groups, int single)
{
    return summarise_as(x, n, groups, single, 1);
}

static void moments_free(moments *m)
{
    free(m->plan.head);
    free(m->s);
}

/* sum over rows of f(x_i) f(x_j) from the summary, undoing shift and unit: kinds 0: G, 1: x,
 * 2: x^2, 3: missing */
static double sum_of(const moments *m, size_t i, int kind_i, size_t j, int kind_j)
{
    double *body = calloc(ur_moments_body_len(&m->plan), sizeof *body);
    ur_moments_total(&m->plan, m->s, SIZE_MAX, body);
    ur_moments_view v = ur_moments_view_of(&m->plan, body);
    double e = ur_moments_exponent(&m->plan, m->s)[j], unit = e != 0 ? exp2(e + UR_NO_EXPONENT) : 1;
    double ei = ur_moments_exponent(&m->plan, m->s)[i],
           unit_i = ei != 0 ? exp2(ei + UR_NO_EXPONENT) : 1;
    double c = ur_moments_shift(&m->plan, m->s)[j], ci = ur_moments_shift(&m->plan, m->s)[i];
    size_t at = i * D + j, up = i <= j ? at : j * D + i;
    double result;
    if (kind_i == 3)
        result = kind_j == 3   ? v.mm[up]
                 : kind_j == 0 ? v.mg[at]
                 : kind_j == 1
                     ? unit * v.mt[at] + c * v.mg[at]
                     : unit * unit * v.mtt[at] + 2 * c * unit * v.mt[at] + c * c * v.mg[at];
    else if (kind_i == 0)
        result = kind_j == 0 ? v.gg[up]
                 : kind_j == 1
                     ? unit * v.gt[at] + c * v.gg[up]
                     : unit * unit * v.gtt[at] + 2 * c * unit * v.gt[at] + c * c * v.gg[up];
    else
        result = unit * unit_i * v.tt[up] + ci * unit * v.gt[at] + c * unit_i * v.gt[j * D + i] +
                 c * ci * v.gg[up];
    free(body);
    return result;
}

static double value(double x, int kind)
{
    if (isnan(x))
        return kind == 3;
    return kind == 0 ? x > 0 : kind == 1 ? x : kind == 2 ? x * x : 0;
}

static double naive(const double *x, size_t n, size_t i, int kind_i, size_t j, int kind_j)
{
    double sum = 0;
    for (size_t r = 0; r < n; r++)
        sum += value(x[r * D + i], kind_i) * value(x[r * D + j], kind_j);
    return sum;
}

static const int kinds[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {3, 3}, {3, 0}, {3, 1}, {3, 2}};

/* tolerance relative to the sum itself, or (of_scale) to its bound by Cauchy-Schwarz */
static void assert_sums_of(const moments *m, const double *x, size_t n, double tolerance,
                           int of_scale)
{
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                double expected = naive(x, n, i, kinds[k][0], j, kinds[k][1]);
                double bound = sqrt(naive(x, n, i, kinds[k][0], i, kinds[k][0])) *
                               sqrt(naive(x, n, j, kinds[k][1], j, kinds[k][1]));
                assert_near(sum_of(m, i, kinds[k][0], j, kinds[k][1]), expected,
                            tolerance * (of_scale ? bound : fabs(expected)));
            }
}

static void assert_sums(const moments *m, const double *x, size_t n, double tolerance)
{
    assert_sums_of(m, x, n, tolerance, 0);
}

/* rectified values of several scales, one column nearly constant, some cells missing */
static double *sample(size_t n, uint64_t seed, int missing)
{
    unrelu_gaussian_plant_options options;
    unrelu_gaussian_plant_options_init(&options, sizeof options);
    options.d = D;
    options.bias = UNRELU_BIAS_FIXED;
    options.bias_value = 0.2;
    unrelu_gaussian *truth = plant(options);
    double *x = draw(truth, n, seed);
    for (size_t r = 0; r < n; r++) {
        x[r * D + 1] *= 1e6;
        x[r * D + 2] *= 1e-6;
        x[r * D + 3] += 1e5;
        for (size_t j = 0; missing && j < D; j++)
            if ((r * 7 + j * 3 + r * r % 11) % 17 == 0)
                x[r * D + j] = NAN;
    }
    unrelu_gaussian_free(truth);
    return x;
}

static void sums_equal_a_naive_loop(void **state)
{
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        double *x = sample(20011, 3, missing);
        moments m = summarise(x, 20011, 1, 0), g = summarise(x, 20011, 10, 0);
        assert_sums(&m, x, 20011, 1e-12);
        assert_sums(&g, x, 20011, 1e-12);
        moments_free(&m);
        moments_free(&g);
        free(x);
    }
}

static void single_precision_keeps_seven_digits(void **state)
{
    (void)state;
    double *x = sample(20011, 3, 1);
    moments m = summarise(x, 20011, 1, 1);
    assert_sums(&m, x, 20011, 1e-7);
    moments_free(&m);
    free(x);
}

static void merge_of_parts_is_the_whole_at_any_heads(void **state)
{
    (void)state;
    enum { N = 9000 };
    double *x = sample(N, 4, 1);
    for (size_t r = 0; r < 4000; r++) {
        x[r * D] = 0;          /* the first part shows no positive */
        x[r * D + 4] *= 1e-20; /* and has another unit */
    }
    const size_t cuts[] = {1, 700, 4000, 4001, 8999};
    for (size_t k = 0; k < 5; k++) {
        moments a = summarise(x, cuts[k], 1, 0), b = summarise(x + cuts[k] * D, N - cuts[k], 1, 0);
        double room[5 * D];
        assert_true(ur_moments.room(&a.plan) <= 5 * D);
        ur_moments.absorb(&a.plan, a.s, b.s, room);
        assert_sums(&a, x, N, 1e-12);
        for (size_t i = 0; i < ur_moments.len(&b.plan); i++)
            assert_true(b.s[i] == 0);
        moments_free(&a);
        moments_free(&b);
    }
    free(x);
}

static void a_late_giant_raises_the_unit(void **state)
{
    (void)state;
    enum { N = 3000 };
    double *x = sample(N, 5, 0);
    x[2500 * D] = 1e70;
    x[2600 * D + 1] = 1e60;
    for (int single = 0; single < 2; single++) {
        moments m = summarise(x, N, 1, single);
        assert_sums_of(&m, x, N, single ? 1e-6 : 1e-12, single);
        moments_free(&m);
    }
    free(x);
}

/* the sweep over columns alone agrees with the packed panels, whatever the heads do */
static void columns_without_pairs_have_the_same_sums(void **state)
{
    (void)state;
    enum { N = 9001 };
    for (int missing = 0; missing < 2; missing++) {
        double *x = sample(N, 7, missing);
        for (size_t r = 0; r < 5000; r++)
            x[r * D] = 0; /* first positive late */
        x[8000 * D + 1] = 1e60;
        moments a = summarise_as(x, N, 3, 0, 1), b = summarise_as(x, N, 3, 0, 0);
        assert_memory_equal(a.s, b.s, 2 * D * sizeof(double)); /* heads */
        for (size_t g = 0; g < 3; g++) {
            ur_moments_view v = ur_moments_view_of(&a.plan, ur_moments_group(&a.plan, a.s, g));
            ur_moments_view u = ur_moments_view_of(&b.plan, ur_moments_group(&b.plan, b.s, g));
            assert_true(*v.rows == *u.rows && *v.missing_cells == *u.missing_cells);
            for (size_t j = 0; j < D; j++) {
                assert_true(v.observed[j] == u.observed[j] && v.positive[j] == u.positive[j]);
                assert_near(u.sum[j], v.sum[j], 1e-12 * sqrt(N * v.square[j]));
                assert_near(u.square[j], v.square[j], 1e-12 * v.square[j]);
            }
        }
        moments_free(&a);
        moments_free(&b);
        free(x);
    }
}

static void constant_column_has_no_spread_at_all(void **state)
{
    (void)state;
    enum { N = 5000 };
    double *x = sample(N, 6, 0);
    for (size_t r = 0; r < N; r++)
        x[r * D + 2] = 0.1;
    moments m = summarise(x, N, 1, 0);
    ur_moments_view v = ur_moments_view_of(&m.plan, ur_moments_group(&m.plan, m.s, 0));
    assert_true(v.square[2] == 0 && v.sum[2] == 0 && v.positive[2] == N);
    moments_free(&m);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_equal_a_naive_loop),
        cmocka_unit_test(single_precision_keeps_seven_digits),
        cmocka_unit_test(merge_of_parts_is_the_whole_at_any_heads),
        cmocka_unit_test(a_late_giant_raises_the_unit),
        cmocka_unit_test(columns_without_pairs_have_the_same_sums),
        cmocka_unit_test(constant_column_has_no_spread_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
