/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of cells that have limits of their own, or are transformed: the whole file in memory,
 * each margin and each pair by its exact censored likelihood. Costs about 0.1 us a row and pair;
 * the one pass of the default is for everything that has one limit a column. */
#include "base/error.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/judge.h"
#include "gaussian/joint/row_likelihood.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/cell_joint.h"
#include "law/cell_left_out.h"
#include "law/cell_pair.h"
#include "law/power.h"
#include "pass/parallel.h"
#include "read/groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exponents beyond which a column is taken in another unit: squares of its cells must be numbers.
 * Their sums have 2^1023 / 2^400 to spare. */
enum { FAR_EXPONENT = 200 };

typedef struct {
    const unrelu_gaussian_options *options;
    unrelu_source *source;
    unrelu_gaussian *model;
    ur_arena *arena;
    ur_cells cells;
    size_t d;                        /* columns that are fitted */
    size_t *index;                   /* d: in the file */
    ur_cell_column *columns;         /* of the file */
    double *lambda;                  /* of the file */
    const double *known_lambda;      /* of the file, or NULL */
    ur_groups groups;                /* of errors by clusters; count 0: none */
    int *exponent;                   /* of the file: cells are in units of 2^exponent */
    double *at;                      /* of the file: --censor-at */
    int robust;                      /* which errors */
    double *product_se;              /* d x d */
    size_t guessed, guessed_columns; /* cells without an image of their limit */
} work;

/* ---- margins ---- */

/* column j on the model's scale, in a unit in which squares of cells are numbers, and its margin */
static unrelu_status fit_margin(work *w, size_t j, unrelu_error *err)
{
    const unrelu_gaussian_options *o = w->options;
    size_t n = w->cells.n, guessed = 0;
    double *x = w->cells.x + j * n, top = 0;
    double *upper = w->cells.upper ? w->cells.upper + j * n : NULL;
    const unsigned char *state = w->cells.state + j * n;
    char label[160];
    ur_source_column_label(w->source, j, label, sizeof label);
    w->lambda[j] = o->transform != UNRELU_TRANSFORM_BOXCOX ? 0
                   : w->known_lambda                       ? w->known_lambda[j]
                                                           : o->boxcox;
    if (isnan(w->lambda[j]))
        UR_TRY(ur_transform_estimate(n, x, upper, state, label, &w->lambda[j], err));
    UR_TRY(
        ur_transform_column(o->transform, w->lambda[j], n, x, upper, state, label, &guessed, err));
    w->guessed += guessed;
    w->guessed_columns += guessed > 0;
    for (size_t i = 0; i < n; i++)
        top = isfinite(x[i]) ? fmax(top, fabs(x[i])) : top;
    for (size_t i = 0; i < n && upper; i++)
        top = isfinite(upper[i]) ? fmax(top, fabs(upper[i])) : top;
    int e = top > 0 ? ilogb(top) : 0;
    w->exponent[j] = abs(e) > FAR_EXPONENT ? e : 0;
    for (size_t i = 0; i < n && w->exponent[j] != 0; i++)
        x[i] = ldexp(x[i], -e);
    for (size_t i = 0; i < n && upper && w->exponent[j] != 0; i++)
        upper[i] = ldexp(upper[i], -e);
    UR_TRY(ur_cell_column_open(w->arena, n, x, upper, state, &w->columns[j], err));
    const ur_cell_margin *m = &w->columns[j].margin;
    int flat = m->margin.verdict == UR_MARGIN_NO_MAXIMUM;
    if (m->margin.verdict != UR_MARGIN_ALL_ZERO && !flat)
        w->index[w->d++] = j;
    else if (!o->drop && m->below + m->above + m->between + m->seen == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no observed value: leave it out with `drop`",
                       label);
    else if (!o->drop && flat && m->above + m->between > 0)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: one and the same value agrees with each of its %zu cells, seen, above "
                       "limits, below them or between two: its scale cannot be learned; leave such "
                       "columns out with `drop`",
                       label, m->seen + m->above + m->below + m->between);
    else if (!o->drop && flat)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: its %zu seen values are equal and none of its limits lies below them: "
                       "its scale cannot be learned; leave such columns out with `drop`",
                       label, m->seen);
    else if (!o->drop)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: all of its %zu cells are %s their limits: its bias and scale cannot "
                       "be learned; leave such columns out with `drop`",
                       label, m->below + m->above, m->below ? "below" : "above");
    return UNRELU_OK;
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
    if (isinf(limit) && ur_source_is_uncensored(w->source, j))
        return -INFINITY;
    return isinf(limit)
               ? ldexp(ur_transform(w->options->transform, w->lambda[j], w->at[j]), -w->exponent[j])
               : limit;
}

