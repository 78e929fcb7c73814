/* SPDX-License-Identifier: Apache-2.0 */
/* In deviations, of a row that shows t_S and hides t_H in cells with limits (R_SS = G G'):
 *   log f = log phi(G^-1 t_S) - log det G - sum log s + log P(t_H in its cells | t_S).
 * Cells that are missing are left out. P of one cell is an interval, that of two a rectangle, both
 * exact whatever d is, unless two are rarer than 1e-6. That of more is the mean weight of points of
 * a lattice (impute_points.c), which is shifted at random a few times; how far the shifts are apart
 * tells the error of the row, and the squares of these add up. Nothing depends on threads or on a
 * seed. */
#include "gaussian/joint/row_likelihood.h"

#include "base/error.h"
#include "gaussian/impute/impute.h"
#include "law/bivariate.h"
#include "law/rectangle.h"
#include "pass/parallel.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define LOG_SQRT_2PI 0.91893853320467274178

/* Phi2 is known to 1e-14: of smaller ones fewer than 8 digits, and points have more */
static const double LEAST_TWO = 1e-6;
/* of the logarithm of the likelihood: more would change which of two models AIC prefers */
static const double MOST_ERROR = 0.1;
static const uint64_t STREAM_ROWS_TOGETHER = (uint64_t)1 << 38;

/* Budgets: rows and points of a first look, and how many times the points that its error asks for
 * are taken. Of work, in
 * nanoseconds: a row of two hidden cells, or of such between two ends; a cell of a point, for which
 * each cell before counts one more. */
enum { BLOCK = 32, SHIFTS = 4, POINTS = 32, MORE = 2, LOOK = 256 };
enum { TWO = 1000, BETWEEN = 20000, CELL = 40 };
static const double MOST_WORK = 2e8;

typedef struct {
    const ur_joint_columns *c;
    double *lattice;          /* d */
    double *value, *variance; /* n */
    size_t count, stride;     /* of points; of the rows that are taken */
} rows;

typedef struct {
    size_t d, count;
    ur_impute_pattern pattern;
    ur_law law;
    ur_points points;
    ur_uniforms random;
    unsigned char *state, *before, *known; /* d; before: that the pattern is of */
    double *t, *w, *mu, *lower, *upper;    /* d */
    ur_hidden *cell;                       /* d: of the limited cells */
} room;

static unrelu_status open_room(const rows *p, ur_arena *arena, room *r, unrelu_error *err)
{
    size_t d = p->c->d;
    *r = (room){.d = d, .count = p->count, .pattern = {.d = d}, .points = {.lattice = p->lattice}};
    double **const squares[] = {&r->pattern.G, &r->pattern.V, &r->pattern.C, &r->law.L};
    double **const lines[] = {
        &r->law.l,    &r->law.u, &r->law.rest, &r->law.shift, &r->points.start, &r->points.tilt,
        &r->points.y, &r->t,     &r->w,        &r->mu,        &r->lower,        &r->upper};
    size_t **const indices[] = {&r->pattern.index, &r->law.order, &r->law.last};
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        *squares[i] = ur_take(arena, d, d * sizeof(double));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        *lines[i] = ur_take(arena, d, sizeof(double));
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        *indices[i] = ur_take(arena, d, sizeof(size_t));
    r->points.z = ur_take(arena, p->count, d * sizeof(double));
    r->points.weight = ur_take(arena, p->count, sizeof(double));
    r->cell = ur_take(arena, d, sizeof *r->cell);
    r->state = ur_take(arena, d, 1);
    r->before = ur_take(arena, d, 1);
    r->known = ur_take(arena, d, 1);
    return ur_arena_status(arena, err);
}

/* ---- what a row hides, given what it shows ---- */

/* NaN where Phi2 has too few digits */
static double of_two(ur_hidden one, ur_hidden two, double rho)
{
    ur_rectangle at;
    if (one.side != 0 && two.side != 0) {
        double both =
            ur_bivariate_normal(-one.side * one.at, -two.side * two.at, one.side * two.side * rho);
        return both > LEAST_TWO ? log(both) : NAN;
    }
    ur_rectangle_at((const ur_hidden[]){one, two}, (const int[]){0, 0}, rho, &at);
    return at.log_p;
}

