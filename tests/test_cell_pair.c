/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/cell_pair.h"
#include "law/normal.h"
#include "law/rectangle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEN, BELOW, MISSING, ABOVE, BETWEEN, ROWS = 500, RUNS = 300, FLAT_EVALUATIONS = 20 };

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

/* ---- planted pairs ---- */

typedef enum { ONE_LIMIT, SEVERAL, OF_EACH_CELL, ALL_KINDS } limits_kind;
/* of ALL_KINDS: cells are below -0.5, above 0.9, and each second one of the others in intervals,
 * all relative to the scale */
static const double KINDS_LOW = -0.5, KINDS_TOP = 0.9;
static double kinds_width = 0.7;

typedef struct {
    limits_kind limits;
    double rho, gamma[2], scale[2], missing; /* missing: share of cells */
} setting;

typedef struct {
    size_t n;
    double x[2][ROWS];
    unsigned char state[2][ROWS];
    double upper[2][ROWS]; /* where kinds is set */
    int kinds;
} sample;

static void hide_kinds(double scale, double y, size_t i, int k, sample *s)
{
    double z = y / scale, at = KINDS_LOW + floor((z - KINDS_LOW) / kinds_width) * kinds_width;
    s->state[k][i] = (unsigned char)(z <= KINDS_LOW   ? BELOW
                                     : z >= KINDS_TOP ? ABOVE
                                     : (i >> k) % 2   ? BETWEEN
                                                      : SEEN);
    s->x[k][i] = scale * (s->state[k][i] == BELOW     ? KINDS_LOW
                          : s->state[k][i] == ABOVE   ? KINDS_TOP
                          : s->state[k][i] == BETWEEN ? at
                                                      : z);
    s->upper[k][i] = s->state[k][i] == BETWEEN ? scale * fmin(at + kinds_width, KINDS_TOP) : NAN;
}

static double limit_at(limits_kind kind, size_t row, double u)
{
    static const double several[] = {-0.5, 0, 0.1, 0.6};
    return kind == ONE_LIMIT ? 0 : kind == SEVERAL ? several[row * 7 % 4] : u - 0.4;
}

/* latent mean gamma scale, and so 0 is at -gamma standard deviations */
static void draw(const setting *set, size_t n, uint64_t seed, sample *s)
{
    double z[2][ROWS], u[4][ROWS];
    s->n = n;
    for (uint64_t k = 0; k < 2; k++)
        ur_random_normals(seed, k, 0, n, z[k]);
    for (uint64_t k = 0; k < 4; k++)
        ur_random_uniforms(seed, 10 + k, 0, n, u[k]);
    for (size_t i = 0; i < n; i++) {
        z[1][i] = set->rho * z[0][i] + sqrt(1 - set->rho * set->rho) * z[1][i];
        for (int k = 0; k < 2; k++) {
            double l = set->scale[k] * limit_at(set->limits, i, u[k][i]);
            double y = set->scale[k] * (set->gamma[k] + z[k][i]);
            s->state[k][i] = u[2 + k][i] < set->missing ? MISSING : y <= l ? BELOW : SEEN;
            s->x[k][i] = s->state[k][i] == MISSING ? NAN : fmax(y, l);
            s->kinds = set->limits == ALL_KINDS;
            if (s->kinds && s->state[k][i] != MISSING)
                hide_kinds(set->scale[k], y, i, k, s);
        }
    }
}

static ur_pair fit(const sample *s, int first, double scales[2])
{
    UR_ARENA(arena);
    ur_cell_column c[2];
    ur_pair out;
    for (int k = 0; k < 2; k++) {
        int j = k ? 1 - first : first;
        assert_int_equal(ur_cell_column_open(&arena, s->n, s->x[j], s->kinds ? s->upper[j] : NULL,
                                             s->state[j], &c[k], NULL),
                         UNRELU_OK);
        if (scales)
            scales[k] = c[k].margin.margin.s;
    }
    ur_cell_pair_fit(&c[0], &c[1], ur_cell_pair_room(&arena, s->n), &out);
    return out;
}

/* ---- the likelihood, written down naively ---- */

static double normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* what is left open of a cell */
static void ends_of(int state, double a, double upper, double end[2])
{
    end[0] = state == BELOW ? -9 : a;
    end[1] = state == BELOW || state == SEEN ? a : state == ABOVE ? 9 : upper;
}

