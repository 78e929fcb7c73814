/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `unrelu impute` on planted models of five columns: the mean squared error of
 * the conditional mean against that of the exact conditional expectation (rejection in the test),
 * that the latent value lies between the least and the largest of 39 draws in 95 % of the hidden
 * cells, and that intervals of a mean by Rubin's rules cover it. A tenth of the runs in the tests;
 * `--full` does them all. */
#include "files.h"
#include "numbers.h"

#include "base/random.h"
#include "unrelu/unrelu.h"

enum { D = 5, ROWS = 200, DRAWS = 39, KEPT = 1000, MOST_TRIES = 400000, CHUNK = 256 };

typedef struct {
    unrelu_gaussian *model;
    double latent[ROWS * D], x[ROWS * D]; /* x: what was seen of it */
} data;

static double *impute_rows(const unrelu_gaussian *model, const double *x, size_t rows, size_t draws,
                           uint64_t seed)
{
    unrelu_source *samples = NULL;
    unrelu_error err = {0};
    unrelu_impute_options o = {.size = sizeof o, .draws = draws, .seed = seed};
    must(unrelu_source_memory(x, rows, D, NULL, &samples, &err), &err);
    must(unrelu_gaussian_impute(model, samples, &o, files_path("filled.npy"), NULL, NULL, &err),
         &err);
    unrelu_source_close(samples);
    table filled = table_of(files_path("filled.npy"), NULL);
    double *out = filled.x;
    filled.x = NULL;
    table_free(&filled);
    return out;
}

static double *impute(const unrelu_gaussian *model, const double *x, size_t draws, uint64_t seed)
{
    return impute_rows(model, x, ROWS, draws, seed);
}

/* a tenth of the cells is missing */
static void set_data(data *s, double bias, double kappa, uint64_t seed)
{
    double z[ROWS * D], lost[ROWS * D];
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    o.kappa = kappa;
    o.bias = UNRELU_BIAS_FIXED;
    o.bias_value = bias;
    o.seed = seed;
    s->model = plant(o);
    ur_random_normals(seed, 50, 0, ROWS * D, z);
    ur_random_uniforms(seed, 51, 0, ROWS * D, lost);
    for (size_t i = 0; i < ROWS * D; i++) {
        s->latent[i] = s->model->b[i % D];
        for (size_t k = 0; k < D; k++)
            s->latent[i] += s->model->W[i % D * D + k] * z[i / D * D + k];
        s->x[i] = lost[i] < 0.1 ? NAN : fmax(0, s->latent[i]);
    }
}

/* ---- the exact conditional expectation of a row: seen cells swept out, the rest by rejection ----
 */

typedef struct {
    size_t h, cell[D];
    double mu[D], factor[D][D];
} conditional;

static conditional condition(const unrelu_gaussian *m, const double *x)
{
    double A[D][D], mu[D];
    conditional c = {0};
    memcpy(A, m->sigma, sizeof A);
    memcpy(mu, m->b, sizeof mu);
    for (size_t s = 0; s < D; s++) {
        double row[D], away = x[s] - mu[s], pivot = A[s][s];
        memcpy(row, A[s], sizeof row);
        for (size_t i = 0; x[s] > 0 && i < D; i++) {
            mu[i] += row[i] / pivot * away;
            for (size_t j = 0; j < D; j++)
                A[i][j] -= row[i] * row[j] / pivot;
        }
        if (!(x[s] > 0))
            c.cell[c.h++] = s;
    }
    for (size_t i = 0; i < c.h; i++) {
        c.mu[i] = mu[c.cell[i]];
        for (size_t j = 0; j <= i; j++) {
            double left = A[c.cell[i]][c.cell[j]];
            for (size_t k = 0; k < j; k++)
                left -= c.factor[i][k] * c.factor[j][k];
            c.factor[i][j] = i == j ? sqrt(left) : left / c.factor[j][j];
        }
    }
    return c;
}

