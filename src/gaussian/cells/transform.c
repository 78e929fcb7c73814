/* SPDX-License-Identifier: Apache-2.0 */
/* Box-Cox and its kin. The likelihood of lambda is that of the transformed column, censored at the
 * transformed limits, times the Jacobian prod x^(lambda - 1) of the values that were seen; it is
 * searched on a grid of 0.25 and then by golden sections to 1e-6. Values are first divided by
 * their geometric mean, which changes b and s alone and keeps powers in range. */
#include "base/error.h"
#include "dense/minimum.h"
#include "gaussian/cells/cells.h"
#include "law/power.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* beyond it powers of measured values are not told from one another */
#define LAMBDA_MOST 3.0
/* Of the search: the likelihood has one maximum between neighbours of the best (as a rule it has
 * one at all, so that the grid is a safeguard, and its step a matter of time); to six digits, far
 * below the standard error of lambda. */
#define GRID        0.25
#define GRID_POINTS ((size_t)(2 * LAMBDA_MOST / GRID) + 1)
static const double LAMBDA_PRECISION = 1e-6;
/* Of that many values that were seen the whole grid is looked at for so many alone, which is near
 * the place; from there on steps over all cells go to the best. */
enum { MANY_SEEN = 4000, FIRST_SEEN = 500 };

double unrelu_gaussian_untransform(const unrelu_gaussian *model, size_t column, double y)
{
    return ur_untransform(model->transform, model->lambda ? model->lambda[column] : 0, y);
}

double unrelu_gaussian_transform(const unrelu_gaussian *model, size_t column, double x)
{
    return ur_transform(model->transform, model->lambda ? model->lambda[column] : 0, x);
}

static const char *const limit_words[] = {[UR_BELOW] = "below the limit",
                                          [UR_ABOVE] = "above the limit",
                                          [UR_BETWEEN] = "in an interval from"};

/* values that have an image; limits that are not negative */
static unrelu_status check_column(size_t n, const double *x, const unsigned char *state,
                                  const char *label, unrelu_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (state[i] == UR_SEEN && !(x[i] > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "%s, row %zu is %g: a transform is for values above 0; leave the column "
                           "out or use `transform` none",
                           label, i + 1, x[i]);
        if (state[i] != UR_SEEN && x[i] < 0)
            return ur_fail(err, UNRELU_EDATA,
                           "%s, row %zu is %s %g: a transform needs limits of at least 0", label,
                           i + 1, limit_words[state[i]], x[i]);
    }
    return UNRELU_OK;
}

unrelu_status ur_transform_column(unrelu_transform transform, double lambda, size_t n, double *x,
                                  double *upper, const unsigned char *state, const char *label,
                                  size_t *guessed, unrelu_error *err)
{
    *guessed = 0;
    if (transform == UNRELU_TRANSFORM_NONE)
        return UNRELU_OK;
    UR_TRY(check_column(n, x, state, label, err));
    double least = INFINITY; /* that was seen */
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_SEEN)
            least = fmin(least, x[i]);
    for (size_t i = 0; i < n; i++) {
        if (state[i] == UR_MISSING)
            continue;
        double y = ur_transform(transform, lambda, x[i]);
        if (state[i] == UR_BELOW && isinf(y)) {
            y = ur_transform(transform, lambda, least);
            ++*guessed;
        }
        x[i] = y;
        if (state[i] == UR_BETWEEN)
            upper[i] = ur_transform(transform, lambda, upper[i]);
    }
    return UNRELU_OK;
}

/* ---- lambda ---- */

unrelu_status ur_transform_likelihood(size_t n, const double *x, const double *upper,
                                      const unsigned char *state, double lambda, double *y,
                                      double *value, unrelu_error *err)
{
    ur_cell_margin margin;
    size_t guessed;
    double *high = upper ? y + n : NULL;
    memcpy(y, x, n * sizeof *y);
    if (upper)
        memcpy(high, upper, n * sizeof *high);
    *value = NAN;
    UR_TRY(
        ur_transform_column(UNRELU_TRANSFORM_BOXCOX, lambda, n, y, high, state, "", &guessed, err));
    UR_TRY(ur_cell_margin_fit(n, y, high, state, &margin, err));
    *value = margin.likelihood;
    return UNRELU_OK;
}

typedef struct {
    size_t n;
    const double *log, *log_upper; /* of values in units of their geometric mean */
    const unsigned char *state;
    double least; /* of the logarithms, that was seen */
    double *y;    /* 2 n */
} profile;

