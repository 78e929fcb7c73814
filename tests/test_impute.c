/* SPDX-License-Identifier: Apache-2.0 */
/* Oracles: formulas for one hidden cell, quadrature for two, rejection for more, the latent values
 * themselves where a singular model determines them. */
#include "files.h"
#include "planted.h"

#include "base/random.h"
#include "gaussian/impute/impute.h"
#include "gaussian/model/gaussian_model.h"
#include "unrelu/unrelu.h"

enum { MOST = 6, CHUNK = 256 };

static unrelu_gaussian *make_model(size_t d, const double *b, const double *sigma)
{
    unrelu_error err = {0};
    unrelu_gaussian *m = ur_gaussian_new(&err);
    assert_non_null(m);
    must(ur_gaussian_allocate(m, d, 0, &err), &err);
    m->names = ur_take_numbered(ur_model_arena(m), 'x', d);
    for (size_t i = 0; i < d; i++) {
        m->b[i] = b[i];
        m->scale[i] = sqrt(sigma[i * d + i]);
        for (size_t j = 0; j < d; j++) {
            double scales = sqrt(sigma[i * d + i] * sigma[j * d + j]);
            m->sigma[i * d + j] = sigma[i * d + j];
            m->correlation[i * d + j] = i == j ? 1 : scales > 0 ? sigma[i * d + j] / scales : 0;
        }
    }
    return m;
}

/* bit by bit what went to the file */
static void expect_the_same_in_memory(const unrelu_gaussian *m, unrelu_source *samples,
                                      const unrelu_impute_options *options, const table *file)
{
    unrelu_impute_report report;
    unrelu_error err = {0};
    double *x = malloc(file->n * file->d * sizeof *x);
    assert_non_null(x);
    must(unrelu_gaussian_impute_memory(m, samples, options, x, NULL, &report, &err), &err);
    assert_int_equal(report.written, file->n);
    assert_memory_equal(x, file->x, file->n * file->d * sizeof *x);
    free(x);
}

static unrelu_status try_impute(const unrelu_gaussian *m, const double *x, size_t n, size_t width,
                                unrelu_impute_options options, int threads, table *out,
                                unrelu_error *err)
{
    unrelu_source *samples = NULL;
    unrelu_impute_report report;
    unrelu_exec exec = {.size = sizeof exec, .threads = threads};
    must(unrelu_source_memory(x, n, width, NULL, &samples, err), err);
    unrelu_status status =
        unrelu_gaussian_impute(m, samples, &options, files_path("out.npy"), &exec, &report, err);
    if (status == UNRELU_OK) {
        *out = table_of(files_path("out.npy"), NULL);
        assert_int_equal(report.rows, n);
        assert_int_equal(report.written, out->n);
        assert_int_equal(out->n, n * (options.draws ? options.draws : 1));
        expect_the_same_in_memory(m, samples, &options, out);
    }
    unrelu_source_close(samples);
    return status;
}

/* rows of the model's width; the caller frees */
static double *impute(const unrelu_gaussian *m, const double *x, size_t n,
                      unrelu_impute_options options)
{
    table out;
    unrelu_error err = {0};
    must(try_impute(m, x, n, m->d, options, 2, &out, &err), &err);
    double *filled = out.x;
    out.x = NULL;
    table_free(&out);
    return filled;
}

/* ---- one hidden cell ---- */

static double hazard_below(double a) /* phi(a) / Phi(a) */
{
    return exp(-a * a / 2) / sqrt(2 * M_PI) / (0.5 * erfc(-a / sqrt(2)));
}

