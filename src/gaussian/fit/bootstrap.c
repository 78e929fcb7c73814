/* SPDX-License-Identifier: Apache-2.0 */
/* Errors by the bootstrap: the same fit again and again, each time to as many rows, drawn from the
 * samples with replacement; the deviations of what these fits find. For every method, whatever it
 * does with the rows; the samples are in memory. A power of Box-Cox is that of the samples, as in
 * all other errors. Rows of run r are those of stream r of the seed, and runs are added up in their
 * order, so that the result is the same at any number of threads. */
#include "base/error.h"
#include "base/random.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "model/samples.h"
#include "pass/parallel.h"
#include "read/resample.h"

#include <math.h>
#include <string.h>

enum {
    RUNS = 200, /* a standard error is then known to 5 % */
    BATCH = 16, /* fits that are held before they are added up */
};
static const uint64_t STREAM_ROWS = (uint64_t)1 << 44;
/* of the runs that must succeed for their deviations to mean something */
static const double LEAST_SHARE = 0.5;

/* mean and squares about it, of a stream of numbers (Welford) */
typedef struct {
    double mean, square;
} spread;

typedef struct {
    const unrelu_source *source;
    const unrelu_gaussian *model; /* of all samples */
    unrelu_gaussian_options options;
    unrelu_exec exec; /* of one run */
    ur_fit_again *fit;
    ur_table samples, limits;
    double *lambda; /* d: of the model, or zeros */
    size_t *column; /* d: of the model in the source */
    size_t first;   /* run of this batch */
    unrelu_gaussian *fitted[BATCH];
    size_t done;
    spread *b, *scale, *rho, *sigma, *eigenvalues;
    double *cross; /* d: of b and scale */
} bootstrap;

/* ---- one run ---- */

static void draw_rows(uint64_t seed, uint64_t run, size_t n, double *u, size_t *index)
{
    ur_random_uniforms(seed, STREAM_ROWS + run, 0, n, u);
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)(u[i] * (double)n);
        index[i] = row < n ? row : n - 1;
    }
}

static unrelu_status run_once(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    bootstrap *w = context;
    size_t n = w->samples.rows, run = w->first + i;
    double *u = ur_take(&arena, n, sizeof *u);
    size_t *index = ur_take(&arena, n, sizeof *index);
    unrelu_source *samples = NULL, *limits = NULL;
    unrelu_gaussian_options o = w->options;
    unrelu_error own = {0};
    w->fitted[i] = NULL;
    UR_TRY(ur_arena_status(&arena, err));
    draw_rows(o.seed, run, n, u, index);
    const ur_rows rows = {w->samples.columns,
                          w->samples.cells,
                          w->samples.mark,
                          w->samples.upper,
                          n,
                          w->model->d,
                          index,
                          w->column};
    const ur_rows others = {w->limits.columns, w->limits.cells, w->limits.mark, w->limits.upper, n,
                            w->model->d,       index,           w->column};
    UR_TRY(ur_source_of_rows(w->source, &rows, &arena, &samples, err));
    if (o.limits) {
        UR_TRY(ur_source_of_rows(w->source, &others, &arena, &limits, err));
        o.limits = limits;
    }
    o.seed += run + 1; /* of norms that draw numbers themselves */
    unrelu_status status = w->fit(samples, &o, w->lambda, &w->exec, &w->fitted[i], &own);
    if (status == UNRELU_OK || status == UNRELU_EDATA || status == UNRELU_EFORMAT)
        return UNRELU_OK; /* rows that support no fit are counted */
    if (err)
        *err = own;
    return status;
}

/* ---- all of them ---- */

/* the difference from the mean before, which is moved */
static double add(spread *s, double x, double runs)
{
    double away = x - s->mean;
    s->mean += away / runs;
    s->square += away * (x - s->mean);
    return away;
}

static void add_run(bootstrap *w, const unrelu_gaussian *m)
{
    size_t d = w->model->d;
    double runs = (double)++w->done;
    for (size_t i = 0; i < d; i++) {
        double away = add(&w->b[i], m->b[i], runs);
        add(&w->scale[i], m->scale[i], runs);
        w->cross[i] += away * (m->scale[i] - w->scale[i].mean);
    }
    for (size_t i = 0; i < d * d; i++) {
        add(&w->rho[i], m->correlation[i], runs);
        add(&w->sigma[i], m->sigma[i], runs);
    }
}

static unrelu_status add_eigenvalues(bootstrap *w, const unrelu_gaussian *m, unrelu_error *err)
{
    UR_ARENA(arena);
    double *values = ur_take(&arena, m->d, sizeof *values);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(unrelu_gaussian_eigenvalues(m, values, err));
    for (size_t i = 0; i < m->d; i++)
        add(&w->eigenvalues[i], values[i], (double)w->done);
    return UNRELU_OK;
}

static unrelu_status run_batch(bootstrap *w, size_t count, const unrelu_exec *exec,
                               unrelu_error *err)
{
    unrelu_status status = ur_each(exec, "bootstrap", count, run_once, w, err);
    for (size_t i = 0; i < count; i++) {
        unrelu_gaussian *m = w->fitted[i];
        if (status == UNRELU_OK && m) {
            add_run(w, m);
            if (w->eigenvalues)
                status = add_eigenvalues(w, m, err);
        }
        unrelu_gaussian_free(m);
        w->fitted[i] = NULL;
    }
    return status;
}

