/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of a fit of one pass that hold whatever the law. Estimates are functions of sums
 * over rows, so that a row moves them by the derivative of the function along what it adds. The
 * derivatives are central differences; a second pass adds up the squares of what the rows move. */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/left_out.h"
#include "law/normal.h"
#include "model/samples.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "read/groups.h"
#include "summary/column_sums.h"
#include "summary/influence.h"

#include <math.h>

/* of a sum, by which it is moved to see what follows (for rho, times 1 - rho^2): the square of it,
 * 1e-6, is the relative error of the difference; the start of rho, right to 1e-6, adds 1e-3 of what
 * its weights do, which is nothing at the normal law */
static const double MOVED = 1e-3;

/* The variance that squares add up to has itself a relative error of 1 / sqrt(rows), rows = (sum of
 * squares)^2 / sum of fourth powers: so many rows carry it. With fewer than FEWEST_CARRIERS a
 * standard error is known to 1 / (2 sqrt(10)) = 16 % at best. In few rows that is so of normal
 * values too, one row in 15 of which carries the error of a scale: those are no heavy tails, one in
 * RARE_CARRIERS is. */
static const double FEWEST_CARRIERS = 10, RARE_CARRIERS = 60;

int ur_fit_heavy_tails(double squares, double fourths, double seen)
{
    double carriers = squares / fourths * squares; /* NaN: no row moves it */
    return carriers < FEWEST_CARRIERS && carriers * RARE_CARRIERS < seen;
}

typedef struct {
    const ur_fit *fit;
    ur_influence_column *columns; /* d */
    ur_influence_pair *pairs;     /* d x d, i < j */
} influences;

/* ---- one column ---- */

/* of all rows, observed: sums of what left_out.h says of one */
static void set_information(const ur_margin_sums *x, const ur_margin *m, double H[3])
{
    double zeros = x->n - x->positive, mean = (x->shift - m->b) / m->s, limit = -m->b / m->s;
    double first = x->sum / m->s, second = x->square / (m->s * m->s);
    double a = first + x->positive * mean;
    double aa = second + mean * (2 * first + x->positive * mean);
    ur_margin_row zero = ur_margin_row_limited(limit, -ur_normal_hazard(-limit));
    H[0] = x->positive + (zeros > 0 ? zeros * zero.h[0] : 0);
    H[1] = -a + (zeros > 0 ? zeros * zero.h[1] : 0);
    H[2] = x->positive + aa + (zeros > 0 ? zeros * zero.h[2] : 0);
}

static void set_column(const ur_fit *fit, const ur_fit_column *c, ur_influence_column *out)
{
    const ur_margin_sums at = ur_fit_margin_sums(fit, &fit->v, c, NULL);
    double zeros = at.n - at.positive;
    double size[4] = {zeros, at.positive, sqrt(at.positive * at.square), at.square};
    *out = (ur_influence_column){.index = c->index,
                                 .limit = fit->summary->limit[c->index],
                                 .unit = ldexp(1, -c->exponent),
                                 .shift = c->shift,
                                 .b = c->margin.b,
                                 .s = c->margin.s};
    /* the truncated likelihood knows its rows otherwise */
    if (fit->options->norms == UNRELU_NORMS_CENSORED && c->margin.s > 0)
        set_information(&at, &c->margin, out->information);
    for (int k = 0; k < 4; k++) {
        ur_margin up, down;
        double step = MOVED * size[k];
        if (!(step > 0)) /* no row has it */
            continue;
        for (int side = 0; side < 2; side++) {
            double sums[4] = {zeros, at.positive, at.sum, at.square};
            sums[k] += side ? -step : step;
            ur_margin_sums moved = {sums[0] + sums[1], sums[1], at.shift, sums[2], sums[3]};
            ur_fit_likelihood(fit, &moved, side ? &down : &up);
        }
        out->b_by[k] = (up.b - down.b) / (2 * step);
        out->s_by[k] = (up.s - down.s) / (2 * step);
    }
}