static void one_censored_cell_is_the_mean_of_the_truncated_regression(void **state)
{
    (void)state;
    const double b[] = {0.5, -1}, sigma[] = {4, 1.5, 1.5, 1};
    unrelu_gaussian *m = make_model(2, b, sigma);
    for (double seen = 0.25; seen < 12; seen *= 2) {
        double x[] = {0, seen}, mean = 0.5 + 1.5 * (seen + 1), deviation = sqrt(4 - 2.25);
        double want = mean - deviation * hazard_below(-mean / deviation);
        double *y = impute(m, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
        assert_near(y[0], want, 1e-11);
        assert_true(y[0] < 0 && y[1] == seen);
        free(y);
    }
    unrelu_gaussian_free(m);
}

static void the_limits_of_the_model_count(void **state)
{
    (void)state;
    const double b[] = {0.5}, sigma[] = {4}, x[] = {0.8, 1, 1.25};
    unrelu_gaussian *m = make_model(1, b, sigma);
    m->limit = (double[]){1};
    double *y = impute(m, x, 3, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    double want = 0.5 - 2 * hazard_below(0.25);
    assert_near(y[0], want, 1e-13);
    assert_near(y[1], want, 1e-13);
    assert_true(y[2] == 1.25);
    free(y);
    unrelu_gaussian_free(m);
}

static void missing_cells_are_regressions(void **state)
{
    (void)state;
    const double b[] = {1, 2, 3}, sigma[] = {2, 1, 0.5, 1, 3, -1, 0.5, -1, 1};
    unrelu_gaussian *m = make_model(3, b, sigma);
    double x[] = {NAN, 2.5, 4, NAN, 3, NAN, NAN, NAN, NAN};
    double *y = impute(m, x, 3, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    /* S of columns 2, 3 is (3, -1; -1, 1), its inverse (1, 1; 1, 3) / 2 */
    double w2 = (0.5 * 1 + 1 * 1) / 2, w3 = (0.5 * 1 + 1 * 3) / 2;
    assert_near(y[0], 1 + 1 * w2 + 0.5 * w3, 1e-13);
    assert_near(y[3], 1 + 1 / 3.0, 1e-13);
    assert_near(y[5], 3 - 1 / 3.0, 1e-13);
    for (size_t i = 0; i < 3; i++)
        assert_near(y[6 + i], b[i], 1e-15);
    free(y);
    enum { DRAWS = 20000 };
    y = impute(m, x, 1,
               (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = DRAWS});
    double sum = 0, square = 0, left = 2 - (1 * (0.5 + 0.25) + 0.5 * (0.5 + 0.75));
    for (size_t i = 0; i < DRAWS; i++) {
        double z = (y[3 * i] - (1 + w2 + 0.5 * w3)) / sqrt(left);
        sum += z;
        square += z * z;
    }
    assert_near(sum / DRAWS, 0, 4 / sqrt(DRAWS));
    assert_near(square / DRAWS, 1, 4 * sqrt(2.0 / DRAWS));
    free(y);
    unrelu_gaussian_free(m);
}

/* ---- two: quadrature ---- */

/* means of N(mu, C) below u, by Simpson's rule on a box beside the corner */
static void corner_means(const double mu[2], const double C[4], const double u[2], double reach,
                         double mean[2])
{
    enum { STEPS = 600 };
    double det = C[0] * C[3] - C[1] * C[2], s1 = sqrt(C[0]) * reach, s2 = sqrt(C[3]) * reach;
    double mass = 0, top = -INFINITY;
    mean[0] = mean[1] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i <= STEPS; i++)
            for (int j = 0; j <= STEPS; j++) {
                double y1 = u[0] - s1 * i / STEPS, y2 = u[1] - s2 * j / STEPS;
                double a = y1 - mu[0], c = y2 - mu[1];
                double log_density = -(C[3] * a * a - 2 * C[1] * a * c + C[0] * c * c) / det / 2;
                if (pass == 0) {
                    top = fmax(top, log_density);
                    continue;
                }
                double weight = exp(log_density - top) * (i % STEPS ? i % 2 ? 4 : 2 : 1) *
                                (j % STEPS ? j % 2 ? 4 : 2 : 1);
                mass += weight;
                mean[0] += weight * y1;
                mean[1] += weight * y2;
            }
    mean[0] /= mass;
    mean[1] /= mass;
}

static void check_two(double b1, double b2, double rho, double reach, double tolerance)
{
    const double b[] = {b1, b2}, sigma[] = {1, 2 * rho, 2 * rho, 4}, x[] = {0, 0};
    const double zero[2] = {0, 0};
    unrelu_gaussian *m = make_model(2, b, sigma);
    double mean[2];
    corner_means(b, sigma, zero, reach, mean);
    double *y =
        impute(m, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .seed = 3});
    assert_near(y[0], mean[0], tolerance * fabs(mean[0]));
    assert_near(y[1], mean[1], tolerance * fabs(mean[1]));
    free(y);
    unrelu_gaussian_free(m);
}

static void two_censored_cells_agree_with_quadrature(void **state)
{
    (void)state;
    check_two(0, 0, 0.6, 9, 1e-7);
    check_two(0.5, -1, -0.8, 9, 1e-7);
    check_two(-3, 1, 0.2, 12, 1e-7);
    check_two(0.3, 2, 0.95, 9, 1e-7);
    check_two(2.5, 5, 0.1, 6, 1e-7); /* of probability 6e-5: still by the formula */
}

static void limits_ten_deviations_out_agree_with_quadrature(void **state)
{
    (void)state;
    check_two(10, 20, 0.5, 2, 5e-3);
    check_two(10, 20, -0.5, 2, 5e-3);
    check_two(10, 2, 0.7, 9, 5e-3);
    check_two(40, 80, 0.3, 0.6, 5e-3);
}

/* ---- more: rejection ---- */

typedef struct {
    size_t h, cell[MOST];
    double mu[MOST], factor[MOST * MOST];
} conditional;

/* textbook elimination: seen cells are swept out one after the other */
static conditional condition(const unrelu_gaussian *m, const double *x, const int *hidden)
{
    size_t d = m->d;
    double A[MOST * MOST], mu[MOST];
    conditional c = {0};
    memcpy(A, m->sigma, d * d * sizeof *A);
    memcpy(mu, m->b, d * sizeof *mu);
    for (size_t s = 0; s < d; s++) {
        if (hidden[s])
            continue;
        double pivot = A[s * d + s], away = x[s] - mu[s], row[MOST];
        memcpy(row, A + s * d, d * sizeof *row);
        for (size_t i = 0; i < d; i++) {
            mu[i] += row[i] / pivot * away;
            for (size_t j = 0; j < d; j++)
                A[i * d + j] -= row[i] * row[j] / pivot;
        }
    }
    for (size_t i = 0; i < d; i++)
        if (hidden[i])
            c.cell[c.h++] = i;
    for (size_t i = 0; i < c.h; i++) {
        c.mu[i] = mu[c.cell[i]];
        for (size_t j = 0; j <= i; j++) {
            double left = A[c.cell[i] * d + c.cell[j]];
            for (size_t k = 0; k < j; k++)
                left -= c.factor[i * MOST + k] * c.factor[j * MOST + k];
            c.factor[i * MOST + j] = i == j ? sqrt(left) : left / c.factor[j * MOST + j];
        }
    }
    return c;
}

typedef struct {
    double mean[MOST], deviation[MOST], median[MOST], product; /* of the first two hidden cells */
    size_t accepted;
} truth;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* x[i] is the value, the limit (hidden 1) or nothing (hidden 2) */
static truth reject(const unrelu_gaussian *m, const double *x, const int *hidden, size_t tries)
{
    conditional c = condition(m, x, hidden);
    truth t = {0};
    double z[CHUNK * MOST], *kept = malloc(tries * MOST * sizeof *kept);
    for (size_t i = 0; i < tries; i++) {
        double *y = kept + t.accepted * MOST;
        int good = 1;
        if (i % CHUNK == 0)
            ur_random_normals(99, 7, i * MOST, CHUNK * MOST, z);
        for (size_t j = 0; j < c.h; j++) {
            y[j] = c.mu[j];
            for (size_t k = 0; k <= j; k++)
                y[j] += c.factor[j * MOST + k] * z[i % CHUNK * MOST + k];
            good &= hidden[c.cell[j]] == 2 || y[j] <= x[c.cell[j]];
        }
        t.accepted += (size_t)good;
    }
    double *column = malloc(tries * sizeof *column);
    assert_true(t.accepted > 2000);
    for (size_t j = 0; j < c.h; j++) {
        double sum = 0, square = 0, n = (double)t.accepted;
        for (size_t i = 0; i < t.accepted; i++)
            sum += column[i] = kept[i * MOST + j];
        for (size_t i = 0; i < t.accepted; i++)
            square += (column[i] - sum / n) * (column[i] - sum / n);
        qsort(column, t.accepted, sizeof *column, compare_doubles);
        t.mean[c.cell[j]] = sum / n;
        t.deviation[c.cell[j]] = sqrt(square / n);
        t.median[c.cell[j]] = column[t.accepted / 2];
    }
    for (size_t i = 0; c.h > 1 && i < t.accepted; i++)
        t.product += (kept[i * MOST] - t.mean[c.cell[0]]) *
                     (kept[i * MOST + 1] - t.mean[c.cell[1]]) / (double)t.accepted;
    free(column);
    free(kept);
    return t;
}

enum { DRAWS = 2000 };

static void check_draws(size_t d, const double *y, const int *hidden, const truth *t)
{
    double noise = sqrt(1.0 / DRAWS + 1.0 / (double)t->accepted), product = 0;
    size_t first[2] = {0}, h = 0;
    for (size_t j = 0; j < d; j++) {
        double sum = 0, square = 0, below = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            double away = y[i * d + j] - t->mean[j];
            sum += away;
            square += away * away;
            below += y[i * d + j] < t->median[j];
        }
        if (!hidden[j])
            continue;
        if (h < 2)
            first[h] = j;
        h++;
        assert_near(sum / DRAWS / t->deviation[j], 0, 4.5 * noise);
        assert_near(sqrt(square / DRAWS) / t->deviation[j], 1, 6 * noise);
        assert_near(below / DRAWS, 0.5, 4.5 * 0.5 * noise);
    }
    if (h < 2)
        return;
    for (size_t i = 0; i < DRAWS; i++)
        product += (y[i * d + first[0]] - t->mean[first[0]]) *
                   (y[i * d + first[1]] - t->mean[first[1]]) / DRAWS;
    double scales = t->deviation[first[0]] * t->deviation[first[1]];
    assert_near(product / scales, t->product / scales, 8 * noise);
}

static void check_row(const unrelu_gaussian *m, const double *x, const int *hidden, size_t tries)
{
    size_t d = m->d;
    double zero[MOST] = {0}, cells[MOST] = {0};
    for (size_t j = 0; j < d; j++) {
        zero[j] = hidden[j] ? 0 : x[j];
        cells[j] = hidden[j] == 2 ? NAN : zero[j];
    }
    truth t = reject(m, zero, hidden, tries);
    double *mean = impute(
        m, cells, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .seed = 5});
    double *draws = impute(
        m, cells, 1,
        (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .seed = 6, .draws = DRAWS});
    for (size_t j = 0; j < d; j++) {
        double noise = t.deviation[j] * (4 / sqrt((double)t.accepted) + 0.03);
        assert_near(mean[j], hidden[j] ? t.mean[j] : x[j], hidden[j] ? noise : 0);
        assert_true(hidden[j] != 1 || mean[j] < 0);
    }
    check_draws(d, draws, hidden, &t);
    free(mean);
    free(draws);
}

static void rejection_gives_the_same_in_two_and_three_columns(void **state)
{
    (void)state;
    const double b2[] = {0.3, -0.2}, S2[] = {1, -0.7, -0.7, 2};
    const double b3[] = {0.2, 0.4, -0.3}, S3[] = {1, 0.8, -0.3, 0.8, 2, 0.1, -0.3, 0.1, 0.5};
    static const int hidden2[][2] = {{1, 1}, {1, 2}, {0, 1}};
    static const int hidden3[][3] = {{1, 1, 1}, {1, 1, 0}, {1, 2, 0}, {2, 1, 1}, {2, 2, 1}};
    const double x2[] = {0.7, 0.4}, x3[] = {0.5, 1.1, 0.6};
    unrelu_gaussian *m2 = make_model(2, b2, S2), *m3 = make_model(3, b3, S3);
    for (size_t i = 0; i < 3; i++)
        check_row(m2, x2, hidden2[i], 100000);
    for (size_t i = 0; i < 5; i++)
        check_row(m3, x3, hidden3[i], 100000);
    unrelu_gaussian_free(m2);
    unrelu_gaussian_free(m3);
}

