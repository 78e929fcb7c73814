/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of cells with limits of their own, through the public call. */
#include "files.h"
#include "planted.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 3 };

static unrelu_gaussian *plant_three(uint64_t seed)
{
    unrelu_gaussian *truth;
    unrelu_error err = {0};
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    o.kappa = 4;
    o.bias = UNRELU_BIAS_FIXED;
    o.bias_value = .3;
    o.seed = seed;
    must(unrelu_gaussian_plant(&o, &truth, &err), &err);
    return truth;
}

static double *draw_rows(const unrelu_gaussian *truth, size_t n, uint64_t seed)
{
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    double *x = malloc(n * D * sizeof *x);
    assert_non_null(x);
    must(unrelu_gaussian_sampler(truth, seed, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, n, NULL, x, &err), &err);
    unrelu_sampler_free(sampler);
    return x;
}

static unrelu_gaussian *fit_cells(const double *x, const double *limits, size_t n,
                                  unrelu_gaussian_options o)
{
    unrelu_gaussian *model;
    unrelu_source *source = NULL, *cells = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, n, D, NULL, &source, &err), &err);
    if (limits)
        must(unrelu_source_memory(limits, n, D, NULL, &cells, &err), &err);
    o.limits = cells;
    must(unrelu_gaussian_fit(source, &o, NULL, &model, &err), &err);
    unrelu_source_close(source);
    unrelu_source_close(cells);
    return model;
}

/* one of three limits by row and column; what lies below becomes 0 */
static double *hide(double *x, size_t n)
{
    static const double choice[] = {.2, .5, .9};
    double *limits = malloc(n * D * sizeof *limits);
    assert_non_null(limits);
    for (size_t i = 0; i < n * D; i++) {
        limits[i] = choice[(i / D + i % D * 7) % 3];
        x[i] = x[i] < limits[i] ? 0 : x[i];
    }
    return limits;
}

static void plain_zeros_give_what_six_statistics_give(void **state)
{
    (void)state;
    unrelu_gaussian *truth = plant_three(1);
    double *x = draw_rows(truth, 5000, 2);
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *h6 = fit_cells(x, NULL, 5000, o);
    o.angles = UNRELU_ANGLES_LIKELIHOOD;
    unrelu_gaussian *likelihood = fit_cells(x, NULL, 5000, o);
    assert_string_equal(likelihood->angles, "likelihood");
    for (size_t i = 0; i < D; i++) {
        assert_near(likelihood->b[i], h6->b[i], 1e-9);
        assert_near(likelihood->scale[i], h6->scale[i], 1e-9);
        for (size_t j = 0; j < i; j++) {
            double se = h6->correlation_se[i * D + j];
            assert_near(likelihood->correlation[i * D + j], h6->correlation[i * D + j], .3 * se);
            assert_near(likelihood->correlation_se[i * D + j], se, .1 * se);
        }
    }
    unrelu_gaussian_free(h6);
    unrelu_gaussian_free(likelihood);
    unrelu_gaussian_free(truth);
    free(x);
}

/* errors of b, scale and covariances in their standard errors, 200 samples of 400 rows */
static void standard_errors_are_those_of_the_estimates(void **state)
{
    (void)state;
    enum { RUNS = 200, N = 400 };
    unrelu_gaussian *truth = plant_three(3);
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    double b = 0, scale = 0, sigma = 0, sum = 0, difference = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        double *x = draw_rows(truth, N, 10 + run), *limits = hide(x, N);
        unrelu_gaussian *m = fit_cells(x, limits, N, o);
        for (size_t i = 0; i < D; i++) {
            b += pow((m->b[i] - truth->b[i]) / m->b_se[i], 2);
            scale += pow((m->scale[i] - truth->scale[i]) / m->scale_se[i], 2);
            double of_b = m->b[i] - truth->b[i], of_scale = m->scale[i] - truth->scale[i];
            double squares = pow(m->b_se[i], 2) + pow(m->scale_se[i], 2);
            sum += pow(of_b + of_scale, 2) / (squares + 2 * m->b_scale_cov[i]);
            difference += pow(of_b - of_scale, 2) / (squares - 2 * m->b_scale_cov[i]);
            for (size_t j = 0; j < i; j++)
                sigma += pow(
                    (m->sigma[i * D + j] - truth->sigma[i * D + j]) / m->sigma_se[i * D + j], 2);
        }
        unrelu_gaussian_free(m);
        free(limits);
        free(x);
    }
    assert_near(sqrt(b / RUNS / D), 1, .12);
    assert_near(sqrt(scale / RUNS / D), 1, .12);
    assert_near(sqrt(sum / RUNS / D), 1, .12); /* their covariance */
    assert_near(sqrt(difference / RUNS / D), 1, .12);
    assert_near(sqrt(sigma / RUNS / D), 1, .12);
    unrelu_gaussian_free(truth);
}

