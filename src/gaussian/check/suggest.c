/* SPDX-License-Identifier: Apache-2.0 */
/* Under a power lambda the censored likelihood of a column, with the Jacobian of the power, is that
 * of a normal at its best b and s: L(lambda). 1 is no transform, 1/2 sqrt, 0 log. Twice
 * L(best) - L(lambda) is chi-squared with one degree of freedom where lambda is true: one of these
 * three is good where that is at most 1 + 4 sqrt(2), the mean and four deviations (level 1 %), or
 * below 0.002 a value, which no one would see in a plot. Over d columns these add up. */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "gaussian/cells/cells.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>

enum {
    MOST_ROWS = 20000, /* more do not change the choice, and cost 60 fits of the column each */
    LEAST_VALUES = 10, /* fewer are normal after any power */
    POWERS = 3
};

static const double powers[POWERS] = {1, 0.5, 0};
static const double UNSEEN = 0.002;

typedef struct {
    const ur_cells *cells;
    size_t step; /* of rows */
    unrelu_transform_advice *advice;
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

static unrelu_status suggest(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    study *s = context;
    size_t rows = s->cells->n / s->step + 1;
    unrelu_transform_advice *a = &s->advice[j];
    column c = {0, ur_take(&arena, rows, sizeof *c.x), ur_take(&arena, rows, sizeof *c.y),
                ur_take(&arena, rows, 1)};
    double best = NAN, value = NAN;
    *a = (unrelu_transform_advice){UNRELU_TRANSFORM_NONE, NAN, {NAN, NAN, NAN}, 0};
    UR_TRY(ur_arena_status(&arena, err));
    if (!take_column(s, j, &c, &a->values))
        return UNRELU_OK;
    UR_TRY(ur_transform_estimate(c.n, c.x, c.state, "", &a->lambda, err));
    UR_TRY(ur_transform_likelihood(c.n, c.x, c.state, a->lambda, c.y, &best, err));
    for (int k = 0; k < POWERS; k++) {
        UR_TRY(ur_transform_likelihood(c.n, c.x, c.state, powers[k], c.y, &value, err));
        a->lost[k] = fmax(0, 2 * (best - value));
    }
    if (isfinite(best))
        a->transform = choose(a->lost, 1, (double)a->values);
    else
        a->lambda = NAN;
    return UNRELU_OK;
}

/* ---- all of them ---- */

static void suggest_for_all(unrelu_transform_advice *advice, size_t d)
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
    unrelu_exec here;
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_TRY(ur_ranks_refuse(exec, "a choice of transforms", err));
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(samples);
    ur_cells cells;
    ur_cells_rules rules = {.limit = limit, .limits = limits};
    UR_TRY(ur_cells_load(samples, &rules, exec, &arena, &cells, err));
    study s = {&cells, (cells.n + MOST_ROWS - 1) / MOST_ROWS, advice};
    s.step = s.step ? s.step : 1;
    UR_TRY(ur_each(exec, "comparing transforms", d, suggest, &s, err));
    suggest_for_all(advice, d);
    return UNRELU_OK;
}