/* correlations of .98 and -.95: where a sampler that moves one cell at a time crawls */
static void rejection_gives_the_same_where_cells_are_nearly_one(void **state)
{
    (void)state;
    const double b[] = {0.2, 0.1, -0.3, 0.5};
    const double S[] = {1, .98, -.95, .3, .98, 1, -.94, .2, -.95, -.94, 1, -.1, .3, .2, -.1, 1};
    static const int hidden[][4] = {{1, 1, 1, 1}, {1, 1, 2, 0}, {1, 1, 1, 2}};
    const double x[] = {0.5, 0.5, 0.5, 0.9};
    unrelu_gaussian *m = make_model(4, b, S);
    for (size_t i = 0; i < 3; i++)
        check_row(m, x, hidden[i], 300000);
    unrelu_gaussian_free(m);
}

/* ---- the Gibbs sampler alone, which only hard rows need for their means ---- */

typedef struct {
    ur_impute_pattern pattern;
    ur_law law;
    double squares[6][9], lines[4][3];
    size_t indices[3][3];
} three_cells;

static void set_three(three_cells *c, const double *R, const double *limit)
{
    static const unsigned char below[] = {1, 1, 1}, all[] = {1, 1, 1};
    static const double zero[3], none[] = {-INFINITY, -INFINITY, -INFINITY};
    c->pattern = (ur_impute_pattern){
        .d = 3, .index = c->indices[0], .G = c->squares[0], .V = c->squares[1], .C = c->squares[2]};
    c->law = (ur_law){.L = c->squares[3],
                      .along = c->squares[4],
                      .effect = c->squares[5],
                      .l = c->lines[3],
                      .u = c->lines[0],
                      .rest = c->lines[1],
                      .shift = c->lines[2],
                      .order = c->indices[1],
                      .last = c->indices[2]};
    ur_impute_pattern_set(&c->pattern, R, below, all);
    ur_law_set(&c->law, &c->pattern, zero, none, limit);
}

/* L z, in the order of the columns */
static void cells_of(const three_cells *c, const double *z, double *t)
{
    for (size_t i = 0; i < 3; i++) {
        t[c->law.order[i]] = 0;
        for (size_t k = 0; k < c->law.rank; k++)
            t[c->law.order[i]] += c->law.L[i * 3 + k] * z[k];
    }
}

static void sweeps_from_the_mode_average_to_the_mean(void **state)
{
    (void)state;
    const double R[] = {1, 0.9, -0.5, 0.9, 1, -0.3, -0.5, -0.3, 1};
    const double limit[] = {-0.5, 0.2, -0.4}, b[3] = {0};
    enum { SWEEPS = 20000 };
    three_cells c;
    double z[3], y[3], mean[3], t[3];
    ur_uniforms random = {.seed = 1, .stream = 1, .at = UR_UNIFORMS};
    unrelu_gaussian *m = make_model(3, b, R);
    truth want = reject(m, limit, (const int[]){1, 1, 1}, 400000);
    set_three(&c, R, limit);
    ur_law_mode(&c.law, y, z);
    ur_law_sweep(&c.law, SWEEPS, &random, z, y, mean);
    cells_of(&c, mean, t);
    double noise = 3.5 / sqrt((double)want.accepted), square[3] = {0};
    for (size_t j = 0; j < 3; j++)
        assert_near(t[j], want.mean[j], want.deviation[j] * (noise + 0.01));
    for (size_t i = 0; i < SWEEPS; i++) {
        ur_law_sweep(&c.law, 1, &random, z, y, NULL);
        cells_of(&c, z, t);
        for (size_t j = 0; j < 3; j++) {
            assert_true(t[j] <= limit[j] + 1e-12);
            assert_near(t[c.law.order[j]], y[j], 1e-12);
            square[j] += pow((t[j] - want.mean[j]) / want.deviation[j], 2) / SWEEPS;
        }
    }
    for (size_t j = 0; j < 3; j++)
        assert_near(sqrt(square[j]), 1, noise + 0.025);
    unrelu_gaussian_free(m);
}

static void sweeps_forget_where_they_began(void **state)
{
    (void)state;
    const double R[] = {1, 0.9, -0.5, 0.9, 1, -0.3, -0.5, -0.3, 1};
    const double limit[] = {-0.5, 0.2, -0.4};
    three_cells c;
    double near[3], far[3], y[3];
    set_three(&c, R, limit);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ur_uniforms random = {.seed = seed, .stream = 1, .at = UR_UNIFORMS}, again = random;
        ur_law_mode(&c.law, y, near);
        for (size_t k = 0; k < 3; k++)
            far[k] = 3 * near[k]; /* below the limits too where these are below 0 */
        ur_law_sweep(&c.law, 8, &random, near, y, NULL);
        ur_law_sweep(&c.law, 8, &again, far, y, NULL);
        for (size_t k = 0; k < 3; k++)
            assert_near(far[k], near[k], 1e-3);
    }
}

static void the_mode_is_the_nearest_point_below_the_limits(void **state)
{
    (void)state;
    const double R[] = {1, 0.9, -0.5, 0.9, 1, -0.3, -0.5, -0.3, 1};
    const double limit[] = {-0.5, 0.2, -0.4};
    three_cells c;
    double z[3], dual[3], t[3], best = INFINITY;
    set_three(&c, R, limit);
    ur_law_mode(&c.law, dual, z);
    cells_of(&c, z, t);
    for (size_t j = 0; j < 3; j++)
        assert_true(t[j] <= limit[j] + 1e-9);
    for (double z1 = -2; z1 <= 2; z1 += 0.02)
        for (double z2 = -2; z2 <= 2; z2 += 0.02)
            for (double z3 = -2; z3 <= 2; z3 += 0.02) {
                cells_of(&c, (const double[]){z1, z2, z3}, t);
                if (t[0] <= limit[0] && t[1] <= limit[1] && t[2] <= limit[2])
                    best = fmin(best, z1 * z1 + z2 * z2 + z3 * z3);
            }
    double norm = z[0] * z[0] + z[1] * z[1] + z[2] * z[2];
    assert_true(norm <= best + 1e-9 && norm > best - 0.1);
}

static void the_mode_is_the_nearest_point_of_a_box(void **state)
{
    (void)state;
    const double R[] = {1, 0.9, -0.5, 0.9, 1, -0.3, -0.5, -0.3, 1};
    const double limit[] = {-0.5, 0.9, INFINITY}, least[] = {-INFINITY, 0.2, 0.7};
    three_cells c;
    double z[3], dual[3], t[3], best = INFINITY;
    set_three(&c, R, limit);
    ur_law_set(&c.law, &c.pattern, (const double[]){0, 0, 0}, least, limit);
    ur_law_mode(&c.law, dual, z);
    cells_of(&c, z, t);
    for (size_t j = 0; j < 3; j++)
        assert_true(t[j] <= limit[j] + 1e-9 && t[j] >= least[j] - 1e-9);
    for (double z1 = -4; z1 <= 4; z1 += 0.04)
        for (double z2 = -4; z2 <= 4; z2 += 0.04)
            for (double z3 = -4; z3 <= 4; z3 += 0.04) {
                int inside = 1;
                cells_of(&c, (const double[]){z1, z2, z3}, t);
                for (size_t j = 0; j < 3; j++)
                    inside &= t[j] <= limit[j] && t[j] >= least[j];
                if (inside)
                    best = fmin(best, z1 * z1 + z2 * z2 + z3 * z3);
            }
    double norm = z[0] * z[0] + z[1] * z[1] + z[2] * z[2];
    assert_true(norm <= best + 1e-9 && norm > best - 0.4);
}

