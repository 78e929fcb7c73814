/* SPDX-License-Identifier: Apache-2.0 */
/* Above the largest limit of a column every cell is known to be what it is, or below: the empirical
 * distribution needs no estimate there. The column is censored anew at that limit, fitted, and
 * compared with its fit; what distance is to be expected comes from simulated columns of the same
 * share of censored cells, fitted likewise. */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "gaussian/cells/cells.h"
#include "gaussian/check/goodness.h"
#include "law/cell_margin.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS = 999 };

typedef struct {
    ur_cells cells;
    ur_distance_test *tests; /* d */
    double *ties;            /* d */
    unrelu_status *status;   /* d */
} study;

/* ---- one column ---- */

/* x and state are changed; value receives what is above the limit, in order */
static ur_censored_column censor(size_t n, double *x, unsigned char *state, double *value,
                                 double *scratch)
{
    ur_censored_column c = {.value = value, .limit = 0};
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_BELOW)
            c.limit = fmax(c.limit, x[i]);
    for (size_t i = 0; i < n; i++) {
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
    return c;
}

static double share_of_ties(const ur_censored_column *c)
{
    size_t tied = 0;
    for (size_t i = 0; i < c->count; i++)
        tied += (i > 0 && c->value[i] == c->value[i - 1]) ||
                (i + 1 < c->count && c->value[i] == c->value[i + 1]);
    return c->count ? (double)tied / (double)c->count : NAN;
}

static void look_at(void *context, size_t j)
{
    study *s = context;
    size_t n = s->cells.n;
    double *x = s->cells.x + j * n, *value = ur_doubles(n), *scratch = ur_doubles(n);
    unsigned char *state = s->cells.state + j * n;
    ur_cell_margin fit;
    ur_distance_test *test = &s->tests[j];
    *test = (ur_distance_test){.distance = NAN, .p = NAN, .fitted = 1};
    s->status[j] = value && scratch ? UNRELU_OK : UNRELU_ENOMEM;
    if (s->status[j] == UNRELU_OK) {
        ur_censored_column c = censor(n, x, state, value, scratch);
        s->ties[j] = share_of_ties(&c);
        s->status[j] = ur_cell_margin_fit(n, x, state, &fit, NULL);
        if (s->status[j] == UNRELU_OK && fit.margin.s > 0) {
            test->distance = ur_censored_distance(&c, fit.margin.b, fit.margin.s);
            test->observed = c.observed;
            test->gamma = (fit.margin.b - c.limit) / fit.margin.s;
        }
    }
    free(value);
    free(scratch);
}

/* ---- all of them ---- */

unrelu_status unrelu_columns_distance(unrelu_source *samples, const double *limit,
                                      unrelu_source *limits, const unrelu_goodness_options *options,
                                      const unrelu_exec *exec, double *ks, double *ks_p,
                                      double *ties, unrelu_error *err)
{
    size_t d = unrelu_source_columns(samples),
           runs = options && options->runs ? options->runs : RUNS;
    study s = {.tests = ur_alloc(d, sizeof *s.tests),
               .ties = ties,
               .status = ur_alloc(d, sizeof *s.status)};
    ur_cells_rules rules = {.limit = limit, .limits = limits};
    unrelu_status status = s.tests && s.status ? UNRELU_OK : ur_fail_memory(err, d, "columns");
    if (status == UNRELU_OK)
        status = ur_cells_load(samples, &rules, exec, &s.cells, err);
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "sorting", d, look_at, &s, err);
    for (size_t j = 0; j < d && status == UNRELU_OK; j++)
        if (s.status[j] != UNRELU_OK)
            status = ur_fail_memory(err, s.cells.n, "cells");
    if (status == UNRELU_OK)
        status = ur_distance_tests(s.tests, d, runs, options ? options->seed : 0, exec, err);
    for (size_t j = 0; j < d && status == UNRELU_OK; j++) {
        ks[j] = s.tests[j].distance;
        ks_p[j] = s.tests[j].p;
    }
    ur_cells_free(&s.cells);
    free(s.tests);
    free(s.status);
    return status;
}
