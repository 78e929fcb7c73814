/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "summary/panel.h"

enum { MATRICES = 8, VECTORS = 4, OUTPUTS = 6 };

/* One problem: x (rows x stride) with a share of zeros and of missing cells. */
typedef struct {
    size_t rows, d, stride;
    double *memory, *x, *limit, *shift, *unit;
} problem;

/* All sums in one array: gg tt gt gtt mm mg mt mtt (d x d each), then missing positive sum
 * square (d each). */
typedef struct {
    size_t d, len;
    double *all;
} totals;

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static problem make(size_t rows, size_t d, size_t gap, double missing)
{
    problem p = {.rows = rows, .d = d, .stride = d + gap};
    state = rows * 1000003 + d * 101 + gap;
    p.memory = calloc(rows * p.stride + 1 + 3 * d, sizeof(double));
    p.limit = p.memory;
    p.shift = p.limit + d;
    p.unit = p.shift + d;
    p.x = p.unit + d + (d % 2 ? 0 : 1); /* 8 bytes off any wider alignment */
    for (size_t j = 0; j < d; j++) {
        p.limit[j] = j % 3 ? 0 : uniform() - .5;
        p.shift[j] = j % 2 ? uniform() : 0;
        p.unit[j] = ldexp(1, (int)(j % 5) - 2);
        if (j % 7 >= 5) { /* few values, as eighths: their roundings would not be independent */
            p.limit[j] = nearbyint(8 * p.limit[j]) / 8;
            p.shift[j] = nearbyint(8 * p.shift[j]) / 8;
        }
    }
    for (size_t i = 0; i < rows * p.stride; i++) {
        size_t j = i % p.stride;
        if (j >= d) {
            p.x[i] = 1e300; /* between the rows: must not be read as data */
            continue;
        }
        p.x[i] = p.limit[j] + fmax(0, 2 * uniform() - 1); /* half the cells at the limit exactly */
        if (j % 7 == 6)
            p.x[i] = p.limit[j] + 3; /* constant column */
        if (j % 7 == 5 && uniform() < .5)
            p.x[i] = uniform() < .5 ? -0.0 : 5e-324;
        if (j % 4 != 1 && uniform() < missing)
            p.x[i] = NAN;
    }
    return p;
}

static void drop(problem *p)
{
    free(p->memory);
}

static totals none(size_t d)
{
    totals t = {.d = d, .len = MATRICES * d * d + VECTORS * d};
    t.all = calloc(t.len, sizeof(double));
    return t;
}

static ur_panel_sums sums_of(const totals *t)
{
    size_t d2 = t->d * t->d;
    double *a = t->all;
    return (ur_panel_sums){.gg = a,
                           .tt = a + d2,
                           .gt = a + 2 * d2,
                           .gtt = a + 3 * d2,
                           .mm = a + 4 * d2,
                           .mg = a + 5 * d2,
                           .mt = a + 6 * d2,
                           .mtt = a + 7 * d2};
}

/* the vectors of t; its min and max are no sums */
static ur_columns columns_of(const totals *t)
{
    double *v = t->all + MATRICES * t->d * t->d;
    return (ur_columns){NULL, NULL, v, v + t->d, v + 2 * t->d, v + 3 * t->d};
}

static ur_columns columns_at(double *out, size_t d)
{
    return (ur_columns){out, out + d, out + 2 * d, out + 3 * d, out + 4 * d, out + 5 * d};
}

static ur_panel *panel_for(ur_arena *arena, const problem *p, int single, int plain)
{
    ur_panel *panel =
        plain ? ur_panel_new_plain(arena, p->d, single) : ur_panel_new(arena, p->d, single);
    assert_non_null(panel);
    return panel;
}

/* out: what pack writes, from values that it must overwrite */
static void pack(ur_panel *panel, const problem *p, size_t first, size_t rows, double *out)
{
    ur_columns columns = columns_at(out, p->d);
    memset(out, 255, OUTPUTS * p->d * sizeof *out);
    ur_panel_pack(panel, p->x + first * p->stride, rows, p->stride, p->limit, p->shift, p->unit,
                  &columns);
}

/* rows [first, last) of p, one pack after another */
static void add(const problem *p, size_t first, size_t last, int single, int plain, const totals *t)
{
    UR_ARENA(arena);
    ur_panel *panel = panel_for(&arena, p, single, plain);
    ur_panel_sums sums = sums_of(t);
    double *v = t->all + MATRICES * p->d * p->d, *out = malloc(OUTPUTS * p->d * sizeof *out);
    for (size_t r = first; r < last; r += ur_panel_rows(panel)) {
        size_t rows = last - r < ur_panel_rows(panel) ? last - r : ur_panel_rows(panel);
        pack(panel, p, r, rows, out);
        ur_panel_add(panel, &sums);
        for (size_t k = 0; k < VECTORS * p->d; k++)
            v[k] += out[2 * p->d + k];
    }
    free(out);
}

