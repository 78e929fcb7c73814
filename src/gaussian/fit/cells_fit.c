/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of cells that have limits of their own, or are transformed: the whole file in memory,
 * each margin and each pair by its exact censored likelihood. Costs about 0.1 us a row and pair;
 * the one pass of the default is for everything that has one limit a column. */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/cells/cells.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/cell_pair.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_ROWS = 3 };

typedef struct {
    ur_fit fit; /* options, exec, source, model; what reads no moments of it serves here too */
    ur_cells cells;
    size_t d;                /* columns that are fitted */
    size_t *index;           /* d: in the file */
    ur_cell_column *columns; /* of the file */
    double *lambda;          /* of the file */
    int *exponent;           /* of the file: cells are in units of 2^exponent */
    double *at;              /* of the file: --censor-at */
    double *product_se;      /* d x d */
    size_t guessed, guessed_columns;
    unrelu_status *status; /* of the file's columns: those of the parallel parts */
} work;

static void work_free(work *w)
{
    for (size_t j = 0; w->columns && j < w->cells.d; j++)
        ur_cell_column_free(&w->columns[j]);
    free(w->columns);
    free(w->index);
    free(w->lambda);
    free(w->exponent);
    free(w->at);
    free(w->product_se);
    free(w->status);
    ur_cells_free(&w->cells);
}

static unrelu_status load(work *w, unrelu_error *err)
{
    const unrelu_gaussian_options *o = w->fit.options;
    size_t d = unrelu_source_columns(w->fit.source);
    w->at = ur_doubles(d);
    unrelu_status status = w->at ? UNRELU_OK : ur_fail_memory(err, d, "limits");
    if (status == UNRELU_OK)
        status = ur_limits(o, d, w->at, err);
    ur_cells_rules rules = {.at = w->at, .limit = o->limit, .limits = o->limits};
    if (status == UNRELU_OK)
        status = ur_cells_load(w->fit.source, &rules, w->fit.exec, &w->cells, err);
    if (status == UNRELU_OK && w->cells.n < FEWEST_ROWS)
        status =
            ur_fail(err, UNRELU_EDATA, "%zu row%s cannot support a fit: at least %d are needed",
                    w->cells.n, w->cells.n == 1 ? "" : "s", FEWEST_ROWS);
    w->columns = ur_alloc(d, sizeof *w->columns);
    w->index = ur_alloc(d, sizeof *w->index);
    w->lambda = ur_doubles(d);
    w->exponent = ur_alloc(d, sizeof *w->exponent);
    w->status = ur_alloc(d, sizeof *w->status);
    if (status == UNRELU_OK &&
        (!w->columns || !w->index || !w->lambda || !w->exponent || !w->status))
        status = ur_fail_memory(err, d, "columns");
    return status;
}

/* ---- margins ---- */

static unrelu_status transform(work *w, size_t j, unrelu_error *err)
{
    const unrelu_gaussian_options *o = w->fit.options;
    size_t n = w->cells.n, guessed = 0;
    double *x = w->cells.x + j * n;
    const unsigned char *state = w->cells.state + j * n;
    char label[160];
    unrelu_status status = UNRELU_OK;
    ur_source_column_label(w->fit.source, j, label, sizeof label);
    w->lambda[j] = o->transform == UNRELU_TRANSFORM_BOXCOX ? o->boxcox : 0;
    if (o->transform == UNRELU_TRANSFORM_BOXCOX && isnan(o->boxcox))
        status = ur_transform_estimate(n, x, state, label, &w->lambda[j], err);
    if (status == UNRELU_OK)
        status = ur_transform_column(o->transform, w->lambda[j], n, x, state, label, &guessed, err);
    w->guessed += guessed;
    w->guessed_columns += guessed > 0;
    return status;
}

/* squares of cells must be numbers */
static void rescale(work *w, size_t j)
{
    double *x = w->cells.x + j * w->cells.n, top = 0;
    for (size_t i = 0; i < w->cells.n; i++)
        top = isfinite(x[i]) ? fmax(top, fabs(x[i])) : top;
    int e = top > 0 ? ilogb(top) : 0;
    w->exponent[j] = abs(e) > 200 ? e : 0;
    for (size_t i = 0; i < w->cells.n && w->exponent[j] != 0; i++)
        x[i] = ldexp(x[i], -e);
}

static unrelu_status refuse_column(const work *w, size_t j, unrelu_error *err)
{
    char label[160];
    ur_source_column_label(w->fit.source, j, label, sizeof label);
    if (w->columns[j].margin.below == 0 && w->columns[j].margin.seen == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no observed value: leave it out with --drop",
                       label);
    if (w->columns[j].margin.margin.verdict == UR_MARGIN_NO_MAXIMUM)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: its %zu seen values are equal and none of its limits lies below them: "
                       "its scale cannot be learned; leave such columns out with --drop",
                       label, w->columns[j].margin.seen);
    return ur_fail(err, UNRELU_EDATA,
                   "%s: all of its %zu cells are below their limits: its bias and scale cannot be "
                   "learned; leave such columns out with --drop",
                   label, w->columns[j].margin.below);
}

