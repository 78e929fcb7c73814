/* SPDX-License-Identifier: Apache-2.0 */
/* How well each column's normal, censored at its limit, fits the column: a histogram, a quantile
 * plot, the Kolmogorov-Smirnov distance with a simulated p-value (goodness_null.c), ties.
 *
 * One pass keeps what is known of the cells in memory, column by column; then each column is judged
 * as `check` does it (judge.h). With noise taken out by the fit, values are compared to scale^2 +
 * noise^2 above three deviations of the noise, as they were fitted. Where cells have limits of
 * their own, every value that was seen counts with the mass that the non-parametric estimate gives
 * it. Cells 'ND' without a limit are refused. Where a column's counts are those that the model was
 * learned from, the model is taken as fitted to these samples, and simulated samples are fitted
 * again; else they are compared to the model as it stands.
 *
 * Columns are found by unrelu_gaussian_match. */
#include "gaussian/check/goodness.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/sized.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/judge.h"
#include "gaussian/joint/quadrants.h"
#include "law/normal.h"
#include "law/power.h"
#include "model/kind.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "pass/ranks.h"
#include "read/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8, MOST = 1000000 }; /* columns in one line of the cache; bins, points, runs */
enum { BINS = 40, POINTS = 100, PAIR_ROWS = 400 }; /* where the options do not say */
/* Of a histogram: it starts at the smallest value where the gap above the limit is this share of
 * the width; and ends this many spreads (limit to 90 %) above the median. */
static const double EMPTY_START = 0.5, FAR_OUT = 5;

typedef struct {
    double *x, *upper;    /* as of ur_known; upper is NULL where there is none */
    unsigned char *state; /* or AT_LIMIT */
    size_t count, capacity;
    double limit, b, s;
    int any_sign; /* no value is censored for what it is */
    unrelu_transform transform;
    double lambda;
    size_t refused;            /* 1 + the first row that cannot be read, 0: none */
    double x_refused, x_limit; /* that cell: infinite, NaN (not detected), a value below its limit,
                                  or one that the transform does not take */
    unrelu_status status;
} column;

/* A value at the model's limit: censored there, unless the limit was guessed, which is then the
 * smallest value that was seen. The model's counts tell. */
enum { AT_LIMIT = 255 };

typedef struct {
    const unrelu_gaussian *model;
    ur_arena *arena;
    const double *limit; /* of the source's columns, or NULL */
    ur_cells limits;     /* of its cells: n is 0 where there are none */
    size_t *place; /* of the source's columns: in the model, or d where the model has it not */
    column *columns;
    size_t rows;
    unrelu_goodness *out;
} study;

/* ---- the pass ---- */

/* NaN: none */
static double limit_of(const study *s, size_t row, size_t at)
{
    double limit = row < s->limits.n ? s->limits.x[at * s->limits.n + row] : NAN;
    return isnan(limit) && s->limit ? s->limit[at] : limit;
}

static int grow(column *c, size_t wanted, int with_upper)
{
    if (wanted <= c->capacity && (c->upper || !with_upper))
        return 1;
    wanted = wanted <= c->capacity ? c->capacity : wanted + c->capacity / 2;
    if (wanted >= SIZE_MAX / sizeof *c->x)
        return 0;
    double *x = ur_resize(c->x, wanted * sizeof *x);
    c->x = x ? x : c->x;
    unsigned char *state = ur_resize(c->state, wanted);
    c->state = state ? state : c->state;
    int fresh = with_upper && !c->upper;
    double *upper = c->upper || fresh ? ur_resize(c->upper, wanted * sizeof *upper) : NULL;
    c->upper = upper ? upper : c->upper;
    for (size_t i = 0; upper && fresh && i < c->count; i++)
        upper[i] = NAN;
    if (!x || !state || (c->upper && !upper) || (fresh && !upper))
        return 0;
    c->capacity = wanted;
    return 1;
}