/* sums over rows, each left out in turn, or over clusters of rows, of what they move b and scale by
 */
static unrelu_status add_squares(const work *w, const ur_cell_column *c, ur_group_squares *out,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    if (w->groups.count == 0) {
        ur_cell_left_out moved = ur_cell_left_out_sums(c);
        *out = (ur_group_squares){moved.bb, moved.bs, moved.ss, moved.ssss};
        return UNRELU_OK;
    }
    double *room = ur_take(&arena, 2 * w->groups.count, sizeof *room);
    UR_TRY(ur_arena_status(&arena, err));
    *out = ur_groups_squares(&w->groups, c->b_by, c->s_by, room);
    return UNRELU_OK;
}

/* The errors of b and scale: of the model, or the spread of what each row moves them by, which
 * holds whatever the law (the sandwich). */
static unrelu_status set_margin_errors(const work *w, size_t j, size_t i, unrelu_error *err)
{
    unrelu_gaussian *m = w->model;
    const ur_cell_column *c = &w->columns[j];
    const ur_margin *margin = &c->margin.margin;
    int e = w->exponent[j];
    double b_se = margin->b_se, s_se = margin->s_se, bs = margin->bs;
    if (w->robust && margin->s > 0 && isfinite(b_se) && isfinite(s_se)) {
        ur_group_squares moved;
        UR_TRY(add_squares(w, c, &moved, err));
        if (ur_fit_heavy_tails(moved.bb, moved.bbbb, (double)c->margin.seen))
            m->flags[i] |= UNRELU_FLAG_HEAVY_TAILS;
        b_se = sqrt(moved.aa);
        s_se = sqrt(moved.bb);
        bs = moved.ab;
    }
    m->b_se[i] = ldexp(b_se, e);
    m->scale_se[i] = ldexp(s_se, e);
    m->b_scale_cov[i] = ur_fit_covariance(bs, e);
    return UNRELU_OK;
}

/* The error of (b - limit) / s at the limit of the column where it is least: a limit far above all
 * values seen says nothing of how well the column is known. */
static double least_gamma_se(const work *w, size_t j)
{
    const ur_cell_column *c = &w->columns[j];
    const double *x = w->cells.x + j * c->n, *V = c->margin.V;
    const ur_margin *m = &c->margin.margin;
    double least = INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        double gamma = (m->b - x[i]) / m->s;
        if (c->state[i] == UR_BELOW)
            least = fmin(least, sqrt(V[0] - gamma * (2 * V[1] - gamma * V[2])) / m->s);
    }
    return isinf(least) ? m->gamma_se : least;
}

static int estimates_power(const unrelu_gaussian_options *o)
{
    return o->transform == UNRELU_TRANSFORM_BOXCOX && isnan(o->boxcox);
}

/* what the logarithm of the likelihood of column j gains in the unit of the data */
static double unit_part(const work *w, size_t j)
{
    const ur_cell_column *c = &w->columns[j];
    const double *x = w->cells.x + j * c->n;
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == UR_SEEN)
            sum +=
                ur_fit_log_slope(w->options->transform, w->lambda[j], ldexp(x[i], w->exponent[j])) -
                w->exponent[j] * M_LN2;
    return sum;
}

/* of three columns or more, with an interval where rows hide more than two cells */
static unrelu_status set_rows_likelihood(const work *w, const unrelu_exec *exec, double unit,
                                         unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_gaussian *m = w->model;
    const ur_cell_column **column = ur_take(&arena, m->d, sizeof *column);
    ur_joint_likelihood joint;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < m->d; i++)
        column[i] = &w->columns[w->index[i]];
    const ur_joint_columns columns = {w->cells.n, m->d, column, m->correlation};
    UR_TRY(ur_row_likelihoods(&columns, exec, &joint, err));
    m->joint_loglik = joint.value + unit;
    if (!(joint.error > 0))
        return UNRELU_OK;
    double half = -unrelu_normal_quantile((1 - m->level) / 2) * joint.error;
    m->joint_loglik_ci = ur_take(ur_model_arena(m), 2, sizeof *m->joint_loglik_ci);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    m->joint_loglik_ci[0] = m->joint_loglik - half;
    m->joint_loglik_ci[1] = m->joint_loglik + half;
    return UNRELU_OK;
}

