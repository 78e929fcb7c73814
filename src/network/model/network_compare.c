/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a network up to its symmetries. Copies of both are brought to unit rows of V (where f
 * is homogeneous), then neurons are paired such that the sum of |v - v*|^2 + (c - c*)^2 is least:
 * O(k^2 (d + k)). Errors of V, U and c are over the pairs. */
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "dense/match.h"
#include "network/model/network.h"

#include <math.h>
#include <string.h>

enum { PROBES = 1000, SEED = 1 };

static unrelu_status check(const unrelu_network *truth, const unrelu_network *model,
                           unrelu_error *err)
{
    char ours[48], theirs[48];
    unrelu_activation_name(truth->activation, ours, sizeof ours);
    unrelu_activation_name(model->activation, theirs, sizeof theirs);
    if (!truth->U || !truth->V || !model->U || !model->V)
        return ur_fail(err, UNRELU_EFORMAT, "the %s has no weights: there is nothing to compare",
                       truth->U && truth->V ? "model" : "truth");
    if (truth->d != model->d || truth->m != model->m)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "the truth has %zu inputs and %zu labels, the model %zu and %zu: they cannot "
            "be compared",
            truth->d, truth->m, model->d, model->m);
    if (strcmp(ours, theirs) != 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "the truth has the activation %s, the model %s: they cannot be compared",
                       ours, theirs);
    return UNRELU_OK;
}

/* in the form of ur_weights_normalise */
static unrelu_status copy(const unrelu_network *from, ur_arena *arena, ur_weights *to,
                          unrelu_error *err)
{
    size_t d = from->d, k = from->k, m = from->m, *order = ur_take(arena, k, sizeof *order);
    *to = (ur_weights){.d = d, .k = k, .m = m, .f = from->activation};
    to->U = ur_take(arena, m, k * sizeof *to->U);
    to->V = ur_take(arena, k, d * sizeof *to->V);
    to->c = ur_take(arena, k, sizeof *to->c);
    to->e = ur_take(arena, m, sizeof *to->e);
    UR_TRY(ur_arena_status(arena, err));
    memcpy(to->U, from->U, m * k * sizeof *to->U);
    memcpy(to->V, from->V, k * d * sizeof *to->V);
    if (from->c)
        memcpy(to->c, from->c, k * sizeof *to->c);
    if (from->e)
        memcpy(to->e, from->e, m * sizeof *to->e);
    return ur_weights_normalise(to, order, err);
}

/* match[i]: the model's neuron for the truth's neuron i */
static unrelu_status pair_neurons(const ur_weights *t, const ur_weights *m, size_t *match,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    double *cost = ur_take(&arena, t->k, m->k * sizeof *cost);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < t->k; i++)
        for (size_t j = 0; j < m->k; j++) {
            double *sum = &cost[i * m->k + j];
            *sum = (t->c[i] - m->c[j]) * (t->c[i] - m->c[j]);
            for (size_t l = 0; l < t->d; l++)
                *sum += pow(t->V[i * t->d + l] - m->V[j * t->d + l], 2);
        }
    return ur_match(t->k, m->k, cost, match, err);
}

/* largest and sum of squares of what it was given */
typedef struct {
    double largest, squares;
} size_of;

static void add(size_of *s, double x)
{
    s->largest = fmax(s->largest, fabs(x));
    s->squares += x * x;
}

static double ratio(double error, double size)
{
    return error == 0 ? 0 : error / size;
}

static void parameter_errors(const ur_weights *t, const ur_weights *m, const size_t *match,
                             unrelu_network_distance *out)
{
    size_of V = {0}, U = {0}, c = {0}, e = {0}, truth_U = {0};
    for (size_t i = 0; i < t->k; i++) {
        size_t j = match[i];
        for (size_t l = 0; l < t->m; l++)
            add(&truth_U, t->U[l * t->k + i]);
        if (j == UR_UNMATCHED)
            continue;
        out->matched++;
        add(&c, m->c[j] - t->c[i]);
        for (size_t l = 0; l < t->d; l++)
            add(&V, m->V[j * t->d + l] - t->V[i * t->d + l]);
        for (size_t l = 0; l < t->m; l++)
            add(&U, m->U[l * m->k + j] - t->U[l * t->k + i]);
    }
    for (size_t l = 0; l < t->m; l++)
        add(&e, m->e[l] - t->e[l]);
    *out = (unrelu_network_distance){.V_max = V.largest,
                                     .V_frobenius = sqrt(V.squares),
                                     .U_max = ratio(U.largest, truth_U.largest),
                                     .U_frobenius = ratio(sqrt(U.squares), sqrt(truth_U.squares)),
                                     .c_max = c.largest,
                                     .c_frobenius = sqrt(c.squares),
                                     .e_max = e.largest,
                                     .e_frobenius = sqrt(e.squares),
                                     .matched = out->matched,
                                     .missing = t->k - out->matched,
                                     .extra = m->k - out->matched};
}

static unrelu_status function_error(const ur_weights *t, const ur_weights *m, double *out,
                                    unrelu_error *err)
{
    size_t wide = t->k > m->k ? t->k : m->k;
    UR_ARENA(arena);
    double *x = ur_take(&arena, PROBES, t->d * sizeof *x);
    double *hidden = ur_take(&arena, PROBES, wide * sizeof *x);
    double *y = ur_take(&arena, PROBES, t->m * sizeof *x);
    double *z = ur_take(&arena, PROBES, t->m * sizeof *x);
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_normals(SEED, UR_STREAM_INPUTS, 0, (uint64_t)PROBES * t->d, x);
    ur_network_forward(t, x, PROBES, hidden, y);
    ur_network_forward(m, x, PROBES, hidden, z);
    size_of error = {0}, size = {0};
    for (size_t i = 0; i < PROBES * t->m; i++) {
        add(&error, z[i] - y[i]);
        add(&size, y[i]);
    }
    *out = ratio(sqrt(error.squares), sqrt(size.squares));
    return UNRELU_OK;
}

static unrelu_status compare(const unrelu_network *truth, const unrelu_network *model,
                             unrelu_network_distance *out, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_weights t, m;
    size_t *match = ur_take(&arena, truth->k, sizeof *match);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(copy(truth, &arena, &t, err));
    UR_TRY(copy(model, &arena, &m, err));
    UR_TRY(pair_neurons(&t, &m, match, err));
    parameter_errors(&t, &m, match, out);
    return function_error(&t, &m, &out->function_error, err);
}

unrelu_status unrelu_network_compare(const unrelu_network *truth, const unrelu_network *model,
                                     unrelu_network_distance *out, unrelu_error *err)
{
    memset(out, 0, sizeof *out);
    UR_TRY(check(truth, model, err));
    UR_BLAS_BEGIN(NULL, err);
    unrelu_status status = compare(truth, model, out, err);
    if (status != UNRELU_OK)
        memset(out, 0, sizeof *out);
    return status;
}