/* P(z1 and z2 in their cells), by Simpson's rule over z1 unless it is seen; without phi(u) then */
static double inside_both(const double e1[2], const double e2[2], double rho)
{
    enum { PIECES = 400 };
    double h = (e1[1] - e1[0]) / PIECES, o = sqrt(1 - rho * rho), sum = 0;
    int seen = e1[0] == e1[1];
    for (int i = 0; i <= PIECES; i++) {
        double t = e1[0] + i * h;
        double below = normal_below((e2[1] - rho * t) / o) - normal_below((e2[0] - rho * t) / o);
        if (seen)
            return below;
        sum += (i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2) * normal_density(t) * below;
    }
    return sum * h / 3;
}

/* P(z1 <= l1, z2 <= l2) = int phi(t) P(z2 <= l2 | t) dt up to l1, by Simpson's rule */
static double below_both(double l1, double l2, double rho)
{
    enum { PIECES = 2000 };
    double low = fmin(l1, 0) - 9, h = (l1 - low) / PIECES, o = sqrt(1 - rho * rho), sum = 0;
    for (int i = 0; i <= PIECES; i++) {
        double t = low + i * h;
        sum += (i == 0 || i == PIECES ? 1
                : i % 2               ? 4
                                      : 2) *
               normal_density(t) * normal_below((l2 - rho * t) / o);
    }
    return sum * h / 3;
}

static double log_row(double a1, double a2, int below1, int below2, double rho)
{
    double o = sqrt(1 - rho * rho);
    if (below1 && below2)
        return log(below_both(a1, a2, rho));
    if (below1)
        return log(normal_density(a2) * normal_below((a1 - rho * a2) / o));
    if (below2)
        return log(normal_density(a1) * normal_below((a2 - rho * a1) / o));
    return -log(2 * M_PI * o) - (a1 * a1 - 2 * rho * a1 * a2 + a2 * a2) / (2 * o * o);
}

typedef struct {
    const sample *s;
    double b[2], scale[2];
} likelihood;

static double log_likelihood(const likelihood *f, double rho)
{
    double sum = 0, a[2];
    for (size_t i = 0; i < f->s->n; i++) {
        int s1 = f->s->state[0][i], s2 = f->s->state[1][i];
        if (s1 == MISSING || s2 == MISSING)
            continue;
        for (int k = 0; k < 2; k++)
            a[k] = (f->s->x[k][i] - f->b[k]) / f->scale[k];
        if (s1 > MISSING || s2 > MISSING) {
            double e[2][2];
            for (int k = 0; k < 2; k++)
                ends_of(f->s->state[k][i], a[k], (f->s->upper[k][i] - f->b[k]) / f->scale[k], e[k]);
            sum += log(s2 == SEEN ? inside_both(e[1], e[0], rho) : inside_both(e[0], e[1], rho));
        } else {
            sum += log_row(a[0], a[1], s1 == BELOW, s2 == BELOW, rho);
        }
    }
    return sum;
}

static double difference(const likelihood *f, double rho)
{
    double h = 1e-4 * (1 - fabs(rho));
    return (log_likelihood(f, rho - 2 * h) - log_likelihood(f, rho + 2 * h) +
            8 * (log_likelihood(f, rho + h) - log_likelihood(f, rho - h))) /
           (12 * h);
}