/* The square of a rectified normal is far from one. Robust errors are those of the jackknife, which
 * leaves out one row after the other and knows of no law; those of the model may be too small. */
static void robust_errors_are_those_of_the_jackknife(void **state)
{
    (void)state;
    enum { N = 400 };
    unrelu_gaussian *truth = plant_three(3);
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    double *x = draw_rows(truth, N, 5);
    for (size_t i = 0; i < N * D; i++)
        x[i] *= x[i];
    double *limits = hide(x, N), b[D] = {0}, scale[D] = {0}, both[D] = {0}, sigma[D * D] = {0};
    o.errors = UNRELU_ERRORS_MODEL;
    unrelu_gaussian *model = fit_cells(x, limits, N, o);
    o.errors = UNRELU_ERRORS_AUTO;
    unrelu_gaussian *m = fit_cells(x, limits, N, o);
    for (size_t row = 0; row < N; row++) {
        double kept[D];
        memcpy(kept, x + row * D, sizeof kept);
        for (size_t j = 0; j < D; j++)
            x[row * D + j] = NAN;
        unrelu_gaussian *without = fit_cells(x, limits, N, o);
        memcpy(x + row * D, kept, sizeof kept);
        for (size_t i = 0; i < D; i++) {
            b[i] += pow(without->b[i] - m->b[i], 2);
            scale[i] += pow(without->scale[i] - m->scale[i], 2);
            both[i] += (without->b[i] - m->b[i]) * (without->scale[i] - m->scale[i]);
        }
        for (size_t i = 0; i < D * D; i++)
            sigma[i] += pow(without->sigma[i] - m->sigma[i], 2);
        unrelu_gaussian_free(without);
    }
    assert_string_equal(model->errors, "model");
    assert_string_equal(m->errors, "robust");
    assert_true(model->scale_se[0] < .8 * sqrt(scale[0])); /* the column farthest from normal */
    for (size_t i = 0; i < D; i++) {
        assert_near(m->b_se[i] / sqrt(b[i]), 1, .05);
        assert_near(m->scale_se[i] / sqrt(scale[i]), 1, .05);
        assert_near((m->b_scale_cov[i] - both[i]) / sqrt(b[i] * scale[i]), 0, .1); /* a square */
        for (size_t j = 0; j < i; j++)
            assert_near(m->sigma_se[i * D + j] / sqrt(sigma[i * D + j]), 1, .05);
        /* of a square, by the derivative: a row that moves the scale far moves it by less */
        assert_near(m->sigma_se[i * D + i] / (2 * m->scale[i] * m->scale_se[i]), 1, 1e-12);
        assert_near(m->sigma_se[i * D + i] / sqrt(sigma[i * D + i]), 1, .1);
    }
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(model);
    unrelu_gaussian_free(truth);
    free(limits);
    free(x);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    unrelu_gaussian *truth = plant_three(5), *one, *seven;
    double *x = draw_rows(truth, 300, 6), *limits = hide(x, 300);
    unrelu_source *source = NULL, *cells = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    must(unrelu_source_memory(x, 300, D, NULL, &source, &err), &err);
    must(unrelu_source_memory(limits, 300, D, NULL, &cells, &err), &err);
    o.limits = cells;
    exec.threads = 1;
    must(unrelu_gaussian_fit(source, &o, &exec, &one, &err), &err);
    exec.threads = 7;
    must(unrelu_gaussian_fit(source, &o, &exec, &seven, &err), &err);
    assert_memory_equal(one->sigma, seven->sigma, D * D * sizeof *one->sigma);
    assert_memory_equal(one->sigma_se, seven->sigma_se, D * D * sizeof *one->sigma);
    unrelu_gaussian_free(one);
    unrelu_gaussian_free(seven);
    unrelu_gaussian_free(truth);
    unrelu_source_close(source);
    unrelu_source_close(cells);
    free(limits);
    free(x);
}

