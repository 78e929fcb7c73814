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
static const double GRID = 0.25, LAMBDA_PRECISION = 1e-6;

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

/* x: in units of the geometric mean of those seen, so that their logarithms add up to 0 and the
 * Jacobian is 1; y: scratch */
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
    const double *unit, *upper;
    const unsigned char *state;
    double *y;
} profile;

static unrelu_status negative_likelihood(void *of, double lambda, double *value, unrelu_error *err)
{
    const profile *p = of;
    UR_TRY(ur_transform_likelihood(p->n, p->unit, p->upper, p->state, lambda, p->y, value, err));
    *value = -*value;
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
    for (size_t i = 0; i < n; i++)
        unit[i] = x[i] / mean;
    for (size_t i = 0; i < n && upper; i++)
        unit[n + i] = upper[i] / mean;
    profile p = {n, unit, upper ? unit + n : NULL, state, y};
    ur_minimum search = {.f = negative_likelihood,
                         .context = &p,
                         .from = -LAMBDA_MOST,
                         .step = GRID,
                         .points = (size_t)(2 * LAMBDA_MOST / GRID) + 1,
                         .width = LAMBDA_PRECISION,
                         .sections = INT_MAX};
    UR_TRY(ur_minimum_find(&search, lambda, err));
    *lambda = fmax(-LAMBDA_MOST, fmin(LAMBDA_MOST, *lambda));
    return UNRELU_OK;
}
