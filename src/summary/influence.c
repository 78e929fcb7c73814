/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/influence.h"

#include "summary/column_sums.h"

#include <math.h>
#include <string.h>

typedef enum { AT_LIMIT, ABOVE, ABSENT } cell_kind;

/* a row, one number for each column */
typedef struct {
    cell_kind *kind;
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

static double along(const double by[4], cell_kind kind, double t)
{
    return kind == ABSENT ? 0 : kind == AT_LIMIT ? by[0] : by[1] + t * (by[2] + t * by[3]);
}

static void take_row(const ur_influence_plan *plan, const double *x, row *r)
{
    for (size_t i = 0; i < plan->d; i++) {
        const ur_influence_column *c = &plan->columns[i];
        double at = x[c->index];
        r->kind[i] = isnan(at) ? ABSENT : at > c->limit ? ABOVE : AT_LIMIT;
        r->t[i] = r->kind[i] == ABOVE ? (at - ur_origin(c->limit)) * c->unit - c->shift : 0;
        r->b[i] = along(c->b_by, r->kind[i], r->t[i]);
        r->s[i] = along(c->s_by, r->kind[i], r->t[i]);
    }
}

static double along_pair(const double *by, cell_kind kind1, cell_kind kind2, double t1, double t2)
{
    if (kind1 == ABSENT || kind2 == ABSENT)
        return 0;
    if (kind1 == ABOVE && kind2 == ABOVE)
        return by[UR_BOTH] + t1 * (by[UR_BOTH_T1] + t1 * by[UR_BOTH_T1T1]) +
               t2 * (by[UR_BOTH_T2] + t2 * by[UR_BOTH_T2T2] + t1 * by[UR_BOTH_T1T2]);
    if (kind1 == ABOVE)
        return by[UR_FIRST] + t1 * (by[UR_FIRST_T] + t1 * by[UR_FIRST_TT]);
    if (kind2 == ABOVE)
        return by[UR_SECOND] + t2 * (by[UR_SECOND_T] + t2 * by[UR_SECOND_TT]);
    return by[UR_NEITHER];
}

static void add_row(const ur_influence_plan *plan, const row *r, const ur_influence_view *v)
{
    size_t d = plan->d;
    for (size_t i = 0; i < d; i++) {
        double b = r->b[i], s = r->s[i];
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
