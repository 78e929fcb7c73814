/* SPDX-License-Identifier: Apache-2.0 */
/* A column is fitted, and its fit compared with the distribution that no law is assumed of
 * (steps.h): over all that was seen, whatever limits other cells have. What distance is to be
 * expected comes from simulated columns, fitted likewise: of the same share of censored cells where
 * there is one limit (goodness_null.c), else with the limits of the column (pattern_null.c). */
#include "gaussian/check/judge.h"

#include "base/error.h"
#include "base/sized.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/goodness.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>

typedef struct {
    const ur_judging *how;
    ur_distance_test *tests; /* d; NaN distances of columns with several limits */
    double *ks, *ks_p, *ties;
} study;

static unrelu_status find_normal(const ur_judging *how, const ur_known *known, size_t j, double *b,
                                 double *scale, unrelu_error *err)
{
    ur_cell_margin fit;
    if (how->b) {
        *b = how->b[j];
        *scale = how->scale[j];
        return UNRELU_OK;
    }
    UR_TRY(ur_cell_margin_fit(known->n, known->x, known->upper, known->state, &fit, err));
    *b = fit.margin.b;
    *scale = fit.margin.s;
    return UNRELU_OK;
}

static unrelu_status compare(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    study *s = context;
    const ur_known *known = &s->how->columns[j];
    int fitted = !s->how->fitted || s->how->fitted[j];
    ur_steps steps;
    double b, scale;
    s->tests[j] = (ur_distance_test){.distance = NAN, .p = NAN, .fitted = fitted};
    UR_TRY(ur_steps_find(&arena, known, &steps, err));
    UR_TRY(find_normal(s->how, known, j, &b, &scale, err));
    if (s->how->look)
        s->how->look(s->how->context, j, &steps);
    int is_known = scale > 0 && scale < INFINITY && isfinite(b);
    s->ks[j] = is_known ? ur_steps_distance(&steps, b, scale, NULL) : NAN;
    s->ks_p[j] = NAN;
    s->ties[j] = steps.seen > 0 ? (steps.seen - steps.alone) / steps.seen : NAN;
    if (isnan(s->ks[j]))
        return UNRELU_OK;
    if (ur_steps_one_limit(&steps) && !(steps.rounding.whole > 0)) {
        double limit = steps.hidings ? steps.hiding[0].high : 0;
        s->tests[j].distance = s->ks[j];
        s->tests[j].observed = steps.observed;
        s->tests[j].gamma = (b - limit) / scale;
        return UNRELU_OK;
    }
    double distance;
    UR_TRY(ur_steps_known_distance(&steps, b, scale, &distance, err));
    const ur_pattern_test test = {&steps, distance, b, scale, fitted, j};
    return ur_pattern_p(&test, s->how->runs, s->how->seed, &s->ks_p[j], err);
}

unrelu_status ur_judge_columns(const ur_judging *how, const unrelu_exec *exec, double *ks,
                               double *ks_p, double *ties, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = how->d;
    study s = {how, ur_take(&arena, d, sizeof *s.tests), ks, ks_p, ties};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_each(exec, "sorting", d, compare, &s, err));
    UR_TRY(ur_distance_tests(s.tests, d, how->runs, how->seed, exec, err));
    for (size_t j = 0; j < d; j++)
        if (!isnan(s.tests[j].distance))
            ks_p[j] = s.tests[j].p;
    return UNRELU_OK;
}

unrelu_status unrelu_columns_distance(unrelu_source *samples,
                                      const unrelu_goodness_options *options,
                                      const unrelu_exec *exec, double *ks, double *ks_p,
                                      double *ties, unrelu_error *err)
{
    unrelu_exec here;
    unrelu_goodness_options o;
    unrelu_goodness_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_TRY(ur_ranks_refuse(exec, "a distance of columns from their law", err));
    UR_ARENA(arena);
    ur_cells cells;
    ur_cells_rules rules = {.limit = o.limit, .limits = o.limits};
    UR_TRY(ur_cells_load(samples, &rules, exec, &arena, &cells, err));
    ur_known *columns = ur_take(&arena, cells.d, sizeof *columns);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0, n = cells.n; j < cells.d; j++)
        columns[j] = (ur_known){.n = n,
                                .x = cells.x + j * n,
                                .upper = cells.upper ? cells.upper + j * n : NULL,
                                .state = cells.state + j * n};
    const ur_judging how = {.d = cells.d, .columns = columns, .runs = o.runs, .seed = o.seed};
    return ur_judge_columns(&how, exec, ks, ks_p, ties, err);
}
