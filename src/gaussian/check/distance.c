/* SPDX-License-Identifier: Apache-2.0 */
/* A column is fitted, and its fit compared with the distribution that no law is assumed of
 * (steps.h): over all that was seen, whatever limits other cells have. What distance is to be
 * expected comes from simulated columns, fitted likewise: of the same share of censored cells where
 * there is one limit (goodness_null.c), else with the limits of the column (pattern_null.c). */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "base/sized.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/goodness.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>

typedef struct {
    ur_cells cells;
    size_t runs;
    uint64_t seed;
    ur_distance_test *tests; /* d; NaN distances of columns with several limits */
    double *ks, *ks_p, *ties;
} study;

/* one limit, below all values, or none */
static int has_one_limit(const ur_steps *s)
{
    return s->limits == 0 || (s->limits == 1 && s->open);
}

static unrelu_status compare(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    study *s = context;
    size_t n = s->cells.n;
    ur_known known = {n, s->cells.x + j * n, s->cells.state + j * n};
    ur_cell_margin fit;
    ur_steps steps;
    s->tests[j] = (ur_distance_test){.distance = NAN, .p = NAN, .fitted = 1};
    UR_TRY(ur_steps_find(&arena, &known, &steps, err));
    UR_TRY(ur_cell_margin_fit(n, known.x, NULL, known.state, &fit, err));
    double b = fit.margin.b, scale = fit.margin.s;
    s->ks[j] = scale > 0 ? ur_steps_distance(&steps, b, scale) : NAN;
    s->ks_p[j] = NAN;
    s->ties[j] = steps.seen > 0 ? (steps.seen - steps.alone) / steps.seen : NAN;
    if (isnan(s->ks[j]))
        return UNRELU_OK;
    if (has_one_limit(&steps)) {
        double limit = steps.limits ? steps.limit[0] : 0;
        s->tests[j].distance = s->ks[j];
        s->tests[j].observed = steps.observed;
        s->tests[j].gamma = (b - limit) / scale;
        return UNRELU_OK;
    }
    const ur_pattern_test test = {&steps, s->ks[j], b, scale, 1, j};
    return ur_pattern_p(&test, s->runs, s->seed, &s->ks_p[j], err);
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
    size_t d = unrelu_source_columns(samples);
    study s = {.runs = o.runs,
               .seed = o.seed,
               .tests = ur_take(&arena, d, sizeof *s.tests),
               .ks = ks,
               .ks_p = ks_p,
               .ties = ties};
    ur_cells_rules rules = {.limit = o.limit, .limits = o.limits};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_cells_load(samples, &rules, exec, &arena, &s.cells, err));
    UR_TRY(ur_each(exec, "sorting", d, compare, &s, err));
    UR_TRY(ur_distance_tests(s.tests, d, o.runs, o.seed, exec, err));
    for (size_t j = 0; j < d; j++)
        if (!isnan(s.tests[j].distance))
            ks_p[j] = s.tests[j].p;
    return UNRELU_OK;
}