static int is_fitted(const ur_cell_column *c)
{
    ur_margin_verdict verdict = c->margin.margin.verdict;
    return verdict != UR_MARGIN_ALL_ZERO && verdict != UR_MARGIN_NO_MAXIMUM;
}

static unrelu_status fit_margins(work *w, unrelu_error *err)
{
    size_t n = w->cells.n, all = w->cells.d;
    unrelu_status status = UNRELU_OK;
    for (size_t j = 0; j < all && status == UNRELU_OK; j++) {
        status = transform(w, j, err);
        if (status == UNRELU_OK)
            rescale(w, j);
        if (status == UNRELU_OK)
            status = ur_cell_column_open(n, w->cells.x + j * n, w->cells.state + j * n,
                                         &w->columns[j], err);
        if (status == UNRELU_OK && is_fitted(&w->columns[j]))
            w->index[w->d++] = j;
        else if (status == UNRELU_OK && !w->fit.options->drop)
            status = refuse_column(w, j, err);
    }
    if (status == UNRELU_OK && w->d == 0)
        status =
            ur_fail(err, UNRELU_EDATA, "none of the %zu columns has a value above its limits", all);
    if (status == UNRELU_OK && w->d < all)
        status = ur_warn(w->fit.model, "dropped", err,
                         "left out for want of a value above its limits: %zu of %zu columns",
                         all - w->d, all);
    return status;
}

/* ---- the model ---- */

/* The limit of the model: the largest of the column's that lies below all values seen, so that
 * what is at or below it was censored in every row; else where 0 goes */
static double common_limit(const work *w, size_t j)
{
    const ur_cell_column *c = &w->columns[j];
    const double *x = w->cells.x + j * c->n;
    double least = INFINITY, limit = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == UR_SEEN)
            least = fmin(least, x[i]);
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == UR_BELOW && x[i] <= least)
            limit = fmax(limit, x[i]);
    return isinf(limit)
               ? ldexp(ur_transform_forth(w->fit.options->transform, w->lambda[j], w->at[j]),
                       -w->exponent[j])
               : limit;
}

static unrelu_status set_columns(work *w, unrelu_error *err)
{
    unrelu_gaussian *m = w->fit.model;
    const unrelu_gaussian_options *o = w->fit.options;
    ur_fit_name_method(m, o);
    m->n = w->cells.n;
    m->transform = o->transform;
    m->limit = ur_doubles(m->d);
    m->lambda = o->transform == UNRELU_TRANSFORM_BOXCOX ? ur_doubles(m->d) : NULL;
    if (!m->limit || (o->transform == UNRELU_TRANSFORM_BOXCOX && !m->lambda))
        return ur_fail_memory(err, m->d, "limits");
    for (size_t i = 0; i < m->d; i++) {
        size_t j = w->index[i];
        const ur_margin *margin = &w->columns[j].margin.margin;
        int e = w->exponent[j];
        if (!(m->names[i] = ur_string_copy(unrelu_source_name(w->fit.source, j))))
            return ur_fail_memory(err, m->d, "names");
        m->observed[i] = (double)(w->columns[j].margin.seen + w->columns[j].margin.below);
        m->positive[i] = (double)w->columns[j].margin.seen;
        m->limit[i] = ldexp(common_limit(w, j), e);
        m->b[i] = ldexp(margin->b, e);
        m->b_se[i] = ldexp(margin->b_se, e);
        m->scale[i] = ldexp(margin->s, e);
        m->scale_se[i] = ldexp(margin->s_se, e);
        m->flags[i] = ur_fit_flags(m->observed[i], m->positive[i], margin);
        if (m->lambda)
            m->lambda[i] = w->lambda[j];
    }
    return UNRELU_OK;
}

/* ---- pairs ---- */

static double count_both(const ur_cell_column *a, const ur_cell_column *b, double *joint)
{
    size_t both = 0, seen = 0;
    for (size_t i = 0; i < a->n; i++) {
        both += a->state[i] != UR_MISSING && b->state[i] != UR_MISSING;
        seen += a->state[i] == UR_SEEN && b->state[i] == UR_SEEN;
    }
    *joint = (double)seen;
    return (double)both;
}

