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
static const double CHANCE = 4, UNSEEN = 0.002; /* deviations; of each value: see above */

typedef struct {
    const ur_cells *cells;
    size_t step; /* of rows */
    unrelu_transform_advice *advice;
} study;

static unrelu_transform choose(const double lost[POWERS], double columns, double values)
{
    static const unrelu_transform names[POWERS] = {UNRELU_TRANSFORM_NONE, UNRELU_TRANSFORM_SQRT,
                                                   UNRELU_TRANSFORM_LOG};
    double bearable = fmax(columns + CHANCE * sqrt(2 * columns), UNSEEN * values);
    if (!(lost[0] > bearable))
        return UNRELU_TRANSFORM_NONE;
    int best = lost[1] <= lost[2] ? 1 : 2;
    return lost[best] <= bearable ? names[best] : UNRELU_TRANSFORM_BOXCOX;
}

/* every step-th row, in units of the geometric mean: the Jacobian is then 1 */
static unrelu_status suggest(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    const study *s = context;
    const ur_cells *cells = s->cells;
    size_t rows = cells->n / s->step + 1, n = 0;
    double *x = ur_take(&arena, rows, sizeof *x), *y = ur_take(&arena, rows, 2 * sizeof *y);
    double *upper = cells->upper ? ur_take(&arena, rows, sizeof *upper) : NULL;
    unsigned char *state = ur_take(&arena, rows, 1);
    unrelu_transform_advice *a = &s->advice[j];
    double mean = 0, least = INFINITY, most = 0, best = NAN, value = NAN;
    *a = (unrelu_transform_advice){UNRELU_TRANSFORM_NONE, NAN, {NAN, NAN, NAN}, 0};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = j * cells->n; i < (j + 1) * cells->n; i += s->step, n++) {
        x[n] = cells->x[i];
        state[n] = cells->state[i];
        if (upper)
            upper[n] = cells->upper[i];
        if ((state[n] == UR_SEEN && !(x[n] > 0)) || (state[n] != UR_SEEN && x[n] < 0))
            return UNRELU_OK; /* no power can be taken */
        if (state[n] != UR_SEEN)
            continue;
        mean += log(x[n]);
        least = fmin(least, x[n]);
        most = fmax(most, x[n]);
        a->values++;
    }
    if (a->values < LEAST_VALUES || !(least < most))
        return UNRELU_OK;
    mean = exp(mean / (double)a->values);
    for (size_t i = 0; i < n; i++)
        x[i] = (state[i] == UR_BELOW && x[i] == 0 ? least : x[i]) / mean;
    for (size_t i = 0; i < n && upper; i++)
        upper[i] /= mean;
    UR_TRY(ur_transform_estimate(n, x, upper, state, "", &a->lambda, err));
    UR_TRY(ur_transform_likelihood(n, x, upper, state, a->lambda, y, &best, err));
    for (int k = 0; k < POWERS; k++) {
        UR_TRY(ur_transform_likelihood(n, x, upper, state, powers[k], y, &value, err));
        a->lost[k] = fmax(0, 2 * (best - value));
    }
    if (isfinite(best))
        a->transform = choose(a->lost, 1, (double)a->values);
    else
        a->lambda = NAN;
    return UNRELU_OK;
}

/* ---- all of them ---- */

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
    return UNRELU_OK;
}
