/* SPDX-License-Identifier: Apache-2.0 */
/* Above the largest limit of a column every cell is known to be what it is, or below: the empirical
 * distribution needs no estimate there. The column is censored anew at that limit, fitted, and
 * compared with its fit; what distance is to be expected comes from simulated columns of the same
 * share of censored cells, fitted likewise. */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "base/order.h"
#include "base/sized.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/goodness.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>

typedef struct {
    ur_cells cells;
    ur_distance_test *tests; /* d */
    double *ties;            /* d */
} study;

static unrelu_status compare(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    study *s = context;
    size_t n = s->cells.n;
    double *x = s->cells.x + j * n, *value = ur_take(&arena, n, sizeof *value);
    double *scratch = ur_take(&arena, n, sizeof *scratch);
    unsigned char *state = s->cells.state + j * n;
    ur_cell_margin fit;
    ur_distance_test *test = &s->tests[j];
    *test = (ur_distance_test){.distance = NAN, .p = NAN, .fitted = 1};
    UR_TRY(ur_arena_status(&arena, err));
    ur_censored_column c = {.value = value, .limit = 0};
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_BELOW)
            c.limit = fmax(c.limit, x[i]);
    for (size_t i = 0; i < n; i++) { /* censored anew at the largest limit */
        if (state[i] == UR_MISSING)
            continue;
        c.observed++;
        if (state[i] == UR_SEEN && x[i] > c.limit) {
            value[c.count++] = x[i];
        } else {
            state[i] = UR_BELOW;
            x[i] = c.limit;
        }
    }
    ur_sort(value, scratch, c.count);
    s->ties[j] = ur_censored_ties(&c);
    UR_TRY(ur_cell_margin_fit(n, x, NULL, state, &fit, err));
    if (fit.margin.s > 0) {
        test->distance = ur_censored_distance(&c, fit.margin.b, fit.margin.s);
        test->observed = c.observed;
        test->gamma = (fit.margin.b - c.limit) / fit.margin.s;
    }
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
    size_t d = unrelu_source_columns(samples);
    study s = {.tests = ur_take(&arena, d, sizeof *s.tests), .ties = ties};
    ur_cells_rules rules = {.limit = o.limit, .limits = o.limits};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_cells_load(samples, &rules, exec, &arena, &s.cells, err));
    UR_TRY(ur_each(exec, "sorting", d, compare, &s, err));
    UR_TRY(ur_distance_tests(s.tests, d, o.runs, o.seed, exec, err));
    for (size_t j = 0; j < d; j++) {
        ks[j] = s.tests[j].distance;
        ks_p[j] = s.tests[j].p;
    }
    return UNRELU_OK;
}