/* a pair at the solver's limit: its likelihood rises beyond */
static int has_copies(const unrelu_gaussian *m)
{
    int found = 0;
    for (size_t i = 0; i < m->d * m->d; i++)
        found |= m->pair_flags[i] & UNRELU_FLAG_DUPLICATE;
    return found;
}

/* again: a fit to rows drawn again, of which nobody asks it */
static unrelu_status set_joint_likelihood(const work *w, const unrelu_exec *exec, int again,
                                          unrelu_error *err)
{
    unrelu_gaussian *m = w->model;
    double unit = 0;
    for (size_t i = 0; i < m->d; i++)
        unit += unit_part(w, w->index[i]);
    if (m->d == 1)
        m->joint_loglik = m->loglik[0];
    if (has_copies(m))
        return UNRELU_OK;
    if (m->d > 2 && !again)
        return set_rows_likelihood(w, exec, unit, err);
    if (m->d != 2)
        return UNRELU_OK;
    double sum = unit + ur_cell_joint_likelihood(&w->columns[w->index[0]], &w->columns[w->index[1]],
                                                 m->correlation[1]);
    m->joint_loglik = isfinite(sum) ? sum : NAN;
    return UNRELU_OK;
}

static unrelu_status set_columns(work *w, unrelu_error *err)
{
    unrelu_gaussian *m = w->model;
    const unrelu_gaussian_options *o = w->options;
    ur_fit_name_method(m, o);
    m->n = w->cells.n;
    UR_TRY(ur_gaussian_set_reading(m, w->source, w->index, err));
    m->errors = w->robust ? "robust" : "model";
    m->transform = o->transform;
    ur_arena *arena = ur_model_arena(m);
    const char **names = ur_take(arena, m->d, sizeof *names);
    m->limit = ur_take(arena, m->d, sizeof *m->limit);
    if (o->transform == UNRELU_TRANSFORM_BOXCOX)
        m->lambda = ur_take(arena, m->d, sizeof *m->lambda);
    UR_TRY(ur_arena_status(arena, err));
    m->names = names;
    UR_TRY(ur_fit_take_likelihoods(m, err));
    for (size_t i = 0; i < m->d; i++) {
        size_t j = w->index[i];
        const ur_cell_margin *cells = &w->columns[j].margin;
        const ur_margin *margin = &cells->margin;
        int e = w->exponent[j];
        names[i] = ur_take_copy(arena, unrelu_source_name(w->source, j));
        m->observed[i] = (double)(cells->seen + cells->below + cells->above + cells->between);
        m->positive[i] = (double)cells->seen;
        m->limit[i] = ldexp(common_limit(w, j), e);
        m->b[i] = ldexp(margin->b, e);
        m->scale[i] = ldexp(margin->s, e);
        ur_margin judged = *margin;
        judged.gamma_se = least_gamma_se(w, j);
        m->flags[i] = ur_fit_flags(m->observed[i], m->positive[i], &judged);
        if (ur_source_is_uncensored(w->source, j)) /* none was to be expected */
            m->flags[i] &= ~(uint32_t)UNRELU_FLAG_NO_ZEROS;
        UR_TRY(set_margin_errors(w, j, i, err));
        if (m->lambda)
            m->lambda[i] = w->lambda[j];
        ur_fit_set_likelihood(m, i, cells->likelihood + unit_part(w, j),
                              estimates_power(o) ? UR_MARGIN_PARAMETERS + 1 : UR_MARGIN_PARAMETERS);
    }
    return ur_arena_status(arena, err);
}

/* flags a column that is far from its normal: see judge.h */
static unrelu_status judge(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    work *w = context;
    size_t j = w->index[i], n = w->cells.n;
    const ur_cell_column *c = &w->columns[j];
    const ur_margin *margin = &c->margin.margin;
    const ur_known known = {.n = n,
                            .x = w->cells.x + j * n,
                            .upper = w->cells.upper ? w->cells.upper + j * n : NULL,
                            .state = w->cells.state + j * n, /* as x is: 0..1 has a logarithm too */
                            .scale = {.transform = w->options->transform,
                                      .lambda = w->lambda[j],
                                      .exponent = w->exponent[j]}};
    ur_steps steps;
    if (!(margin->s > 0 && isfinite(margin->s) && isfinite(margin->b)))
        return UNRELU_OK;
    UR_TRY(ur_steps_find(&arena, &known, &steps, err));
    if (ur_judge_is_far(ur_steps_distance(&steps, margin->b, margin->s, NULL), steps.seen))
        w->model->flags[i] |= UNRELU_FLAG_MISFIT;
    return UNRELU_OK;
}