/* y normal, x = y^2 where y > 0: a model of square roots, drawn from and fitted again */
static void a_transformed_model_draws_what_it_was_fitted_to(void **state)
{
    (void)state;
    enum { N = 20000 };
    unrelu_gaussian *truth = plant_three(7);
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    double *x = draw_rows(truth, N, 8);
    for (size_t i = 0; i < N * D; i++)
        x[i] *= x[i];
    o.transform = UNRELU_TRANSFORM_SQRT;
    unrelu_gaussian *first = fit_cells(x, NULL, N, o);
    double *again = draw_rows(first, N, 9);
    unrelu_gaussian *second = fit_cells(again, NULL, N, o);
    for (size_t i = 0; i < D; i++) {
        assert_near(first->b[i], truth->b[i], 5 * first->b_se[i]);
        assert_near(second->b[i], first->b[i], 5 * first->b_se[i]);
        assert_near(second->scale[i], first->scale[i], 5 * first->scale_se[i]);
        assert_near(unrelu_gaussian_untransform(first, i, unrelu_gaussian_transform(first, i, 2.5)),
                    2.5, 1e-14);
    }
    unrelu_gaussian_free(first);
    unrelu_gaussian_free(second);
    unrelu_gaussian_free(truth);
    free(again);
    free(x);
}

/* ---- cells below, above and between, as a file has them ---- */

enum { TOKENS = 1500, PAIR = 2 };
static const double planted_b[PAIR] = {3, 2.5}, planted_s[PAIR] = {1, 0.5}, planted_rho = 0.6;
static const double lows[] = {1.8, 2.4}, highs[] = {3.2, 4};

/* a cell of the table: below low, above high, its ends, or the value */
static void token_of(size_t i, double y, int exponential, char *out, size_t size)
{
    double low = lows[i % 2], high = highs[i / 2 % 2], step = 0.75;
    double from = floor(y / step) * step, to = from + step;
    if (exponential) {
        y = exp(y);
        low = exp(low);
        high = exp(high);
        from = exp(from);
        to = exp(to);
    }
    if (y <= low)
        snprintf(out, size, "<%.17g", low);
    else if (y >= high)
        snprintf(out, size, ">%.17g", high);
    else if (i % 5 == 0)
        snprintf(out, size, "%.17g..%.17g", from, to);
    else
        snprintf(out, size, "%.17g", y);
}

/* TOKENS rows of a planted pair, or exponentials of them; y (TOKENS x PAIR) is what they hide */
static char *plant_tokens(double *y, int exponential)
{
    size_t room = TOKENS * PAIR * 64, used = 0;
    char *text = malloc(room);
    assert_non_null(text);
    ur_random_normals(77, 1, 0, TOKENS * PAIR, y);
    for (size_t i = 0; i < TOKENS; i++) {
        double *row = y + i * PAIR;
        row[1] = planted_rho * row[0] + sqrt(1 - planted_rho * planted_rho) * row[1];
        for (size_t j = 0; j < PAIR; j++) {
            row[j] = planted_b[j] + planted_s[j] * row[j];
            token_of(i + j, row[j], exponential, text + used, room - used);
            used += strlen(text + used);
            text[used++] = j + 1 < PAIR ? ',' : '\n';
        }
    }
    text[used] = '\0';
    return text;
}

static unrelu_gaussian *fit_text(const char *text, unrelu_transform transform)
{
    unrelu_gaussian *model;
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.transform = transform;
    must(unrelu_source_open(files_text("tokens.csv", text), NULL, &source, &err), &err);
    must(unrelu_gaussian_fit(source, &o, NULL, &model, &err), &err);
    unrelu_source_close(source);
    return model;
}

