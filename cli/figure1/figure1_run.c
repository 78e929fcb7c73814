/* SPDX-License-Identifier: Apache-2.0 */
/* One run plants a model, draws samples, and fits them by both methods. The limit of a run is what
 * the Cramer-Rao bound says of its own truth; where Sigma = I (kappa = 1) to second order
 *   E KL = sum_ij Var(Sigma_ij) / 4 + sum_i Var(b_i) / 2.
 * With kappa > 1 the divergence mixes errors of pairs, whose joint bound is not known here: none is
 * given. Limits of several runs are averaged as squares. */
#include "figure1.h"

#include <math.h>
#include <stdio.h>

#include "unrelu/unrelu.h"

#include "files.h"
#include "scope.h"
#include "show/models.h"

/* ---- which points: those of the paper, or a few small ones ---- */

enum { N_PANEL, D_PANEL, KAPPA_PANEL };
const char *const cli_figure1_panels[] = {"n", "d", "kappa"};
const char *const cli_figure1_methods[] = {"paper", "efficient"};

void cli_figure1_plan(figure1 *f, size_t runs, uint64_t seed, int quick)
{
    *f = (figure1){.runs = runs, .seed = seed, .quick = quick};
    const size_t n = quick ? 20000 : 500000, d = 5, kappa = 1;
    for (size_t x = 20000; x <= (quick ? 50000 : 200000); x += 30000)
        f->points[f->count++] = (figure1_point){N_PANEL, x, x, d, kappa};
    for (size_t x = 5; x <= (quick ? 9 : 25); x += 4)
        f->points[f->count++] = (figure1_point){D_PANEL, x, n, x, kappa};
    for (size_t x = 1; x <= 25; x += quick ? 24 : 4)
        f->points[f->count++] = (figure1_point){KAPPA_PANEL, x, n, d, x};
    snprintf(f->fixed[N_PANEL], sizeof *f->fixed, "d = %zu, kappa = %zu", d, kappa);
    snprintf(f->fixed[D_PANEL], sizeof *f->fixed, "n = %zu, kappa = %zu", n, kappa);
    snprintf(f->fixed[KAPPA_PANEL], sizeof *f->fixed, "n = %zu, d = %zu", n, d);
    for (size_t i = 0; i < f->count * FIGURE1_METRICS; i++)
        f->rows[i / FIGURE1_METRICS][FIGURE1_LIMIT].sd[i % FIGURE1_METRICS] = NAN;
}

int cli_figure1_is_done(const figure1 *f, size_t point)
{
    return f->rows[point][FIGURE1_PAPER].done && f->rows[point][FIGURE1_EFFICIENT].done;
}

size_t cli_figure1_done(const figure1 *f)
{
    size_t done = 0;
    for (size_t p = 0; p < f->count; p++)
        done += (size_t)cli_figure1_is_done(f, p);
    return done;
}

/* ---- the runs of one ---- */

/* mean and spread of what is finite */
typedef struct {
    size_t count;
    double mean, square; /* square: sum of squares about the mean */
} tally;

static void tally_add(tally *t, double x)
{
    if (!isfinite(x))
        return;
    double away = x - t->mean;
    t->count++;
    t->mean += away / (double)t->count;
    t->square += away * (x - t->mean);
}

typedef struct {
    tally metric[FIGURE1_METHODS][FIGURE1_METRICS];
    tally limit[FIGURE1_METRICS]; /* squares */
    tally seconds[FIGURE1_METHODS];
    size_t not_psd[FIGURE1_METHODS];
} tallies;

static double square_sum(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

static unrelu_status add_limits(const unrelu_gaussian *truth, const figure1_point *p, tallies *t,
                                unrelu_error *err)
{
    size_t d = p->d;
    CLI_MEMORY double *b_se = malloc(d * sizeof *b_se);
    CLI_MEMORY double *sigma_se = malloc(d * d * sizeof *sigma_se);
    if (!b_se || !sigma_se)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_gaussian_bound(truth, (double)p->n, b_se, NULL, sigma_se, NULL, err));
    double norm = square_sum(truth->scale, d);
    double b = square_sum(b_se, d), sigma = square_sum(sigma_se, d * d);
    tally_add(&t->limit[FIGURE1_ERR_B], b / norm);
    tally_add(&t->limit[FIGURE1_ERR_SIGMA], sigma / (norm * norm));
    tally_add(&t->limit[FIGURE1_SQRT_KL], p->kappa == 1 ? (sigma / 4 + b / 2) / 2 : NAN);
    return UNRELU_OK;
}

