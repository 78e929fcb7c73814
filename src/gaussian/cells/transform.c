/* SPDX-License-Identifier: Apache-2.0 */
/* Box-Cox and its kin. The likelihood of lambda is that of the transformed column, censored at the
 * transformed limits, times the Jacobian prod x^(lambda - 1) of the values that were seen; it is
 * searched on a grid of 0.25 and then by golden sections to 1e-6. Values are first divided by
 * their geometric mean, which changes b and s alone and keeps powers in range. */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/cells/cells.h"
#include "law/cell_margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAMBDA_MOST 3.0
#define GRID        0.25
#define GOLDEN      0.6180339887498949

double ur_transform_forth(unrelu_transform transform, double lambda, double x)
{
    switch (transform) {
    case UNRELU_TRANSFORM_NONE:
        return x;
    case UNRELU_TRANSFORM_SQRT:
        return sqrt(x);
    case UNRELU_TRANSFORM_LOG:
        return log(x);
    case UNRELU_TRANSFORM_BOXCOX:
        break;
    }
    if (lambda == 0)
        return log(x);
    return x > 0 ? expm1(lambda * log(x)) / lambda : lambda > 0 ? -1 / lambda : -INFINITY;
}

double ur_transform_back(unrelu_transform transform, double lambda, double y)
{
    switch (transform) {
    case UNRELU_TRANSFORM_NONE:
        return y;
    case UNRELU_TRANSFORM_SQRT:
        return y > 0 ? y * y : 0;
    case UNRELU_TRANSFORM_LOG:
        return exp(y);
    case UNRELU_TRANSFORM_BOXCOX:
        break;
    }
    if (lambda == 0)
        return exp(y);
    double power = 1 + lambda * y;
    return power > 0 ? exp(log1p(lambda * y) / lambda) : lambda > 0 ? 0 : INFINITY;
}

const char *unrelu_transform_name(unrelu_transform transform)
{
    static const char *const names[] = {"none", "sqrt", "log", "boxcox"};
    return (size_t)transform < sizeof names / sizeof *names ? names[transform] : "";
}

double unrelu_gaussian_back(const unrelu_gaussian *model, size_t column, double y)
{
    return ur_transform_back(model->transform, model->lambda ? model->lambda[column] : 0, y);
}

double unrelu_gaussian_forth(const unrelu_gaussian *model, size_t column, double x)
{
    return ur_transform_forth(model->transform, model->lambda ? model->lambda[column] : 0, x);
}

static double smallest_seen(size_t n, const double *x, const unsigned char *state)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_SEEN)
            least = fmin(least, x[i]);
    return least;
}

/* values that have an image; limits that are not negative */
static unrelu_status check_column(size_t n, const double *x, const unsigned char *state,
                                  const char *label, unrelu_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (state[i] == UR_SEEN && !(x[i] > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "%s, row %zu is %g: a transform is for values above 0; leave the column "
                           "out or use --transform none",
                           label, i + 1, x[i]);
        if (state[i] == UR_BELOW && x[i] < 0)
            return ur_fail(err, UNRELU_EDATA,
                           "%s, row %zu is below the limit %g: a transform needs limits of at "
                           "least 0",
                           label, i + 1, x[i]);
    }
    return UNRELU_OK;
}

unrelu_status ur_transform_column(unrelu_transform transform, double lambda, size_t n, double *x,
                                  const unsigned char *state, const char *label, size_t *guessed,
                                  unrelu_error *err)
{
    *guessed = 0;
    if (transform == UNRELU_TRANSFORM_NONE)
        return UNRELU_OK;
    unrelu_status status = check_column(n, x, state, label, err);
    double least = smallest_seen(n, x, state);
    for (size_t i = 0; i < n && status == UNRELU_OK; i++) {
        if (state[i] == UR_MISSING)
            continue;
        double y = ur_transform_forth(transform, lambda, x[i]);
        if (state[i] == UR_BELOW && isinf(y)) {
            y = ur_transform_forth(transform, lambda, least);
            ++*guessed;
        }
        x[i] = y;
    }
    return status;
}

/* ---- lambda ---- */

typedef struct {
    size_t n, seen;
    const double *x; /* in units of the geometric mean of those seen */
    const unsigned char *state;
    double *y;
} profile;

static unrelu_status likelihood(const profile *p, double lambda, double *value, unrelu_error *err)
{
    ur_cell_margin margin;
    size_t guessed;
    memcpy(p->y, p->x, p->n * sizeof *p->y);
    unrelu_status status = ur_transform_column(UNRELU_TRANSFORM_BOXCOX, lambda, p->n, p->y,
                                               p->state, "", &guessed, err);
    if (status == UNRELU_OK)
        status = ur_cell_margin_fit(p->n, p->y, p->state, &margin, err);
    /* the Jacobian is 1: logarithms of the values add up to 0 */
    *value = status == UNRELU_OK ? margin.likelihood : NAN;
    return status;
}

static unrelu_status search(const profile *p, double *lambda, unrelu_error *err)
{
    double best = -INFINITY, at = 0, value = 0;
    unrelu_status status = UNRELU_OK;
    for (double l = -LAMBDA_MOST; l <= LAMBDA_MOST && status == UNRELU_OK; l += GRID) {
        status = likelihood(p, l, &value, err);
        if (value > best) {
            best = value;
            at = l;
        }
    }
    double low = at - GRID, high = at + GRID, left = high - GOLDEN * (high - low),
           right = low + GOLDEN * (high - low), f_left = 0, f_right = 0;
    if (status == UNRELU_OK)
        status = likelihood(p, left, &f_left, err);
    if (status == UNRELU_OK)
        status = likelihood(p, right, &f_right, err);
    while (status == UNRELU_OK && high - low > 1e-6) {
        if (f_left > f_right) {
            high = right;
            right = left;
            f_right = f_left;
            left = high - GOLDEN * (high - low);
            status = likelihood(p, left, &f_left, err);
        } else {
            low = left;
            left = right;
            f_left = f_right;
            right = low + GOLDEN * (high - low);
            status = likelihood(p, right, &f_right, err);
        }
    }
    *lambda = fmax(-LAMBDA_MOST, fmin(LAMBDA_MOST, (low + high) / 2));
    return status;
}

unrelu_status ur_transform_estimate(size_t n, const double *x, const unsigned char *state,
                                    const char *label, double *lambda, unrelu_error *err)
{
    double *unit = ur_doubles(n), *y = ur_doubles(n), mean = 0;
    profile p = {n, 0, unit, state, y};
    unrelu_status status = unit && y ? UNRELU_OK : ur_fail_memory(err, n, "cells");
    if (status == UNRELU_OK)
        status = check_column(n, x, state, label, err);
    for (size_t i = 0; i < n && status == UNRELU_OK; i++)
        if (state[i] == UR_SEEN) {
            mean += log(x[i]);
            p.seen++;
        }
    mean = p.seen ? exp(mean / (double)p.seen) : 1;
    for (size_t i = 0; i < n && status == UNRELU_OK; i++)
        unit[i] = x[i] / mean;
    if (status == UNRELU_OK)
        status = search(&p, lambda, err);
    free(unit);
    free(y);
    return status;
}