static double Phi(double t)
{
    return erfc(-t / sqrt(2)) / 2;
}

/* of column j, cell by cell from the values that tokens hide */
static double naive_likelihood(const double *y, size_t j, double b, double s)
{
    double sum = 0;
    for (size_t i = 0; i < TOKENS; i++) {
        double low = lows[(i + j) % 2], high = highs[(i + j) / 2 % 2], v = y[i * PAIR + j];
        double from = floor(v / 0.75) * 0.75, t = (v - b) / s;
        if (v <= low)
            sum += log(Phi((low - b) / s));
        else if (v >= high)
            sum += log(Phi((b - high) / s));
        else if ((i + j) % 5 == 0)
            sum += log(Phi((from + 0.75 - b) / s) - Phi((from - b) / s));
        else
            sum -= t * t / 2 + log(s);
    }
    return sum;
}

enum { GRID = 400 }; /* of Simpson's rule over 16 deviations at most */

typedef struct {
    double from, to; /* in deviations; equal: it was seen */
} naive_cell;

static naive_cell cell_at(const unrelu_gaussian *m, const double *y, size_t i, size_t j)
{
    double low = lows[(i + j) % 2], high = highs[(i + j) / 2 % 2], v = y[i * PAIR + j];
    double from = floor(v / 0.75) * 0.75, b = m->b[j], s = m->scale[j];
    if (v <= low)
        return (naive_cell){-8, (low - b) / s};
    if (v >= high)
        return (naive_cell){(high - b) / s, 8};
    if ((i + j) % 5 == 0)
        return (naive_cell){(from - b) / s, (from + 0.75 - b) / s};
    return (naive_cell){(v - b) / s, (v - b) / s};
}

/* the second cell, given that the first is t deviations from its mean */
static double given(double t, naive_cell c, double rho, double s)
{
    double o = sqrt(1 - rho * rho), from = (c.from - rho * t) / o, to = (c.to - rho * t) / o;
    return c.from == c.to ? exp(-from * from / 2) / sqrt(2 * M_PI) / o / s : Phi(to) - Phi(from);
}

/* the density of the first, by the probability of the second, over what is left open */
static double naive_joint(const unrelu_gaussian *m, const double *y)
{
    double sum = 0, rho = m->correlation[1];
    for (size_t i = 0; i < TOKENS; i++) {
        naive_cell c[PAIR] = {cell_at(m, y, i, 0), cell_at(m, y, i, 1)};
        double width = c[0].to - c[0].from, row = 0;
        for (int k = 0; k <= (width > 0 ? GRID : 0); k++) {
            double t = c[0].from + width * k / GRID, rule = k == 0 || k == GRID ? 1 : k % 2 ? 4 : 2;
            double weight = width > 0 ? rule * width / GRID / 3 : 1 / m->scale[0];
            row += weight * exp(-t * t / 2) / sqrt(2 * M_PI) * given(t, c[1], rho, m->scale[1]);
        }
        sum += log(row);
    }
    return sum;
}

static void likelihoods_are_those_of_the_values_as_recorded(void **state)
{
    (void)state;
    double *y = malloc(TOKENS * PAIR * sizeof *y), jacobian = 0;
    char *plain = plant_tokens(y, 0), *exponential = plant_tokens(y, 1);
    unrelu_gaussian *m = fit_text(plain, UNRELU_TRANSFORM_NONE);
    unrelu_gaussian *logs = fit_text(exponential, UNRELU_TRANSFORM_LOG);
    for (size_t j = 0; j < PAIR; j++) {
        double want =
            naive_likelihood(y, j, m->b[j], m->scale[j]) - m->positive[j] * log(2 * M_PI) / 2;
        double slopes = 0; /* of the logarithms of the values seen, that are values here */
        for (size_t i = 0; i < TOKENS; i++) {
            naive_cell c = cell_at(m, y, i, j);
            slopes -= c.from == c.to ? y[i * PAIR + j] : 0;
        }
        assert_near(m->loglik[j], want, 1e-9 * fabs(want));
        assert_near(m->aic[j], 4 - 2 * want, 1e-8 * fabs(want));
        assert_near(m->bic[j], 2 * log(TOKENS) - 2 * want, 1e-8 * fabs(want));
        assert_near(logs->loglik[j], want + slopes, 1e-7 * fabs(want));
        jacobian += slopes;
    }
    double joint = naive_joint(m, y);
    assert_near(m->joint_loglik, joint, 1e-6 * fabs(joint));
    assert_near(logs->joint_loglik, joint + jacobian, 1e-6 * fabs(joint));
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(logs);
    free(plain);
    free(exponential);
    free(y);
}

