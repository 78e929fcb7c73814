/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of which the values are rounded: found, compared at the edges of rounding alone. */
#include "planted.h"
#include "sanitized.h"

#include "base/order.h"
#include "base/random.h"
#include "gaussian/check/judge.h"
#include "law/normal.h"
#include "law/power.h"

enum { MOST = 2000 };

/* ---- the unit ---- */

static double unit_of(unrelu_transform transform, double lambda, int exponent, double unit,
                      size_t different, size_t each)
{
    double x[400], scratch[400];
    size_t n = different * each;
    ur_rounding r = {.transform = transform, .lambda = lambda, .exponent = exponent};
    for (size_t i = 0; i < n; i++)
        x[i] =
            ldexp(ur_transform(transform, lambda, (double)(1 + i % different) * unit), -exponent);
    ur_sort(x, scratch, n);
    ur_rounding_find(&r, x, n, (double)n);
    return r.whole > 0 ? r.whole / r.over : 0;
}

static void units_are_found_through_transforms(void **state)
{
    static const double units[] = {1, 10, 250, 0.1, 0.25, 0.02, 1e-7, 3e9, 0.03125};
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        assert_near(unit_of(UNRELU_TRANSFORM_NONE, 0, 0, units[i], 20, 4) / units[i], 1, 1e-15);
        assert_near(unit_of(UNRELU_TRANSFORM_NONE, 0, 90, units[i], 20, 4) / units[i], 1, 1e-15);
        assert_near(unit_of(UNRELU_TRANSFORM_LOG, 0, 0, units[i], 20, 4) / units[i], 1, 1e-15);
        assert_near(unit_of(UNRELU_TRANSFORM_SQRT, 0, 0, units[i], 20, 4) / units[i], 1, 1e-15);
    }
    assert_near(unit_of(UNRELU_TRANSFORM_BOXCOX, 0.3, 0, 0.5, 30, 4), 0.5, 1e-15);
    assert_near(unit_of(UNRELU_TRANSFORM_BOXCOX, -1.2, 0, 0.5, 30, 4), 0.5, 1e-15);
    assert_near(unit_of(UNRELU_TRANSFORM_LEAKY, 0.1, 0, 0.5, 30, 4), 0, 0); /* an activation's */
    assert_near(unit_of(UNRELU_TRANSFORM_NONE, 0, 0, M_PI, 20, 4), 0, 0);   /* no decimal number */
    assert_near(unit_of(UNRELU_TRANSFORM_NONE, 0, 0, 1, 10, 8), 0, 0);      /* codes */
    assert_near(unit_of(UNRELU_TRANSFORM_NONE, 0, 0, 1, 80, 1), 0, 0);      /* none twice */
    /* two equal ones of 100: 1 / sqrt(100) is where they matter; of 101 they do not */
    double x[110];
    for (int n = 100; n < 102; n++) {
        ur_rounding r = {.transform = UNRELU_TRANSFORM_NONE};
        for (int i = 0; i < n; i++)
            x[i] = i ? i : 1;
        ur_rounding_find(&r, x, (size_t)n, n);
        assert_near(r.whole, n == 100, 0);
    }
    ur_rounding r = {.transform = UNRELU_TRANSFORM_NONE}; /* one is no multiple of anything */
    x[50] += M_PI * 1e-5;
    ur_rounding_find(&r, x, 100, 100);
    assert_near(r.whole, 0, 0);
}

static void cells_are_half_a_unit_to_each_side(void **state)
{
    ur_rounding r = {.transform = UNRELU_TRANSFORM_LOG, .whole = 2, .over = 10}, s = r;
    double low, high;
    (void)state;
    ur_rounding_cell(&r, log(0.6), &low, &high);
    assert_near(low, log(0.5), 1e-15);
    assert_near(high, log(0.7), 1e-15);
    assert_true(ur_rounding_of(&r, log(0.69)) == log(0.6)); /* the very bits of what was read */
    assert_true(ur_rounding_of(&r, log(0.09)) == -INFINITY);
    assert_near(ur_rounding_of_nothing(&r), log(0.1), 1e-15);
    s.transform = UNRELU_TRANSFORM_SQRT;
    ur_rounding_cell(&s, 0, &low, &high);
    assert_true(low == -INFINITY);
    assert_near(high, sqrt(0.1), 1e-15);
    s.transform = UNRELU_TRANSFORM_NONE;
    assert_near(ur_rounding_of(&s, -0.35), -0.4, 1e-15);
    assert_near(ur_rounding_of(&s, 0.05), 0, 0);
}

/* ---- columns ---- */

typedef struct {
    double x[MOST];
    unsigned char state[MOST];
    ur_known known;
} column;