/* ---- singular models ---- */

/* t_3 = sqrt(1 - c^2) t_1 + c t_2: it is the second direction's limit too where c is no rounding */
static void a_cell_that_follows_is_a_limit_of_the_last_direction_that_moves_it(void **state)
{
    (void)state;
    for (int small = 0; small < 2; small++) {
        const double c = small ? 1e-6 : 1e-4, s = sqrt(1 - c * c), limit[] = {-2, -1, 5};
        const double R[] = {1, 0, s, 0, 1, c, s, c, 1};
        three_cells cells;
        set_three(&cells, R, limit);
        assert_int_equal(cells.law.rank, 2);
        assert_int_equal(cells.law.order[2], 2);
        assert_int_equal(cells.law.last[2], small ? 0 : 1);
    }
}

static unrelu_gaussian *plant_singular(size_t d, size_t k, double bias)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.bias = UNRELU_BIAS_FIXED;
    o.bias_value = bias;
    o.seed = 11;
    return plant(o);
}

static void a_singular_model_determines_what_two_seen_cells_imply(void **state)
{
    (void)state;
    enum { N = 200, D = 5, K = 2 };
    unrelu_gaussian *m = plant_singular(D, K, -0.3);
    double z[N * K], y[N * D], x[N * D];
    size_t rows = 0;
    ur_random_normals(4, 4, 0, N * K, z);
    for (size_t i = 0; i < N * D; i++) {
        y[i] = m->b[i % D];
        for (size_t k = 0; k < K; k++)
            y[i] += m->W[i % D * K + k] * z[i / D * K + k];
        x[i] = fmax(0, y[i]);
    }
    double *mean = impute(m, x, N, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    double *drawn =
        impute(m, x, N, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 1});
    for (size_t i = 0; i < N; i++) {
        size_t seen = 0;
        for (size_t j = 0; j < D; j++)
            seen += x[i * D + j] > 0;
        rows += seen >= K;
        for (size_t j = 0; seen >= K && j < D; j++) {
            assert_near(mean[i * D + j], y[i * D + j], 1e-8);
            assert_near(drawn[i * D + j], y[i * D + j], 1e-8);
        }
    }
    assert_in_range(rows, N / 4, N - 1);
    free(mean);
    free(drawn);
    unrelu_gaussian_free(m);
}

/* no cell seen, rank 2: rejection in z */
static void a_singular_model_without_seen_cells_agrees_with_rejection(void **state)
{
    (void)state;
    enum { D = 5, K = 2, TRIES = 100000 };
    unrelu_gaussian *m = plant_singular(D, K, -0.3);
    double x[D] = {0}, sum[D] = {0}, square[D] = {0}, count = 0;
    x[1] = NAN;
    double *z = malloc(TRIES * K * sizeof *z);
    ur_random_normals(4, 4, 0, TRIES * K, z);
    for (size_t i = 0; i < TRIES; i++) {
        double y[D];
        int good = 1;
        for (size_t j = 0; j < D; j++) {
            y[j] = m->b[j] + m->W[j * K] * z[i * K] + m->W[j * K + 1] * z[i * K + 1];
            good &= j == 1 || y[j] <= 0;
        }
        for (size_t j = 0; good && j < D; j++) {
            sum[j] += y[j];
            square[j] += y[j] * y[j];
        }
        count += good;
    }
    free(z);
    assert_true(count > 1000);
    double *mean =
        impute(m, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .seed = 2});
    double *drawn = impute(
        m, x, 1,
        (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .seed = 2, .draws = DRAWS});
    for (size_t j = 0; j < D; j++) {
        double want = sum[j] / count, deviation = sqrt(square[j] / count - want * want);
        double noise = deviation * sqrt(1 / count + 1.0 / DRAWS), total = 0, spread = 0;
        assert_near(mean[j], want, 4.5 * deviation / sqrt(count) + 0.03 * deviation);
        for (size_t i = 0; i < DRAWS; i++) {
            total += drawn[i * D + j] - want;
            spread += (drawn[i * D + j] - want) * (drawn[i * D + j] - want);
            assert_true(j == 1 || drawn[i * D + j] <= 0);
        }
        assert_near(total / DRAWS, 0, 4.5 * noise);
        assert_near(sqrt(spread / DRAWS), deviation, 6 * noise);
    }
    free(mean);
    free(drawn);
    unrelu_gaussian_free(m);
}

static void twins_and_constants_are_no_trouble(void **state)
{
    (void)state;
    /* column 2 is column 1 minus 1, column 3 does not move */
    const double b[] = {1, 0, -2}, sigma[] = {1, 1, 0, 1, 1, 0, 0, 0, 0};
    const double x[] = {0.5, 0, 0, 0, 0, NAN, NAN, 0.25, 0};
    unrelu_gaussian *m = make_model(3, b, sigma);
    double *y = impute(m, x, 3, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    assert_near(y[1], -0.5, 1e-12);
    double first = 1 - hazard_below(-1); /* x1 <= 0 implies x2 <= -1 */
    assert_near(y[3], first, 1e-12);
    assert_near(y[4], first - 1, 1e-12);
    assert_near(y[6], 1.25, 1e-12);
    assert_true(y[2] == -2 && y[5] == -2 && y[8] == -2);
    free(y);
    unrelu_gaussian_free(m);
}

static void a_row_that_contradicts_a_singular_model_gets_its_limit(void **state)
{
    (void)state;
    const double b[] = {0, 0}, sigma[] = {1, 1, 1, 1}, x[] = {2, 0};
    unrelu_gaussian *m = make_model(2, b, sigma);
    double *y = impute(m, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    double *drawn =
        impute(m, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 2});
    assert_true(y[0] == 2 && y[1] == 0 && drawn[1] == 0 && drawn[3] == 0);
    free(y);
    free(drawn);
    unrelu_gaussian_free(m);
}

/* ---- what must not matter ---- */

static void threads_and_other_draws_change_no_bit(void **state)
{
    (void)state;
    enum { N = 150, D = 6 };
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    unrelu_gaussian *m = plant(o);
    double *x = draw(m, N, 1), error[D * D];
    for (size_t i = 0; i < N * D; i += 7)
        x[i] = NAN;
    for (size_t i = 0; i < (size_t)D * D; i++)
        error[i] = 0.1;
    m->b_se = m->scale_se = m->correlation_se = error;
    for (size_t draws = 0; draws < 4; draws += 3) {
        table out[3];
        unrelu_error err = {0};
        unrelu_impute_options options = {.size = sizeof options, .draws = draws, .seed = 9};
        static const int threads[] = {1, 2, 7};
        for (int i = 0; i < 3; i++)
            must(try_impute(m, x, N, D, options, threads[i], &out[i], &err), &err);
        size_t bytes = out[0].n * D * sizeof(double);
        assert_memory_equal(out[0].x, out[1].x, bytes);
        assert_memory_equal(out[0].x, out[2].x, bytes);
        for (size_t i = 0; i < out[0].n * D; i++)
            assert_true(x[i % (N * D)] > 0 ? out[0].x[i] == x[i % (N * D)] : isfinite(out[0].x[i]));
        for (int i = 0; i < 3; i++)
            table_free(&out[i]);
    }
    double *three = impute(
        m, x, N,
        (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 3, .seed = 9});
    double *two = impute(
        m, x, N,
        (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 2, .seed = 9});
    double *other = impute(
        m, x, N,
        (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 2, .seed = 10});
    double *few = impute(
        m, x, 10,
        (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 1, .seed = 9});
    assert_memory_equal(three, two, (size_t)2 * N * D * sizeof *two);
    assert_memory_equal(two, few, (size_t)10 * D * sizeof *two);
    assert_memory_not_equal(two, two + N * D, (size_t)N * D * sizeof *two);
    assert_memory_not_equal(two, other, (size_t)N * D * sizeof *two);
    free(three);
    free(two);
    free(other);
    free(few);
    free(x);
    unrelu_gaussian_free(m);
}

static void rows_that_are_alike_get_draws_of_their_own(void **state)
{
    (void)state;
    const double b[] = {0.5, 0.5}, sigma[] = {1, 0.5, 0.5, 1};
    const double x[] = {NAN, NAN, NAN, NAN, 0, 0, 0, 0};
    unrelu_gaussian *m = make_model(2, b, sigma);
    double *y =
        impute(m, x, 4, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 1});
    for (size_t j = 0; j < 2; j++)
        assert_true(y[j] != y[2 + j] && y[4 + j] != y[6 + j]);
    free(y);
    unrelu_gaussian_free(m);
}