/* x as it was read, limit: of the cell, NaN: none */
static void keep_cell(column *c, unsigned char mark, double x, double high, double limit)
{
    double y = ur_transform(c->transform, c->lambda, x), *upper = c->upper;
    unsigned char state = UR_SEEN;
    int hidden = x == 0 && limit >= 0 && !c->any_sign;
    if (mark == UR_ABOVE_GIVEN || mark == UR_BETWEEN_GIVEN) {
        state = mark == UR_ABOVE_GIVEN ? UR_ABOVE : UR_BETWEEN;
    } else if (mark || hidden) {
        double at = ur_transform(c->transform, c->lambda, mark && !isnan(x) ? x : limit);
        y = at == -INFINITY ? c->limit : at;
        state = UR_BELOW;
    } else if (isnan(y)) {
        state = UR_MISSING;
    } else if (y <= c->limit) {
        state = y == c->limit ? AT_LIMIT : UR_BELOW;
        y = c->limit;
    }
    if (upper)
        upper[c->count] = state == UR_BETWEEN ? ur_transform(c->transform, c->lambda, high) : NAN;
    c->state[c->count] = state;
    c->x[c->count++] = y;
}

static void keep(const study *s, column *c, const ur_block *block, size_t at)
{
    if (c->status == UNRELU_OK && !grow(c, c->count + block->rows, block->upper != NULL))
        c->status = UNRELU_ENOMEM;
    for (size_t i = 0; i < block->rows && c->status == UNRELU_OK; i++) {
        size_t row = block->first_row + i, cell = i * block->d + at;
        double x = block->x[i * block->stride + at], limit = limit_of(s, row, at);
        unsigned char mark = block->mark ? block->mark[cell] : 0;
        int below = mark == UR_BELOW_GIVEN || mark == UR_BELOW_UNKNOWN;
        int taken = isnan(x) || ur_transform_takes(c->transform, x);
        int wrong =
            below ? isnan(x) && isnan(limit) : isinf(x) || (!mark && x != 0 && x < limit) || !taken;
        if (wrong && !c->refused) {
            c->refused = row + 1;
            c->x_refused = x;
            c->x_limit = limit;
        }
        keep_cell(c, mark, x, block->upper ? block->upper[cell] : NAN, limit);
    }
}

/* a row's neighbours lie in one line of the cache: they are taken together */
static void step(void *state, size_t first, const ur_block *block)
{
    study *s = state;
    if (first % LINE != 0)
        return;
    if (first == 0)
        s->rows += block->rows;
    for (size_t at = first; at < first + LINE && at < block->d; at++)
        if (s->place[at] < s->model->d)
            keep(s, &s->columns[s->place[at]], block, at);
}

static unrelu_status read_columns(study *s, unrelu_source *samples, unrelu_source *limits,
                                  const unrelu_exec *exec, unrelu_error *err)
{
    static const ur_fold fold = {.step = step, .wanted = UR_ALL_MARKS};
    const ur_cells_rules rules = {.negative = 1, .below_only = 1}; /* of the file of limits */
    const unrelu_gaussian *m = s->model;
    const char *label = ur_source_label(samples), *others = limits ? ur_source_label(limits) : "";
    size_t width = unrelu_source_columns(samples);
    for (size_t i = 0; i < m->d; i++) {
        s->columns[i] = (column){.transform = m->transform, .lambda = m->lambda ? m->lambda[i] : 0};
        unrelu_gaussian_margin(m, i, &s->columns[i].b, &s->columns[i].s, &s->columns[i].limit);
        s->columns[i].any_sign =
            s->columns[i].limit == -INFINITY && m->transform == UNRELU_TRANSFORM_NONE;
    }
    if (limits && unrelu_source_columns(limits) != width)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu columns and %s %zu: each limit belongs to the cell at its place",
                       label, width, others, unrelu_source_columns(limits));
    if (limits) { /* held in memory */
        size_t i = ur_names_conflict(ur_source_names(samples), ur_source_names(limits), width);
        if (i < width)
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu is '%.60s' in %s and '%.60s' in %s: each limit belongs to "
                           "the cell at its place",
                           i + 1, unrelu_source_name(samples, i), label,
                           unrelu_source_name(limits, i), others);
        UR_TRY(ur_cells_load(limits, &rules, exec, s->arena, &s->limits, err));
    }
    UR_TRY(ur_source_rewind(samples, err));
    UR_TRY(ur_fold_run(samples, &fold, s, exec, "reading", err));
    if (limits && s->limits.n != s->rows)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu rows and %s %zu: each limit belongs to the cell at its place",
                       label, s->rows, others, s->limits.n);
    if (s->rows == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows", label);
    for (size_t at = 0; at < width; at++) {
        const column *c = s->place[at] < m->d ? &s->columns[s->place[at]] : NULL;
        char name[160];
        if (c && c->status != UNRELU_OK)
            return ur_fail_memory(err, s->rows * m->d, "cells");
        if (!c || !c->refused)
            continue;
        ur_source_column_label(samples, at, name, sizeof name);
        if (isinf(c->x_refused))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is infinite: mend it, or make it NaN", label,
                           c->refused, name);
        if (isnan(c->x_refused))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is 'ND' (not detected), and its limit is not known: "
                           "give it with `limit` NAME=VALUE, or in a file with `limits`",
                           label, c->refused, name);
        if (!ur_transform_takes(c->transform, c->x_refused))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is %g, and the model is of values %s: mend it, or "
                           "make it NaN",
                           label, c->refused, name, c->x_refused,
                           c->transform == UNRELU_TRANSFORM_SIGMOID
                               ? "that a sigmoid gave, which lie between 0 and 1"
                               : "whose power or logarithm was taken, which are not negative");
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: row %zu, %s is %g, below the detection limit %g of that cell: a value "
                       "was seen there, or it was not; correct one of the two",
                       label, c->refused, name, c->x_refused, c->x_limit);
    }
    return UNRELU_OK;
}