/* The definition. size: the same sums of absolute values, which bound the rounding. */
static void define(const problem *p, const totals *t, const totals *size)
{
    size_t d = p->d;
    ur_panel_sums s = sums_of(t), a = sums_of(size);
    ur_columns c = columns_of(t), ca = columns_of(size);
    double *g = calloc(3 * d, sizeof(double)), *m = g + d, *v = m + d;
    for (size_t r = 0; r < p->rows; r++) {
        for (size_t j = 0; j < d; j++) {
            double x = p->x[r * p->stride + j];
            m[j] = isnan(x) ? 1 : 0;
            g[j] = x > p->limit[j] ? 1 : 0;
            v[j] = x > p->limit[j] ? (x - p->limit[j] - p->shift[j]) * p->unit[j] : 0;
            c.missing[j] += m[j];
            c.positive[j] += g[j];
            c.sum[j] += v[j];
            c.square[j] += v[j] * v[j];
            ca.sum[j] += fabs(v[j]);
            ca.square[j] += v[j] * v[j];
        }
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) {
                size_t ij = i * d + j;
                if (i <= j) {
                    s.gg[ij] += g[i] * g[j];
                    s.tt[ij] += v[i] * v[j];
                    s.mm[ij] += m[i] * m[j];
                    a.tt[ij] += fabs(v[i] * v[j]);
                }
                s.gt[ij] += g[i] * v[j];
                s.gtt[ij] += g[i] * v[j] * v[j];
                s.mg[ij] += m[i] * g[j];
                s.mt[ij] += m[i] * v[j];
                s.mtt[ij] += m[i] * v[j] * v[j];
                a.gt[ij] += g[i] * fabs(v[j]);
                a.gtt[ij] += g[i] * v[j] * v[j];
                a.mt[ij] += m[i] * fabs(v[j]);
                a.mtt[ij] += m[i] * v[j] * v[j];
            }
    }
    free(g);
}

/* size is 0 for counts, which makes them exact; single precision ends at FLT_MIN */
static void assert_close(const totals *t, const totals *expected, const totals *size, double eps)
{
    for (size_t k = 0; k < t->len; k++)
        if (!(fabs(t->all[k] - expected->all[k]) <= eps * (size->all[k] + FLT_MIN)))
            fail_msg("d = %zu, entry %zu: %.17g, expected %.17g", t->d, k, t->all[k],
                     expected->all[k]);
}

/* Single: sums of up to 192 rows one after another; the errors' standard deviation is then
 * eps / sqrt(12) * sqrt(192 / 3) = 2.3 eps of the sum. */
static double tolerance(int single)
{
    return single ? 12 * (double)FLT_EPSILON : 1e-13;
}

static void check(size_t rows, size_t d, size_t gap, double missing)
{
    problem p = make(rows, d, gap, missing);
    totals expected = none(d), size = none(d);
    define(&p, &expected, &size);
    for (int plain = 0; plain < 2; plain++)
        for (int single = 0; single < 2; single++) {
            totals t = none(d);
            add(&p, 0, rows, single, plain, &t);
            assert_close(&t, &expected, &size, tolerance(single));
            free(t.all);
        }
    free(expected.all);
    free(size.all);
    drop(&p);
}

static void sums_agree_with_their_definition_for_every_width(void **unused)
{
    (void)unused;
    for (size_t d = 1; d <= 70; d++)
        check(70 + d % 9, d, d % 4, d % 2 ? .1 : 0);
    check(300, 200, 0, 0);
    check(130, 200, 5, .02);
    check(61, 300, 0, .5);
    check(70, 405, 0, .02);
}

static void sums_agree_for_every_number_of_rows(void **unused)
{
    (void)unused;
    for (size_t rows = 1; rows <= 130; rows++)
        check(rows, 1 + rows % 7, rows % 2, rows % 3 ? 0 : .2);
    UR_ARENA(arena);
    ur_panel *panel = ur_panel_new(&arena, 3, 0);
    size_t most = ur_panel_rows(panel);
    for (size_t rows = most - 66; rows <= most + 5; rows++)
        check(rows, 3, 0, .05);
    check(3 * most + 17, 11, 0, .3);
}