/* ---- one pair ---- */

/* the sums of a pair by kind of row, from those of its columns on their common rows */
static void split(const ur_fit_cross *x, const ur_margin_sums s[2], double by_kind[UR_PAIR_TERMS])
{
    const double terms[UR_PAIR_TERMS] = {
        [UR_NEITHER] = s[0].n - s[0].positive - s[1].positive + x->gg,
        [UR_FIRST] = s[0].positive - x->gg,
        [UR_FIRST_T] = s[0].sum - x->t1g2,
        [UR_FIRST_TT] = s[0].square - x->t1t1g2,
        [UR_SECOND] = s[1].positive - x->gg,
        [UR_SECOND_T] = s[1].sum - x->t2g1,
        [UR_SECOND_TT] = s[1].square - x->t2t2g1,
        [UR_BOTH] = x->gg,
        [UR_BOTH_T1] = x->t1g2,
        [UR_BOTH_T2] = x->t2g1,
        [UR_BOTH_T1T1] = x->t1t1g2,
        [UR_BOTH_T2T2] = x->t2t2g1,
        [UR_BOTH_T1T2] = x->tt,
    };
    for (int k = 0; k < UR_PAIR_TERMS; k++)
        by_kind[k] = terms[k];
}

/* as: NULL, or whose choice of weights is taken */
static ur_pair pair_of(const double *k, const ur_fit_column *const c[2], const ur_pair *as)
{
    double n = k[UR_NEITHER] + k[UR_FIRST] + k[UR_SECOND] + k[UR_BOTH], margins_n[2] = {n, n};
    ur_fit_cross x = {k[UR_BOTH],    k[UR_BOTH_T1T2], k[UR_BOTH_T1],
                      k[UR_BOTH_T2], k[UR_BOTH_T1T1], k[UR_BOTH_T2T2]};
    ur_margin_sums sums[2] = {{n, k[UR_FIRST] + k[UR_BOTH], c[0]->shift,
                               k[UR_FIRST_T] + k[UR_BOTH_T1], k[UR_FIRST_TT] + k[UR_BOTH_T1T1]},
                              {n, k[UR_SECOND] + k[UR_BOTH], c[1]->shift,
                               k[UR_SECOND_T] + k[UR_BOTH_T2], k[UR_SECOND_TT] + k[UR_BOTH_T2T2]}};
    ur_margin margins[2];
    ur_pair_margin prepared[2];
    for (int i = 0; i < 2; i++) {
        ur_margin_censored(&sums[i], &margins[i]);
        ur_pair_margin_set(margins[i].gamma, &prepared[i]);
    }
    ur_pair_moments m = ur_fit_pair_moments(&x, n, c, margins);
    ur_pair pair = {0};
    if (as)
        ur_pair_six_again(&prepared[0], &prepared[1], &m, margins_n, as, &pair);
    else
        ur_pair_six_statistics(&prepared[0], &prepared[1], &m, margins_n, &pair);
    return pair;
}

/* how much a sum of the pair may be moved: what its rows have of it */
static void set_sizes(const double *k, double size[UR_PAIR_TERMS])
{
    for (int i = 0; i < UR_PAIR_TERMS; i++)
        size[i] = fmax(k[i], 0);
    size[UR_FIRST_T] = sqrt(size[UR_FIRST] * size[UR_FIRST_TT]);
    size[UR_SECOND_T] = sqrt(size[UR_SECOND] * size[UR_SECOND_TT]);
    size[UR_BOTH_T1] = sqrt(size[UR_BOTH] * size[UR_BOTH_T1T1]);
    size[UR_BOTH_T2] = sqrt(size[UR_BOTH] * size[UR_BOTH_T2T2]);
    size[UR_BOTH_T1T2] = sqrt(size[UR_BOTH_T1T1] * size[UR_BOTH_T2T2]);
    for (int i = 0; i < 3; i++) { /* no such row: what is left of its sums is rounding */
        size[UR_FIRST + i] *= size[UR_FIRST] >= 1;
        size[UR_SECOND + i] *= size[UR_SECOND] >= 1;
    }
}