/* ---- parameters are drawn from their errors before the cells ---- */

enum { PROPER = 40000 };

static void near_mean(const double *values, size_t n, double want) /* within 5 standard errors */
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    for (size_t i = 0; i < n; i++)
        square += pow(values[i] - sum / (double)n, 2);
    double error = sqrt(square) / (double)n;
    if (!(fabs(sum / (double)n - want) <= 5 * error))
        fail_msg("%g, where %g +- %g was expected", sum / (double)n, want, error);
}

/* Two missing rows of one column are y = b* + s* z: E y y' = Var b*, E (y - y')^2 / 2 = E s*^2, and
 * E (y - y')^2 (y + y') / 4 = E b* s*^2, where log s* and b* are jointly normal. */
static void draws_know_the_errors_of_b_and_scale(void **state)
{
    (void)state;
    const double b[] = {0}, sigma[] = {4}, x[] = {NAN, NAN};
    const double b_se = 1.5, q = 0.25, r = -0.6; /* q = scale_se / scale */
    static double product[PROPER], spread[PROPER], third[PROPER];
    unrelu_gaussian *m = make_model(1, b, sigma);
    m->b_se = (double[]){b_se};
    m->scale_se = (double[]){2 * q};
    m->b_scale_cov = (double[]){r * b_se * 2 * q};
    for (int fixed = 0; fixed < 2; fixed++) {
        double *y = impute(m, x, 2,
                           (unrelu_impute_options){.size = sizeof(unrelu_impute_options),
                                                   .draws = PROPER,
                                                   .fixed_parameters = fixed});
        for (size_t k = 0; k < PROPER; k++) {
            double first = y[2 * k], second = y[2 * k + 1], away = pow(first - second, 2);
            product[k] = first * second;
            spread[k] = away / 2;
            third[k] = away * (first + second) / 4;
        }
        near_mean(product, PROPER, fixed ? 0 : b_se * b_se);
        near_mean(spread, PROPER, fixed ? 4 : 4 * exp(2 * q * q));
        near_mean(third, PROPER, fixed ? 0 : b_se * r * 4 * 2 * q * exp(2 * q * q));
        free(y);
    }
    unrelu_gaussian_free(m);
}

/* A cell that is missing beside one t deviations above its mean is rho* t + sqrt(1 - rho*^2) z: of
 * two such rows E y = t E rho*, E y y' = t^2 E rho*^2, by quadrature over the error of atanh rho.
 */
static void draws_know_the_errors_of_correlations(void **state)
{
    (void)state;
    const double b[] = {9, 0}, sigma[] = {1, 0.5, 0.5, 1}, t = 2, se = 0.3;
    double x[] = {9 + t, NAN, 9 + t, NAN}, mass = 0, once = 0, twice = 0;
    static double mean[PROPER], product[PROPER];
    unrelu_gaussian *m = make_model(2, b, sigma);
    m->correlation_se = (double[]){0, se, se, 0};
    for (double g = -8; g <= 8; g += 0.01) {
        double rho = tanh(atanh(0.5) + se / 0.75 * g), weight = exp(-g * g / 2);
        mass += weight;
        once += weight * rho;
        twice += weight * rho * rho;
    }
    for (int fixed = 0; fixed < 2; fixed++) {
        double *y = impute(m, x, 2,
                           (unrelu_impute_options){.size = sizeof(unrelu_impute_options),
                                                   .draws = PROPER,
                                                   .seed = 3,
                                                   .fixed_parameters = fixed});
        for (size_t k = 0; k < PROPER; k++) {
            mean[k] = (y[4 * k + 1] + y[4 * k + 3]) / 2;
            product[k] = y[4 * k + 1] * y[4 * k + 3];
        }
        near_mean(mean, PROPER, t * (fixed ? 0.5 : once / mass));
        near_mean(product, PROPER, t * t * (fixed ? 0.25 : twice / mass));
        free(y);
    }
    unrelu_gaussian_free(m);
}

/* errors so large that drawn correlations are none, and errors that are unknown */
static void draws_are_finite_whatever_the_errors(void **state)
{
    (void)state;
    const double b[] = {1, 2, 3}, sigma[] = {1, .9, -.9, .9, 1, -.9, -.9, -.9, 1};
    const double x[] = {0, NAN, 3, NAN, 0, 0, 2, 1, NAN};
    unrelu_gaussian *m = make_model(3, b, sigma);
    m->correlation_se = (double[]){0, 5, NAN, 5, 0, 5, NAN, 5, 0};
    m->b_se = (double[]){NAN, 1, INFINITY};
    m->scale_se = (double[]){1, NAN, 0};
    m->b_scale_cov = (double[]){NAN, 7, -7};
    double *y = impute(
        m, x, 3, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .draws = 300});
    for (size_t i = 0; i < (size_t)300 * 9; i++) {
        double seen = x[i % 9];
        assert_true(isfinite(y[i]));
        assert_true(isnan(seen) || (seen > 0 ? y[i] == seen : y[i] <= 0));
    }
    free(y);
    unrelu_gaussian_free(m);
}