/* As ur_transform, whose logarithm it does not take again for each power. Limits are often the
 * same from cell to cell. */
static void set_powers(size_t n, const double *log, double lambda, double *y)
{
    double last = NAN, image = NAN;
    for (size_t i = 0; i < n; i++) {
        if (log[i] != last)
            image = lambda == 0 ? log[i] : expm1(lambda * log[i]) / lambda;
        last = log[i];
        y[i] = image;
    }
}

static unrelu_status negative_likelihood(void *of, double lambda, double *value, unrelu_error *err)
{
    const profile *p = of;
    double *upper = p->log_upper ? p->y + p->n : NULL, least;
    ur_cell_margin margin;
    set_powers(1, &p->least, lambda, &least);
    set_powers(p->n, p->log, lambda, p->y);
    if (upper)
        set_powers(p->n, p->log_upper, lambda, upper);
    for (size_t i = 0; i < p->n; i++)
        if (p->state[i] == UR_BELOW && isinf(p->y[i]))
            p->y[i] = least;
    UR_TRY(ur_cell_margin_fit(p->n, p->y, upper, p->state, &margin, err));
    *value = -margin.likelihood;
    return UNRELU_OK;
}

static ur_minimum grid_of(profile *p, double from, size_t points)
{
    return (ur_minimum){
        .f = negative_likelihood, .context = p, .from = from, .step = GRID, .points = points};
}

/* The best of the grid among every so many cells, *lambda. */
static unrelu_status look_first(const profile *all, size_t step, ur_arena *arena, double *lambda,
                                unrelu_error *err)
{
    size_t n = all->n / step;
    double *logs = ur_take(arena, n, 2 * sizeof *logs);
    unsigned char *state = ur_take(arena, n, 1);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++) {
        logs[i] = all->log[i * step];
        logs[n + i] = all->log_upper ? all->log_upper[i * step] : NAN;
        state[i] = all->state[i * step];
    }
    profile some = *all;
    some.n = n;
    some.log = logs;
    some.log_upper = all->log_upper ? logs + n : NULL;
    some.state = state;
    ur_minimum search = grid_of(&some, -LAMBDA_MOST, GRID_POINTS);
    return ur_minimum_find(&search, lambda, err);
}

/* the grid's best point of all cells, by steps from the best of some of them */
static unrelu_status find_bracket(profile *p, size_t step, ur_arena *arena, double *lambda,
                                  unrelu_error *err)
{
    double from = NAN;
    UR_TRY(look_first(p, step, arena, lambda, err));
    for (int i = 0; i < (int)GRID_POINTS && from != *lambda; i++) {
        from = *lambda;
        ur_minimum search = grid_of(p, from - GRID, 3);
        UR_TRY(ur_minimum_find(&search, lambda, err));
        *lambda = fmax(-LAMBDA_MOST, fmin(LAMBDA_MOST, *lambda));
    }
    return UNRELU_OK;
}

unrelu_status ur_transform_estimate(size_t n, const double *x, const double *upper,
                                    const unsigned char *state, const char *label, double *lambda,
                                    unrelu_error *err)
{
    UR_ARENA(arena);
    double *unit = ur_take(&arena, n, 2 * sizeof *unit), *y = ur_take(&arena, n, 2 * sizeof *y);
    double mean = 0;
    size_t seen = 0;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(check_column(n, x, state, label, err));
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_SEEN) {
            mean += log(x[i]);
            seen++;
        }
    mean = seen ? exp(mean / (double)seen) : 1;
    profile p = {n, unit, upper ? unit + n : NULL, state, INFINITY, y};
    for (size_t i = 0; i < n; i++) {
        unit[i] = log(x[i] / mean);
        p.least = state[i] == UR_SEEN ? fmin(p.least, unit[i]) : p.least;
    }
    for (size_t i = 0; i < n && upper; i++)
        unit[n + i] = log(upper[i] / mean);
    ur_minimum search = grid_of(&p, -LAMBDA_MOST, GRID_POINTS);
    if (seen >= MANY_SEEN) {
        UR_TRY(find_bracket(&p, seen / FIRST_SEEN, &arena, &search.from, err));
        search.points = 1;
    }
    search.width = LAMBDA_PRECISION;
    search.sections = INT_MAX;
    UR_TRY(ur_minimum_find(&search, lambda, err));
    *lambda = fmax(-LAMBDA_MOST, fmin(LAMBDA_MOST, *lambda));
    return UNRELU_OK;
}
