/* SPDX-License-Identifier: Apache-2.0 */
/* How well each column's normal, censored at its limit, fits the column: a histogram, a quantile
 * plot, the Kolmogorov-Smirnov distance with a simulated p-value (goodness_null.c), ties.
 *
 * One pass keeps what is above the limits in memory, column by column; then each column is sorted
 * (src/base/order.c). With noise taken out by the fit, values are compared to scale^2 + noise^2
 * above three deviations of the noise, as they were fitted. Where cells have limits of their own,
 * all is compared above the largest of these; without a value above it there is no test. Cells
 * 'ND' without a limit are refused. Where a column's counts are those
 * that the model was learned from, the model is taken as fitted to these samples, and simulated
 * samples are fitted again; else they are compared to the model as it stands.
 *
 * Columns are found by unrelu_gaussian_match. */
#include "gaussian/check/goodness.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/order.h"
#include "base/sized.h"
#include "gaussian/cells/cells.h"
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
enum { BINS = 40, POINTS = 100 };  /* where the options do not say */
/* Of a histogram: it starts at the smallest value where the gap above the limit is this share of
 * the width; and ends this many spreads (limit to 90 %) above the median. */
static const double EMPTY_START = 0.5, FAR_OUT = 5;

typedef struct {
    double *value; /* above the limit */
    size_t count, capacity;
    double observed, limit, b, s;
    double top;   /* largest limit of cells that have their own */
    size_t above; /* values above the model's limit: count, before top left some out */
    size_t equal; /* values at the model's limit */
    unrelu_transform transform;
    double lambda;
    size_t refused;    /* 1 + the first row that cannot be read, 0: none */
    double x, x_limit; /* that cell: infinite, NaN (not detected), a value below its limit, or one
                          that the transform does not take */
    unrelu_status status;
} column;

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

static void keep(const study *s, column *c, const ur_block *block, size_t at)
{
    size_t missing = 0, wanted = c->count + block->rows;
    if (c->status != UNRELU_OK)
        return;
    if (wanted > c->capacity) {
        wanted += c->capacity / 2;
        double *grown =
            wanted < SIZE_MAX / sizeof *grown ? ur_resize(c->value, wanted * sizeof *grown) : NULL;
        c->status = grown ? UNRELU_OK : UNRELU_ENOMEM;
        if (!grown)
            return;
        c->value = grown;
        c->capacity = wanted;
    }
    for (size_t i = 0; i < block->rows; i++) {
        size_t row = block->first_row + i;
        double x = block->x[i * block->stride + at], limit = limit_of(s, row, at);
        int below = block->mark && block->mark[i * block->d + at];
        int wrong = below ? isnan(x) && isnan(limit)
                          : isinf(x) || (x != 0 && x < limit) ||
                                (!isnan(x) && !ur_transform_takes(c->transform, x));
        if (wrong && !c->refused) {
            c->refused = row + 1;
            c->x = x;
            c->x_limit = limit;
        }
        if (below || (x == 0 && !isnan(limit))) {
            x = below && !isnan(x) ? x : limit;
            c->top = fmax(c->top, ur_transform(c->transform, c->lambda, x));
            continue;
        }
        x = ur_transform(c->transform, c->lambda, x);
        missing += isnan(x) != 0;
        c->value[c->count] = x;
        c->equal += x == c->limit;
        c->count += x > c->limit;
    }
    c->observed += (double)(block->rows - missing);
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
    static const ur_fold fold = {.step = step, .wanted = UR_BELOW_TOO};
    const ur_cells_rules rules = {.negative = 1, .below_only = 1}; /* of the file of limits */
    const unrelu_gaussian *m = s->model;
    const char *label = ur_source_label(samples), *others = limits ? ur_source_label(limits) : "";
    size_t width = unrelu_source_columns(samples);
    for (size_t i = 0; i < m->d; i++) {
        s->columns[i] = (column){
            .top = -INFINITY, .transform = m->transform, .lambda = m->lambda ? m->lambda[i] : 0};
        unrelu_gaussian_margin(m, i, &s->columns[i].b, &s->columns[i].s, &s->columns[i].limit);
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
        if (isinf(c->x))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is infinite: mend it, or make it NaN", label,
                           c->refused, name);
        if (isnan(c->x))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is 'ND' (not detected), and its limit is not known: "
                           "give it with `limit` NAME=VALUE, or in a file with `limits`",
                           label, c->refused, name);
        if (!ur_transform_takes(c->transform, c->x))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is %g, and the model is of values %s: mend it, or "
                           "make it NaN",
                           label, c->refused, name, c->x,
                           c->transform == UNRELU_TRANSFORM_SIGMOID
                               ? "that a sigmoid gave, which lie between 0 and 1"
                               : "whose power or logarithm was taken, which are not negative");
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: row %zu, %s is %g, below the detection limit %g of that cell: a value "
                       "was seen there, or it was not; correct one of the two",
                       label, c->refused, name, c->x, c->x_limit);
    }
    return UNRELU_OK;
}