static void the_unit_and_the_order_of_columns_do_not_matter(void **state)
{
    (void)state;
    const double b[] = {0.2, 0.4}, S[] = {1, 0.8, 0.8, 2}, turned_b[] = {0.4e200, 0.2e-3};
    const double turned_S[] = {2e300, 0, 0, 1e-6}, x[] = {0, 0.5, 0.75, 0};
    unrelu_gaussian *m = make_model(2, b, S), *turned = make_model(2, turned_b, turned_S);
    turned->scale[0] = sqrt(2) * 1e200;
    turned->correlation[1] = turned->correlation[2] = 0.8 / sqrt(2);
    double turned_x[] = {0.5e200, 0, 0, 0.75e-3};
    double *y = impute(m, x, 2, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    double *t =
        impute(turned, turned_x, 2, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    assert_near(t[1], y[0] * 1e-3, 1e-16);
    assert_near(t[2] / 1e200, y[3], 1e-13);
    free(y);
    free(t);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(turned);
}

/* ---- in the unit of the data ---- */

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* latent b, sigma on the scale of the transform; limits above 0 in the unit of the data */
static void a_hidden_cell_of_logarithms_gets_its_mean_in_their_unit(void **state)
{
    (void)state;
    const double b[] = {0.5, -1}, sigma[] = {1, 0.6, 0.6, 1};
    unrelu_gaussian *m = make_model(2, b, sigma);
    m->transform = UNRELU_TRANSFORM_LOG;
    m->limit = (double[]){log(0.7), log(0.2)};
    for (int median = 0; median < 2; median++) {
        unrelu_impute_options o = {.size = sizeof o, .median = median};
        double x[] = {0.7, 0.9, NAN, 0.9, 2, NAN}, *y = impute(m, x, 3, o);
        double mean = 0.5 + 0.6 * (log(0.9) + 1), s = 0.8, u = (log(0.7) - mean) / s;
        double share = normal_cdf(u - s) / normal_cdf(u);
        assert_near(median ? normal_cdf((log(y[0]) - mean) / s) : y[0],
                    median ? 0.5 * normal_cdf(u) : exp(mean + s * s / 2) * share, 1e-9);
        assert_near(y[2], median ? exp(mean) : exp(mean + s * s / 2), 1e-9);
        assert_near(y[5], exp(-1 + 0.6 * (log(2) - 0.5) + (median ? 0 : 0.32)), 1e-9);
        assert_true(y[1] == 0.9 && y[4] == 2 && y[0] < 0.7);
        free(y);
    }
    unrelu_gaussian_free(m);
}

/* cells that rejection keeps, in the unit of the data: x[i] is the limit (hidden 1) */
static void check_unit(unrelu_gaussian *m, const double *x, const int *hidden, double tolerance)
{
    enum { TRIES = 200000 };
    size_t d = m->d, kept = 0;
    double y[MOST], limit[MOST], *column[MOST], cells[MOST], z[MOST];
    for (size_t j = 0; j < d; j++) {
        column[j] = malloc(TRIES * sizeof *column[j]);
        y[j] = hidden[j] == 2 ? 0 : unrelu_gaussian_transform(m, j, x[j]);
        limit[j] = hidden[j] ? y[j] : unrelu_gaussian_transform(m, j, x[j] / 2);
        cells[j] = hidden[j] == 2 ? NAN : hidden[j] ? 0.5 * x[j] : x[j];
    }
    m->limit = limit;
    conditional c = condition(m, y, hidden);
    for (size_t i = 0; i < TRIES; i++) {
        int good = 1;
        ur_random_normals(98, 7, i * MOST, MOST, z);
        for (size_t j = 0; j < c.h; j++) {
            double t = c.mu[j];
            for (size_t k = 0; k <= j; k++)
                t += c.factor[j * MOST + k] * z[k];
            good &= hidden[c.cell[j]] == 2 || t <= y[c.cell[j]];
            column[c.cell[j]][kept] = unrelu_gaussian_untransform(m, c.cell[j], t);
        }
        kept += (size_t)good;
    }
    assert_true(kept > 2000);
    double *mean =
        impute(m, cells, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    double *median = impute(
        m, cells, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options), .median = 1});
    for (size_t j = 0; j < d; j++) {
        double sum = 0, square = 0, n = (double)kept, below = 0, upto = 0;
        for (size_t i = 0; hidden[j] && i < kept; i++) {
            sum += column[j][i];
            square += column[j][i] * column[j][i];
            below += column[j][i] < median[j];
            upto += column[j][i] <= median[j]; /* 0 may have a probability */
        }
        double spread = sqrt(square / n - sum / n * sum / n);
        if (hidden[j]) {
            assert_near(mean[j], sum / n, spread * (4 / sqrt(n) + tolerance));
            assert_true(below / n < 0.5 + 2 / sqrt(n) + tolerance);
            assert_true(upto / n > 0.5 - 2 / sqrt(n) - tolerance);
        }
        free(column[j]);
    }
    free(mean);
    free(median);
}

static void rejection_gives_the_same_means_and_medians_of_transformed_cells(void **state)
{
    (void)state;
    skip_sanitized();
    const double b[] = {0.6, 1, 0.3}, S[] = {1, 0.8, -0.3, 0.8, 2, 0.1, -0.3, 0.1, 0.5};
    static const int hidden[][3] = {{1, 1, 0}, {1, 1, 1}, {2, 1, 1}, {1, 0, 2}};
    const double x[] = {1.2, 2.2, 1.5}, lambda[] = {0.3, 0.2, 0.4};
    static const unrelu_transform transforms[] = {UNRELU_TRANSFORM_LOG, UNRELU_TRANSFORM_SQRT,
                                                  UNRELU_TRANSFORM_BOXCOX};
    unrelu_gaussian *m = make_model(3, b, S);
    m->lambda = (double[]){lambda[0], lambda[1], lambda[2]};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 4; i++) {
            m->transform = transforms[k];
            check_unit(m, x, hidden[i], 0.01);
        }
    unrelu_gaussian_free(m);
}

/* Limits ten deviations out. With t = -10 - e and correlations of 1/2 the density is that of
 * exponentials of rate 5 times exp(-e'R^-1 e / 2), R^-1 = 2 I - 1/2: e is drawn and weighted so. */
static void medians_and_means_far_out_agree_with_weighted_exponentials(void **state)
{
    (void)state;
    enum { TRIES = 200000 };
    const double b[] = {0, 0, 0}, S[] = {1, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 1};
    unrelu_gaussian *m = make_model(3, b, S);
    m->transform = UNRELU_TRANSFORM_LOG;
    m->limit = (double[]){-10, -10, -10};
    const double x[] = {exp(-10), exp(-10), exp(-10)};
    unrelu_impute_options o = {.size = sizeof o};
    double *mean = impute(m, x, 1, o), mass = 0, sum[3] = {0}, below[3] = {0};
    o.median = 1;
    double *median = impute(m, x, 1, o);
    for (size_t i = 0; i < TRIES; i++) {
        double e[3], all = 0, square = 0;
        ur_random_uniforms(4, 4, 4 * i, 3, e);
        for (size_t j = 0; j < 3; j++) {
            e[j] = -log(e[j]) / 5;
            all += e[j];
            square += e[j] * e[j];
        }
        double weight = exp(-0.5 * (2 * square - 0.5 * all * all));
        mass += weight;
        for (size_t j = 0; j < 3; j++) {
            sum[j] += weight * exp(-10 - e[j]);
            below[j] += weight * (exp(-10 - e[j]) <= median[j]);
        }
    }
    for (size_t j = 0; j < 3; j++) {
        assert_true(median[j] < x[j] && mean[j] < x[j]);
        assert_near(mean[j] / (sum[j] / mass), 1, 0.005);
        assert_near(below[j] / mass, 0.5, 0.01);
    }
    free(mean);
    free(median);
    unrelu_gaussian_free(m);
}