static void one_stretch_is_the_sum_of_its_parts(void **unused)
{
    (void)unused;
    for (int single = 0; single < 2; single++) {
        problem p = make(500, 23, 1, .1);
        totals whole = none(23), parts = none(23), size = none(23), ignored = none(23);
        define(&p, &ignored, &size);
        add(&p, 0, 500, single, 0, &whole);
        add(&p, 0, 1, single, 0, &parts);
        add(&p, 1, 123, single, 0, &parts);
        add(&p, 123, 500, single, 0, &parts);
        assert_close(&parts, &whole, &size, tolerance(single));
        free(whole.all);
        free(parts.all);
        free(size.all);
        free(ignored.all);
        drop(&p);
    }
}

static void the_same_rows_elsewhere_in_memory_give_the_same_bits(void **unused)
{
    (void)unused;
    for (int single = 0; single < 2; single++) {
        problem p = make(1000, 13, 0, .1), q = p;
        totals a = none(13), b = none(13);
        q.x = malloc((1000 * 17 + 3) * sizeof(double));
        for (size_t r = 0; r < 1000; r++)
            memcpy(q.x + 3 + r * 17, p.x + r * 13, 13 * sizeof(double));
        add(&p, 0, 1000, single, 0, &a);
        double *moved = q.x;
        q.x += 3;
        q.stride = 17;
        add(&q, 0, 1000, single, 0, &b);
        assert_memory_equal(a.all, b.all, a.len * sizeof(double));
        free(moved);
        free(a.all);
        free(b.all);
        drop(&p);
    }
}

static void a_reused_panel_forgets_earlier_rows(void **unused)
{
    (void)unused;
    enum { D = 9 };
    problem before = make(900, D, 0, .4), p = make(7, D, 0, 0);
    double again[MATRICES * D * D] = {0}, fresh[MATRICES * D * D] = {0};
    double out[OUTPUTS * D], out_fresh[OUTPUTS * D];
    UR_ARENA(arena);
    ur_panel *panel = panel_for(&arena, &p, 0, 0), *new = panel_for(&arena, &p, 0, 0);
    ur_panel_sums sums = sums_of(&(totals){D, 0, again}), of_new = sums_of(&(totals){D, 0, fresh});
    pack(panel, &before, 0, 900, out);
    pack(panel, &p, 0, 7, out);
    ur_panel_add(panel, &sums);
    pack(new, &p, 0, 7, out_fresh);
    ur_panel_add(new, &of_new);
    assert_memory_equal(again, fresh, sizeof fresh);
    assert_memory_equal(out, out_fresh, sizeof out);
    drop(&before);
    drop(&p);
}

static void the_lower_triangle_and_sums_of_missing_cells_stay_untouched(void **unused)
{
    (void)unused;
    static const size_t widths[] = {3, 10, 17, 30};
    for (size_t w = 0; w < 8; w++) {
        size_t d = widths[w / 2];
        problem p = make(100, d, 0, 0);
        totals t = none(d);
        double *out = malloc(OUTPUTS * d * sizeof *out);
        ur_panel_sums sums = sums_of(&t);
        sums.mm = sums.mg = sums.mt = sums.mtt = NULL;
        UR_ARENA(arena);
        ur_panel *panel = panel_for(&arena, &p, w % 2, 0);
        pack(panel, &p, 0, 100, out);
        ur_panel_add(panel, &sums);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < i; j++) {
                assert_true(sums.gg[i * d + j] == 0);
                assert_true(sums.tt[i * d + j] == 0);
            }
        free(out);
        free(t.all);
        drop(&p);
    }
}

static void single_sums_err_by_1e_8_over_many_rows(void **unused)
{
    (void)unused;
    enum { D = 10, ROWS = 100000 };
    problem p = make(ROWS, D, 0, 0);
    totals t = none(D), expected = none(D), size = none(D);
    define(&p, &expected, &size);
    add(&p, 0, ROWS, 1, 0, &t);
    assert_close(&t, &expected, &size, 4e-8);
    free(t.all);
    free(expected.all);
    free(size.all);
    drop(&p);
}

/* range and counts by their definition; sums are checked with those of pairs */
static void check_range(size_t rows, size_t d, size_t gap, double missing_share)
{
    problem p = make(rows, d, gap, missing_share);
    double *out = malloc(OUTPUTS * d * sizeof *out);
    ur_columns columns = columns_at(out, d);
    for (int way = 0; way < 4; way++) {
        UR_ARENA(arena);
        ur_panel *panel = panel_for(&arena, &p, way % 2, way / 2);
        pack(panel, &p, 0, rows, out);
        for (size_t j = 0; j < d; j++) {
            double min = INFINITY, max = -INFINITY, missing = 0, positive = 0;
            for (size_t r = 0; r < rows; r++) {
                double x = p.x[r * p.stride + j];
                missing += isnan(x) ? 1 : 0;
                positive += x > p.limit[j];
                min = fmin(min, x);
                max = fmax(max, x);
            }
            assert_true(columns.min[j] == min && columns.max[j] == max);
            assert_true(columns.missing[j] == missing && columns.positive[j] == positive);
        }
    }
    free(out);
    drop(&p);
}