enum { TRIPLES = 60, FINE = 400 };

/* a cell of three columns, below 10.6 (or 11.2 in every other row), above 11.8, in steps of 1,
 * missing, or seen; its ends as naive_cell has them, on the scale of the data */
static naive_cell triple_cell(size_t i, size_t j, double y, char *out, size_t size)
{
    double low = i % 2 ? 10.6 : 11.2, from = floor(y);
    naive_cell c = {y, y};
    if ((i + 2 * j) % 11 == 0) {
        snprintf(out, size, "NA");
        c = (naive_cell){-INFINITY, INFINITY};
    } else if (y <= low) {
        snprintf(out, size, "<%.17g", low);
        c = (naive_cell){-INFINITY, low};
    } else if (y >= 11.8) {
        snprintf(out, size, ">11.8");
        c = (naive_cell){11.8, INFINITY};
    } else if ((i + j) % 5 == 0) {
        snprintf(out, size, "%g..%g", from, from + 1);
        c = (naive_cell){from, from + 1};
    } else {
        snprintf(out, size, "%.17g", y);
    }
    return c;
}

/* The integral over what is left open of the density of t = L z, one cell after the other by
 * Simpson's rule; the last is known given those before. */
static double integrate_triple(const naive_cell c[D], double L[D][D], const double *scale,
                               const double z[D], size_t k)
{
    double before = 0, next[D] = {0}, sum = 0;
    for (size_t l = 0; l < k; l++) {
        before += L[k][l] * z[l];
        next[l] = z[l];
    }
    double from = (c[k].from - before) / L[k][k], to = (c[k].to - before) / L[k][k];
    int seen = c[k].from == c[k].to;
    if (seen) {
        double density = exp(-from * from / 2) / sqrt(2 * M_PI) / L[k][k] / scale[k];
        next[k] = from;
        return density * (k + 1 < D ? integrate_triple(c, L, scale, next, k + 1) : 1);
    }
    if (k + 1 == D)
        return Phi(to) - Phi(from);
    from = fmax(from, -8);
    to = fmin(to, 8);
    for (int i = 0; i <= FINE && from < to; i++) {
        double rule = i == 0 || i == FINE ? 1 : i % 2 ? 4 : 2, width = (to - from) / FINE;
        next[k] = from + width * i;
        sum += rule * width / 3 * exp(-next[k] * next[k] / 2) / sqrt(2 * M_PI) *
               integrate_triple(c, L, scale, next, k + 1);
    }
    return sum;
}

/* the table of so many planted rows at most, and its cells; without rows that hide all three, or
 * with them. How many rows it has. */
static size_t plant_triples(int all, char *text, size_t room, naive_cell cell[TRIPLES][D])
{
    size_t used = 0, rows = 0;
    for (size_t i = 0; i < TRIPLES; i++) {
        double z[D];
        char row[3 * 64] = "";
        size_t length = 0, hidden = 0;
        ur_random_normals(91, 1, D * i, D, z);
        const double t[D] = {z[0], .6 * z[0] + .8 * z[1], -.3 * z[0] + .5 * z[1] + .8 * z[2]};
        for (size_t j = 0; j < D; j++) {
            naive_cell c = triple_cell(i, j, 11 + t[j], row + length, sizeof row - length);
            length += strlen(row + length);
            row[length++] = j + 1 < D ? ',' : '\n';
            hidden += c.from != c.to && !(isinf(c.from) && isinf(c.to));
            cell[rows][j] = c;
        }
        if (!all && hidden == D)
            continue;
        assert_true(used + length < room);
        memcpy(text + used, row, length);
        used += length;
        rows++;
    }
    text[used] = '\0';
    return rows;
}