/* shifts of the lattice; the variance of the logarithm of their mean */
static double of_many(room *r, double *variance)
{
    double weight[SHIFTS], top = -INFINITY, sum = 0, square = 0;
    for (size_t k = 0; k < r->pattern.limited; k++) {
        ur_hidden c = r->cell[k];
        r->lower[k] = c.side < 0 ? -INFINITY : c.at - c.width / 2;
        r->upper[k] = c.side > 0 ? INFINITY : c.at + c.width / 2;
    }
    ur_law_set(&r->law, &r->pattern, r->mu, r->lower, r->upper);
    if (r->law.rank == 0)
        return NAN;
    ur_law_log_masses(&r->law, &r->points, r->count, &r->random, SHIFTS, weight);
    for (int i = 0; i < SHIFTS; i++)
        top = fmax(top, weight[i]);
    for (int i = 0; i < SHIFTS; i++) {
        weight[i] = exp(weight[i] - top);
        sum += weight[i] / SHIFTS;
    }
    for (int i = 0; i < SHIFTS; i++)
        square += pow(weight[i] / sum - 1, 2);
    *variance = square / (SHIFTS * (SHIFTS - 1));
    return top + log(sum);
}

static double of_hidden(room *r, double *variance)
{
    size_t count = r->pattern.limited, d = r->d;
    ur_hidden own[2];
    int plain = count <= 2;
    for (size_t k = 0; k < count && plain; k++) {
        double left = r->pattern.C[k * (d + 1)], root = sqrt(left);
        plain = left > UR_NO_VARIANCE;
        own[k] = (ur_hidden){r->cell[k].side, (r->cell[k].at - r->mu[k]) / root,
                             r->cell[k].width / root};
    }
    if (count == 0)
        return 0;
    if (plain && count == 1)
        return ur_interval_at(own[0]).log_p;
    double rho = plain ? r->pattern.C[1] / sqrt(r->pattern.C[0] * r->pattern.C[d + 1]) : 1;
    double exact = (1 - rho) * (1 + rho) > UR_NO_VARIANCE ? of_two(own[0], own[1], rho) : NAN;
    return isnan(exact) ? of_many(r, variance) : exact;
}

/* ---- a row ---- */

static int side_of(unsigned char state)
{
    return state == UR_BELOW ? -1 : state == UR_ABOVE ? 1 : 0;
}

static double of_row(const rows *p, size_t i, room *r, double *variance)
{
    const ur_joint_columns *c = p->c;
    size_t d = c->d, shown = 0;
    double sum = 0;
    *variance = 0;
    for (size_t j = 0; j < d; j++) {
        const ur_cell_column *column = c->column[j];
        r->state[j] = column->state[i];
        r->known[j] = r->state[j] != UR_MISSING;
        r->t[j] = column->a[i];
        if (r->state[j] == UR_SEEN) {
            shown++;
            sum -= log(column->margin.margin.s);
        }
    }
    if (memcmp(r->state, r->before, d) != 0)
        ur_impute_pattern_set(&r->pattern, c->correlation, r->state, r->known);
    memcpy(r->before, r->state, d);
    if (r->pattern.seen < shown)
        return NAN;
    ur_impute_pattern_mean(&r->pattern, r->t, r->w, r->mu);
    for (size_t k = 0; k < shown; k++)
        sum -= LOG_SQRT_2PI + r->w[k] * r->w[k] / 2 + log(r->pattern.G[k * (d + 1)]);
    for (size_t k = 0; k < r->pattern.limited; k++) {
        size_t j = r->pattern.index[shown + k];
        double width = r->state[j] == UR_BETWEEN ? c->column[j]->width[i] : 0;
        r->cell[k] = (ur_hidden){side_of(r->state[j]), r->t[j], width};
    }
    r->random = (ur_uniforms){.stream = STREAM_ROWS_TOGETHER + i, .at = UR_UNIFORMS};
    return sum + of_hidden(r, variance);
}

static unrelu_status add_block(void *context, size_t block, unrelu_error *err)
{
    UR_ARENA(arena);
    const rows *p = context;
    room r;
    UR_TRY(open_room(p, &arena, &r, err));
    memset(r.before, UCHAR_MAX, r.d); /* no state */
    for (size_t k = block * BLOCK, i = k * p->stride; k < (block + 1) * BLOCK && i < p->c->n;
         i = ++k * p->stride)
        p->value[i] = of_row(p, i, &r, &p->variance[i]);
    return UNRELU_OK;
}

