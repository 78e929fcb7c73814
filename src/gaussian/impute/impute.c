/* SPDX-License-Identifier: Apache-2.0 */
/* The cells that a row hides, from those it shows and from the limits it hides them below, above
 * or between: their conditional means or medians in the unit of the data, or independent draws of
 * them. What is filled in is the value before the rectifier, which lies within the limits and may
 * be negative. Everything is held in memory, 9 n d bytes and as much again for the output (of draws
 * a few at a time).
 *
 * Rows are sorted by which cells they show and hide, so that neighbours share a factorisation, and
 * taken in blocks. Draw number m of row i uses positions from m 2^32 on of stream i: nothing
 * depends on the threads, nor on the other rows. Before each draw the parameters are drawn from
 * their errors (impute_parameters.c). Where a singular model and the seen cells of a row contradict
 * a limit, the limit is filled in. */
#include "gaussian/impute/impute.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sized.h"
#include "pass/parallel.h"
#include "read/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, BATCH_CELLS = 1 << 24 };
static const uint64_t STREAM = (uint64_t)1 << 40;
/* of a correlation, by which one that was rounded may exceed 1 */
static const double BEYOND_1 = 1e-9;

typedef struct {
    size_t row, d;
    const unsigned char *state;
} sorted_row;

typedef struct {
    const unrelu_gaussian *model;
    unrelu_impute_options options;
    size_t draws; /* 1 where means are wanted */
    size_t n, d;
    size_t *place; /* of the samples' columns in the model */
    ur_model_cells read;
    unsigned char *state;  /* n x d, in the model's order of columns */
    unsigned char *varies; /* d: columns of the model with a scale above 0 */
    double *lattice;       /* d */
    sorted_row *rows;      /* n */
    size_t first, batch;   /* draws that are made together */
    double *out;           /* batch x n x d, in the samples' order of columns */
    ur_parameters errors;
    double *b, *scale, *R;    /* batch x d, d, d x d: of each draw; of means those of the model */
    const char *const *names; /* of the samples' columns, for the output */
    ur_arena *arena;
} imputation;

/* ---- which models can fill samples ---- */

unrelu_status ur_impute_check(const unrelu_gaussian *m, unrelu_error *err)
{
    if (m->d == 0 || !m->b || !m->scale || !m->correlation)
        return ur_fail(err, UNRELU_EUSAGE, "the model has no %s: nothing can be imputed",
                       m->d == 0         ? "columns"
                       : !m->correlation ? "correlation"
                                         : "b or scale");
    if (m->activation && *m->activation)
        return ur_fail(err, UNRELU_EDATA,
                       "samples of the model went through %s, which is invertible: nothing was "
                       "hidden, and nothing can be imputed",
                       m->activation);
    for (size_t i = 0; i < m->d; i++) {
        const char *name = m->names ? m->names[i] : "";
        if (!isfinite(m->b[i]) || !isfinite(m->scale[i]) || m->scale[i] < 0)
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) of the model has b %g and scale %g: nothing can be "
                           "imputed",
                           i + 1, name, m->b[i], m->scale[i]);
        if (m->noise && m->noise[i] > 0)
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) of the model has additive noise of %g: values that "
                           "carry noise are not what the rectifier was given; fit without "
                           "`additive-noise` to impute",
                           i + 1, name, m->noise[i]);
    }
    for (size_t i = 0; i < m->d * m->d; i++)
        if (!(fabs(m->correlation[i]) <= 1 + BEYOND_1))
            return ur_fail(err, UNRELU_EDATA,
                           "the correlation of columns %zu and %zu of the model is %g: nothing can "
                           "be imputed",
                           i / m->d + 1, i % m->d + 1, m->correlation[i]);
    return UNRELU_OK;
}