/* ---- charts ---- */

/* what the steps are drawn as: values seen, and middles of intervals, each with its mass in cells
 */
typedef struct {
    size_t count;
    double *value, *cells;
} drawing;

/* taken from the first and the last step that can be placed */
static void place(const ur_steps *steps, drawing *out)
{
    int whole = ur_steps_one_limit(steps);
    for (size_t k = 0; k < steps->count; k++) {
        double cells = (steps->sum[k] - (k ? steps->sum[k - 1] : 0)) * steps->observed;
        double low = steps->low[k], high = steps->value[k];
        if (!isfinite(low) || !isfinite(high))
            continue;
        out->value[out->count] = low + (high - low) / 2;
        out->cells[out->count++] = whole ? rint(cells) : cells;
    }
}

/* the value below which a share of the cells lies, of those that are drawn */
static double drawn_quantile(const drawing *d, double total, double share)
{
    double sum = 0;
    size_t k = 0;
    while (k + 1 < d->count && (sum += d->cells[k]) <= share * total)
        k++;
    return d->value[k];
}

/* Where the largest values lie far out, the last bin is wide and the others show the bulk. */
static void fill_histogram(const drawing *d, double start, size_t bins, double *edges,
                           double *counts)
{
    size_t n = d->count, bin = 0;
    double total = 0;
    for (size_t k = 0; k < n; k++)
        total += d->cells[k];
    double low = isinf(start) && n ? d->value[0] : start, high = n ? d->value[n - 1] : low;
    if (n && (d->value[0] - low > EMPTY_START * (high - low) || d->value[0] < low))
        low = d->value[0];
    double middle = n ? drawn_quantile(d, total, 0.5) : 0;
    double spread = n ? drawn_quantile(d, total, 0.9) - low : 0;
    double bulk = bins > 1 ? fmin(high, middle + FAR_OUT * spread) : high;
    size_t even = bulk < high ? bins - 1 : bins;
    for (size_t k = 0; k <= bins; k++)
        edges[k] = k < even ? low + (bulk - low) * ((double)k / (double)even) : bulk;
    edges[bins] = high;
    for (size_t k = 0; k < n; k++) {
        while (bin + 1 < bins && d->value[k] > edges[bin + 1])
            bin++;
        counts[bin] += d->cells[k];
    }
}

static void draw(void *context, size_t i, const ur_steps *steps)
{
    UR_ARENA(arena);
    study *s = context;
    column *c = &s->columns[i];
    unrelu_goodness *g = s->out;
    drawing d = {0, ur_take(&arena, steps->count, sizeof *d.value),
                 ur_take(&arena, steps->count, sizeof *d.cells)};
    if (!d.value || !d.cells) {
        c->status = UNRELU_ENOMEM;
        return;
    }
    /* bars start at the smallest limit, below which nothing can be placed */
    int open = steps->count > 0 && steps->low[0] == -INFINITY;
    place(steps, &d);
    fill_histogram(&d, open ? steps->value[0] : c->limit, g->bins, g->edges + i * (g->bins + 1),
                   g->counts + i * g->bins);
    g->observed[i] = steps->observed;
    g->censored[i] = steps->observed - steps->seen;
    for (size_t k = 0; k < g->points; k++) {
        double share = ((double)k + 0.5) / (double)g->points;
        g->sample_quantile[i * g->points + k] = ur_steps_quantile(steps, share);
        g->model_quantile[i * g->points + k] = c->b + c->s * ur_normal_quantile(share);
    }
}