/* row i of the pairs: i with all before it */
static void solve_row(void *context, size_t i)
{
    work *w = context;
    unrelu_gaussian *m = w->fit.model;
    const ur_cell_column *a = &w->columns[w->index[i]];
    ur_fit_pairs out = {m->correlation, m->correlation_se, w->product_se, m->n_pair, m->pair_flags};
    double *room = NULL;
    size_t size = 0;
    m->correlation[i * m->d + i] = 1;
    m->n_pair[i * m->d + i] = m->observed[i];
    for (size_t j = 0; j < i && w->status[i] == UNRELU_OK; j++) {
        const ur_cell_column *b = &w->columns[w->index[j]];
        ur_pair pair = {0};
        double joint, n = count_both(b, a, &joint);
        w->status[i] = ur_cell_pair_fit(b, a, &room, &size, &pair, NULL);
        if (a->margin.margin.s == 0 || b->margin.margin.s == 0) /* constant: set to 0 */
            joint = INFINITY;
        ur_fit_store(&out, m->d, j, i, n, joint, pair);
    }
    free(room);
}

static unrelu_status solve_pairs(work *w, unrelu_error *err)
{
    size_t d = w->fit.model->d;
    if (!(w->product_se = ur_alloc(d, d * sizeof *w->product_se)))
        return ur_fail_memory(err, d * d, "standard errors");
    unrelu_status status = ur_parallel_for(w->fit.exec, "pairs", d, solve_row, w, err);
    for (size_t i = 0; i < d && status == UNRELU_OK; i++)
        if (w->status[i] != UNRELU_OK)
            status = ur_fail_memory(err, w->cells.n, "numbers of a pair");
    return status;
}

/* ---- warnings of this way alone ---- */

static unrelu_status warn_cells(work *w, unrelu_error *err)
{
    unrelu_gaussian *m = w->fit.model;
    size_t missing = 0;
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < w->cells.n * w->cells.d; i++)
        missing += w->cells.state[i] == UR_MISSING;
    if (missing > 0)
        status = ur_warn_missing(m, (double)missing, (double)(w->cells.n * w->cells.d), err);
    if (status == UNRELU_OK && w->guessed > 0)
        status = ur_warn(m, "limit-guessed", err,
                         "%zu cell%s of %zu column%s are censored and have no limit on this scale: "
                         "the smallest value of the column was taken; give limits with --limit or "
                         "--limits",
                         w->guessed, w->guessed == 1 ? "" : "s", w->guessed_columns,
                         w->guessed_columns == 1 ? "" : "s");
    return status;
}

int ur_fit_needs_cells(const unrelu_gaussian_options *o)
{
    return o->angles == UNRELU_ANGLES_LIKELIHOOD || o->transform != UNRELU_TRANSFORM_NONE ||
           o->limit || o->limits;
}

/* what this way cannot do is said, not ignored */
static unrelu_status check_options(const unrelu_gaussian_options *o, unrelu_error *err)
{
    const char *what = o->norms != UNRELU_NORMS_CENSORED  ? "--norms other than censored"
                       : o->angles == UNRELU_ANGLES_SIGNS ? "--angles signs"
                       : o->literal                       ? "--method paper"
                       : o->additive_noise != 0           ? "--additive-noise"
                       : o->robust                        ? "--robust"
                                                          : NULL;
    if (what)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s does not go with limits of single cells, transforms and --angles "
                       "likelihood: these are fitted by the censored likelihood alone",
                       what);
    if (o->transform != UNRELU_TRANSFORM_NONE && o->censor_at)
        return ur_fail(err, UNRELU_EUSAGE,
                       "--censor-at does not go with --transform: give limits with --limit or "
                       "--limits");
    return UNRELU_OK;
}

unrelu_status ur_fit_cells(unrelu_source *source, const unrelu_gaussian_options *options,
                           const unrelu_exec *exec, unrelu_gaussian *model, unrelu_error *err)
{
    unrelu_gaussian_options o = *options;
    o.angles = UNRELU_ANGLES_LIKELIHOOD; /* also where the file alone asks for it */
    work w = {.fit = {.options = &o, .exec = exec, .source = source, .model = model}};
    unrelu_status status = check_options(options, err);
    if (status == UNRELU_OK)
        status = load(&w, err);
    if (status == UNRELU_OK)
        status = fit_margins(&w, err);
    unrelu_warning *warnings = model->warnings;
    size_t warning_count = model->warning_count;
    if (status == UNRELU_OK) {
        status = ur_gaussian_allocate(model, w.d, 1, err);
        model->warnings = warnings;
        model->warning_count = warning_count;
    }
    if (status == UNRELU_OK)
        status = set_columns(&w, err);
    if (status == UNRELU_OK)
        status = solve_pairs(&w, err);
    if (status == UNRELU_OK)
        status = warn_cells(&w, err);
    if (status == UNRELU_OK)
        status = ur_fit_finish(&w.fit, w.product_se, err);
    work_free(&w);
    return status;
}
