/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/influence.h"

#include "law/left_out.h"
#include "law/normal.h"
#include "summary/column_sums.h"

#include <math.h>
#include <string.h>

/* a row, one number for each column */
typedef struct {
    ur_influence_kind *kind;
    double *t, *b, *s; /* b and s: how they move */
} row;

static size_t len(const void *context)
{
    const ur_influence_plan *plan = context;
    return 4 * plan->d + (plan->pairs ? 2 * plan->d * plan->d : 0);
}

ur_influence_view ur_influence_view_of(const ur_influence_plan *plan, double *s)
{
    size_t d = plan->d;
    double *pairs = plan->pairs ? s + 4 * d : NULL;
    return (ur_influence_view){s, s + d, s + 2 * d, s + 3 * d, pairs, pairs ? pairs + d * d : NULL};
}

static void *new_scratch(const void *context, ur_arena *arena)
{
    const ur_influence_plan *plan = context;
    row *r = ur_take(arena, 1, sizeof *r);
    if (r)
        *r = (row){
            .kind = ur_take(arena, plan->d, sizeof *r->kind),
            .t = ur_take(arena, plan->d, sizeof *r->t),
            .b = ur_take(arena, plan->d, sizeof *r->b),
            .s = ur_take(arena, plan->d, sizeof *r->s),
        };
    return r;
}

static double along(const double by[4], ur_influence_kind kind, double t)
{
    return kind == UR_ABSENT ? 0 : kind == UR_AT_LIMIT ? by[0] : by[1] + t * (by[2] + t * by[3]);
}

ur_influence_cell ur_influence_of(const ur_influence_column *c, double x)
{
    ur_influence_kind kind = isnan(x) ? UR_ABSENT : x > c->limit ? UR_ABOVE_LIMIT : UR_AT_LIMIT;
    double t = kind == UR_ABOVE_LIMIT ? (x - ur_origin(c->limit)) * c->unit - c->shift : 0;
    return (ur_influence_cell){kind, t, along(c->b_by, kind, t), along(c->s_by, kind, t)};
}

static void take_row(const ur_influence_plan *plan, const double *x, row *r)
{
    for (size_t i = 0; i < plan->d; i++) {
        ur_influence_cell cell = ur_influence_of(&plan->columns[i], x[plan->columns[i].index]);
        r->kind[i] = cell.kind;
        r->t[i] = cell.t;
        r->b[i] = cell.b;
        r->s[i] = cell.s;
    }
}

static double along_pair(const double *by, ur_influence_kind kind1, ur_influence_kind kind2,
                         double t1, double t2)
{
    if (kind1 == UR_ABSENT || kind2 == UR_ABSENT)
        return 0;
    if (kind1 == UR_ABOVE_LIMIT && kind2 == UR_ABOVE_LIMIT)
        return by[UR_BOTH] + t1 * (by[UR_BOTH_T1] + t1 * by[UR_BOTH_T1T1]) +
               t2 * (by[UR_BOTH_T2] + t2 * by[UR_BOTH_T2T2] + t1 * by[UR_BOTH_T1T2]);
    if (kind1 == UR_ABOVE_LIMIT)
        return by[UR_FIRST] + t1 * (by[UR_FIRST_T] + t1 * by[UR_FIRST_TT]);
    if (kind2 == UR_ABOVE_LIMIT)
        return by[UR_SECOND] + t2 * (by[UR_SECOND_T] + t2 * by[UR_SECOND_TT]);
    return by[UR_NEITHER];
}

double ur_influence_pair_of(const ur_influence_pair *pair, const ur_influence_cell *first,
                            const ur_influence_cell *second)
{
    return along_pair(pair->by, first->kind, second->kind, first->t, second->t);
}

/* what b and s of a column move by where the row is left out */
static void leave_out(const ur_influence_column *c, ur_influence_kind kind, double t, double *b,
                      double *s)
{
    double a = (t + c->shift - c->b) / c->s, limit = -c->b / c->s, move[2];
    if (kind == UR_ABSENT || c->information[0] == 0)
        return;
    ur_margin_row row = kind == UR_ABOVE_LIMIT
                            ? ur_margin_row_seen(a)
                            : ur_margin_row_limited(limit, -ur_normal_hazard(-limit));
    ur_left_out_move(c->information, &row, move);
    *b = c->s * move[0];
    *s = c->s * move[1];
}

static void add_row(const ur_influence_plan *plan, const row *r, const ur_influence_view *v)
{
    size_t d = plan->d;
    for (size_t i = 0; i < d; i++) {
        double b = r->b[i], s = r->s[i];
        leave_out(&plan->columns[i], r->kind[i], r->t[i], &b, &s);
        v->bb[i] += b * b;
        v->bs[i] += b * s;
        v->ss[i] += s * s;
        v->ssss[i] += s * s * s * s;
    }
    for (size_t i = 0; i < d && plan->pairs; i++)
        for (size_t j = i + 1; j < d; j++) {
            const ur_influence_pair *p = &plan->pairs[i * d + j];
            double rho = along_pair(p->by, r->kind[i], r->kind[j], r->t[i], r->t[j]);
            double scales = r->s[i] / plan->columns[i].s + r->s[j] / plan->columns[j].s;
            double product = rho + p->rho * scales;
            v->rho[i * d + j] += rho * rho;
            v->product[i * d + j] += product * product;
        }
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)err;
    const ur_influence_plan *plan = context;
    ur_influence_view v = ur_influence_view_of(plan, s);
    for (size_t i = 0; i < block->rows; i++) {
        const double *x = block->x + i * block->stride;
        if (plan->cut && !ur_row_kept(x, plan->cut, plan->all))
            continue;
        take_row(plan, x, scratch);
        add_row(plan, scratch, &v);
    }
    return UNRELU_OK;
}

const ur_summary ur_influence = {.len = len, .scratch = new_scratch, .update = update};