/* 0: too rare to be met KEPT times */
static int expect(const unrelu_gaussian *m, const double *x, uint64_t stream, double *mean)
{
    conditional c = condition(m, x);
    double z[CHUNK][D], sum[D] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < MOST_TRIES && kept < KEPT; i++) {
        double y[D];
        int good = 1;
        if (i % CHUNK == 0)
            ur_random_normals(7, stream, i * D, CHUNK * D, z[0]);
        for (size_t j = 0; j < c.h && good; j++) {
            y[j] = c.mu[j];
            for (size_t k = 0; k <= j; k++)
                y[j] += c.factor[j][k] * z[i % CHUNK][k];
            good = isnan(x[c.cell[j]]) || y[j] <= 0;
        }
        kept += (size_t)good;
        for (size_t j = 0; j < c.h && good; j++)
            sum[j] += y[j];
    }
    for (size_t j = 0; j < c.h; j++)
        mean[c.cell[j]] = sum[j] / KEPT;
    return kept == KEPT;
}

/* ---- the numbers ---- */

typedef struct {
    double ours, exact; /* sums of squared errors */
    double inside, cells, rows, left_out;
} sums;

static void add_row(const data *s, size_t row, const double *filled, const double *draws, int exact,
                    const double *mean, sums *t)
{
    for (size_t i = row * D; i < (row + 1) * D; i++) {
        double y = s->latent[i], least = INFINITY, most = -INFINITY, scale = s->model->scale[i % D];
        if (s->x[i] > 0)
            continue;
        for (size_t k = 0; k < DRAWS; k++) {
            least = fmin(least, draws[k * ROWS * D + i]);
            most = fmax(most, draws[k * ROWS * D + i]);
        }
        t->inside += y >= least && y <= most;
        t->cells++;
        if (exact) {
            t->ours += pow((filled[i] - y) / scale, 2);
            t->exact += pow((mean[i % D] - y) / scale, 2);
        }
    }
    t->rows++;
    t->left_out += !exact;
}

static void planted_models(double bias, double kappa, int full)
{
    sums t = {0};
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        static data s;
        set_data(&s, bias, kappa, (uint64_t)run + 400);
        double *filled = impute(s.model, s.x, 0, (uint64_t)run);
        double *draws = impute(s.model, s.x, DRAWS, (uint64_t)run);
        for (size_t i = 0; i < ROWS; i++) {
            double mean[D];
            int exact = expect(s.model, s.x + i * D, (uint64_t)run * ROWS + i, mean);
            add_row(&s, i, filled, draws, exact, mean, &t);
        }
        free(filled);
        free(draws);
        unrelu_gaussian_free(s.model);
    }
    char what[96];
    snprintf(what, sizeof what, "d=5 b=%g kappa=%g", bias, kappa);
    row(what, "mean squared error / that of the exact conditional expectation", t.ours / t.exact,
        0.97, 1.03, "");
    row(what, "coverage of 95 % intervals from 39 draws", t.inside / t.cells, .93, .97, "");
    row(what, "share of the rows too rare for rejection", t.left_out / t.rows, 0, .1, "");
}

/* the model is learned from 2000 other samples: what the fit does not know costs little */
static void fitted_models(int full)
{
    double ours = 0, exact = 0, inside = 0, cells = 0;
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        static data s;
        set_data(&s, 0, 5, (uint64_t)run + 900);
        double *x = draw(s.model, 2000, (uint64_t)run);
        unrelu_gaussian *model = fit(x, 2000, D, NULL);
        double *filled = impute(model, s.x, 0, 1), *best = impute(s.model, s.x, 0, 1);
        double *draws = impute(model, s.x, DRAWS, 1);
        sums t = {0}, u = {0};
        for (size_t i = 0; i < ROWS; i++) {
            add_row(&s, i, filled, draws, 1, best + i * D, &t);
            add_row(&s, i, best, draws, 1, best + i * D, &u);
        }
        ours += t.ours;
        exact += u.ours;
        inside += t.inside;
        cells += t.cells;
        free(x);
        free(filled);
        free(best);
        free(draws);
        unrelu_gaussian_free(model);
        unrelu_gaussian_free(s.model);
    }
    row("d=5 b=0, fitted at n=2000", "mean squared error / that of the true model", ours / exact,
        0.99, 1.05, "");
    row("d=5 b=0, fitted at n=2000", "coverage of 95 % intervals from 39 draws", inside / cells,
        .93, .97, "");
}

