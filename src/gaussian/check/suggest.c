/* SPDX-License-Identifier: Apache-2.0 */
/* Under a power lambda the censored likelihood of a column, with the Jacobian of the power, is that
 * of a normal at its best b and s: L(lambda). 1 is no transform, 1/2 sqrt, 0 log. Twice
 * L(best) - L(lambda) is chi-squared with one degree of freedom where lambda is true: one of these
 * three is good where that is at most 1 + 4 sqrt(2), the mean and four deviations (level 1 %), or
 * below 0.002 a value, which no one would see in a plot. Over d columns these add up.
 *
 * That compares powers; whether one of them is right is another question. What is advised is tried
 * as a fit would do it: the power of Box-Cox is the one that a fit estimates, of all rows, and the
 * transformed columns are judged by the rule of judge.h. */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/judge.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>
#include <string.h>

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
    double *power; /* of each column, of most likelihood among the rows looked at; NaN: unknown */
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

/* no power can be taken of a value that is not above 0, nor of a limit below */
static int takes_powers(const ur_cells *cells, size_t j)
{
    for (size_t i = j * cells->n; i < (j + 1) * cells->n; i++)
        if (cells->state[i] == UR_SEEN ? !(cells->x[i] > 0) : cells->x[i] < 0)
            return 0;
    return 1;
}

/* the power of Box-Cox that a fit estimates */
static unrelu_status find_lambda(const ur_cells *cells, size_t j, double *lambda, unrelu_error *err)
{
    size_t n = cells->n;
    return ur_transform_estimate(n, cells->x + j * n, cells->upper ? cells->upper + j * n : NULL,
                                 cells->state + j * n, "", lambda, err);
}

/* every step-th row, in units of the geometric mean: the Jacobian is then 1 */
static unrelu_status suggest(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    const study *s = context;
    const ur_cells *cells = s->cells;
    size_t rows = cells->n / s->step + 1, n = 0, zeros = 0;
    double *x = ur_take(&arena, rows, sizeof *x), *y = ur_take(&arena, rows, 2 * sizeof *y);
    double *upper = cells->upper ? ur_take(&arena, rows, sizeof *upper) : NULL;
    unsigned char *state = ur_take(&arena, rows, 1);
    unrelu_transform_advice *a = &s->advice[j];
    double mean = 0, least = INFINITY, most = 0, best = NAN, value = NAN;
    *a = (unrelu_transform_advice){
        UNRELU_TRANSFORM_NONE, NAN, {NAN, NAN, NAN}, 0, NAN, NAN, NAN, NAN};
    s->power[j] = NAN;
    UR_TRY(ur_arena_status(&arena, err));
    if (!takes_powers(cells, j))
        return UNRELU_OK;
    for (size_t i = j * cells->n; i < (j + 1) * cells->n; i += s->step, n++) {
        x[n] = cells->x[i];
        state[n] = cells->state[i];
        zeros += state[n] == UR_BELOW && x[n] == 0;
        if (upper)
            upper[n] = cells->upper[i];
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
    if (s->step == 1)
        UR_TRY(find_lambda(cells, j, &a->lambda, err));
    s->power[j] = a->lambda;
    if (s->step > 1 || zeros > 0)
        UR_TRY(ur_transform_estimate(n, x, upper, state, "", &s->power[j], err));
    UR_TRY(ur_transform_likelihood(n, x, upper, state, s->power[j], y, &best, err));
    for (int k = 0; k < POWERS; k++) {
        UR_TRY(ur_transform_likelihood(n, x, upper, state, powers[k], y, &value, err));
        a->lost[k] = fmax(0, 2 * (best - value));
    }
    if (isfinite(best))
        a->transform = choose(a->lost, 1, (double)a->values);
    else
        s->power[j] = a->lambda = NAN;
    return UNRELU_OK;
}

/* ---- what is advised, tried ---- */

/* of many rows the power is estimated where it is asked for alone */
static unrelu_status complete(void *context, size_t j, unrelu_error *err)
{
    const study *s = context;
    unrelu_transform_advice *a = &s->advice[j];
    int boxcox = a->transform == UNRELU_TRANSFORM_BOXCOX ||
                 s->advice[s->cells->d].transform == UNRELU_TRANSFORM_BOXCOX;
    return s->step > 1 && boxcox && !isnan(s->power[j]) ? find_lambda(s->cells, j, &a->lambda, err)
                                                        : UNRELU_OK;
}

/* Judges columns under a transform of their own, NONE being left out. ks and ks_p: of all columns.
 */
static unrelu_status try_out(const study *s, const unrelu_transform *transform,
                             const unrelu_exec *exec, double *ks, double *ks_p, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_cells *cells = s->cells;
    size_t n = cells->n, d = cells->d, tried = 0, guessed;
    size_t *of = ur_take(&arena, d, sizeof *of);
    ur_known *known = ur_take(&arena, d, sizeof *known);
    double *found = ur_take(&arena, d, 3 * sizeof *found);
    unrelu_goodness_options o;
    unrelu_goodness_options_init(&o, sizeof o);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < d; j++) {
        ks[j] = ks_p[j] = NAN;
        if (transform[j] == UNRELU_TRANSFORM_NONE || isnan(s->power[j]))
            continue;
        double *x = ur_take(&arena, n, sizeof *x);
        double *upper = cells->upper ? ur_take(&arena, n, sizeof *upper) : NULL;
        const unsigned char *state = cells->state + j * n;
        UR_TRY(ur_arena_status(&arena, err));
        memcpy(x, cells->x + j * n, n * sizeof *x);
        if (upper)
            memcpy(upper, cells->upper + j * n, n * sizeof *upper);
        UR_TRY(ur_transform_column(transform[j], s->advice[j].lambda, n, x, upper, state, "",
                                   &guessed, err));
        known[tried] = (ur_known){
            n, x, upper, state, {.transform = transform[j], .lambda = s->advice[j].lambda}};
        of[tried++] = j;
    }
    const ur_judging how = {.d = tried, .columns = known, .seed = o.seed};
    if (tried > 0)
        UR_TRY(ur_judge_columns(&how, exec, found, found + d, found + 2 * d, err));
    for (size_t k = 0; k < tried; k++) {
        ks[of[k]] = found[k];
        ks_p[of[k]] = found[d + k];
    }
    return UNRELU_OK;
}

