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

/* unit i of *out is unit units[i] of the side, for a column of A of unit length */
static unrelu_status take_units(const side *s, const size_t *units, size_t count, ur_arena *arena,
                                unrelu_gaussian **out, unrelu_error *err)
{
    const unrelu_gaussian *from = s->m->hidden;
    size_t p = s->m->p;
    unrelu_gaussian *to = *out = ur_gaussian_new(err);
    if (!to)
        return UNRELU_ENOMEM;
    ur_arena_adopt(arena, to, ur_model_free);
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

unrelu_status unrelu_mixture_compare(const unrelu_mixture *truth, const unrelu_mixture *model,
                                     unrelu_mixture_distance *out, unrelu_error *err)
{
    side t = {.m = truth, .who = "truth"}, m = {.m = model, .who = "model"};
    unrelu_mixture_distance found = {0};
    unrelu_gaussian *true_units, *found_units;
    double squares = 0;
    UR_ARENA(arena);
    UR_BLAS_BEGIN(NULL, err);
    memset(out, 0, sizeof *out);
    if (!truth->A || !model->A)
        return ur_fail(err, UNRELU_EFORMAT, "the %s has no A: there is nothing to compare",
                       truth->A ? "model" : "truth");
    if (truth->d != model->d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "the truth has %zu columns and the model %zu: they cannot be compared",
                       truth->d, model->d);
    size_t d = truth->d, p = model->p, *units = ur_take(&arena, truth->p, sizeof *units);
    size_t *match = ur_take(&arena, truth->p, sizeof *match); /* the model's, for each of units */
    double *cost = ur_take(&arena, truth->p, p * sizeof *cost);
    UR_TRY(prepare(&t, &arena, err));
    UR_TRY(prepare(&m, &arena, err));
    for (size_t i = 0; i < truth->p; i++)
        for (size_t j = 0; j < p; j++)
            cost[i * p + j] = distance(d, t.rows + i * d, m.rows + j * d);
    UR_TRY(ur_match(truth->p, p, cost, match, err));
    for (size_t i = 0; i < truth->p; i++) {
        size_t j = match[i];
        if (j == UR_UNMATCHED)
            continue;
        for (size_t l = 0; l < d; l++)
            found.A_max = fmax(found.A_max, fabs(m.rows[j * d + l] - t.rows[i * d + l]));
        found.A_column = fmax(found.A_column, cost[i * p + j]);
        squares += cost[i * p + j] * cost[i * p + j];
        units[found.matched] = i;
        match[found.matched++] = j;
    }
    size_t count = found.matched;
    found.A_frobenius = sqrt(squares);
    found.missing = truth->p - count;
    found.extra = p - count;
    UR_TRY(take_units(&t, units, count, &arena, &true_units, err));
    UR_TRY(take_units(&m, match, count, &arena, &found_units, err));
    UR_TRY(unrelu_gaussian_compare(true_units, found_units, &found.hidden, err));
    for (size_t i = 0; i < count; i++)
        found.b_max = larger(found.b_max, fabs(found_units->b[i] - true_units->b[i]));
    for (size_t i = 0; i < count * count; i++)
        found.sigma_max =
            larger(found.sigma_max, fabs(found_units->sigma[i] - true_units->sigma[i]));
    *out = found;
    return UNRELU_OK;
}