static void pack_finds_range_and_missing_cells(void **unused)
{
    (void)unused;
    for (size_t d = 1; d <= 70; d++)
        check_range(1 + d * 7 % 40, d, d % 3, .3);
    for (size_t rows = 1; rows <= 130; rows++)
        check_range(rows, 1 + rows % 13, rows % 2, .1);
    check_range(960, 200, 1, .01);
    check_range(9, 530, 2, .3); /* wider than the strips in which missing cells are found */
}

static void a_column_with_no_number_has_an_empty_range(void **unused)
{
    (void)unused;
    for (int plain = 0; plain < 2; plain++) {
        problem p = make(50, 6, 0, 0);
        double out[OUTPUTS * 6];
        for (size_t r = 0; r < 50; r++)
            p.x[r * p.stride + 4] = NAN;
        UR_ARENA(arena);
        ur_panel *panel = panel_for(&arena, &p, 0, plain);
        pack(panel, &p, 0, 50, out);
        ur_columns columns = columns_at(out, 6);
        assert_true(columns.min[4] == INFINITY && columns.max[4] == -INFINITY);
        assert_true(columns.missing[4] == 50 && columns.positive[4] == 0);
        assert_true(columns.sum[4] == 0 && columns.square[4] == 0);
        drop(&p);
    }
}

static void check_bits(size_t rows, size_t d, size_t gap, double missing)
{
    problem p = make(rows, d, gap, missing);
    size_t words = (rows + 63) / 64 + rows % 2;
    for (int plain = 0; plain < 2; plain++) {
        uint64_t *bits = malloc(d * words * sizeof *bits);
        double *gg = calloc(d * d, sizeof *gg);
        memset(bits, 255, d * words * sizeof *bits);
        (plain ? ur_bits_above_plain : ur_bits_above)(p.x, rows, d, p.stride, p.limit, bits, words);
        (plain ? ur_bits_gram_plain : ur_bits_gram)(bits, d, words, gg);
        for (size_t j = 0; j < d; j++)
            for (size_t r = 0; r < 64 * words; r++) {
                uint64_t above = r < rows && p.x[r * p.stride + j] > p.limit[j];
                assert_true((bits[j * words + r / 64] >> (r % 64) & 1) == above);
            }
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) {
                double count = 0;
                for (size_t r = 0; r < rows && i <= j; r++)
                    count +=
                        p.x[r * p.stride + i] > p.limit[i] && p.x[r * p.stride + j] > p.limit[j];
                assert_true(gg[i * d + j] == count);
            }
        free(bits);
        free(gg);
    }
    drop(&p);
}

static void bits_and_their_gram_matrix_are_exact(void **unused)
{
    (void)unused;
    for (size_t d = 1; d <= 30; d++)
        check_bits(1 + d * 37 % 300, d, d % 3, d % 2 ? .2 : 0);
    check_bits(9000, 5, 0, .1);
    check_bits(70, 300, 1, .1);
}

static void a_size_beyond_memory_gives_null(void **unused)
{
    (void)unused;
    UR_ARENA(one);
    UR_ARENA(other);
    assert_null(ur_panel_new(&one, SIZE_MAX, 0));
    assert_null(ur_panel_new(&other, SIZE_MAX / 8, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_with_their_definition_for_every_width),
        cmocka_unit_test(sums_agree_for_every_number_of_rows),
        cmocka_unit_test(one_stretch_is_the_sum_of_its_parts),
        cmocka_unit_test(the_same_rows_elsewhere_in_memory_give_the_same_bits),
        cmocka_unit_test(a_reused_panel_forgets_earlier_rows),
        cmocka_unit_test(the_lower_triangle_and_sums_of_missing_cells_stay_untouched),
        cmocka_unit_test(single_sums_err_by_1e_8_over_many_rows),
        cmocka_unit_test(pack_finds_range_and_missing_cells),
        cmocka_unit_test(a_column_with_no_number_has_an_empty_range),
        cmocka_unit_test(bits_and_their_gram_matrix_are_exact),
        cmocka_unit_test(a_size_beyond_memory_gives_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
