/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a mixture up to its symmetries. x = (A D) (D^-1 m) for any positive diagonal D: columns
 * of A are brought to unit length, and their lengths go into the hidden units (b, scale, sigma).
 * Units are paired such that the sum of the distances |a - a*| is least, O(p^2 (d + p)); min(p, p*)
 * pairs are made, and all errors are over them. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "dense/match.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/model/mixture.h"

#include <math.h>
#include <string.h>

/* unit columns of A, one a row, and their lengths */
typedef struct {
    const unrelu_mixture *m;
    const char *who;
    double *rows, *length; /* p x d, p */
} side;

static unrelu_status check(const unrelu_mixture *truth, const unrelu_mixture *model,
                           unrelu_error *err)
{
    if (!truth->A || !model->A)
        return ur_fail(err, UNRELU_EFORMAT, "the %s has no A: there is nothing to compare",
                       truth->A ? "model" : "truth");
    if (truth->d != model->d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "the truth has %zu columns and the model %zu: they cannot be compared",
                       truth->d, model->d);
    return UNRELU_OK;
}

static unrelu_status prepare(side *s, ur_arena *arena, unrelu_error *err)
{
    size_t d = s->m->d, p = s->m->p;
    s->rows = ur_take(arena, p, d * sizeof *s->rows);
    s->length = ur_take(arena, p, sizeof *s->length);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < p; j++) {
        double length = ur_norm_steps(d, s->m->A + j, p);
        if (!(length > 0 && length < INFINITY))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu of the %s's A has the length %g: no unit can be compared "
                           "by it",
                           j + 1, s->who, length);
        s->length[j] = length;
        for (size_t i = 0; i < d; i++)
            s->rows[j * d + i] = s->m->A[i * p + j] / length;
    }
    return UNRELU_OK;
}

static double distance(size_t d, const double *x, const double *y)
{
    double square = 0;
    for (size_t i = 0; i < d; i++)
        square += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(square);
}

/* match[i]: the model's unit for the truth's unit i */
static unrelu_status pair_units(const side *t, const side *m, size_t *match, unrelu_error *err)
{
    size_t d = t->m->d, rows = t->m->p, columns = m->m->p;
    UR_ARENA(arena);
    double *cost = ur_take(&arena, rows, columns * sizeof *cost);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            cost[i * columns + j] = distance(d, t->rows + i * d, m->rows + j * d);
    return ur_match(rows, columns, cost, match, err);
}

static void errors_of_A(const side *t, const side *m, const size_t *match,
                        unrelu_mixture_distance *out)
{
    size_t d = t->m->d;
    double squares = 0;
    for (size_t i = 0; i < t->m->p; i++) {
        if (match[i] == UR_UNMATCHED)
            continue;
        const double *x = t->rows + i * d, *y = m->rows + match[i] * d;
        double column = distance(d, x, y);
        for (size_t l = 0; l < d; l++)
            out->A_max = fmax(out->A_max, fabs(y[l] - x[l]));
        out->A_column = fmax(out->A_column, column);
        squares += column * column;
        out->matched++;
    }
    out->A_frobenius = sqrt(squares);
    out->missing = t->m->p - out->matched;
    out->extra = m->m->p - out->matched;
}

static void free_gaussian(void *gaussian)
{
    unrelu_gaussian_free(gaussian);
}

/* unit i of *out is unit units[i] of the side, for a column of A of unit length */
static unrelu_status take_units(const side *s, const size_t *units, size_t count, ur_arena *arena,
                                unrelu_gaussian **out, unrelu_error *err)
{
    const unrelu_gaussian *from = s->m->hidden;
    size_t p = s->m->p;
    unrelu_gaussian *to = *out = ur_gaussian_new(err);
    if (!to)
        return UNRELU_ENOMEM;
    ur_arena_adopt(arena, to, free_gaussian);
    const char **names = ur_take(arena, count, sizeof *names);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_gaussian_allocate(to, count, 0, err));
    to->names = names;
    for (size_t i = 0; i < count; i++) {
        size_t u = units[i];
        to->b[i] = from->b[u] * s->length[u];
        to->scale[i] = from->scale[u] * s->length[u];
        for (size_t j = 0; j < count; j++) {
            size_t v = units[j];
            to->correlation[i * count + j] = from->correlation[u * p + v];
            to->sigma[i * count + j] = from->sigma[u * p + v] * s->length[u] * s->length[v];
        }
        names[i] = from->names[u];
    }
    return UNRELU_OK;
}

/* as fmax, but what is not a number stays */
static double larger(double most, double x)
{
    return isnan(most) || x <= most ? most : x;
}

static unrelu_status errors_of_hidden(const side *t, const side *m, const size_t *match,
                                      unrelu_mixture_distance *out, unrelu_error *err)
{
    size_t count = out->matched, found = 0;
    unrelu_gaussian *truth, *model;
    UR_ARENA(arena);
    size_t *units = ur_take(&arena, count, 2 * sizeof *units);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < t->m->p; i++)
        if (match[i] != UR_UNMATCHED) {
            units[found] = i;
            units[count + found++] = match[i];
        }
    UR_TRY(take_units(t, units, count, &arena, &truth, err));
    UR_TRY(take_units(m, units + count, count, &arena, &model, err));
    UR_TRY(unrelu_gaussian_compare(truth, model, &out->hidden, err));
    for (size_t i = 0; i < count; i++)
        out->b_max = larger(out->b_max, fabs(model->b[i] - truth->b[i]));
    for (size_t i = 0; i < count * count; i++)
        out->sigma_max = larger(out->sigma_max, fabs(model->sigma[i] - truth->sigma[i]));
    return UNRELU_OK;
}

static unrelu_status compare(const unrelu_mixture *truth, const unrelu_mixture *model,
                             unrelu_mixture_distance *out, unrelu_error *err)
{
    side t = {.m = truth, .who = "truth"}, m = {.m = model, .who = "model"};
    UR_ARENA(arena);
    UR_BLAS_PINNED;
    UR_TRY(check(truth, model, err));
    size_t *match = ur_take(&arena, truth->p, sizeof *match);
    UR_TRY(prepare(&t, &arena, err));
    UR_TRY(prepare(&m, &arena, err));
    UR_TRY(pair_units(&t, &m, match, err));
    errors_of_A(&t, &m, match, out);
    return errors_of_hidden(&t, &m, match, out, err);
}

unrelu_status unrelu_mixture_compare(const unrelu_mixture *truth, const unrelu_mixture *model,
                                     unrelu_mixture_distance *out, unrelu_error *err)
{
    memset(out, 0, sizeof *out);
    unrelu_status status = compare(truth, model, out, err);
    if (status != UNRELU_OK)
        memset(out, 0, sizeof *out);
    return status;
}