static int by_state(const void *a, const void *b)
{
    const sorted_row *left = a, *right = b;
    int order = memcmp(left->state, right->state, left->d);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* ---- one row ---- */

typedef struct {
    ur_impute_pattern pattern;
    ur_law law;
    ur_points points;
    ur_uniforms random;
    double *t, *end;       /* d: values and limits; upper ends of cells between */
    double *lower, *upper; /* d: of the limited cells */
    double *mu, *w, *z;    /* d */
    double *y;             /* d: hidden cells in the unit of the data */
    double *limited;       /* UR_POINTS_MOST x d: L z of each point */
    ur_cut_normal *parts;  /* UR_POINTS_MOST */
} room;

static room *room_new(const imputation *p, ur_arena *arena)
{
    size_t d = p->d;
    room *r = ur_take(arena, 1, sizeof *r);
    if (!r)
        return NULL;
    double **const squares[] = {&r->pattern.G, &r->pattern.V, &r->pattern.C,
                                &r->law.L,     &r->law.along, &r->law.effect};
    double **const lines[] = {&r->law.u,       &r->law.rest, &r->law.shift, &r->points.start,
                              &r->points.tilt, &r->points.y, &r->law.l,     &r->t,
                              &r->end,         &r->lower,    &r->upper,     &r->points.mode,
                              &r->mu,          &r->w,        &r->z,         &r->y};
    size_t **const indices[] = {&r->pattern.index, &r->law.order, &r->law.last};
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        *squares[i] = ur_take(arena, d, d * sizeof(double));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        *lines[i] = ur_take(arena, d, sizeof(double));
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        *indices[i] = ur_take(arena, d, sizeof(size_t));
    r->points.z = ur_take(arena, UR_POINTS_MOST, d * sizeof(double));
    r->points.weight = ur_take(arena, UR_POINTS_MOST, sizeof(double));
    r->points.lattice = p->lattice;
    r->limited = ur_take(arena, UR_POINTS_MOST, d * sizeof(double));
    r->parts = ur_take(arena, UR_POINTS_MOST, sizeof *r->parts);
    r->pattern.d = d;
    return r;
}

/* y: hidden cells in deviations, by a draw or by their means */
static void fill_latent(const imputation *p, size_t row, uint64_t start, size_t place, room *r)
{
    const double *b = p->b + place * p->d, *scale = p->scale + place * p->d;
    ur_law *law = &r->law;
    size_t columns = p->options.draws ? law->columns : law->rank;
    if (p->options.draws) {
        ur_law_draw(law, &r->points, p->options.sweeps, &r->random, r->z);
        ur_random_normals(p->options.seed, STREAM + row, start, columns - law->rank,
                          r->z + law->rank);
    } else {
        ur_law_mean(law, &r->points, p->options.sweeps, &r->random, r->z);
    }
    for (size_t i = 0; i < law->hidden; i++) { /* t = mu + L z */
        size_t cell = law->order[i], column = r->pattern.index[r->pattern.seen + cell];
        double t = r->mu[cell];
        for (size_t k = 0; k < columns; k++)
            t += law->L[i * law->stride + k] * r->z[k];
        r->y[column] = unrelu_gaussian_untransform(p->model, column, b[column] + scale[column] * t);
    }
}

/* y: hidden cells, by their means in the unit of the data or by their medians */
static void fill_in_unit(const imputation *p, room *r)
{
    const unrelu_gaussian *m = p->model;
    ur_law *law = &r->law;
    size_t count = ur_law_points(law, &r->points, p->options.sweeps, &r->random), d = p->d;
    for (size_t k = 0; k < count; k++)
        ur_law_multiply(law, r->points.z + k * law->rank, r->limited + k * d);
    for (size_t i = 0; i < law->hidden; i++) {
        size_t cell = law->order[i], column = r->pattern.index[r->pattern.seen + cell];
        ur_unit unit = {m->transform, m->lambda ? m->lambda[column] : 0, m->b[column],
                        m->scale[column]};
        for (size_t k = 0; k < count; k++) {
            r->parts[k] = ur_law_cell(law, i, r->points.z + k * law->rank, r->limited + k * d);
            r->parts[k].mean += r->mu[cell];
        }
        r->y[column] = (p->options.median ? ur_unit_median : ur_unit_mean)(&unit, r->points.weight,
                                                                           r->parts, count);
    }
}

/* the row, with the mean or the median of what it hides, or a draw of that: number `place` of those
 * made together */
static unrelu_status fill_row(const imputation *p, size_t row, size_t place, room *r,
                              unrelu_error *err)
{
    const unrelu_gaussian *m = p->model;
    double *out = p->out + (place * p->n + row) * p->d;
    uint64_t start = (uint64_t)(p->first + place) << 32;
    r->random = (ur_uniforms){
        .seed = p->options.seed, .stream = STREAM + row, .next = start, .at = UR_UNIFORMS};
    if (!p->options.draws && (p->options.median || m->transform != UNRELU_TRANSFORM_NONE))
        fill_in_unit(p, r);
    else
        fill_latent(p, row, start, place, r);
    for (size_t j = 0; j < p->d; j++) {
        size_t i = p->place[j];
        unsigned char state = p->state[row * p->d + i];
        double x = p->read.cells.x[j * p->n + row];
        if (state == UR_SEEN) {
            out[j] = x;
            continue;
        }
        out[j] = p->varies[i] ? r->y[i] : unrelu_gaussian_untransform(m, i, m->b[i]);
        if (state == UR_BELOW)
            out[j] = fmin(out[j], x);
        else if (state != UR_MISSING)
            out[j] = fmax(out[j], x);
        if (state == UR_BETWEEN)
            out[j] = fmin(out[j], p->read.cells.upper[j * p->n + row]);
        if (!isfinite(out[j]))
            return ur_fail(err, UNRELU_EDATA,
                           "row %zu, column %zu (%.60s) is hidden, and %s of its law is infinite "
                           "(Box-Cox lambda %g): %s",
                           row + 1, j + 1, m->names ? m->names[i] : "",
                           p->options.draws    ? "a draw"
                           : p->options.median ? "the median"
                                               : "the mean",
                           m->lambda ? m->lambda[i] : NAN,
                           p->options.draws || p->options.median
                               ? "fit with `transform` log"
                               : "fill it with `median`, or fit with `transform` log");
    }
    return UNRELU_OK;
}

/* what is known of the row, given the parameters of one draw */
static void set_row(const imputation *p, const sorted_row *s, size_t place, room *r)
{
    const double *b = p->b + place * p->d, *scale = p->scale + place * p->d;
    for (size_t j = 0; j < p->d; j++) {
        size_t i = p->place[j];
        double x = p->read.x[j * p->n + s->row];
        r->t[i] = p->varies[i] ? (x - b[i]) / scale[i] : 0;
        r->end[i] = p->read.upper && p->varies[i]
                        ? (p->read.upper[j * p->n + s->row] - b[i]) / scale[i]
                        : 0;
    }
    ur_impute_pattern_mean(&r->pattern, r->t, r->w, r->mu);
    for (size_t i = 0; i < r->pattern.limited; i++) {
        size_t column = r->pattern.index[r->pattern.seen + i];
        unsigned char state = s->state[column];
        r->lower[i] = state == UR_BELOW ? -INFINITY : r->t[column];
        r->upper[i] = state == UR_BELOW     ? r->t[column]
                      : state == UR_BETWEEN ? r->end[column]
                                            : INFINITY;
    }
    ur_law_set(&r->law, &r->pattern, r->mu, r->lower, r->upper);
}

static unrelu_status fill_block(void *context, size_t block, unrelu_error *err)
{
    UR_ARENA(arena);
    const imputation *p = context;
    room *r = room_new(p, &arena);
    UR_TRY(ur_arena_status(&arena, err));
    size_t end = p->n < (block + 1) * BLOCK ? p->n : (block + 1) * BLOCK;
    for (size_t place = 0; place < p->batch && p->first + place < p->draws; place++) {
        const unsigned char *known = NULL;
        for (size_t at = block * BLOCK; at < end; at++) {
            const sorted_row *s = &p->rows[at];
            if (!known || memcmp(known, s->state, p->d) != 0)
                ur_impute_pattern_set(&r->pattern, p->R + place * p->d * p->d, s->state, p->varies);
            known = s->state;
            set_row(p, s, place, r);
            UR_TRY(fill_row(p, s->row, place, r, err));
        }
    }
    return UNRELU_OK;
}

/* ---- all rows ---- */

static int draws_parameters(const imputation *p)
{
    return p->options.draws && !p->options.fixed_parameters;
}

static unrelu_status set_parameters(imputation *p, size_t count, unrelu_error *err)
{
    const unrelu_gaussian *m = p->model;
    size_t d = p->d;
    for (size_t i = 0; i < count; i++) {
        double *b = p->b + i * d, *scale = p->scale + i * d, *R = p->R + i * d * d;
        if (draws_parameters(p)) {
            UR_TRY(ur_parameters_draw(&p->errors, p->options.seed, p->first + i, b, scale, R, err));
            continue;
        }
        memcpy(b, m->b, d * sizeof *b);
        memcpy(scale, m->scale, d * sizeof *scale);
        memcpy(R, m->correlation, d * d * sizeof *R);
    }
    return UNRELU_OK;
}

/* to the file, or to x where that is not NULL */
static unrelu_status write_all(imputation *p, unrelu_source *samples, const char *path, double *x,
                               const unrelu_exec *exec, unrelu_error *err)
{
    ur_filled_table *table = NULL;
    int overflow = 0;
    size_t blocks = p->n / BLOCK + (p->n % BLOCK > 0);
    ur_product(p->draws, p->n, &overflow);
    if (overflow)
        return ur_fail(err, UNRELU_EUSAGE, "%zu draws of %zu rows are too many", p->draws, p->n);
    const ur_table_shape shape = {p->n, p->d, p->names, p->options.draws,
                                  p->options.spreadsheet_safe};
    if (!x)
        UR_TRY(ur_filled_open(path, &shape, samples, p->arena, &table, err));
    for (; p->first < p->draws; p->first += p->batch) {
        size_t count = p->draws - p->first < p->batch ? p->draws - p->first : p->batch;
        UR_TRY(set_parameters(p, count, err));
        UR_TRY(ur_each(exec, "imputing", blocks, fill_block, p, err));
        if (x)
            memcpy(x + p->first * p->n * p->d, p->out, count * p->n * p->d * sizeof *x);
        else
            UR_TRY(ur_filled_write(table, p->out, p->first, count, err));
    }
    return x ? UNRELU_OK : ur_filled_commit(table, err);
}

/* Where the file has more columns than the model, those of the model alone are read. */
static unrelu_status choose_columns(imputation *p, unrelu_source **samples, unrelu_error *err)
{
    size_t width = unrelu_source_columns(*samples);
    p->names = p->options.names ? p->options.names : ur_source_names(*samples);
    if (width <= p->d)
        return UNRELU_OK;
    size_t *place = ur_take(p->arena, width, sizeof *place);
    size_t *which = ur_take(p->arena, p->d, sizeof *which);
    const char **names = ur_take(p->arena, p->d, sizeof *names);
    double *limit = ur_take(p->arena, p->d, sizeof *limit);
    UR_TRY(ur_arena_status(p->arena, err));
    UR_TRY(unrelu_gaussian_match(p->model, *samples, place, err));
    for (size_t j = 0, at = 0; j < width; j++)
        if (place[j] < p->d) { /* in the order of the file */
            which[at] = j;
            names[at] = p->names[j];
            limit[at++] = p->options.limit ? p->options.limit[j] : NAN;
        }
    unrelu_source *limits = p->options.limits;
    if (limits && unrelu_source_columns(limits) == width)
        UR_TRY(ur_source_view(limits, which, p->d, p->arena, &p->options.limits, err));
    p->names = names;
    p->options.limit = p->options.limit ? limit : NULL;
    return ur_source_view(*samples, which, p->d, p->arena, samples, err);
}

static unrelu_status prepare(imputation *p, unrelu_source *samples, const unrelu_exec *exec,
                             unrelu_error *err)
{
    size_t d = p->d;
    p->place = ur_take(p->arena, d, sizeof *p->place);
    p->varies = ur_take(p->arena, d, 1);
    p->lattice = ur_take(p->arena, d, sizeof *p->lattice);
    UR_TRY(ur_arena_status(p->arena, err));
    for (size_t i = 0; i < d; i++)
        p->varies[i] = p->model->scale[i] > 0;
    ur_lattice_set(p->lattice, d);
    UR_TRY(ur_impute_match(p->model, samples, p->place, err));
    UR_TRY(ur_model_cells_load(p->model, samples, p->place, p->options.limit, p->options.limits,
                               exec, p->arena, &p->read, err));
    size_t n = p->n = p->read.cells.n, most = BATCH_CELLS / (n > d ? n : d) / d;
    p->batch = p->draws < most ? p->draws : most ? most : 1;
    p->state = ur_take(p->arena, n, d);
    p->rows = ur_take(p->arena, n, sizeof *p->rows);
    p->out = ur_take(p->arena, n, p->batch * d * sizeof *p->out);
    p->b = ur_take(p->arena, p->batch, d * sizeof *p->b);
    p->scale = ur_take(p->arena, p->batch, d * sizeof *p->scale);
    p->R = ur_take(p->arena, p->batch, d * d * sizeof *p->R);
    UR_TRY(ur_arena_status(p->arena, err));
    if (draws_parameters(p))
        UR_TRY(ur_parameters_begin(p->model, &p->errors, p->arena, err));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < n; i++)
            p->state[i * d + p->place[j]] = p->read.cells.state[j * n + i];
    for (size_t i = 0; i < n; i++)
        p->rows[i] = (sorted_row){i, d, p->state + i * d};
    qsort(p->rows, n, sizeof *p->rows, by_state);
    return UNRELU_OK;
}

