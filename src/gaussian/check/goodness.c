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
 * Columns are found by name, or taken in order where the names are mere numbers on one side. */
#include "gaussian/check/goodness.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "gaussian/cells/cells.h"
#include "law/normal.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NOISE_CENSORING = 3; /* as in prepare.c */

enum { LINE = 8, MOST = 1000000 }; /* columns in one line of the cache; bins, points, runs */

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
    double x, x_limit; /* that cell: infinite, NaN (not detected), or a value below its limit */
    unrelu_status status;
} column;

typedef struct {
    const unrelu_gaussian *model;
    const unrelu_source *source;
    const double *limit; /* of the source's columns, or NULL */
    ur_cells limits;     /* of its cells: n is 0 where there are none */
    size_t *place; /* of the source's columns: in the model, or d where the model has it not */
    column *columns;
    size_t rows;
    unrelu_goodness *out;
} study;

/* ---- which column is which ---- */

static int is_numbered(const unrelu_gaussian *m, const unrelu_source *source, size_t i)
{
    char number[32];
    snprintf(number, sizeof number, "x%zu", i + 1);
    return strcmp(source ? unrelu_source_name(source, i) : m->names[i], number) == 0;
}

static int all_numbered(const unrelu_gaussian *m, const unrelu_source *source, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_numbered(m, source, i))
            return 0;
    return 1;
}

/* A model's file has U+FFFD for what is not UTF-8: then ASCII decides. */
static int is_same_name(const char *found, const char *wanted)
{
    if (strcmp(found, wanted) == 0)
        return 1;
    if (!strstr(wanted, "\xef\xbf\xbd"))
        return 0;
    for (;; found++, wanted++) {
        while (*found & 0x80)
            found++;
        while (*wanted & 0x80)
            wanted++;
        if (*found != *wanted || !*found)
            return *found == *wanted;
    }
}

/* d: every name of the model is there; else the first that is not. Names in the model's own order
 * are found at once. */
static size_t match_names(const study *s, size_t width)
{
    size_t d = s->model->d, at = 0;
    for (size_t i = 0; i < d; i++) {
        size_t tried = 0;
        for (; tried < width; tried++, at++)
            if (s->place[at %= width] == d &&
                is_same_name(unrelu_source_name(s->source, at), s->model->names[i]))
                break;
        if (tried == width)
            return i;
        s->place[at] = i;
    }
    return d;
}

static unrelu_status match(study *s, unrelu_error *err)
{
    const unrelu_gaussian *m = s->model;
    size_t d = m->d, width = unrelu_source_columns(s->source), missing = 0;
    const char *label = ur_source_label(s->source);
    if (!(s->place = ur_alloc(width, sizeof *s->place)))
        return ur_fail_memory(err, width, "columns");
    for (size_t i = 0; i < width; i++)
        s->place[i] = d;
    int numbered = !m->names || all_numbered(m, NULL, d);
    if (width != d && numbered)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu columns, and the model %zu: give the samples of the model, or "
                       "choose its columns with --columns",
                       label, width, d);
    if (!numbered && (missing = match_names(s, width)) == d)
        return UNRELU_OK;
    if (!numbered && !(width == d && all_numbered(m, s->source, width)))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no column '%.80s', which the model has: its %zu columns are "
                       "'%.80s'%s",
                       label, m->names[missing], width, unrelu_source_name(s->source, 0),
                       width > 1 ? ", ..." : "");
    for (size_t i = 0; i < d; i++)
        s->place[i] = i;
    return UNRELU_OK;
}

/* ---- the pass ---- */

static int reserve(column *c, size_t rows)
{
    size_t wanted = c->count + rows;
    if (wanted <= c->capacity)
        return 1;
    wanted += c->capacity / 2;
    double *grown =
        wanted < SIZE_MAX / sizeof *grown ? realloc(c->value, wanted * sizeof *grown) : NULL;
    if (!grown)
        return 0;
    c->value = grown;
    c->capacity = wanted;
    return 1;
}

/* NaN: none */
static double limit_of(const study *s, size_t row, size_t at)
{
    double limit = row < s->limits.n ? s->limits.x[at * s->limits.n + row] : NAN;
    return isnan(limit) && s->limit ? s->limit[at] : limit;
}