/* ---- one column ---- */

double ur_censored_distance(const ur_censored_column *c, double b, double s)
{
    double n = c->observed, below = n - (double)c->count;
    double largest = fabs(below / n - ur_normal_cdf((c->limit - b) / s));
    for (size_t i = 0; i < c->count; i++) {
        double F = ur_normal_cdf((c->value[i] - b) / s), under = (below + (double)i) / n;
        largest = fmax(largest, fmax(F - under, under + 1 / n - F));
    }
    return largest;
}

double ur_censored_ties(const ur_censored_column *c)
{
    size_t tied = 0;
    for (size_t i = 0; i < c->count; i++)
        tied += (i > 0 && c->value[i] == c->value[i - 1]) ||
                (i + 1 < c->count && c->value[i] == c->value[i + 1]);
    return c->count ? (double)tied / (double)c->count : NAN;
}

/* Where the largest values lie far out, the last bin is wide and the others show the bulk. */
static void fill_histogram(const column *c, size_t bins, double *edges, double *counts)
{
    size_t n = c->count;
    double low = isinf(c->limit) && n ? c->value[0] : c->limit;
    double high = n ? c->value[n - 1] : low;
    if (n && c->value[0] - low > EMPTY_START * (high - low))
        low = c->value[0];
    double middle = n ? c->value[n / 2] : 0, spread = n ? c->value[n - 1 - n / 10] - low : 0;
    double bulk = bins > 1 ? fmin(high, middle + FAR_OUT * spread) : high;
    size_t even = bulk < high ? bins - 1 : bins, bin = 0;
    for (size_t k = 0; k <= bins; k++)
        edges[k] = k < even ? low + (bulk - low) * ((double)k / (double)even) : bulk;
    edges[bins] = high;
    for (size_t i = 0; i < n; i++) {
        while (bin + 1 < bins && c->value[i] > edges[bin + 1])
            bin++;
        counts[bin]++;
    }
}

static void fill_quantiles(const column *c, size_t points, double *sample, double *model)
{
    double below = c->observed - (double)c->count;
    for (size_t k = 0; k < points; k++) {
        double share = ((double)k + 0.5) / (double)points;
        double rank = fmax(1, ceil(share * c->observed)); /* of an order statistic, from 1 on */
        sample[k] = c->observed > 0 && rank > below ? c->value[(size_t)(rank - below) - 1] : NAN;
        model[k] = c->b + c->s * ur_normal_quantile(share);
    }
}

/* whether the model was learned from as many cells */
static int is_fitted_to(const unrelu_gaussian *m, const column *c, size_t i, size_t above)
{
    return m->observed && m->positive && m->observed[i] == c->observed &&
           m->positive[i] == (double)above;
}