/* t_2 = t_1 and t_3 = -t_1: limits of both are ends of one */
static void a_singular_model_of_logarithms_is_exact(void **state)
{
    (void)state;
    const double b[] = {0, 0, 0}, S[] = {1, 1, -1, 1, 1, -1, -1, -1, 1};
    unrelu_gaussian *m = make_model(3, b, S);
    m->transform = UNRELU_TRANSFORM_LOG;
    m->limit = (double[]){0.5, 1, 0.25};
    const double x[] = {exp(0.5), exp(1), exp(0.25)};
    double *y = impute(m, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    double mass = normal_cdf(0.5) - normal_cdf(-0.25);
    double up = exp(0.5) * (normal_cdf(-0.5) - normal_cdf(-1.25)) / mass;
    double down = exp(0.5) * (normal_cdf(-0.75) - normal_cdf(-1.5)) / mass;
    assert_near(y[0], up, 1e-9);
    assert_near(y[1], up, 1e-9);
    assert_near(y[2], down, 1e-9);
    free(y);
    unrelu_gaussian_free(m);
}

static void means_that_are_infinite_are_refused_and_medians_are_not(void **state)
{
    (void)state;
    const double b[] = {0}, sigma[] = {1}, x[] = {1, NAN};
    unrelu_gaussian *m = make_model(1, b, sigma);
    table out;
    unrelu_error err = {0};
    m->transform = UNRELU_TRANSFORM_BOXCOX;
    m->lambda = (double[]){-0.5};
    m->limit = (double[]){-3};
    unrelu_impute_options o = {.size = sizeof o};
    assert_int_equal(try_impute(m, x, 2, 1, o, 1, &out, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "row 2, column 1 (x1) is hidden, and the mean of its law is "
                                     "infinite (Box-Cox lambda -0.5): fill it with `median`"));
    o.median = 1;
    double *y = impute(m, x, 2, o);
    assert_near(y[1], 1, 1e-12);
    free(y);
    o.draws = 2;
    assert_int_equal(try_impute(m, x, 2, 1, o, 1, &out, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "`median` and `draws` exclude each other"));
    unrelu_gaussian_free(m);
}

/* ---- files with names and limits ---- */

static unrelu_status impute_file(const unrelu_gaussian *m, const char *text, const double *limit,
                                 const char *limits_text, const char *out, unrelu_error *err)
{
    unrelu_source *samples = NULL, *limits = NULL;
    unrelu_status status = unrelu_source_open(files_text("in.csv", text), NULL, &samples, err);
    if (status == UNRELU_OK && limits_text)
        status = unrelu_source_open(files_text("limits.csv", limits_text), NULL, &limits, err);
    unrelu_impute_options o = {.size = sizeof o, .limit = limit, .limits = limits};
    if (status == UNRELU_OK)
        status = unrelu_gaussian_impute(m, samples, &o, files_path(out), NULL, NULL, err);
    unrelu_source_close(samples);
    unrelu_source_close(limits);
    return status;
}

static unrelu_gaussian *named_model(void)
{
    const double b[] = {1, 2}, sigma[] = {1, 0, 0, 4};
    unrelu_gaussian *m = make_model(2, b, sigma);
    static const char *const names[] = {"a", "b"};
    m->names = names;
    return m;
}

static void cells_below_limits_of_their_own_are_read_by_name(void **state)
{
    (void)state;
    unrelu_gaussian *m = named_model();
    unrelu_error err = {0};
    const double limit[] = {0.5, NAN};
    must(impute_file(m, "b,a\n<0.25,3\nND,ND\n0,0\n5,\n", limit, "b,a\n,\n,2\n,\n,\n", "out.csv",
                     &err),
         &err);
    table t = table_of(files_path("out.csv"), NULL);
    assert_string_equal(t.names[0], "b");
    assert_near(t.x[0], 2 - 2 * hazard_below((0.25 - 2) / 2), 1e-12);
    assert_true(t.x[1] == 3);
    assert_near(t.x[2], 2 - 2 * hazard_below((0.5 - 2) / 2), 1e-12);
    assert_near(t.x[3], 1 - hazard_below(1), 1e-12); /* the file of limits goes first */
    assert_near(t.x[4], t.x[2], 0);
    assert_near(t.x[5], 1 - hazard_below(-1), 1e-12);
    assert_true(t.x[6] == 5);
    assert_near(t.x[7], 1, 1e-15);
    table_free(&t);
    unrelu_gaussian_free(m);
}

/* a source that was opened without the model, with flags, top codes and a column of any sign */
static table fill_among_others(const unrelu_gaussian *m, const double *limit, const char *limits)
{
    static const char text[] = "other,b,b_nd,note,a\n7,0.25,1,x,3\n8,5,0,y,\n9,ND,1,z,0\n";
    unrelu_source *samples = NULL, *own = NULL;
    unrelu_error err = {0};
    unrelu_source_options how;
    unrelu_impute_report report;
    unrelu_source_options_init(&how, sizeof how);
    how.indicator = "_nd";
    how.top = "b=4";
    how.uncensored = "a";
    must(unrelu_source_open(files_text("in.csv", text), &how, &samples, &err), &err);
    assert_int_equal(unrelu_source_columns(samples), 3);
    if (limits)
        must(unrelu_source_open(files_text("limits.csv", limits), NULL, &own, &err), &err);
    const unrelu_impute_options o = {.size = sizeof o, .limit = limit, .limits = own};
    must(unrelu_gaussian_impute(m, samples, &o, files_path("out.npy"), NULL, &report, &err), &err);
    unrelu_source_close(samples);
    unrelu_source_close(own);
    return table_of(files_path("out.npy"), NULL);
}

static void columns_of_the_model_are_found_among_others(void **state)
{
    (void)state;
    unrelu_gaussian *m = named_model();
    const double limit[] = {9, 0.5, NAN}; /* of other, b and a */
    const double above = 2 + 2 * hazard_below(-1), below = 2 - 2 * hazard_below((0.25 - 2) / 2);
    for (int from_file = 0; from_file < 2; from_file++) {
        table t = fill_among_others(m, limit, from_file ? "other,b,a\n,,\n,,\n,1,\n" : NULL);
        assert_int_equal(t.n, 3);
        assert_int_equal(t.d, 2);
        assert_near(t.x[0], below, 1e-12);
        assert_true(t.x[1] == 3);
        assert_near(t.x[2], above, 1e-12);
        assert_near(t.x[3], 1, 1e-15);
        assert_near(t.x[4], 2 - 2 * hazard_below(from_file ? -0.5 : -0.75), 1e-12);
        assert_true(t.x[5] == 0);
        table_free(&t);
    }
    unrelu_gaussian_free(m);
}

/* ---- cells above a limit, and between two ---- */

static table filled_file(const unrelu_gaussian *m, const char *text, size_t draws)
{
    unrelu_source *samples = NULL;
    unrelu_error err = {0};
    unrelu_impute_options o = {.size = sizeof o, .draws = draws};
    unrelu_impute_report report;
    must(unrelu_source_open(files_text("in.csv", text), NULL, &samples, &err), &err);
    must(unrelu_gaussian_impute(m, samples, &o, files_path("out.npy"), NULL, &report, &err), &err);
    unrelu_source_close(samples);
    return table_of(files_path("out.npy"), NULL);
}

static void one_cell_above_or_between_is_the_mean_of_the_truncated_normal(void **state)
{
    (void)state;
    unrelu_gaussian *m = named_model();
    table t = filled_file(m, "a,b\n>2.5,<1.5\n0.5..3,4\n1..1,>1\n", 0);
    double between = exp(-0.125) - exp(-2); /* of the densities, times sqrt(2 pi) */
    assert_near(t.x[0], 1 + hazard_below(-1.5), 1e-12);
    assert_near(t.x[1], 2 - 2 * hazard_below(-0.25), 1e-12);
    assert_near(t.x[2], 1 + between / sqrt(2 * M_PI) / (normal_cdf(2) - normal_cdf(-0.5)), 1e-12);
    assert_true(t.x[3] == 4 && t.x[4] == 1);
    assert_near(t.x[5], 2 + 2 * hazard_below(0.5), 1e-12);
    table_free(&t);
    unrelu_gaussian_free(m);
}

/* -x is below -v where x is above v */
static void two_cells_above_limits_are_the_mirror_image_of_two_below(void **state)
{
    (void)state;
    const double b[] = {1, 2, 0.5}, minus[] = {-1, -2, -0.5};
    const double sigma[] = {2, 1, 0.5, 1, 3, -1, 0.5, -1, 1}, x[] = {-2, -2.5, -0.7};
    unrelu_gaussian *m = make_model(3, b, sigma), *mirror = make_model(3, minus, sigma);
    mirror->limit = (double[]){-2, -2.5, -100};
    table t = filled_file(m, "x1,x2,x3\n>2,>2.5,0.7\n", 0);
    double *y =
        impute(mirror, x, 1, (unrelu_impute_options){.size = sizeof(unrelu_impute_options)});
    for (size_t j = 0; j < 3; j++)
        assert_near(t.x[j], -y[j], 1e-12);
    assert_true(t.x[0] > 2 && t.x[1] > 2.5);
    table_free(&t);
    free(y);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(mirror);
}

/* a cell seen, one above a limit, one between two, one below; also of logarithms */
static void rejection_gives_the_same_within_a_box(void **state)
{
    (void)state;
    enum { TRIES = 400000, D = 4, TABLES = 4000 };
    const double b[] = {1, 1.5, 2, 1}, x[] = {1.4, NAN, NAN, NAN};
    const double sigma[] = {1, .6, .3, .5, .6, 1, .5, .4, .3, .5, 1, -.2, .5, .4, -.2, 1};
    const double least[] = {1.4, 2, 1.2, -INFINITY}, most[] = {1.4, INFINITY, 2.1, .8};
    const int hidden[] = {0, 1, 1, 1};
    for (int logs = 0; logs < 2; logs++) {
        unrelu_gaussian *m = make_model(D, b, sigma);
        conditional c = condition(m, x, hidden);
        double sum[D] = {0}, square[D] = {0}, accepted = 0, z[CHUNK * MOST];
        m->transform = logs ? UNRELU_TRANSFORM_LOG : UNRELU_TRANSFORM_NONE;
        for (size_t i = 0; i < TRIES; i++) {
            double y[3];
            int good = 1;
            if (i % CHUNK == 0)
                ur_random_normals(5, 8, i * MOST, CHUNK * MOST, z);
            for (size_t j = 0; j < 3; j++) {
                y[j] = c.mu[j];
                for (size_t k = 0; k <= j; k++)
                    y[j] += c.factor[j * MOST + k] * z[i % CHUNK * MOST + k];
                good &= y[j] >= least[j + 1] && y[j] <= most[j + 1];
                y[j] = logs ? exp(y[j]) : y[j];
            }
            accepted += good;
            for (size_t j = 0; good && j < 3; j++) {
                sum[j + 1] += y[j];
                square[j + 1] += y[j] * y[j];
            }
        }
        assert_true(accepted > 2000);
        double ends[D + 1] = {1.4, 2, 1.2, 2.1, .8};
        for (size_t j = 0; logs && j <= D; j++)
            ends[j] = exp(ends[j]);
        char text[256];
        snprintf(text, sizeof text, "x1,x2,x3,x4\n%.17g,>%.17g,%.17g..%.17g,<%.17g\n", ends[0],
                 ends[1], ends[2], ends[3], ends[4]);
        table means = filled_file(m, text, 0), draws = filled_file(m, text, TABLES);
        for (size_t j = 1; j < D; j++) {
            double want = sum[j] / accepted, drawn = 0;
            double deviation = sqrt(square[j] / accepted - want * want);
            for (size_t k = 0; k < TABLES; k++) {
                double y = draws.x[k * D + j], at = logs ? log(y) : y;
                assert_true(at >= least[j] - 1e-12 && at <= most[j] + 1e-12);
                drawn += y / TABLES;
            }
            assert_near(means.x[j], want, deviation * (4 / sqrt(accepted) + 0.03));
            assert_near(drawn, want, deviation * (4 / sqrt(accepted) + 4 / sqrt(TABLES)));
        }
        table_free(&means);
        table_free(&draws);
        unrelu_gaussian_free(m);
    }
}

static void expect_failure(const unrelu_gaussian *m, const char *text, unrelu_status wanted,
                           const char *part)
{
    unrelu_error err = {0};
    unrelu_status status = impute_file(m, text, NULL, NULL, "none.npy", &err);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
    assert_int_equal(status, wanted);
    assert_int_equal(access(files_path("none.npy"), F_OK), -1);
}

static void what_cannot_be_imputed_is_refused(void **state)
{
    (void)state;
    unrelu_gaussian *m = named_model();
    expect_failure(m, "a\n1\n", UNRELU_EFORMAT, "has 1 column, and the model has 2");
    expect_failure(m, "a,c,d\n1,2,3\n", UNRELU_EFORMAT, "has no column 'b', which the model has");
    expect_failure(m, "a,c\n1,2\n", UNRELU_EFORMAT,
                   "column 2 is called 'c', and the model's columns are 'a', ...");
    expect_failure(m, "a,a\n1,2\n", UNRELU_EFORMAT, "column 2 is called 'a'");
    expect_failure(m, "a,b\n1,-2\n", UNRELU_EFORMAT, "row 1, column 2 (b) is -2");
    expect_failure(m, "a,b\n1,ND\n", UNRELU_EFORMAT, "row 1, column 2 (b) is 'ND'");
    expect_failure(m, "a,b\n", UNRELU_EDATA, "no rows");
    m->noise = (double[]){0, 0};
    m->noise[1] = 0.25;
    expect_failure(m, "a,b\n1,2\n", UNRELU_EDATA, "column 2 (b) of the model has additive noise");
    m->noise[1] = 0;
    m->b[0] = NAN;
    expect_failure(m, "a,b\n1,2\n", UNRELU_EDATA, "column 1 (a) of the model has b nan");
    m->b[0] = 1;
    m->correlation[1] = NAN;
    expect_failure(m, "a,b\n1,2\n", UNRELU_EDATA, "correlation of columns 1 and 2");
    unrelu_gaussian_free(m);
    expect_failure(&(unrelu_gaussian){0}, "a,b\n1,2\n", UNRELU_EUSAGE, "the model has no columns");
}

static int cancel(void *context)
{
    (void)context;
    return 1;
}

static void a_cancelled_run_writes_nothing(void **state)
{
    (void)state;
    const double b[] = {0.5}, sigma[] = {1}, x[] = {0, 1, 2};
    unrelu_gaussian *m = make_model(1, b, sigma);
    unrelu_source *samples = NULL;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .cancelled = cancel};
    must(unrelu_source_memory(x, 3, 1, NULL, &samples, &err), &err);
    assert_int_equal(
        unrelu_gaussian_impute(m, samples, NULL, files_path("never.npy"), &exec, NULL, &err),
        UNRELU_ECANCELLED);
    assert_int_equal(access(files_path("never.npy"), F_OK), -1);
    unrelu_source_close(samples);
    unrelu_gaussian_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_censored_cell_is_the_mean_of_the_truncated_regression),
        cmocka_unit_test(the_limits_of_the_model_count),
        cmocka_unit_test(missing_cells_are_regressions),
        cmocka_unit_test(two_censored_cells_agree_with_quadrature),
        cmocka_unit_test(limits_ten_deviations_out_agree_with_quadrature),
        cmocka_unit_test(rejection_gives_the_same_in_two_and_three_columns),
        cmocka_unit_test(rejection_gives_the_same_where_cells_are_nearly_one),
        cmocka_unit_test(sweeps_from_the_mode_average_to_the_mean),
        cmocka_unit_test(sweeps_forget_where_they_began),
        cmocka_unit_test(the_mode_is_the_nearest_point_below_the_limits),
        cmocka_unit_test(a_cell_that_follows_is_a_limit_of_the_last_direction_that_moves_it),
        cmocka_unit_test(a_singular_model_determines_what_two_seen_cells_imply),
        cmocka_unit_test(a_singular_model_without_seen_cells_agrees_with_rejection),
        cmocka_unit_test(twins_and_constants_are_no_trouble),
        cmocka_unit_test(a_row_that_contradicts_a_singular_model_gets_its_limit),
        cmocka_unit_test(threads_and_other_draws_change_no_bit),
        cmocka_unit_test(rows_that_are_alike_get_draws_of_their_own),
        cmocka_unit_test(draws_know_the_errors_of_b_and_scale),
        cmocka_unit_test(draws_know_the_errors_of_correlations),
        cmocka_unit_test(draws_are_finite_whatever_the_errors),
        cmocka_unit_test(the_unit_and_the_order_of_columns_do_not_matter),
        cmocka_unit_test(a_hidden_cell_of_logarithms_gets_its_mean_in_their_unit),
        cmocka_unit_test(rejection_gives_the_same_means_and_medians_of_transformed_cells),
        cmocka_unit_test(medians_and_means_far_out_agree_with_weighted_exponentials),
        cmocka_unit_test(a_singular_model_of_logarithms_is_exact),
        cmocka_unit_test(means_that_are_infinite_are_refused_and_medians_are_not),
        cmocka_unit_test(cells_below_limits_of_their_own_are_read_by_name),
        cmocka_unit_test(columns_of_the_model_are_found_among_others),
        cmocka_unit_test(the_mode_is_the_nearest_point_of_a_box),
        cmocka_unit_test(one_cell_above_or_between_is_the_mean_of_the_truncated_normal),
        cmocka_unit_test(two_cells_above_limits_are_the_mirror_image_of_two_below),
        cmocka_unit_test(rejection_gives_the_same_within_a_box),
        cmocka_unit_test(what_cannot_be_imputed_is_refused),
        cmocka_unit_test(a_cancelled_run_writes_nothing),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