static void check_cell(column *c, size_t row, double x, int below, double limit)
{
    int wrong = below ? isnan(x) && isnan(limit) : isinf(x) || (x != 0 && x < limit);
    if (!wrong || c->refused)
        return;
    c->refused = row + 1;
    c->x = x;
    c->x_limit = limit;
}

static double transformed(const column *c, double x)
{
    return c->transform == UNRELU_TRANSFORM_NONE ? x
                                                 : ur_transform_forth(c->transform, c->lambda, x);
}

static void keep(const study *s, column *c, const ur_block *block, size_t at)
{
    size_t missing = 0;
    if (c->status != UNRELU_OK)
        return;
    if (!reserve(c, block->rows)) {
        c->status = UNRELU_ENOMEM;
        return;
    }
    for (size_t i = 0; i < block->rows; i++) {
        double x = block->x[i * block->stride + at];
        double limit = limit_of(s, block->first_row + i, at);
        int below = block->below && block->below[i * block->d + at];
        check_cell(c, block->first_row + i, x, below, limit);
        if (below || (x == 0 && !isnan(limit))) {
            c->top = fmax(c->top, transformed(c, below && !isnan(x) ? x : limit));
            continue;
        }
        x = transformed(c, x);
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

static unrelu_status refuse(const study *s, const column *c, size_t at, unrelu_error *err)
{
    const char *label = ur_source_label(s->source);
    char name[160];
    ur_source_column_label(s->source, at, name, sizeof name);
    if (isinf(c->x))
        return ur_fail(err, UNRELU_EFORMAT, "%s: row %zu, %s is infinite: mend it, or make it NaN",
                       label, c->refused, name);
    if (isnan(c->x))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: row %zu, %s is 'ND' (not detected), and its limit is not known: give "
                       "it with --limit NAME=VALUE, or in a file with --limits",
                       label, c->refused, name);
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: row %zu, %s is %g, below the detection limit %g of that cell: a value was "
                   "seen there, or it was not; correct one of the two",
                   label, c->refused, name, c->x, c->x_limit);
}

static unrelu_status check_columns(const study *s, unrelu_error *err)
{
    const char *label = ur_source_label(s->source);
    if (s->rows == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows", label);
    for (size_t at = 0; at < unrelu_source_columns(s->source); at++) {
        const column *c = s->place[at] < s->model->d ? &s->columns[s->place[at]] : NULL;
        if (c && c->status != UNRELU_OK)
            return ur_fail_memory(err, s->rows * s->model->d, "cells");
        if (c && c->refused)
            return refuse(s, c, at, err);
    }
    return UNRELU_OK;
}

/* held in memory */
static unrelu_status read_limits(study *s, unrelu_source *limits, const unrelu_exec *exec,
                                 unrelu_error *err)
{
    const ur_cells_rules rules = {.negative = 1};
    size_t width = unrelu_source_columns(s->source);
    if (unrelu_source_columns(limits) != width)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu columns and %s %zu: each limit belongs to the cell at its place",
                       ur_source_label(s->source), width, ur_source_label(limits),
                       unrelu_source_columns(limits));
    for (size_t i = 0; i < width; i++)
        if (!is_same_name(unrelu_source_name(s->source, i), unrelu_source_name(limits, i)) &&
            !is_numbered(NULL, s->source, i) && !is_numbered(NULL, limits, i))
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu is '%.60s' in %s and '%.60s' in %s: each limit belongs to "
                           "the cell at its place",
                           i + 1, unrelu_source_name(s->source, i), ur_source_label(s->source),
                           unrelu_source_name(limits, i), ur_source_label(limits));
    return ur_cells_load(limits, &rules, exec, &s->limits, err);
}

static unrelu_status check_rows(const study *s, const unrelu_source *limits, unrelu_error *err)
{
    if (!limits || s->limits.n == s->rows)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s has %zu rows and %s %zu: each limit belongs to the cell at its place",
                   ur_source_label(s->source), s->rows, ur_source_label(limits), s->limits.n);
}