static void set_pair(const ur_fit *fit, size_t i, size_t j, ur_influence_pair *out)
{
    const ur_fit_column *const c[2] = {&fit->columns[i], &fit->columns[j]};
    const unrelu_gaussian *m = fit->model;
    double k[UR_PAIR_TERMS], size[UR_PAIR_TERMS], rho = m->correlation[i * fit->d + j];
    ur_margin_sums sums[2] = {ur_fit_margin_sums(fit, &fit->v, c[0], c[1]),
                              ur_fit_margin_sums(fit, &fit->v, c[1], c[0])};
    ur_fit_cross x = ur_fit_cross_of(fit, &fit->v, c);
    *out = (ur_influence_pair){.rho = rho};
    if (isnan(m->correlation_se[i * fit->d + j]) || fabs(rho) >= UR_PAIR_LIMIT)
        return; /* no errors, or a copy, whose rho does not move */
    split(&x, sums, k);
    set_sizes(k, size);
    const ur_pair as = pair_of(k, c, NULL);
    for (int term = 0; term < UR_PAIR_TERMS; term++) {
        double step = MOVED * size[term] * (1 - rho) * (1 + rho), kept = k[term];
        if (!(step > 0))
            continue;
        k[term] = kept + step;
        double up = pair_of(k, c, &as).rho;
        k[term] = kept - step;
        double down = pair_of(k, c, &as).rho;
        k[term] = kept;
        out->by[term] = (up - down) / (2 * step);
    }
}

static void set_row(void *context, size_t i)
{
    const influences *f = context;
    for (size_t j = i + 1; j < f->fit->d; j++)
        set_pair(f->fit, i, j, &f->pairs[i * f->fit->d + j]);
}

/* ---- the model ---- */

static void set_errors(const ur_fit *fit, const ur_influence_view *v, double *product_se)
{
    unrelu_gaussian *m = fit->model;
    size_t d = fit->d;
    for (size_t i = 0; i < d; i++) {
        int e = fit->columns[i].exponent;
        if (isfinite(m->b_se[i]) && fit->columns[i].margin.s > 0) {
            m->b_se[i] = ldexp(sqrt(v->bb[i]), e);
            m->scale_se[i] = ldexp(sqrt(v->ss[i]), e);
            m->b_scale_cov[i] = ur_fit_covariance(v->bs[i], e);
            if (ur_fit_heavy_tails(v->ss[i], v->ssss[i], m->positive[i]))
                m->flags[i] |= UNRELU_FLAG_HEAVY_TAILS;
        }
        for (size_t j = i + 1; j < d; j++) {
            double *rho = m->correlation_se;
            if (isnan(rho[i * d + j]))
                continue;
            rho[i * d + j] = rho[j * d + i] = sqrt(v->rho[i * d + j]);
            product_se[i * d + j] = product_se[j * d + i] = sqrt(v->product[i * d + j]);
        }
    }
}

/* ---- over clusters: rows in memory ---- */

/* below so many clusters their spread is known badly, and errors are too small by a tenth or more
 */
static const size_t FEWEST_CLUSTERS = 20;

void ur_fit_name_clusters(unrelu_gaussian *m, const char *column, size_t count)
{
    m->errors = ur_take_text(ur_model_arena(m), "cluster:%s", column);
    if (count < FEWEST_CLUSTERS)
        ur_model_warn(
            m, "few-clusters",
            "errors rest on %zu clusters of rows: below %zu they are too small, as a rule", count,
            FEWEST_CLUSTERS);
}

typedef struct {
    const influences *f;
    ur_groups groups;
    ur_influence_cell *cells; /* d x n */
    ur_influence_view v;
} clustered;