typedef enum {
    NORMAL,
    LOGNORMAL,
    CENSORED,
    WHOLE_LIMITS,
    LAWS,
    SKEW = LAWS,
    TWO_MODES,
    ENDS,
    LOW = ENDS
} law;

/* rounded to whole numbers: 80 to 90 % of 65 are ties */
static void draw_column(law of, size_t n, uint64_t run, column *c)
{
    double z[MOST], u[MOST];
    int log_taken = of == LOGNORMAL || of == WHOLE_LIMITS || of == TWO_MODES || of == LOW;
    ur_random_normals(run, (uint64_t)of, 0, n, z);
    ur_random_uniforms(run, (uint64_t)of, 0, n, u);
    c->known = (ur_known){.n = n, .x = c->x, .state = c->state};
    if (log_taken)
        c->known.scale.transform = UNRELU_TRANSFORM_LOG;
    for (size_t i = 0; i < n; i++) {
        double y = of == NORMAL      ? 40 + 5 * z[i]
                   : of == CENSORED  ? 4 + 7 * z[i]
                   : of == SKEW      ? 5 * exp(z[i])
                   : of == LOW       ? exp(1 + 0.9 * z[i])
                   : of == TWO_MODES ? exp((u[i] < 0.5 ? 1.6 : 3.6) + 0.25 * z[i])
                                     : exp(2 + 0.9 * z[i]);
        double limit = of == WHOLE_LIMITS ? (i % 3 ? 1 : 5)
                       : log_taken        ? 1
                       : of == CENSORED   ? 0
                                          : -9;
        double value = rint(y);
        int below = of == WHOLE_LIMITS || of == LOGNORMAL ? value < limit : value <= limit;
        c->state[i] = below ? UR_BELOW : UR_SEEN;
        c->x[i] = below ? limit : value;
        if (log_taken)
            c->x[i] = log(c->x[i]);
    }
}

static unrelu_fit_word judge_column(law of, size_t n, uint64_t run, size_t runs, double *p)
{
    static column c;
    double ks, ties;
    unrelu_error err = {0};
    draw_column(of, n, run, &c);
    const ur_judging how = {.d = 1, .columns = &c.known, .runs = runs, .seed = run};
    must(ur_judge_columns(&how, NULL, &ks, p, &ties, &err), &err);
    assert_true(n != 65 || of >= LAWS || ties > 0.5);
    return unrelu_fit_judge(ks, *p, (double)n, 1);
}

/* F_n is known at v + 1/2 alone, v a whole number between the least and the largest */
static void distances_are_those_at_the_edges(void **state)
{
    static column c;
    UR_ARENA(arena);
    ur_steps steps;
    unrelu_error err = {0};
    double largest = 0, n = 200;
    (void)state;
    draw_column(NORMAL, (size_t)n, 3, &c);
    must(ur_steps_find(&arena, &c.known, &steps, &err), &err);
    for (double edge = 0.5; edge < 99; edge++) {
        double below = 0;
        for (size_t i = 0; i < (size_t)n; i++)
            below += c.x[i] < edge;
        largest = fmax(largest, fabs(below / n - ur_normal_cdf((edge - 39) / 6)));
    }
    assert_near(ur_steps_distance(&steps, 39, 6, NULL), largest, 1e-12);
    assert_true(largest > 0.05);
}

/* `<5` and 5: the edge is at 4.5 or at 5.5, and so it is of 0 and 1, at 0 or at 1/2 */
static void edges_at_limits_are_not_known(void **state)
{
    double low[] = {-INFINITY, 5}, value[] = {5, 5}, sum[] = {0.25, 1};
    ur_steps s = {.count = 2,
                  .low = low,
                  .value = value,
                  .sum = sum,
                  .rounding = {.transform = UNRELU_TRANSFORM_NONE, .whole = 1, .over = 1}};
    double b = 5, scale = 1, top = 1 - ur_normal_cdf(0.5);
    (void)state;
    /* 0.25 is below F(4.5) = 0.31; 0.5 lies between that and F(5.5) = 0.69 */
    assert_near(ur_steps_distance(&s, b, scale, NULL), fmax(top, ur_normal_cdf(-0.5) - 0.25),
                1e-15);
    sum[0] = 0.9;
    assert_near(ur_steps_distance(&s, b, scale, NULL), fmax(top, 0.9 - ur_normal_cdf(0.5)), 1e-15);
    low[1] = value[1] = 6; /* at 5 or at 5.5 */
    sum[0] = 0.1;
    assert_near(ur_steps_distance(&s, b, scale, NULL), ur_normal_cdf(0) - 0.1, 1e-15);
    low[1] = value[1] = 7; /* from 5.5 to 6.5 */
    assert_near(ur_steps_distance(&s, b, scale, NULL), ur_normal_cdf(1.5) - 0.1, 1e-15);
}