/* ---- all columns ---- */

/* whether the model was learned from as many cells, and what its values at the limit are */
static int settle_limits(const unrelu_gaussian *m, column *c, size_t i)
{
    double observed = 0, seen = 0, equal = 0;
    for (size_t k = 0; k < c->count; k++) {
        observed += c->state[k] != UR_MISSING;
        seen += c->state[k] == UR_SEEN;
        equal += c->state[k] == AT_LIMIT;
    }
    int learned = m->observed && m->positive && m->observed[i] == observed;
    int guessed = learned && equal > 0 && m->positive[i] == seen + equal;
    for (size_t k = 0; k < c->count; k++)
        if (c->state[k] == AT_LIMIT)
            c->state[k] = guessed ? UR_SEEN : UR_BELOW;
    return learned && (guessed || m->positive[i] == seen);
}

#define FIELD(member, letters) UR_ARRAY_FIELD(unrelu_goodness, member, letters)
static const ur_field fields[] = {
    FIELD(observed, "d"),
    FIELD(censored, "d"),
    FIELD(edges, "de"),
    FIELD(counts, "db"),
    FIELD(sample_quantile, "dp"),
    FIELD(model_quantile, "dp"),
    FIELD(ks, "d"),
    FIELD(ks_p, "d"),
    FIELD(ties, "d"),
    FIELD(pair_observed, "q"),
    FIELD(pair_cut, "q2"),
    FIELD(pair_correlation, "q"),
    FIELD(pair_share, "q4"),
    FIELD(pair_fitted, "q4"),
    FIELD(pair_misfit, "q"),
    FIELD(pair_cells, "qr"),
    UR_FIELD(unrelu_goodness, pair_states, UR_BYTES, "qr", 0, 0),
    UR_COUNT_FIELD(unrelu_goodness, n),
};

static void set_sizes(const void *goodness, size_t *sizes)
{
    const unrelu_goodness *g = goodness;
    sizes[0] = g->d;
    sizes[1] = g->bins + 1;
    sizes[2] = g->bins;
    sizes[3] = g->points;
    sizes[4] = g->pairs;
    sizes[5] = 2 * g->pair_rows;
    sizes[6] = 2;
    sizes[7] = UR_QUADRANTS;
}

static const ur_kind kind = {.name = "goodness",
                             .size = sizeof(unrelu_goodness),
                             .letters = "debpqr24",
                             .set_sizes = set_sizes,
                             .tables = {UR_KIND_TABLE(fields)}};

/* ---- pairs ---- */

typedef struct {
    const study *s;
    const size_t *pairs;
} joint;

static ur_quadrant_column cells_of(const study *s, size_t i)
{
    const column *c = &s->columns[i];
    return (ur_quadrant_column){c->count, c->x, c->upper, c->state, c->b, c->s};
}

static void look_at_pair(void *context, size_t k)
{
    const joint *all = context;
    const unrelu_gaussian *m = all->s->model;
    unrelu_goodness *g = all->s->out;
    size_t i = all->pairs[2 * k], j = all->pairs[2 * k + 1];
    const ur_quadrant_column c[2] = {cells_of(all->s, i), cells_of(all->s, j)};
    double shrink = m->scale[i] / c[0].s * (m->scale[j] / c[1].s); /* by noise in the values */
    double rho = m->correlation[i * m->d + j] * shrink;
    ur_quadrants found;
    ur_quadrants_worst(c, rho, &found);
    g->pair_observed[k] = found.rows;
    g->pair_correlation[k] = rho;
    g->pair_misfit[k] = found.misfit;
    memcpy(g->pair_cut + 2 * k, found.cut, sizeof found.cut);
    memcpy(g->pair_share + UR_QUADRANTS * k, found.share, sizeof found.share);
    memcpy(g->pair_fitted + UR_QUADRANTS * k, found.fitted, sizeof found.fitted);
    ur_quadrant_rows(c, g->pair_rows, g->pair_cells + 2 * g->pair_rows * k,
                     g->pair_states + 2 * g->pair_rows * k);
}