static unrelu_status add_clusters(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    clustered *c = context;
    const ur_fit *fit = c->f->fit;
    size_t n = c->groups.rows, d = fit->d;
    const ur_influence_cell *x = c->cells + i * n;
    double *a = ur_take(&arena, n, sizeof *a), *b = ur_take(&arena, n, sizeof *b);
    double *room = ur_take(&arena, c->groups.count, 2 * sizeof *room);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t k = 0; k < n; k++) {
        a[k] = x[k].b;
        b[k] = x[k].s;
    }
    ur_group_squares own = ur_groups_squares(&c->groups, a, b, room);
    c->v.bb[i] = own.aa;
    c->v.bs[i] = own.ab;
    c->v.ss[i] = own.bb;
    c->v.ssss[i] = own.bbbb;
    for (size_t j = i + 1; j < d; j++) {
        const ur_influence_pair *p = &c->f->pairs[i * d + j];
        const ur_influence_cell *y = c->cells + j * n;
        for (size_t k = 0; k < n; k++) {
            double scales = x[k].s / c->f->columns[i].s + y[k].s / c->f->columns[j].s;
            a[k] = ur_influence_pair_of(p, &x[k], &y[k]);
            b[k] = a[k] + p->rho * scales;
        }
        ur_group_squares pair = ur_groups_squares(&c->groups, a, b, room);
        c->v.rho[i * d + j] = pair.aa;
        c->v.product[i * d + j] = pair.bb;
    }
    return UNRELU_OK;
}

static unrelu_status sum_clusters(const influences *f, const ur_influence_view *v, ur_arena *arena,
                                  unrelu_error *err)
{
    const ur_fit *fit = f->fit;
    clustered c = {.f = f, .v = *v};
    ur_table table;
    UR_TRY(ur_groups_load(fit->source, fit->options->cluster, arena, &c.groups, err));
    UR_TRY(ur_table_load(fit->source, fit->exec, NULL, arena, &table, err));
    size_t n = table.rows, all = table.columns;
    c.cells = ur_take(arena, n, fit->d * sizeof *c.cells);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t k = 0; k < n; k++) {
        const double *x = table.cells + k * all;
        int kept = !fit->cut || ur_row_kept(x, fit->cut, all);
        for (size_t i = 0; i < fit->d; i++)
            c.cells[i * n + k] =
                ur_influence_of(&f->columns[i], kept ? x[f->columns[i].index] : NAN);
    }
    UR_TRY(ur_each(fit->exec, "errors", fit->d, add_clusters, &c, err));
    ur_fit_name_clusters(fit->model, fit->options->cluster, c.groups.count);
    return ur_arena_status(ur_model_arena(fit->model), err);
}

unrelu_status ur_fit_robust(const ur_fit *fit, double *product_se, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = fit->d;
    influences f = {fit, ur_take(&arena, d, sizeof *f.columns),
                    ur_take(&arena, d, d * sizeof *f.pairs)};
    ur_influence_plan plan = {fit->summary->plan.d, d, fit->cut, f.columns, f.pairs};
    double *sums = ur_take(&arena, ur_influence.len(&plan), sizeof *sums);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d; i++)
        set_column(fit, &fit->columns[i], &f.columns[i]);
    UR_TRY(ur_parallel_for(fit->exec, "how rows move pairs", d, set_row, &f, err));
    ur_influence_view v = ur_influence_view_of(&plan, sums);
    if (fit->options->errors == UNRELU_ERRORS_CLUSTER) {
        UR_TRY(sum_clusters(&f, &v, &arena, err));
    } else {
        UR_TRY(ur_source_rewind(fit->source, err));
        UR_TRY(ur_pass(fit->source, &ur_influence, &plan, fit->exec, "errors", sums, err));
    }
    set_errors(fit, &v, product_se);
    return UNRELU_OK;
}