static void right_laws_that_are_rounded_are_not_poor(void **state)
{
    static const size_t sizes[] = {65, 200, MOST};
    double p;
    (void)state;
    skip_sanitized();
    for (law of = 0; of < LAWS; of++)
        for (int k = 0; k < 3; k++) {
            int poor = 0, sets = k == 2 ? 5 : 20;
            for (int run = 0; run < sets; run++)
                poor += judge_column(of, sizes[k], (uint64_t)(run + 1), 199, &p) == UNRELU_FIT_POOR;
            /* by chance 1 of 20 at 65 and 200; of 2000, 0.05 is far beyond chance */
            if (poor > (k == 2 ? 0 : 4))
                fail_msg("law %d, n = %zu: poor in %d sets", (int)of, sizes[k], poor);
        }
}

static void p_of_rounded_values_keeps_its_size(void **state)
{
    enum { SETS = 200 };
    (void)state;
    skip_sanitized();
    for (law of = 0; of < LAWS; of++) {
        double p, mean = 0;
        int small = 0;
        for (uint64_t run = 0; run < SETS; run++) {
            judge_column(of, 65, 1000 + run, 99, &p);
            small += p <= 0.05;
            mean += p / SETS;
        }
        /* 10 of 200, and four deviations of 3.1 */
        if (small < 1 || small > 22 || fabs(mean - 0.5) > 0.1)
            fail_msg("law %d: p <= 0.05 in %d of %d sets, on average %.3f", (int)of, small, SETS,
                     mean);
    }
}

/* Of 1, 2, 3, ... logarithms are off by more than chance is in 2000 cells, and so must be those of
 * simulated samples: in 400 it would not show. */
static void p_knows_what_rounding_does_to_estimates(void **state)
{
    enum { SETS = 12 };
    double p, mean = 0;
    (void)state;
    skip_sanitized();
    for (uint64_t run = 0; run < SETS; run++) {
        judge_column(LOW, MOST, 3000 + run, 49, &p);
        mean += p / SETS;
    }
    assert_true(mean > 0.2 && mean < 0.8); /* four deviations of 0.29 / sqrt(12) */
}

static void wrong_laws_that_are_rounded_are_poor(void **state)
{
    double p;
    (void)state;
    for (law of = LAWS; of < ENDS; of++)
        for (uint64_t run = 0; run < 3; run++)
            assert_int_equal(judge_column(of, 200, run, 199, &p), UNRELU_FIT_POOR);
}

/* ---- fits ---- */

static uint32_t flags_of_fit(law of, int by_cells)
{
    static column c;
    static double x[MOST];
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    draw_column(of, MOST, 5, &c);
    int log_taken = c.known.scale.transform == UNRELU_TRANSFORM_LOG;
    for (size_t i = 0; i < MOST; i++)
        x[i] = c.state[i] == UR_BELOW ? 0 : log_taken ? rint(exp(c.x[i])) : c.x[i];
    if (by_cells)
        o.angles = UNRELU_ANGLES_LIKELIHOOD;
    o.transform = log_taken ? UNRELU_TRANSFORM_LOG : UNRELU_TRANSFORM_NONE;
    unrelu_gaussian *m = fit(x, MOST, 1, &o);
    uint32_t flags = m->flags[0];
    unrelu_gaussian_free(m);
    return flags;
}

static void fits_find_misfit_beyond_rounding_alone(void **state)
{
    (void)state;
    for (int by_cells = 0; by_cells < 2; by_cells++) {
        assert_true(!(flags_of_fit(NORMAL, by_cells) & UNRELU_FLAG_MISFIT));
        assert_true(!(flags_of_fit(CENSORED, by_cells) & UNRELU_FLAG_MISFIT));
        assert_true(flags_of_fit(SKEW, by_cells) & UNRELU_FLAG_MISFIT);
    }
    assert_true(!(flags_of_fit(LOGNORMAL, 1) & UNRELU_FLAG_MISFIT));
    assert_true(flags_of_fit(TWO_MODES, 1) & UNRELU_FLAG_MISFIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_found_through_transforms),
        cmocka_unit_test(cells_are_half_a_unit_to_each_side),
        cmocka_unit_test(distances_are_those_at_the_edges),
        cmocka_unit_test(edges_at_limits_are_not_known),
        cmocka_unit_test(right_laws_that_are_rounded_are_not_poor),
        cmocka_unit_test(p_of_rounded_values_keeps_its_size),
        cmocka_unit_test(p_knows_what_rounding_does_to_estimates),
        cmocka_unit_test(wrong_laws_that_are_rounded_are_poor),
        cmocka_unit_test(fits_find_misfit_beyond_rounding_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