/* ---- intervals of a mean by Rubin's rules ---- */

enum { IMPUTATIONS = 20 };

/* the 97.5 % quantile of Student's law: Fisher's expansion, to 2e-4 from 8 degrees on */
static double student(double degrees)
{
    double z = 1.959963984540054, z2 = z * z;
    double first = z * (z2 + 1) / 4, second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + first / degrees + second / pow(degrees, 2) + third / pow(degrees, 3);
}

/* whether the interval of column j's mean holds the truth; degrees of Barnard and Rubin (1999) */
static int covers(const double *filled, size_t n, size_t j, double truth)
{
    double mean[IMPUTATIONS], within = 0, between = 0, all = 0, m = IMPUTATIONS, N = (double)n;
    for (size_t k = 0; k < IMPUTATIONS; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            sum += filled[(k * n + i) * D + j];
        mean[k] = sum / N;
        for (size_t i = 0; i < n; i++)
            square += pow(filled[(k * n + i) * D + j] - mean[k], 2);
        within += square / (N - 1) / N / m;
        all += mean[k] / m;
    }
    for (size_t k = 0; k < IMPUTATIONS; k++)
        between += pow(mean[k] - all, 2) / (m - 1);
    double total = within + (1 + 1 / m) * between, lost = (1 + 1 / m) * between / total;
    double seen = N / (N + 2) * (N - 1) * (1 - lost);
    double degrees = 1 / (lost * lost / (m - 1) + 1 / seen);
    return fabs(all - truth) <= student(degrees) * sqrt(total);
}

/* the model is fitted to the rows that are filled: about half of the cells are 0, a tenth missing
 */
static void rubin_intervals(size_t n, int full)
{
    double covered = 0, intervals = 0;
    int runs = runs_of(full);
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian_plant_options o;
        unrelu_gaussian_plant_options_init(&o, sizeof o);
        o.d = D;
        o.kappa = 5;
        o.seed = (uint64_t)run + 1300;
        unrelu_gaussian *truth = plant(o);
        double lost[ROWS * D], *x = draw(truth, n, (uint64_t)run + 5000);
        ur_random_uniforms((uint64_t)run, 51, 0, n * D, lost);
        for (size_t i = 0; i < n * D; i++)
            x[i] = lost[i] < 0.1 ? NAN : x[i];
        unrelu_gaussian *model = fit(x, n, D, NULL);
        double *filled = impute_rows(model, x, n, IMPUTATIONS, (uint64_t)run);
        for (size_t j = 0; j < D; j++, intervals++)
            covered += covers(filled, n, j, truth->b[j]);
        free(x);
        free(filled);
        unrelu_gaussian_free(model);
        unrelu_gaussian_free(truth);
    }
    char what[96];
    snprintf(what, sizeof what, "d=5, fitted to the %zu rows that are filled", n);
    row(what, "coverage of 95 % intervals of a mean by Rubin's rules, 20 draws",
        covered / intervals, .93, .97, "");
}

int main(int argc, char **argv)
{
    void *state = NULL;
    if (files_setup(&state) != 0)
        return 1;
    numbers_begin(argc, argv, 0.1, "Imputation");
    planted_models(0, 5, 20);
    planted_models(1, 5, 20);
    planted_models(-0.5, 5, 20);
    planted_models(0, 100, 20);
    fitted_models(20);
    rubin_intervals(40, 1000);
    rubin_intervals(200, 400);
    files_teardown(&state);
    return numbers_end();
}