static unrelu_status check_pairs(const unrelu_gaussian *m, const unrelu_goodness_options *o,
                                 unrelu_error *err)
{
    if (o->pair_count > MOST || o->pair_rows > MOST || (o->pair_count > 0 && !o->pairs))
        return ur_fail(err, UNRELU_EUSAGE,
                       "pairs and their rows are at most %d, and `pairs` has their columns", MOST);
    for (size_t k = 0; k < 2 * o->pair_count; k++)
        if (o->pairs[k] >= m->d || o->pairs[k] == o->pairs[k ^ 1])
            return ur_fail(err, UNRELU_EUSAGE,
                           "pair %zu is of columns %zu and %zu: two different ones of 0 to %zu are "
                           "needed",
                           k / 2 + 1, o->pairs[k & ~(size_t)1], o->pairs[k | 1], m->d - 1);
    return UNRELU_OK;
}

static unrelu_status study_all(study *s, unrelu_source *samples, const unrelu_goodness_options *o,
                               const unrelu_exec *exec, unrelu_error *err)
{
    const unrelu_gaussian *m = s->model;
    size_t d = m->d;
    UR_TRY(unrelu_gaussian_match(m, samples, s->place, err));
    UR_TRY(read_columns(s, samples, o->limits, exec, err));
    s->out->n = s->rows;
    UR_TRY(ur_model_take_arrays(s->out, err));
    s->out->pair_states = ur_take(ur_model_arena(s->out), s->out->pairs, 2 * s->out->pair_rows);
    UR_TRY(ur_arena_status(ur_model_arena(s->out), err));
    ur_known *known = ur_take(s->arena, d, sizeof *known);
    double *b = ur_take(s->arena, d, sizeof *b), *scale = ur_take(s->arena, d, sizeof *scale);
    unsigned char *fitted = ur_take(s->arena, d, 1);
    UR_TRY(ur_arena_status(s->arena, err));
    for (size_t i = 0; i < d; i++) {
        column *c = &s->columns[i];
        fitted[i] = settle_limits(m, c, i) && m->method[0];
        known[i] = (ur_known){
            c->count, c->x, c->upper, c->state, {.transform = c->transform, .lambda = c->lambda}};
        b[i] = c->b;
        scale[i] = c->s;
    }
    const ur_judging how = {.d = d,
                            .columns = known,
                            .b = b,
                            .scale = scale,
                            .fitted = fitted,
                            .runs = o->runs,
                            .seed = o->seed,
                            .look = draw,
                            .context = s};
    UR_TRY(ur_judge_columns(&how, exec, s->out->ks, s->out->ks_p, s->out->ties, err));
    for (size_t i = 0; i < d; i++)
        if (s->columns[i].status != UNRELU_OK)
            return ur_fail_memory(err, s->rows, "cells");
    return ur_parallel_for(exec, "pairs", o->pair_count, look_at_pair, &(joint){s, o->pairs}, err);
}

unrelu_status unrelu_gaussian_goodness(const unrelu_gaussian *model, unrelu_source *samples,
                                       const unrelu_goodness_options *options,
                                       const unrelu_exec *exec, unrelu_goodness **out,
                                       unrelu_error *err)
{
    *out = NULL;
    unrelu_exec here;
    unrelu_goodness_options o;
    unrelu_goodness_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_TRY(ur_ranks_refuse(exec, "a goodness of fit", err));
    if (o.bins > MOST || o.points > MOST || o.runs > MOST)
        return ur_fail(err, UNRELU_EUSAGE, "bins, points and runs are at most %d", MOST);
    UR_TRY(check_pairs(model, &o, err));
    unrelu_goodness *g = ur_model_new(&kind, err);
    if (!g)
        return UNRELU_ENOMEM;
    g->d = model->d;
    g->bins = o.bins ? o.bins : BINS;
    g->points = o.points ? o.points : POINTS;
    g->pairs = o.pair_count;
    g->pair_rows = o.pair_rows ? o.pair_rows : PAIR_ROWS;
    UR_ARENA(arena);
    study s = {.model = model,
               .arena = &arena,
               .limit = o.limit,
               .place = ur_take(&arena, unrelu_source_columns(samples), sizeof *s.place),
               .columns = ur_take(&arena, model->d, sizeof *s.columns),
               .out = g};
    unrelu_status status = ur_arena_status(&arena, err);
    if (status == UNRELU_OK)
        status = study_all(&s, samples, &o, exec, err);
    for (size_t i = 0; s.columns && i < model->d; i++) {
        ur_free(s.columns[i].x);
        ur_free(s.columns[i].upper);
        ur_free(s.columns[i].state);
    }
    return ur_model_hand(g, status, out, err);
}

void unrelu_goodness_free(unrelu_goodness *g)
{
    ur_model_free(g);
}