/* ---- pairs ---- */

/* what rows move rho by, in by_row, and the product of rho and the scales, over these: over
 * clusters
 */
static void set_pair_clusters(const work *w, const ur_cell_column *c1, const ur_cell_column *c2,
                              double *product, double *room, ur_pair *pair)
{
    if (!pair->by_row || isnan(pair->rho_se))
        return;
    double r1 = pair->rho / c1->margin.margin.s, r2 = pair->rho / c2->margin.margin.s;
    for (size_t k = 0; k < c1->n; k++)
        product[k] = pair->by_row[k] + r1 * c1->s_by[k] + r2 * c2->s_by[k];
    ur_group_squares moved = ur_groups_squares(&w->groups, pair->by_row, product, room);
    pair->rho_se = sqrt(moved.aa);
    pair->product_se = sqrt(moved.bb);
}

/* row i of the pairs: i with all before it */
static unrelu_status solve_row(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    work *w = context;
    unrelu_gaussian *m = w->model;
    const ur_cell_column *a = &w->columns[w->index[i]];
    ur_fit_pairs out = {.rho = m->correlation,
                        .rho_se = m->correlation_se,
                        .product_se = w->product_se,
                        .n_pair = m->n_pair,
                        .flags = m->pair_flags,
                        .by_all_rows = 1};
    double *room = ur_cell_pair_room(&arena, w->cells.n);
    size_t clusters = w->groups.count;
    double *product = clusters ? ur_take(&arena, w->cells.n, sizeof *product) : NULL,
           *sums = clusters ? ur_take(&arena, clusters, 2 * sizeof *sums) : NULL;
    UR_TRY(ur_arena_status(&arena, err));
    m->correlation[i * m->d + i] = 1;
    m->n_pair[i * m->d + i] = m->observed[i];
    for (size_t j = 0; j < i; j++) {
        const ur_cell_column *b = &w->columns[w->index[j]];
        int constant = a->margin.margin.s == 0 || b->margin.margin.s == 0; /* rho is set to 0 */
        ur_pair pair = {0};
        size_t both = 0, seen = 0;
        for (size_t k = 0; k < a->n; k++) {
            both += (a->state[k] != UR_MISSING) & (b->state[k] != UR_MISSING);
            seen += (a->state[k] == UR_SEEN) & (b->state[k] == UR_SEEN);
        }
        ur_cell_pair_fit(b, a, room, &pair);
        if (clusters)
            set_pair_clusters(w, b, a, product, sums, &pair);
        if (!w->robust) {
            pair.rho_se = pair.model_rho_se;
            pair.product_se = pair.model_product_se;
        }
        ur_fit_store(&out, m->d, j, i, (double)both, constant ? INFINITY : (double)seen, pair);
    }
    return UNRELU_OK;
}

/* ---- the walk ---- */

static void warn_at_limit(const work *w)
{
    const ur_cells *c = &w->cells;
    if (c->at_limit > 0)
        ur_model_warn(
            w->model, "at-limit",
            "%zu value%s of %zu column%s (the first: %.40s) equal%s the limit of the cell, "
            "and nothing says whether it was seen: taken as seen; where the limit was "
            "written for what lies below it, write 0 or '<' and the limit there, or name "
            "the columns that tell (`indicator`)",
            c->at_limit, c->at_limit == 1 ? "" : "s", c->at_limit_columns,
            c->at_limit_columns == 1 ? "" : "s", unrelu_source_name(w->source, c->at_limit_first),
            c->at_limit == 1 ? "s" : "");
}

int ur_fit_needs_cells(const unrelu_gaussian_options *o)
{
    return o->angles == UNRELU_ANGLES_LIKELIHOOD || o->transform != UNRELU_TRANSFORM_NONE ||
           o->limit || o->limits;
}