/* exact where rows hide two cells at most, else as its interval says */
static void joint_likelihoods_of_three_are_those_of_an_integral(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        char text[TRIPLES * D * 32];
        naive_cell cell[TRIPLES][D];
        double want = 0, zero[D] = {0};
        size_t n = plant_triples(all, text, sizeof text, cell);
        unrelu_gaussian *m = fit_text(text, UNRELU_TRANSFORM_NONE);
        const double *R = m->correlation;
        double L[D][D] = {{1}, {R[3], sqrt(1 - R[3] * R[3])}, {R[6]}};
        L[2][1] = (R[7] - R[6] * R[3]) / L[1][1];
        L[2][2] = sqrt(1 - L[2][0] * L[2][0] - L[2][1] * L[2][1]);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < D; j++) {
                cell[i][j].from = (cell[i][j].from - m->b[j]) / m->scale[j];
                cell[i][j].to = (cell[i][j].to - m->b[j]) / m->scale[j];
            }
            want += log(integrate_triple(cell[i], L, m->scale, zero, 0));
        }
        assert_int_equal(m->joint_loglik_ci != NULL, all);
        double half = all ? m->joint_loglik_ci[1] - m->joint_loglik : 1e-5;
        assert_true(all ? n == TRIPLES && half > 0 && half < .1 : n > TRIPLES / 2);
        assert_near(m->joint_loglik, want, half);
        unrelu_gaussian_free(m);
    }
}

/* a column and its double have no density together */
static void joint_likelihoods_that_cannot_be_had_are_absent(void **state)
{
    (void)state;
    enum { N = 200 };
    unrelu_gaussian *truth = plant_three(5);
    double *x = draw_rows(truth, N, 6);
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.angles = UNRELU_ANGLES_LIKELIHOOD;
    unrelu_gaussian *known = fit_cells(x, NULL, N, o);
    assert_true(isfinite(known->joint_loglik));
    for (size_t i = 0; i < N; i++)
        x[i * D + 1] = 2 * x[i * D];
    unrelu_gaussian *copied = fit_cells(x, NULL, N, o);
    assert_true(isnan(copied->joint_loglik) && !copied->joint_loglik_ci);
    unrelu_gaussian_free(truth);
    unrelu_gaussian_free(known);
    unrelu_gaussian_free(copied);
    free(x);
}

/* sums of one pass, and cells of which some are missing */
static void likelihoods_do_not_depend_on_the_way_they_are_summed(void **state)
{
    (void)state;
    enum { N = 400 };
    unrelu_gaussian *truth = plant_three(5);
    double *x = draw_rows(truth, N, 6), want[D] = {0};
    for (size_t i = 0; i < N; i += 7)
        x[i * D + i % D] = NAN;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *once = fit_cells(x, NULL, N, o);
    o.angles = UNRELU_ANGLES_LIKELIHOOD;
    unrelu_gaussian *cells = fit_cells(x, NULL, N, o);
    for (size_t i = 0; i < N * D; i++) {
        double b = once->b[i % D], s = once->scale[i % D], t = (x[i] - b) / s;
        if (!isnan(x[i]))
            want[i % D] += x[i] > 0 ? -t * t / 2 - log(s * sqrt(2 * M_PI)) : log(Phi(-b / s));
    }
    for (size_t j = 0; j < D; j++) {
        assert_near(once->loglik[j], want[j], 1e-9 * fabs(want[j]));
        assert_near(cells->loglik[j], want[j], 1e-9 * fabs(want[j]));
        assert_near(once->bic[j] - once->aic[j], 2 * log(once->observed[j]) - 4, 1e-9);
    }
    assert_true(isnan(once->joint_loglik) && isfinite(cells->joint_loglik));
    o.angles = UNRELU_ANGLES_H6;
    o.norms = UNRELU_NORMS_TRUNCATED;
    unrelu_gaussian *truncated = fit_cells(x, NULL, N, o);
    assert_null(truncated->loglik);
    unrelu_gaussian_free(truncated);
    unrelu_gaussian_free(once);
    unrelu_gaussian_free(cells);
    unrelu_gaussian_free(truth);
    free(x);
}