static unrelu_status examine(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    study *s = context;
    column *c = &s->columns[i];
    unrelu_goodness *g = s->out;
    double *scratch = ur_take(&arena, c->count, sizeof *scratch);
    UR_TRY(ur_arena_status(&arena, err));
    ur_sort(c->value, scratch, c->count);
    c->above = c->count;
    if (c->top > c->limit) { /* of cells with limits of their own: all is compared above them */
        size_t below = 0;
        c->limit = c->top;
        while (below < c->count && c->value[below] <= c->limit)
            below++;
        memmove(c->value, c->value + below, (c->count - below) * sizeof *c->value);
        c->count -= below;
    }
    /* a limit that was guessed is the smallest value, which was seen: the model's counts tell */
    if (is_fitted_to(s->model, c, i, c->above + c->equal))
        c->above += c->equal;
    ur_censored_column sorted = {c->value, c->count, c->observed, c->limit};
    g->observed[i] = c->observed;
    g->censored[i] = c->observed - (double)c->above;
    fill_histogram(c, g->bins, g->edges + i * (g->bins + 1), g->counts + i * g->bins);
    fill_quantiles(c, g->points, g->sample_quantile + i * g->points,
                   g->model_quantile + i * g->points);
    int known = c->s > 0 && c->s < INFINITY && isfinite(c->b) && c->observed > 0;
    int hidden = c->count == 0 && c->limit == c->top; /* all below limits of their own */
    g->ks[i] = known && !hidden ? ur_censored_distance(&sorted, c->b, c->s) : NAN;
    g->ties[i] = ur_censored_ties(&sorted);
    return UNRELU_OK;
}

/* ---- all of them ---- */

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
    UR_COUNT_FIELD(unrelu_goodness, n),
};

static void set_sizes(const void *goodness, size_t *sizes)
{
    const unrelu_goodness *g = goodness;
    sizes[0] = g->d;
    sizes[1] = g->bins + 1;
    sizes[2] = g->bins;
    sizes[3] = g->points;
}

static const ur_kind kind = {.name = "goodness",
                             .size = sizeof(unrelu_goodness),
                             .letters = "debp",
                             .set_sizes = set_sizes,
                             .tables = {UR_KIND_TABLE(fields)}};

static unrelu_status study_all(study *s, unrelu_source *samples, const unrelu_goodness_options *o,
                               const unrelu_exec *exec, unrelu_error *err)
{
    const unrelu_gaussian *m = s->model;
    size_t d = m->d;
    UR_TRY(unrelu_gaussian_match(m, samples, s->place, err));
    UR_TRY(read_columns(s, samples, o->limits, exec, err));
    s->out->n = s->rows;
    UR_TRY(ur_model_take_arrays(s->out, err));
    UR_TRY(ur_each(exec, "sorting", d, examine, s, err));
    ur_distance_test *tests = ur_take(s->arena, d, sizeof *tests);
    UR_TRY(ur_arena_status(s->arena, err));
    for (size_t i = 0; i < d; i++) {
        const column *c = &s->columns[i];
        tests[i] = (ur_distance_test){s->out->ks[i], c->observed, (c->b - c->limit) / c->s,
                                      m->method[0] && is_fitted_to(m, c, i, c->above), NAN};
    }
    UR_TRY(ur_distance_tests(tests, d, o->runs, o->seed, exec, err));
    for (size_t i = 0; i < d; i++)
        s->out->ks_p[i] = tests[i].p;
    return UNRELU_OK;
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
    unrelu_goodness *g = ur_model_new(&kind, err);
    if (!g)
        return UNRELU_ENOMEM;
    g->d = model->d;
    g->bins = o.bins ? o.bins : BINS;
    g->points = o.points ? o.points : POINTS;
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
    for (size_t i = 0; s.columns && i < model->d; i++)
        ur_free(s.columns[i].value);
    return ur_model_hand(g, status, out, err);
}

void unrelu_goodness_free(unrelu_goodness *g)
{
    ur_model_free(g);
}