unrelu_status ur_fit_cells(unrelu_source *source, const unrelu_gaussian_options *options,
                           const double *lambda, const unrelu_exec *exec, unrelu_gaussian *model,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_gaussian_options o = *options;
    /* what this way cannot do is said, not ignored */
    const char *what = o.norms != UNRELU_NORMS_CENSORED  ? "`norms` other than censored"
                       : o.angles == UNRELU_ANGLES_SIGNS ? "`angles` signs"
                       : o.literal                       ? "`method` paper"
                       : o.additive_noise != 0           ? "`additive-noise`"
                       : o.robust                        ? "`robust`"
                                                         : NULL;
    if (what)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s does not go with limits of single cells, transforms and `angles` "
                       "likelihood: these are fitted by the censored likelihood alone",
                       what);
    o.angles = UNRELU_ANGLES_LIKELIHOOD; /* also where the file alone asks for it */
    size_t all = unrelu_source_columns(source), missing = 0;
    work w = {.options = &o, .source = source, .model = model, .arena = &arena};
    w.robust = o.errors != UNRELU_ERRORS_MODEL && o.errors != UNRELU_ERRORS_BOOTSTRAP;
    w.known_lambda = lambda;
    w.at = ur_take(&arena, all, sizeof *w.at);
    w.columns = ur_take(&arena, all, sizeof *w.columns);
    w.index = ur_take(&arena, all, sizeof *w.index);
    w.lambda = ur_take(&arena, all, sizeof *w.lambda);
    w.exponent = ur_take(&arena, all, sizeof *w.exponent);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_limits(&o, all, w.at, err));
    for (size_t j = 0; j < all && o.transform != UNRELU_TRANSFORM_NONE; j++)
        if (w.at[j] < 0)
            return ur_fail(
                err, UNRELU_EUSAGE,
                "`censor-at` is %g for column %zu (%.60s), and `transform` is for values "
                "above 0: give a limit of at least 0",
                w.at[j], j + 1, unrelu_source_name(source, j));
    ur_cells_rules rules = {.at = w.at, .limit = o.limit, .limits = o.limits};
    UR_TRY(ur_cells_load(source, &rules, exec, &arena, &w.cells, err));
    if (o.errors == UNRELU_ERRORS_CLUSTER)
        UR_TRY(ur_groups_load(source, o.cluster, &arena, &w.groups, err));
    if (w.cells.n < UR_FEWEST_ROWS)
        return ur_fail(err, UNRELU_EDATA, "%zu row%s cannot support a fit: at least %d are needed",
                       w.cells.n, w.cells.n == 1 ? "" : "s", UR_FEWEST_ROWS);
    if (w.cells.n > UR_CELL_PAIR_ROWS)
        return ur_fail(
            err, UNRELU_EDATA,
            "%zu rows are more than the %u that a fit cell by cell takes: fit fewer of them",
            w.cells.n, UR_CELL_PAIR_ROWS);
    for (size_t j = 0; j < all; j++)
        UR_TRY(fit_margin(&w, j, err));
    if (w.d == 0)
        return ur_fail(err, UNRELU_EDATA, "none of the %zu columns has a value above its limits",
                       all);
    if (w.d < all)
        ur_model_warn(model, "dropped",
                      "left out for want of a value above its limits: %zu of %zu columns",
                      all - w.d, all);
    UR_TRY(ur_gaussian_allocate(model, w.d, 1, err));
    UR_TRY(set_columns(&w, err));
    if (w.groups.count > 0)
        ur_fit_name_clusters(model, o.cluster, w.groups.count);
    UR_TRY(ur_each(exec, "margins", w.d, judge, &w, err));
    w.product_se = ur_take(&arena, w.d, w.d * sizeof *w.product_se);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_each(exec, "pairs", w.d, solve_row, &w, err));
    for (size_t i = 0; i < w.cells.n * all; i++)
        missing += w.cells.state[i] == UR_MISSING;
    if (missing > 0)
        ur_warn_missing(model, (double)missing, (double)(w.cells.n * all));
    if (w.guessed > 0)
        ur_model_warn(model, "limit-guessed",
                      "%zu cell%s of %zu column%s are censored and have no limit on this scale: "
                      "the smallest value of the column was taken; give limits with `limit` or "
                      "`limits`",
                      w.guessed, w.guessed == 1 ? "" : "s", w.guessed_columns,
                      w.guessed_columns == 1 ? "" : "s");
    warn_at_limit(&w);
    UR_TRY(ur_fit_finish(&(ur_estimate){&o, model, w.product_se, NULL, NULL}, err));
    return set_joint_likelihood(&w, exec, lambda != NULL, err);
}