static unrelu_status read_columns(study *s, unrelu_source *samples, unrelu_source *limits,
                                  const unrelu_exec *exec, unrelu_error *err)
{
    static const ur_fold fold = {.step = step, .limits = 1};
    const unrelu_gaussian *m = s->model;
    if (!(s->columns = ur_alloc(m->d, sizeof *s->columns)))
        return ur_fail_memory(err, m->d, "columns");
    for (size_t i = 0; i < m->d; i++) {
        double noise = m->noise ? m->noise[i] : 0, limit = m->limit ? m->limit[i] : 0;
        s->columns[i] = (column){.limit = m->noise ? fmax(limit, NOISE_CENSORING * noise) : limit,
                                 .top = -INFINITY,
                                 .transform = m->transform,
                                 .lambda = m->lambda ? m->lambda[i] : 0,
                                 .b = m->b[i],
                                 .s = hypot(m->scale[i], noise)};
    }
    unrelu_status status = limits ? read_limits(s, limits, exec, err) : UNRELU_OK;
    if (status == UNRELU_OK)
        status = ur_source_rewind(samples, err);
    if (status == UNRELU_OK)
        status = ur_fold_run(samples, &fold, s, exec, "reading", err);
    if (status == UNRELU_OK)
        status = check_rows(s, limits, err);
    return status == UNRELU_OK ? check_columns(s, err) : status;
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

/* Where the largest values lie far out, the last bin is wide and the others show the bulk. */
static void fill_histogram(const column *c, size_t bins, double *edges, double *counts)
{
    size_t n = c->count;
    double low = isinf(c->limit) && n ? c->value[0] : c->limit;
    double high = n ? c->value[n - 1] : low;
    if (n && c->value[0] - low > 0.5 * (high - low))
        low = c->value[0];
    double middle = n ? c->value[n / 2] : 0, spread = n ? c->value[n - 1 - n / 10] - low : 0;
    double bulk = bins > 1 ? fmin(high, middle + 5 * spread) : high;
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

static double share_of_ties(const column *c)
{
    size_t tied = 0;
    for (size_t i = 0; i < c->count; i++)
        tied += (i > 0 && c->value[i] == c->value[i - 1]) ||
                (i + 1 < c->count && c->value[i] == c->value[i + 1]);
    return c->count ? (double)tied / (double)c->count : NAN;
}

/* Cells with limits of their own: all are compared above the largest of these. */
static void raise_limit(column *c)
{
    size_t below = 0;
    c->above = c->count;
    if (!(c->top > c->limit))
        return;
    c->limit = c->top;
    while (below < c->count && c->value[below] <= c->limit)
        below++;
    memmove(c->value, c->value + below, (c->count - below) * sizeof *c->value);
    c->count -= below;
}

/* A limit that was guessed is the smallest value, which was seen: the model's counts tell. */
static void count_as_fitted(const unrelu_gaussian *m, column *c, size_t i)
{
    if (m->observed && m->positive && m->observed[i] == c->observed &&
        m->positive[i] == (double)(c->above + c->equal))
        c->above += c->equal;
}

static void look_at(void *context, size_t i)
{
    study *s = context;
    column *c = &s->columns[i];
    unrelu_goodness *g = s->out;
    double *scratch = ur_doubles(c->count);
    if (!scratch) {
        c->status = UNRELU_ENOMEM;
        return;
    }
    ur_sort(c->value, scratch, c->count);
    free(scratch);
    raise_limit(c);
    count_as_fitted(s->model, c, i);
    ur_censored_column sorted = {c->value, c->count, c->observed, c->limit};
    g->observed[i] = c->observed;
    g->censored[i] = c->observed - (double)c->above;
    fill_histogram(c, g->bins, g->edges + i * (g->bins + 1), g->counts + i * g->bins);
    fill_quantiles(c, g->points, g->sample_quantile + i * g->points,
                   g->model_quantile + i * g->points);
    int known = c->s > 0 && c->s < INFINITY && isfinite(c->b) && c->observed > 0;
    int hidden = c->count == 0 && c->limit == c->top; /* all below limits of their own */
    g->ks[i] = known && !hidden ? ur_censored_distance(&sorted, c->b, c->s) : NAN;
    g->ties[i] = share_of_ties(c);
}

/* ---- all of them ---- */

static int is_fitted_to(const unrelu_gaussian *m, const column *c, size_t i)
{
    return m->method[0] && m->observed && m->positive && m->observed[i] == c->observed &&
           m->positive[i] == (double)c->above;
}

static unrelu_status test_columns(const study *s, size_t runs, uint64_t seed,
                                  const unrelu_exec *exec, unrelu_error *err)
{
    size_t d = s->model->d;
    ur_distance_test *tests = ur_alloc(d, sizeof *tests);
    if (!tests)
        return ur_fail_memory(err, d, "tests");
    for (size_t i = 0; i < d; i++) {
        const column *c = &s->columns[i];
        tests[i] = (ur_distance_test){s->out->ks[i], c->observed, (c->b - c->limit) / c->s,
                                      is_fitted_to(s->model, c, i), NAN};
    }
    unrelu_status status = ur_distance_tests(tests, d, runs, seed, exec, err);
    for (size_t i = 0; status == UNRELU_OK && i < d; i++)
        s->out->ks_p[i] = tests[i].p;
    free(tests);
    return status;
}

static unrelu_status allocate(unrelu_goodness *g, unrelu_error *err)
{
    size_t row = sizeof(double);
    g->observed = ur_doubles(g->d);
    g->censored = ur_doubles(g->d);
    g->edges = ur_alloc(g->d, (g->bins + 1) * row);
    g->counts = ur_alloc(g->d, g->bins * row);
    g->sample_quantile = ur_alloc(g->d, g->points * row);
    g->model_quantile = ur_alloc(g->d, g->points * row);
    g->ks = ur_doubles(g->d);
    g->ks_p = ur_doubles(g->d);
    g->ties = ur_doubles(g->d);
    if (g->observed && g->censored && g->edges && g->counts && g->sample_quantile &&
        g->model_quantile && g->ks && g->ks_p && g->ties)
        return UNRELU_OK;
    return ur_fail_memory(err, g->d, "columns");
}

static unrelu_status examine(study *s, size_t runs, uint64_t seed, const unrelu_exec *exec,
                             unrelu_error *err)
{
    s->out->n = s->rows;
    unrelu_status status = allocate(s->out, err);
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "sorting", s->model->d, look_at, s, err);
    if (status == UNRELU_OK)
        status = check_columns(s, err);
    return status == UNRELU_OK ? test_columns(s, runs, seed, exec, err) : status;
}

unrelu_status unrelu_gaussian_goodness(const unrelu_gaussian *model, unrelu_source *samples,
                                       const unrelu_goodness_options *options,
                                       const unrelu_exec *exec, unrelu_goodness *out,
                                       unrelu_error *err)
{
    unrelu_goodness_options o = options ? *options : (unrelu_goodness_options){0};
    study s = {.model = model, .source = samples, .limit = o.limit, .out = out};
    size_t runs = o.runs ? o.runs : 999;
    *out = (unrelu_goodness){
        .d = model->d, .bins = o.bins ? o.bins : 40, .points = o.points ? o.points : 100};
    unrelu_status status = UNRELU_OK;
    if (o.bins > MOST || o.points > MOST || o.runs > MOST)
        status = ur_fail(err, UNRELU_EUSAGE, "bins, points and runs are at most %d", MOST);
    if (status == UNRELU_OK)
        status = match(&s, err);
    if (status == UNRELU_OK)
        status = read_columns(&s, samples, o.limits, exec, err);
    if (status == UNRELU_OK)
        status = examine(&s, runs, o.seed, exec, err);
    for (size_t i = 0; s.columns && i < model->d; i++)
        free(s.columns[i].value);
    free(s.columns);
    free(s.place);
    ur_cells_free(&s.limits);
    if (status != UNRELU_OK)
        unrelu_goodness_free(out);
    return status;
}

void unrelu_goodness_free(unrelu_goodness *g)
{
    double *arrays[] = {g->observed,       g->censored, g->edges, g->counts, g->sample_quantile,
                        g->model_quantile, g->ks,       g->ks_p,  g->ties};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *g = (unrelu_goodness){0};
}