static unrelu_status fit(const unrelu_gaussian *truth, const double *x, size_t n, int method,
                         uint64_t seed, const unrelu_exec *exec, tallies *t, unrelu_error *err)
{
    CLI_MADE unrelu_gaussian *model = NULL;
    CLI_SCOPE(cli_close) unrelu_source *source = NULL;
    unrelu_gaussian_distance far;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.seed = seed;
    if (method == FIGURE1_PAPER) {
        o.norms = UNRELU_NORMS_SGD;
        o.angles = UNRELU_ANGLES_SIGNS;
        o.literal = 1;
    }
    double start = cli_seconds();
    CLI_TRY(unrelu_source_memory(x, n, truth->d, NULL, &source, err));
    CLI_TRY(unrelu_gaussian_fit(source, &o, exec, &model, err));
    double seconds = cli_seconds() - start;
    CLI_TRY(unrelu_gaussian_compare(truth, model, &far, err));
    double kl = fmin(far.kl, far.kl_reverse);
    tally_add(&t->metric[method][FIGURE1_ERR_B], far.b_error);
    tally_add(&t->metric[method][FIGURE1_ERR_SIGMA], far.sigma_error);
    tally_add(&t->metric[method][FIGURE1_SQRT_KL], sqrt(kl / 2));
    tally_add(&t->seconds[method], seconds);
    t->not_psd[method] += isfinite(kl) ? 0 : 1;
    return UNRELU_OK;
}

static unrelu_status run_once(const figure1_point *p, uint64_t seed, const unrelu_exec *exec,
                              tallies *t, unrelu_error *err)
{
    CLI_MADE unrelu_gaussian *truth = NULL;
    CLI_SCOPE(cli_free_sampler) unrelu_sampler *sampler = NULL;
    CLI_MEMORY double *x = malloc(p->n * p->d * sizeof *x);
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = p->d;
    o.kappa = (double)p->kappa;
    o.seed = seed;
    if (!x)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_gaussian_plant(&o, &truth, err));
    CLI_TRY(unrelu_gaussian_sampler(truth, ~seed, &sampler, err)); /* as generate does */
    CLI_TRY(unrelu_sampler_draw(sampler, 0, p->n, exec, x, err));
    for (int m = 0; m < FIGURE1_METHODS; m++)
        CLI_TRY(fit(truth, x, p->n, m, seed, exec, t, err));
    return add_limits(truth, p, t, err);
}

static double mean_of(const tally *t)
{
    return t->count > 0 ? t->mean : NAN;
}

/* what figure1.csv keeps */
static double six_digits(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return isfinite(x) ? strtod(text, NULL) : NAN;
}

static void summarise(const tallies *t, int method, figure1_row rows[FIGURE1_ROWS])
{
    figure1_row *row = &rows[method];
    row->done = 1;
    row->not_psd = t->not_psd[method];
    row->seconds = six_digits(mean_of(&t->seconds[method]));
    for (int k = 0; k < FIGURE1_METRICS; k++) {
        const tally *x = &t->metric[method][k];
        row->mean[k] = six_digits(mean_of(x));
        row->sd[k] = x->count > 1 ? six_digits(sqrt(x->square / (double)(x->count - 1))) : NAN;
        rows[FIGURE1_LIMIT].mean[k] = six_digits(sqrt(mean_of(&t->limit[k])));
    }
}

unrelu_status cli_figure1_run(figure1 *f, size_t point, const unrelu_exec *exec, figure1_step *step,
                              void *context, unrelu_error *err)
{
    tallies t = {0};
    for (size_t r = 0; r < f->runs; r++) {
        uint64_t seed = 1000000 * f->seed + 1000 * (uint64_t)(point + 1) + (uint64_t)(r + 1);
        CLI_TRY(run_once(&f->points[point], seed & INT64_MAX, exec, &t, err));
        if (exec->cancelled && exec->cancelled(exec->context))
            return UNRELU_ECANCELLED;
        step(context, point, r);
    }
    for (int m = 0; m < FIGURE1_METHODS; m++)
        summarise(&t, m, f->rows[point]);
    return UNRELU_OK;
}