static unrelu_status impute(const unrelu_gaussian *model, unrelu_source *samples,
                            const unrelu_impute_options *options, const char *path, double *x,
                            const unrelu_exec *exec, unrelu_impute_report *report,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_impute_report unused;
    imputation p = {.model = model, .d = model->d, .arena = &arena};
    unrelu_exec here;
    unrelu_impute_options_init(&p.options, sizeof p.options);
    report = report ? report : &unused;
    *report = (unrelu_impute_report){0};
    UR_TRY(ur_sized_copy(&p.options, sizeof p.options, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    p.draws = p.options.draws ? p.options.draws : 1;
    if (p.options.median && p.options.draws)
        return ur_fail(
            err, UNRELU_EUSAGE,
            "`median` and `draws` exclude each other: a draw is neither mean nor median");
    UR_TRY(ur_impute_check(model, err));
    UR_TRY(choose_columns(&p, &samples, err));
    UR_TRY(prepare(&p, samples, exec, err));
    UR_TRY(write_all(&p, samples, path, x, exec, err));
    *report = (unrelu_impute_report){.rows = p.n, .written = p.draws * p.n};
    for (size_t i = 0; i < p.n * p.d; i++) {
        unsigned char state = p.read.cells.state[i];
        report->missing += state == UR_MISSING;
        report->censored += state != UR_MISSING && state != UR_SEEN;
    }
    return UNRELU_OK;
}

unrelu_status unrelu_gaussian_impute(const unrelu_gaussian *model, unrelu_source *samples,
                                     const unrelu_impute_options *options, const char *path,
                                     const unrelu_exec *exec, unrelu_impute_report *report,
                                     unrelu_error *err)
{
    return impute(model, samples, options, path, NULL, exec, report, err);
}

unrelu_status unrelu_gaussian_impute_memory(const unrelu_gaussian *model, unrelu_source *samples,
                                            const unrelu_impute_options *options, double *x,
                                            const unrelu_exec *exec, unrelu_impute_report *report,
                                            unrelu_error *err)
{
    return impute(model, samples, options, NULL, x, exec, report, err);
}
