/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/options.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

#define AT(field) offsetof(unrelu_plan_options, field)
#define WHOLE     "a whole number from 1 to 1000000000"
#define NUMBERS   "a list of at most 100 numbers from -6 to 1000"

static const double LEAST_B = -6; /* on in one of 1e9 samples */
static const double MOST_B = 1000;

static int read_list(void *options, const char *text)
{
    unrelu_plan_options *o = options;
    double values[UNRELU_PLAN_BIASES];
    size_t count = 0;
    for (const char *at = text;; at++) {
        char item[32];
        size_t length = strcspn(at, ",");
        if (count == UNRELU_PLAN_BIASES || length >= sizeof item)
            return 0;
        memcpy(item, at, length);
        item[length] = '\0';
        if (!ur_text_number(item, &values[count]) ||
            !(values[count] >= LEAST_B && values[count] <= MOST_B))
            return 0;
        count++;
        at += length;
        if (!*at)
            break;
    }
    memcpy(o->b, values, count * sizeof *values);
    o->b_count = count;
    return 1;
}

static const ur_option table[] = {
    {"model", UR_OPTION_CHOICE, AT(model), "gaussian|network|mixture", 0, 0, NULL, NULL},
    {"d", UR_OPTION_SIZE, AT(d), "D", 1, 1e9, WHOLE, NULL},
    {"k", UR_OPTION_SIZE, AT(k), "K", 1, 1e9, WHOLE, NULL},
    {"m", UR_OPTION_SIZE, AT(m), "M", 1, 1e9, WHOLE, NULL},
    {"p", UR_OPTION_SIZE, AT(p), "P", 1, 1e9, WHOLE, NULL},
    {"error", UR_OPTION_REAL, AT(error), "E", DBL_MIN, 1e6, "a number above 0", NULL},
    {"failure", UR_OPTION_REAL, AT(failure), "DELTA", DBL_MIN, 1 - DBL_EPSILON,
     "a number between 0 and 1", NULL},
    {"kappa", UR_OPTION_REAL, AT(kappa), "X", 1, DBL_MAX, "a number of at least 1", NULL},
    {"b", UR_OPTION_OWN, AT(b), "LIST", 0, 0, NUMBERS, read_list},
    {0},
};

void unrelu_plan_options_init(unrelu_plan_options *options, size_t size)
{
    const unrelu_plan_options defaults = {.failure = 0.05, .kappa = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_plan_options_set(unrelu_plan_options *options, const char *name,
                                      const char *value, unrelu_error *err)
{
    return ur_option_set(table, options, name, value, err);
}

int unrelu_plan_option(size_t i, unrelu_option *out)
{
    return ur_option_show(table, i, out);
}

/* ---- bounds ---- */

const char *ur_plan_reason(ur_planning *w, int broken, const char *format, ...)
{
    va_list values;
    if (!broken)
        return NULL;
    va_start(values, format);
    const char *text = ur_take_values(&w->plan->arena, format, values);
    va_end(values);
    return text;
}

void ur_plan_add(ur_planning *w, unrelu_plan_bound bound, double n, const char *because)
{
    static const double ROUNDING = 1e-12; /* 10000, not 10001 for that of a quotient */
    assert(w->plan->count < UR_PLAN_BOUNDS);
    bound.holds = because == NULL;
    bound.because = because;
    bound.n = because || isnan(n) ? NAN : fmax(1, ceil(n * (1 - ROUNDING)));
    if (bound.error_at_one == 0)
        bound.error_at_one = NAN;
    w->plan->bounds[w->plan->count++] = bound;
}

const unrelu_plan_bound *unrelu_plan_bound_at(const unrelu_plan *plan, size_t i)
{
    return i < plan->count ? &plan->bounds[i] : NULL;
}

void unrelu_plan_free(unrelu_plan *plan)
{
    if (plan)
        ur_arena_end(&plan->arena);
    ur_free(plan);
}

static unrelu_status check(const unrelu_plan_options *o, unrelu_error *err)
{
    if ((unsigned)o->model > UNRELU_PLAN_MIXTURE)
        return ur_fail(err, UNRELU_EUSAGE, "there is no model %d", (int)o->model);
    if (!(o->failure > 0 && o->failure < 1))
        return ur_fail(err, UNRELU_EUSAGE, "`failure` must be between 0 and 1, not %g", o->failure);
    if (!(o->kappa >= 1 && isfinite(o->kappa)))
        return ur_fail(err, UNRELU_EUSAGE, "`kappa` must be at least 1, not %g", o->kappa);
    if (o->b_count > UNRELU_PLAN_BIASES)
        return ur_fail(err, UNRELU_EUSAGE, "`b` lists %zu values, and at most %d are taken",
                       o->b_count, UNRELU_PLAN_BIASES);
    for (size_t i = 0; i < o->b_count; i++)
        if (!(o->b[i] >= LEAST_B && o->b[i] <= MOST_B))
            return ur_fail(err, UNRELU_EUSAGE, "`b` must be from -6 to 1000, not %g", o->b[i]);
    if (o->model == UNRELU_PLAN_GAUSSIAN && (o->d < 1 || !(o->error > 0 && isfinite(o->error))))
        return ur_fail(err, UNRELU_EUSAGE,
                       "say how large, and how exact: `d` columns and the `error` that is wanted");
    if (o->model == UNRELU_PLAN_NETWORK && (o->d < 1 || o->k < 1))
        return ur_fail(err, UNRELU_EUSAGE, "say how large: `d` inputs and `k` neurons");
    if (o->model == UNRELU_PLAN_MIXTURE && o->p < 1)
        return ur_fail(err, UNRELU_EUSAGE, "say how large: `p` units");
    return UNRELU_OK;
}

static unrelu_status set_values(ur_planning *w, unrelu_error *err)
{
    static const char *const things[] = {"columns", "neurons", "units"};
    const unrelu_plan_options *o = w->options;
    w->of = ((const size_t[]){o->d, o->k, o->p})[o->model];
    w->count = o->b_count ? o->b_count : 1;
    if (w->count > w->of)
        return ur_fail(err, UNRELU_EUSAGE, "`b` lists %zu values for %zu %s", w->count, w->of,
                       things[o->model]);
    w->least = w->most = o->b_count ? o->b[0] : 0;
    for (size_t i = 0; i < w->count; i++) {
        double b = o->b_count ? o->b[i] : 0;
        w->values[i] = (ur_plan_value){b, (double)((w->of - 1 - i) / w->count + 1)};
        w->least = fmin(w->least, b);
        w->most = fmax(w->most, b);
    }
    return UNRELU_OK;
}

unrelu_status unrelu_plan_make(const unrelu_plan_options *options, unrelu_plan **plan,
                               unrelu_error *err)
{
    unrelu_plan_options o;
    *plan = NULL;
    unrelu_plan_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    UR_TRY(check(&o, err));
    ur_planning w = {.options = &o, .plan = ur_alloc(1, sizeof(unrelu_plan))};
    if (!w.plan)
        return ur_fail_memory(err, 1, "plan");
    unrelu_status status = set_values(&w, err);
    if (status == UNRELU_OK)
        status = o.model == UNRELU_PLAN_GAUSSIAN  ? ur_plan_gaussian(&w, err)
                 : o.model == UNRELU_PLAN_NETWORK ? ur_plan_network(&w, err)
                                                  : ur_plan_mixture(&w, err);
    if (status == UNRELU_OK)
        status = ur_arena_status(&w.plan->arena, err);
    if (status != UNRELU_OK) {
        unrelu_plan_free(w.plan);
        return status;
    }
    *plan = w.plan;
    return UNRELU_OK;
}