static void tokens_of_either_side_are_fitted_by_their_likelihood(void **state)
{
    (void)state;
    double *y = malloc(TOKENS * PAIR * sizeof *y);
    char *text = plant_tokens(y, 0);
    unrelu_gaussian *m = fit_text(text, UNRELU_TRANSFORM_NONE);
    assert_string_equal(m->angles, "likelihood");
    assert_near(m->correlation[1], planted_rho, 4 * m->correlation_se[1]);
    assert_true(m->correlation_se[1] > 0 && m->correlation_se[1] < .04);
    for (size_t j = 0; j < PAIR; j++) {
        double b = m->b[j], s = m->scale[j], top = naive_likelihood(y, j, b, s), h = 1e-3;
        assert_near(b, planted_b[j], 4 * m->b_se[j]);
        assert_near(s, planted_s[j], 4 * m->scale_se[j]);
        assert_true(m->observed[j] == TOKENS && m->positive[j] < TOKENS);
        /* the maximum: of a parabola through three values in each direction */
        for (int k = 0; k < 2; k++) {
            double up = naive_likelihood(y, j, b + h * (k == 0), s + h * (k == 1));
            double down = naive_likelihood(y, j, b - h * (k == 0), s - h * (k == 1));
            assert_near(h * (up - down) / (2 * (2 * top - up - down)), 0, 1e-5);
        }
    }
    unrelu_gaussian_free(m);
    free(text);
    free(y);
}

/* exp(y) under log is y */
static void transforms_take_cells_of_either_side(void **state)
{
    (void)state;
    double *y = malloc(TOKENS * PAIR * sizeof *y);
    char *plain = plant_tokens(y, 0), *exponential = plant_tokens(y, 1);
    unrelu_gaussian *a = fit_text(plain, UNRELU_TRANSFORM_NONE);
    unrelu_gaussian *b = fit_text(exponential, UNRELU_TRANSFORM_LOG);
    for (size_t j = 0; j < PAIR; j++) {
        assert_near(b->b[j], a->b[j], 1e-9);
        assert_near(b->scale[j], a->scale[j], 1e-9);
        assert_near(b->b_se[j], a->b_se[j], 1e-9);
    }
    assert_near(b->correlation[1], a->correlation[1], 1e-8);
    assert_near(b->correlation_se[1], a->correlation_se[1], 1e-8);
    unrelu_gaussian_free(a);
    unrelu_gaussian_free(b);
    free(plain);
    free(exponential);
    free(y);
}

static void refuse_text(const char *text, unrelu_transform transform, const char *sentence)
{
    unrelu_gaussian *model;
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.transform = transform;
    must(unrelu_source_open(files_text("refused.csv", text), NULL, &source, &err), &err);
    unrelu_status status = unrelu_gaussian_fit(source, &o, NULL, &model, &err);
    assert_string_equal(err.text, sentence);
    assert_int_equal(status, UNRELU_EDATA);
    assert_null(model);
    unrelu_source_close(source);
}

static void columns_whose_limits_tell_no_scale_are_refused(void **state)
{
    (void)state;
    refuse_text("a,b\n>5,1\n>4,2\n>5,3\n", UNRELU_TRANSFORM_NONE,
                "column 1 (a): all of its 3 cells are above their limits: its bias and scale "
                "cannot be learned; leave such columns out with `drop`");
    refuse_text("a,b\n1,>5\n2,<6\n3,2..8\n", UNRELU_TRANSFORM_NONE,
                "column 2 (b): one and the same value agrees with each of its 3 cells, seen, "
                "above limits, below them or between two: its scale cannot be learned; leave "
                "such columns out with `drop`");
    refuse_text("a,b\n>5,1\n>-4,2\n5,3\n", UNRELU_TRANSFORM_LOG,
                "column 1 (a), row 2 is above the limit -4: a transform needs limits of at "
                "least 0");
}