static unrelu_status try_all(study *s, const unrelu_exec *exec, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = s->cells->d;
    unrelu_transform *own = ur_take(&arena, d, sizeof *own);
    unrelu_transform *shared = ur_take(&arena, d, sizeof *shared);
    double *ks = ur_take(&arena, d, 4 * sizeof *ks);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < d; j++) {
        shared[j] = s->advice[d].transform;
        own[j] =
            s->advice[j].transform == shared[j] ? UNRELU_TRANSFORM_NONE : s->advice[j].transform;
    }
    UR_TRY(try_out(s, shared, exec, ks, ks + d, err));
    UR_TRY(try_out(s, own, exec, ks + 2 * d, ks + 3 * d, err));
    for (size_t j = 0; j < d; j++) {
        unrelu_transform_advice *a = &s->advice[j];
        int same = own[j] == UNRELU_TRANSFORM_NONE && a->transform != UNRELU_TRANSFORM_NONE;
        a->shared_ks = ks[j];
        a->shared_ks_p = ks[d + j];
        a->ks = ks[j + (same ? 0 : 2 * d)];
        a->ks_p = ks[j + (same ? d : 3 * d)];
    }
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
    study s = {&cells, (cells.n + MOST_ROWS - 1) / MOST_ROWS, advice,
               ur_take(&arena, d, sizeof *s.power)};
    s.step = s.step ? s.step : 1;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_each(exec, "comparing transforms", d, suggest, &s, err));
    unrelu_transform_advice *all = &advice[d];
    double columns = 0;
    *all = (unrelu_transform_advice){UNRELU_TRANSFORM_NONE, NAN, {0}, 0, NAN, NAN, NAN, NAN};
    for (size_t j = 0; j < d; j++) {
        if (isnan(s.power[j]))
            continue;
        columns++;
        all->values += advice[j].values;
        for (int k = 0; k < POWERS; k++)
            all->lost[k] += advice[j].lost[k];
    }
    if (columns > 0)
        all->transform = choose(all->lost, columns, (double)all->values);
    UR_TRY(ur_each(exec, "comparing transforms", d, complete, &s, err));
    return try_all(&s, exec, err);
}