/* ---- all rows ---- */

static double work_of(const ur_joint_columns *c, size_t i, size_t count)
{
    double shown = 0, hidden = 0, between = 0;
    for (size_t j = 0; j < c->d; j++) {
        unsigned char state = c->column[j]->state[i];
        shown += state == UR_SEEN;
        hidden += state != UR_SEEN && state != UR_MISSING;
        between += state == UR_BETWEEN;
    }
    double factors = shown * (shown * (shown / 3 + hidden) + hidden * hidden);
    if (hidden <= 2)
        return factors + (hidden < 2 ? 0 : between > 0 ? BETWEEN : TWO);
    return factors + SHIFTS * (double)count * hidden * (hidden + CELL);
}

static int is_cheap(const ur_joint_columns *c, size_t count)
{
    double work = 0;
    for (size_t i = 0; i < c->n && work <= MOST_WORK; i++)
        work += work_of(c, i, count);
    return work <= MOST_WORK;
}

/* every stride-th row by so many points; its error may be too large */
static unrelu_status add_up(rows *p, const unrelu_exec *exec, ur_joint_likelihood *out,
                            unrelu_error *err)
{
    size_t taken = (p->c->n + p->stride - 1) / p->stride;
    double sum = 0, variance = 0;
    UR_TRY(ur_each(exec, "rows", (taken + BLOCK - 1) / BLOCK, add_block, p, err));
    for (size_t i = 0; i < p->c->n; i += p->stride) {
        sum += p->value[i];
        variance += p->variance[i];
    }
    *out = (ur_joint_likelihood){sum, sqrt(variance)};
    return UNRELU_OK;
}

/* A look at some rows tells how many points all need. */
static unrelu_status add_rows(rows *p, const unrelu_exec *exec, ur_joint_likelihood *out,
                              unrelu_error *err)
{
    size_t n = p->c->n;
    p->stride = n > LOOK ? n / LOOK : 1;
    UR_TRY(add_up(p, exec, out, err));
    double error = out->error * sqrt((double)p->stride), more = MORE * POINTS * error / MOST_ERROR;
    int known = isfinite(out->value) && more <= UR_POINTS_MOST;
    if (known && (more > POINTS || p->stride > 1)) {
        p->stride = 1;
        p->count = more > POINTS ? (size_t)more : POINTS;
        known = is_cheap(p->c, p->count);
        if (known)
            UR_TRY(add_up(p, exec, out, err));
    }
    if (!known || !isfinite(out->value) || !(out->error <= MOST_ERROR))
        *out = (ur_joint_likelihood){NAN, NAN};
    return UNRELU_OK;
}

unrelu_status ur_row_likelihoods(const ur_joint_columns *c, const unrelu_exec *exec,
                                 ur_joint_likelihood *out, unrelu_error *err)
{
    UR_ARENA(arena);
    rows p = {.c = c, .count = POINTS};
    *out = (ur_joint_likelihood){NAN, NAN};
    for (size_t j = 0; j < c->d; j++)
        if (!(c->column[j]->margin.margin.s > 0))
            return UNRELU_OK;
    if (!is_cheap(c, POINTS))
        return UNRELU_OK;
    p.lattice = ur_take(&arena, c->d, sizeof *p.lattice);
    p.value = ur_take(&arena, c->n, sizeof *p.value);
    p.variance = ur_take(&arena, c->n, sizeof *p.variance);
    UR_TRY(ur_arena_status(&arena, err));
    ur_lattice_set(p.lattice, c->d);
    return add_rows(&p, exec, out, err);
}

unrelu_status ur_row_likelihoods_each(const ur_joint_columns *c, const unrelu_exec *exec,
                                      double *value, double *variance, unrelu_error *err)
{
    UR_ARENA(arena);
    rows p = {.c = c, .count = UR_POINTS_MOST, .stride = 1, .value = value, .variance = variance};
    p.lattice = ur_take(&arena, c->d, sizeof *p.lattice);
    UR_TRY(ur_arena_status(&arena, err));
    ur_lattice_set(p.lattice, c->d);
    return ur_each(exec, "rows", (c->n + BLOCK - 1) / BLOCK, add_block, &p, err);
}