/* n rows of two normals of correlation rho behind limits about `limit`, the same for each seed; how
 * many rows show both */
static size_t draw_mostly_hidden(size_t n, double rho, double limit, uint64_t seed, double *x,
                                 double *limits)
{
    size_t joint = 0;
    ur_random_normals(seed, 0, 0, n * PAIR, x);
    for (size_t i = 0; i < n; i++) {
        double *row = x + i * PAIR;
        row[1] = rho * row[0] + sqrt(1 - rho * rho) * row[1];
        for (size_t j = 0; j < PAIR; j++) {
            double *at = limits + i * PAIR + j;
            *at = limit + .25 * ((double)((i + j) % 3) - 1) + 10;
            row[j] = row[j] + 10 < *at ? 0 : row[j] + 10;
        }
        joint += row[0] > 0 && row[1] > 0;
    }
    return joint;
}

static unrelu_gaussian *fit_pair(const double *x, const double *limits, size_t n,
                                 unrelu_errors errors)
{
    unrelu_gaussian *model;
    unrelu_source *source = NULL, *cells = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    must(unrelu_source_memory(x, n, PAIR, NULL, &source, &err), &err);
    must(unrelu_source_memory(limits, n, PAIR, NULL, &cells, &err), &err);
    o.limits = cells;
    o.errors = errors;
    must(unrelu_gaussian_fit(source, &o, NULL, &model, &err), &err);
    unrelu_source_close(source);
    unrelu_source_close(cells);
    return model;
}

/* 85 % below limits: three to nine rows of 150 show both values, or none does */
static void few_joint_positives_leave_an_error_that_holds(void **state)
{
    (void)state;
    enum { N = 150, RUNS = 400, KINDS = 2 };
    const unrelu_errors kind[KINDS] = {UNRELU_ERRORS_ROBUST, UNRELU_ERRORS_MODEL};
    double *x = malloc(N * PAIR * sizeof *x), *limits = malloc(N * PAIR * sizeof *limits);
    double rho = .2, held[KINDS] = {0}, used = 0, none = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        size_t joint = draw_mostly_hidden(N, rho, 1.04, 100 + run, x, limits);
        used += joint > 2 && joint < 10;
        none += joint == 0;
        for (int k = 0; k < KINDS && joint < 10; k++) {
            unrelu_gaussian *m = fit_pair(x, limits, N, kind[k]);
            double r = m->correlation[1], se = m->correlation_se[1];
            assert_int_equal(m->pair_flags[1], UNRELU_FLAG_FEW_JOINT);
            assert_int_equal(isnan(se), joint == 0);
            assert_int_equal(isnan(m->sigma_se[1]), joint == 0);
            if (joint > 2)
                held[k] += fabs(atanh(r) - atanh(rho)) < 1.96 * se / (1 - r * r);
            unrelu_gaussian_free(m);
        }
    }
    assert_true(used > 200 && none > 0);
    for (int k = 0; k < KINDS; k++)
        assert_near(held[k] / used, .95, .03);
    free(x);
    free(limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_zeros_give_what_six_statistics_give),
        cmocka_unit_test(standard_errors_are_those_of_the_estimates),
        cmocka_unit_test(robust_errors_are_those_of_the_jackknife),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_transformed_model_draws_what_it_was_fitted_to),
        cmocka_unit_test(likelihoods_are_those_of_the_values_as_recorded),
        cmocka_unit_test(joint_likelihoods_of_three_are_those_of_an_integral),
        cmocka_unit_test(joint_likelihoods_that_cannot_be_had_are_absent),
        cmocka_unit_test(likelihoods_do_not_depend_on_the_way_they_are_summed),
        cmocka_unit_test(tokens_of_either_side_are_fitted_by_their_likelihood),
        cmocka_unit_test(transforms_take_cells_of_either_side),
        cmocka_unit_test(few_joint_positives_leave_an_error_that_holds),
        cmocka_unit_test(columns_whose_limits_tell_no_scale_are_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