/* ---- into the model ---- */

static double deviation(const bootstrap *w, double square)
{
    return (double)w->done > 1 ? sqrt(square / (double)(w->done - 1)) : NAN;
}

static void set_errors(const bootstrap *w, unrelu_gaussian *m, int enough)
{
    size_t d = m->d;
    for (size_t i = 0; i < d; i++) {
        m->b_se[i] = enough ? deviation(w, w->b[i].square) : NAN;
        m->scale_se[i] = enough ? deviation(w, w->scale[i].square) : NAN;
        m->b_scale_cov[i] = enough ? w->cross[i] / (double)(w->done - 1) : NAN;
        if (m->eigenvalues_se)
            m->eigenvalues_se[i] = enough ? deviation(w, w->eigenvalues[i].square) : NAN;
        for (size_t j = 0; j < d; j++) {
            size_t at = i * d + j;
            /* of a copy, or at the end of what can be found, nothing moves */
            int known = enough && (i == j || !(m->pair_flags[at] & UNRELU_FLAG_DUPLICATE));
            if (i != j)
                m->correlation_se[at] = known ? deviation(w, w->rho[at].square) : NAN;
            m->sigma_se[at] = known ? deviation(w, w->sigma[at].square) : NAN;
        }
    }
}

/* columns of the source that the model has: all but some, in their order */
static void find_columns(const unrelu_gaussian *m, const unrelu_source *source, size_t *column)
{
    size_t all = unrelu_source_columns(source), i = 0;
    for (size_t j = 0; j < all && i < m->d; j++)
        if (m->d - i == all - j || strcmp(m->names[i], unrelu_source_name(source, j)) == 0)
            column[i++] = j;
}

/* what the options say of the source's columns, for those of the model */
static const double *choose(ur_arena *arena, const double *of, const size_t *column, size_t d)
{
    double *out = of ? ur_take(arena, d, sizeof *out) : NULL;
    for (size_t i = 0; out && i < d; i++)
        out[i] = of[column[i]];
    return out;
}

static unrelu_status start(bootstrap *w, unrelu_source *source, const unrelu_exec *exec,
                           ur_arena *arena, unrelu_error *err)
{
    unrelu_gaussian_options *o = &w->options;
    size_t d = w->model->d;
    w->column = ur_take(arena, d, sizeof *w->column);
    w->lambda = w->model->lambda ? w->model->lambda : ur_take(arena, d, sizeof *w->lambda);
    spread **const vectors[] = {&w->b, &w->scale, &w->eigenvalues};
    for (size_t i = 0; i < (o->rank == UNRELU_RANK_NONE ? 2 : 3); i++)
        *vectors[i] = ur_take(arena, d, sizeof **vectors[i]);
    w->cross = ur_take(arena, d, sizeof *w->cross);
    w->rho = ur_take(arena, d, d * sizeof *w->rho);
    w->sigma = ur_take(arena, d, d * sizeof *w->sigma);
    UR_TRY(ur_arena_status(arena, err));
    find_columns(w->model, source, w->column);
    o->limit = choose(arena, o->limit, w->column, d);
    if (o->censor_count > 1) {
        o->censor_at = choose(arena, o->censor_at, w->column, d);
        o->censor_count = d;
    }
    o->errors = UNRELU_ERRORS_MODEL;
    o->rank = UNRELU_RANK_NONE;
    o->drop = 0;
    if (strcmp(w->model->angles, "likelihood") == 0) /* also where it drew no cell with a limit */
        o->angles = UNRELU_ANGLES_LIKELIHOOD;
    UR_TRY(ur_table_load(source, exec, NULL, arena, &w->samples, err));
    if (o->limits)
        UR_TRY(ur_table_load(o->limits, exec, NULL, arena, &w->limits, err));
    return ur_arena_status(arena, err);
}

unrelu_status ur_fit_bootstrap(unrelu_source *source, const unrelu_gaussian_options *options,
                               const unrelu_exec *exec, ur_fit_again *fit, unrelu_gaussian *m,
                               unrelu_error *err)
{
    UR_ARENA(arena);
    bootstrap w = {.source = source, .model = m, .options = *options, .fit = fit};
    size_t runs = options->bootstrap ? options->bootstrap : RUNS;
    unrelu_exec_init(&w.exec, sizeof w.exec);
    w.exec.threads = 1;
    w.exec.cancelled = exec->cancelled;
    w.exec.context = exec->context;
    UR_TRY(start(&w, source, exec, &arena, err));
    for (; w.first < runs; w.first += BATCH)
        UR_TRY(run_batch(&w, runs - w.first < BATCH ? runs - w.first : BATCH, exec, err));
    int enough = (double)w.done >= LEAST_SHARE * (double)runs && w.done > 1;
    set_errors(&w, m, enough);
    m->errors = ur_take_text(ur_model_arena(m), "bootstrap:%zu", runs);
    if (w.done < runs)
        ur_model_warn(m, "bootstrap-failed",
                      "%zu of %zu samples of the bootstrap could not be fitted: errors are %s",
                      runs - w.done, runs, enough ? "of the others" : "not known");
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    return unrelu_gaussian_answer(m, m->level, err);
}
