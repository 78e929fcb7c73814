/* SPDX-License-Identifier: Apache-2.0 */
/* Under a power lambda the censored likelihood of a column, with the Jacobian of the power, is that
 * of a normal at its best b and s: L(lambda). 1 is no transform, 1/2 sqrt, 0 log. Twice
 * L(best) - L(lambda) is chi-squared with one degree of freedom where lambda is true: one of these
 * three is good where that is at most 1 + 4 sqrt(2), the mean and four deviations (level 1 %), or
 * below 0.002 a value, which no one would see in a plot. Over d columns these add up. */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "base/memory.h"
#include "gaussian/cells/cells.h"
#include "law/cell_margin.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20000, LEAST_VALUES = 10, POWERS = 3 };

static const double powers[POWERS] = {1, 0.5, 0};

#define UNSEEN 0.002

typedef struct {
    const ur_cells *cells;
    size_t step; /* of rows */
    unrelu_transform_advice *advice;
    unrelu_status *status; /* of each column */
} study;

typedef struct {
    size_t n;
    double *x, *y; /* n; y is scratch */
    unsigned char *state;
} column;

/* ---- one column ---- */

/* every step-th row, in units of the geometric mean: the Jacobian is then 1. 0: no power can be
 * taken, or too few values were seen */
static int take_column(const study *s, size_t j, column *c, size_t *values)
{
    const ur_cells *cells = s->cells;
    double mean = 0, least = INFINITY, most = 0;
    *values = 0;
    for (size_t i = 0; i < cells->n; i += s->step) {
        double x = cells->x[j * cells->n + i];
        unsigned char state = cells->state[j * cells->n + i];
        c->x[c->n] = x;
        c->state[c->n++] = state;
        if ((state == UR_SEEN && !(x > 0)) || (state == UR_BELOW && x < 0))
            return 0;
        if (state != UR_SEEN)
            continue;
        mean += log(x);
        least = fmin(least, x);
        most = fmax(most, x);
        ++*values;
    }
    if (*values < LEAST_VALUES || !(least < most))
        return 0;
    mean = exp(mean / (double)*values);
    for (size_t i = 0; i < c->n; i++)
        c->x[i] = (c->state[i] == UR_BELOW && c->x[i] == 0 ? least : c->x[i]) / mean;
    return 1;
}

static unrelu_status likelihood(column *c, double lambda, double *value, unrelu_error *err)
{
    ur_cell_margin margin;
    size_t guessed;
    memcpy(c->y, c->x, c->n * sizeof *c->y);
    unrelu_status status = ur_transform_column(UNRELU_TRANSFORM_BOXCOX, lambda, c->n, c->y,
                                               c->state, "", &guessed, err);
    if (status == UNRELU_OK)
        status = ur_cell_margin_fit(c->n, c->y, c->state, &margin, err);
    *value = status == UNRELU_OK ? margin.likelihood : NAN;
    return status;
}

static unrelu_transform choose(const double lost[POWERS], double columns, double values)
{
    static const unrelu_transform names[POWERS] = {UNRELU_TRANSFORM_NONE, UNRELU_TRANSFORM_SQRT,
                                                   UNRELU_TRANSFORM_LOG};
    double bearable = fmax(columns + 4 * sqrt(2 * columns), UNSEEN * values);
    if (!(lost[0] > bearable))
        return UNRELU_TRANSFORM_NONE;
    int best = lost[1] <= lost[2] ? 1 : 2;
    return lost[best] <= bearable ? names[best] : UNRELU_TRANSFORM_BOXCOX;
}

static unrelu_status compare(column *c, unrelu_transform_advice *a, unrelu_error *err)
{
    double best = NAN, value = NAN;
    unrelu_status status = ur_transform_estimate(c->n, c->x, c->state, "", &a->lambda, err);
    if (status == UNRELU_OK)
        status = likelihood(c, a->lambda, &best, err);
    for (int k = 0; k < POWERS && status == UNRELU_OK; k++) {
        status = likelihood(c, powers[k], &value, err);
        a->lost[k] = fmax(0, 2 * (best - value));
    }
    if (status == UNRELU_OK && isfinite(best))
        a->transform = choose(a->lost, 1, (double)a->values);
    else
        a->lambda = NAN;
    return status;
}

static void look_at(void *context, size_t j)
{
    study *s = context;
    size_t rows = s->cells->n / s->step + 1;
    unrelu_transform_advice *a = &s->advice[j];
    column c = {0, ur_doubles(rows), ur_doubles(rows), ur_alloc(rows, 1)};
    *a = (unrelu_transform_advice){UNRELU_TRANSFORM_NONE, NAN, {NAN, NAN, NAN}, 0};
    if (!c.x || !c.y || !c.state)
        s->status[j] = UNRELU_ENOMEM;
    else if (take_column(s, j, &c, &a->values))
        s->status[j] = compare(&c, a, NULL);
    free(c.x);
    free(c.y);
    free(c.state);
}

/* ---- all of them ---- */

static void look_at_all(unrelu_transform_advice *advice, size_t d)
{
    unrelu_transform_advice *all = &advice[d];
    double columns = 0;
    *all = (unrelu_transform_advice){UNRELU_TRANSFORM_NONE, NAN, {0}, 0};
    for (size_t j = 0; j < d; j++) {
        if (isnan(advice[j].lambda))
            continue;
        columns++;
        all->values += advice[j].values;
        for (int k = 0; k < POWERS; k++)
            all->lost[k] += advice[j].lost[k];
    }
    if (columns > 0)
        all->transform = choose(all->lost, columns, (double)all->values);
}

unrelu_status unrelu_transform_suggest(unrelu_source *samples, const double *limit,
                                       unrelu_source *limits, const unrelu_exec *exec,
                                       unrelu_transform_advice *advice, unrelu_error *err)
{
    size_t d = unrelu_source_columns(samples);
    ur_cells cells = {0};
    ur_cells_rules rules = {.limit = limit, .limits = limits};
    study s = {.cells = &cells, .advice = advice, .status = ur_alloc(d, sizeof *s.status)};
    unrelu_status status = s.status ? UNRELU_OK : ur_fail_memory(err, d, "columns");
    if (status == UNRELU_OK)
        status = ur_cells_load(samples, &rules, exec, &cells, err);
    s.step = (cells.n + MOST_ROWS - 1) / MOST_ROWS;
    s.step = s.step ? s.step : 1;
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "comparing transforms", d, look_at, &s, err);
    for (size_t j = 0; j < d && status == UNRELU_OK; j++)
        if (s.status[j] != UNRELU_OK)
            status = ur_fail_memory(err, cells.n, "cells");
    if (status == UNRELU_OK)
        look_at_all(advice, d);
    ur_cells_free(&cells);
    free(s.status);
    return status;
}