/* the best of a grid, then where the numerical derivative changes its sign */
static double maximise(const likelihood *f)
{
    double best = -INFINITY, at = 0;
    for (int i = -19; i <= 19; i++) {
        double value = log_likelihood(f, 0.05 * i);
        if (value > best) {
            best = value;
            at = 0.05 * i;
        }
    }
    double low = at - 0.05 + 1e-3, high = at + 0.05 - 1e-3;
    while (high - low > 1e-8) {
        double middle = (low + high) / 2;
        if (difference(f, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static void expect_maximum_of(const sample *s)
{
    likelihood f = {.s = s};
    for (int k = 0; k < 2; k++) {
        ur_cell_margin m;
        assert_int_equal(
            ur_cell_margin_fit(s->n, s->x[k], s->kinds ? s->upper[k] : NULL, s->state[k], &m, NULL),
            UNRELU_OK);
        f.b[k] = m.margin.b;
        f.scale[k] = m.margin.s;
    }
    ur_pair out = fit(s, 0, NULL);
    assert_true(out.converged);
    near(out.rho, maximise(&f), 1e-6);
}

static void expect_maximum(const setting *set, size_t n, uint64_t seed)
{
    sample s;
    draw(set, n, seed, &s);
    expect_maximum_of(&s);
}

static void rho_is_where_a_naive_likelihood_is_largest(void **state)
{
    (void)state;
    static const setting settings[] = {
        {ONE_LIMIT, 0.5, {0.3, -0.4}, {1, 2}, 0},      {ONE_LIMIT, -0.8, {0.5, 0.5}, {1, 1e-6}, 0},
        {ONE_LIMIT, 0.93, {0, 1}, {3, 1}, 0.2},        {SEVERAL, 0.2, {0, 0.3}, {1, 2}, 0},
        {SEVERAL, -0.6, {1, 0.4}, {1, 2}, 0.1},        {OF_EACH_CELL, 0.7, {0, 0.2}, {1, 2}, 0},
        {OF_EACH_CELL, -0.5, {0.6, 0.1}, {5, 2}, 0.3}, {ONE_LIMIT, 0.1, {3, 9}, {1, 1}, 0},
    };
    for (uint64_t i = 0; i < sizeof settings / sizeof *settings; i++)
        expect_maximum(&settings[i], 80, 100 + i);
}

static void cells_above_and_between_enter_the_likelihood(void **state)
{
    (void)state;
    static const double widths[] = {0.01, 0.2, 0.7, 1.4};
    setting set = {ALL_KINDS, 0, {0.3, 0.1}, {1, 2}, 0.1};
    for (uint64_t k = 0; k < 4; k++) {
        kinds_width = widths[k];
        set.rho = 0.55 - 0.45 * (double)k;
        expect_maximum(&set, 60, 300 + k);
    }
    kinds_width = 0.7;
    set.rho = 0.93;
    expect_maximum(&set, 60, 310);
}

/* One row is far below both limits, against a negative correlation: its probability is far below
 * the product of the margins', where a difference has no digits. */
static void one_row_against_rho_is_heard(void **state)
{
    (void)state;
    for (uint64_t run = 0; run < 12; run++) {
        setting set = {ONE_LIMIT, -0.97 + 0.02 * (double)(run % 4), {0.9, 0.6}, {1, 1}, 0};
        sample s;
        draw(&set, 120, 500 + run, &s);
        for (int k = 0; k < 2; k++) {
            s.state[k][0] = BELOW;
            s.x[k][0] = -1.6 - 0.4 * (double)(run % 3);
        }
        expect_maximum_of(&s);
    }
}

/* where the difference of Phi1 Phi2 and an integral has digits, and by differences of the logarithm
 */
static void corners_are_what_two_normals_have(void **state)
{
    (void)state;
    static const double ends[][2] = {{-1, -0.5}, {0.3, -1.2}, {-2, 0.7}},
                        rhos[] = {-0.6, -0.2, 0.4};
    const double h = 1e-4;
    for (int k = 0; k < 9; k++) {
        const double *l = ends[k / 3], rho = rhos[k % 3];
        for (int above = 0; above < 2; above++) {
            int side = above ? 1 : -1;
            const ur_hidden cell[2] = {{side, -side * l[0], 0}, {side, -side * l[1], 0}};
            ur_rectangle at, low, high;
            ur_corner_at(cell, rho, &at);
            ur_corner_at(cell, rho - h, &low);
            ur_corner_at(cell, rho + h, &high);
            near(at.log_p, log(ur_bivariate_normal(l[0], l[1], rho)), 1e-8);
            near(at.by_r, (high.log_p - low.log_p) / (2 * h), 1e-6);
            near(at.by_rr, (high.by_r - low.by_r) / (2 * h), 1e-5);
        }
    }
}

/* In no row both are seen, and the limits are above the values: all rows go with rho = -1, and
 * those from somewhere on are as likely. */
static void a_likelihood_without_a_maximum_ends_flat(void **state)
{
    (void)state;
    setting set = {ONE_LIMIT, 0, {6, 6}, {1, 1}, 0};
    for (uint64_t run = 0; run < 12; run++) {
        sample s;
        draw(&set, 60, 500 + run, &s);
        for (size_t i = 0; i < s.n; i++) {
            s.state[i % 2][i] = BELOW;
            s.x[i % 2][i] = 9;
        }
        ur_pair out = fit(&s, 0, NULL);
        assert_true(out.converged && out.evaluations <= FLAT_EVALUATIONS);
        assert_true(out.rho < 0 && !(out.model_rho_se <= 1 - out.rho * out.rho));
    }
}

/* Searches end where the next step would be below rounding: a looser end saves, a tighter one
 * costs 0.4 evaluations of a pair, and 0.2 of a margin. */
static void searches_end_in_time(void **state)
{
    (void)state;
    enum { TIMES = 100 };
    static const setting settings[] = {{ONE_LIMIT, 0.5, {0.3, -0.4}, {1, 2}, 0},
                                       {ONE_LIMIT, -0.8, {0.5, 0.5}, {1, 1e-6}, 0},
                                       {SEVERAL, -0.6, {1, 0.4}, {1, 2}, 0.1},
                                       {OF_EACH_CELL, 0.7, {0, 0.2}, {1, 2}, 0}};
    double evaluations = 0, iterations = 0, count = 0;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        for (uint64_t run = 0; run < TIMES; run++, count++) {
            sample s;
            draw(&settings[k], 200, run, &s);
            evaluations += fit(&s, 0, NULL).evaluations;
            for (int j = 0; j < 2; j++) {
                ur_cell_margin m;
                ur_cell_margin_fit(s.n, s.x[j], NULL, s.state[j], &m, NULL);
                iterations += m.margin.iterations;
            }
        }
    near(evaluations / count, 3.4, 0.15);
    near(iterations / count / 2, 4.55, 0.1);
}

/* ---- errors ---- */

static void expect_calibrated(const setting *set)
{
    enum { RHO, PRODUCT, MODEL_RHO, MODEL_PRODUCT, KINDS };
    static const char *const names[] = {"rho", "the product", "rho by the model",
                                        "the product by the model"};
    double z2[KINDS] = {0}, true_product = set->rho * set->scale[0] * set->scale[1];
    sample s;
    for (uint64_t run = 0; run < RUNS; run++) {
        double scale[2];
        draw(set, ROWS, 1000 + run, &s);
        ur_pair out = fit(&s, 0, scale);
        double unit = scale[0] * scale[1];
        assert_true(out.converged);
        double away = out.rho - set->rho, product = out.rho - true_product / unit;
        const double z[KINDS] = {away / out.rho_se, product / out.product_se,
                                 away / out.model_rho_se, product / out.model_product_se};
        for (int k = 0; k < KINDS; k++)
            z2[k] += z[k] * z[k] / RUNS;
    }
    for (int k = 0; k < KINDS; k++)
        if (!(sqrt(z2[k]) > 0.9 && sqrt(z2[k]) < 1.1))
            fail_msg("rho %g: z rms %.3f of %s", set->rho, sqrt(z2[k]), names[k]);
}

static void standard_errors_are_calibrated(void **state)
{
    (void)state;
    static const setting settings[] = {
        {ONE_LIMIT, 0.6, {0.2, -0.3}, {1, 2}, 0},   {ONE_LIMIT, -0.5, {0.5, 0.5}, {1, 3}, 0.2},
        {SEVERAL, 0, {0, 0.5}, {1, 2}, 0},          {SEVERAL, 0.8, {0.3, 0.5}, {1, 2}, 0.15},
        {OF_EACH_CELL, 0.4, {0, 0}, {0.1, 2}, 0.1}, {ALL_KINDS, -0.5, {0.2, 0.1}, {1, 2}, 0.1},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        expect_calibrated(&settings[i]);
}

/* The spread of the rows' influences is the jackknife's: leave out one row after the other, and fit
 * margins and rho again. */
static void standard_errors_are_those_of_the_jackknife(void **state)
{
    (void)state;
    static const setting settings[] = {
        {ONE_LIMIT, 0.6, {0.2, -0.3}, {1, 2}, 0},
        {SEVERAL, -0.7, {0.3, 0.1}, {1, 2}, 0.15},
        {OF_EACH_CELL, 0.4, {0, 0}, {0.1, 2}, 0.1},
        {ALL_KINDS, 0.6, {0.2, 0.1}, {1, 2}, 0.1},
    };
    for (uint64_t k = 0; k < 4; k++) {
        sample s;
        double scale[2], all = 0, product = 0;
        draw(&settings[k], ROWS, 40 + k, &s);
        ur_pair out = fit(&s, 0, scale);
        for (size_t i = 0; i < ROWS; i++) {
            double other[2];
            unsigned char kept[2] = {s.state[0][i], s.state[1][i]};
            s.state[0][i] = s.state[1][i] = MISSING;
            ur_pair without = fit(&s, 0, other);
            s.state[0][i] = kept[0];
            s.state[1][i] = kept[1];
            all += pow(without.rho - out.rho, 2);
            product += pow(without.rho * other[0] * other[1] / (scale[0] * scale[1]) - out.rho, 2);
        }
        near(out.rho_se / sqrt(all), 1, 0.015);
        near(out.product_se / sqrt(product), 1, 0.015);
    }
}

/* ---- beside the other estimator, and in the other order ---- */

static void fit_h6(const sample *s, ur_pair *out)
{
    ur_pair_margin m[2];
    double anchor[2], scale[2];
    for (int k = 0; k < 2; k++) {
        ur_cell_margin margin;
        assert_int_equal(ur_cell_margin_fit(s->n, s->x[k], NULL, s->state[k], &margin, NULL),
                         UNRELU_OK);
        ur_pair_margin_set(margin.margin.gamma, &m[k]);
        anchor[k] = fmax(margin.margin.b, 0);
        scale[k] = margin.margin.s;
    }
    double n = (double)s->n;
    ur_pair_moments t = {.n = n};
    for (size_t i = 0; i < s->n; i++) {
        double v1 = (s->x[0][i] - anchor[0]) / scale[0], v2 = (s->x[1][i] - anchor[1]) / scale[1];
        if (s->state[0][i] != SEEN || s->state[1][i] != SEEN)
            continue;
        t.gg += 1 / n;
        t.v1g2 += v1 / n;
        t.v2g1 += v2 / n;
        t.v1v2 += v1 * v2 / n;
        t.v1v1g2 += v1 * v1 / n;
        t.v2v2g1 += v2 * v2 / n;
    }
    ur_pair_six_statistics(&m[0], &m[1], &t, (double[]){n, n}, out);
}

static void plain_zeros_give_what_six_statistics_give(void **state)
{
    (void)state;
    setting set = {ONE_LIMIT, 0, {0.4, 0.1}, {1, 2}, 0};
    double far2 = 0, runs = 0;
    sample s;
    for (int k = -8; k <= 8; k++) {
        ur_pair h6;
        set.rho = 0.1 * k;
        draw(&set, ROWS, 50 + (uint64_t)(k + 8), &s);
        ur_pair out = fit(&s, 0, NULL);
        fit_h6(&s, &h6);
        far2 += pow((out.rho - h6.rho) / out.rho_se, 2);
        runs++;
        near(out.rho, h6.rho, 1.2 * out.rho_se);
        near(out.rho_se / h6.rho_se, 1, 0.25);
        near(out.product_se / h6.product_se, 1, 0.25);
    }
    near(sqrt(far2 / runs), 0, 0.4);
}

static void the_order_of_the_two_does_not_matter(void **state)
{
    (void)state;
    for (int kind = ONE_LIMIT; kind <= ALL_KINDS; kind++) {
        setting set = {(limits_kind)kind, 0.55, {0.4, -0.2}, {1, 7}, 0.1};
        sample s;
        draw(&set, ROWS, 7, &s);
        ur_pair one = fit(&s, 0, NULL), other = fit(&s, 1, NULL);
        near(one.rho, other.rho, 1e-12);
        near(one.rho_se / other.rho_se, 1, 1e-9);
        near(one.product_se / other.product_se, 1, 1e-9);
    }
}

static void pearson_where_all_is_seen(void **state)
{
    (void)state;
    setting set = {ONE_LIMIT, -0.3, {50, 60}, {1, 2}, 0};
    sample s;
    draw(&set, ROWS, 9, &s);
    double mean[2] = {0}, v11 = 0, v12 = 0, v22 = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 2; k++)
            mean[k] += s.x[k][i] / ROWS;
    for (int i = 0; i < ROWS; i++) {
        double d1 = s.x[0][i] - mean[0], d2 = s.x[1][i] - mean[1];
        v11 += d1 * d1;
        v12 += d1 * d2;
        v22 += d2 * d2;
    }
    double rho = v12 / sqrt(v11 * v22);
    ur_pair out = fit(&s, 0, NULL);
    near(out.rho, rho, 1e-12);
    near(out.rho_se, (1 - rho * rho) / sqrt(ROWS), 0.15 / sqrt(ROWS));
    near(out.model_rho_se, (1 - rho * rho) / sqrt(ROWS), 0.02 / sqrt(ROWS));
    near(out.model_product_se, sqrt((1 + rho * rho) / ROWS), 0.05 / sqrt(ROWS));
}

/* ---- what is degenerate ---- */

static void equal_columns_end_at_the_limit(void **state)
{
    (void)state;
    setting set = {SEVERAL, 0, {0.2, 0.2}, {1, 1}, 0};
    sample s;
    draw(&set, ROWS, 3, &s);
    memcpy(s.x[1], s.x[0], sizeof s.x[0]);
    memcpy(s.state[1], s.state[0], sizeof s.state[0]);
    near(fit(&s, 0, NULL).rho, UR_PAIR_LIMIT, 1e-9);
}

static void without_a_common_row_nothing_is_said(void **state)
{
    (void)state;
    setting set = {ONE_LIMIT, 0.5, {0.2, 0.2}, {1, 1}, 0};
    sample s;
    draw(&set, ROWS, 3, &s);
    for (int i = 0; i < ROWS; i++)
        s.state[i % 2][i] = MISSING;
    ur_pair out = fit(&s, 0, NULL);
    assert_true(out.rho == 0 && !out.converged && isnan(out.rho_se) && isnan(out.product_se));
}

static void a_constant_column_has_no_correlation(void **state)
{
    (void)state;
    setting set = {ONE_LIMIT, 0.5, {0.2, 0.2}, {1, 1}, 0};
    sample s;
    draw(&set, ROWS, 3, &s);
    for (int i = 0; i < ROWS; i++) {
        s.x[1][i] = 4;
        s.state[1][i] = SEEN;
    }
    ur_pair out = fit(&s, 0, NULL);
    assert_true(out.rho == 0 && isnan(out.rho_se));
}

/* what a pair left in the room is not seen by the next, also of fewer rows */
static void the_room_is_used_again(void **state)
{
    (void)state;
    UR_ARENA(arena);
    static const size_t sizes[] = {50, 400, 120, 500};
    setting set = {OF_EACH_CELL, 0.5, {0.2, 0.2}, {1, 1}, 0.1};
    double *room = ur_cell_pair_room(&arena, 500);
    for (uint64_t t = 0; t < 4; t++) {
        sample s;
        ur_cell_column c[2];
        ur_pair out;
        draw(&set, sizes[t], t, &s);
        for (int k = 0; k < 2; k++)
            assert_int_equal(
                ur_cell_column_open(&arena, s.n, s.x[k], NULL, s.state[k], &c[k], NULL), UNRELU_OK);
        ur_cell_pair_fit(&c[0], &c[1], room, &out);
        ur_pair fresh = fit(&s, 0, NULL);
        assert_true(out.rho == fresh.rho && out.rho_se == fresh.rho_se);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rho_is_where_a_naive_likelihood_is_largest),
        cmocka_unit_test(cells_above_and_between_enter_the_likelihood),
        cmocka_unit_test(one_row_against_rho_is_heard),
        cmocka_unit_test(corners_are_what_two_normals_have),
        cmocka_unit_test(a_likelihood_without_a_maximum_ends_flat),
        cmocka_unit_test(searches_end_in_time),
        cmocka_unit_test(standard_errors_are_calibrated),
        cmocka_unit_test(standard_errors_are_those_of_the_jackknife),
        cmocka_unit_test(plain_zeros_give_what_six_statistics_give),
        cmocka_unit_test(the_order_of_the_two_does_not_matter),
        cmocka_unit_test(pearson_where_all_is_seen),
        cmocka_unit_test(equal_columns_end_at_the_limit),
        cmocka_unit_test(without_a_common_row_nothing_is_said),
        cmocka_unit_test(a_constant_column_has_no_correlation),
        cmocka_unit_test(the_room_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
