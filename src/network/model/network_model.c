/* SPDX-License-Identifier: Apache-2.0 */
/* For f of degree q: u f(v x + c) = s^q u f((v x + c) / s), so that dividing v and c by s = |v|
 * multiplies u by s^q. A row of length 0 (a constant neuron) stays as it is. */
#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "dense/blas.h"
#include "network/model/network.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

void unrelu_network_free(unrelu_network *m)
{
    ur_model_free(m);
}

unrelu_network *ur_network_new(unrelu_error *err)
{
    unrelu_network *m = ur_model_new(&ur_network_kind, err);
    if (!m)
        return NULL;
    m->holdout_residual = m->gap = m->objective = m->objective_bound = m->incoherence = NAN;
    m->method = m->biases = m->precision = m->how_k = m->guarantee = m->assumption = m->failure =
        m->guarantee_holds = m->guarantee_because = "";
    m->activation_name = "relu";
    return m;
}

void ur_network_set_activation(unrelu_network *m, unrelu_activation f)
{
    char name[48];
    unrelu_activation_name(f, name, sizeof name);
    m->activation = f;
    m->activation_name = ur_take_copy(ur_model_arena(m), name);
}

static void take(ur_arena *arena, double **to, size_t rows, size_t columns)
{
    if (!*to)
        *to = ur_take(arena, rows, columns * sizeof **to);
}

unrelu_status ur_network_alloc(unrelu_network *m, unrelu_error *err)
{
    if (m->d > INT_MAX || m->k > INT_MAX || m->m > INT_MAX)
        return ur_fail(err, UNRELU_EUSAGE,
                       "a network of %zu inputs, %zu neurons and %zu labels is too large", m->d,
                       m->k, m->m);
    ur_arena *arena = ur_model_arena(m);
    take(arena, &m->U, m->m, m->k);
    take(arena, &m->V, m->k, m->d);
    take(arena, &m->c, m->k, 1);
    take(arena, &m->e, m->m, 1);
    take(arena, &m->active, m->k, 1);
    if (!m->input_names)
        m->input_names = ur_take_numbered(arena, 'x', m->d);
    if (!m->label_names)
        m->label_names = ur_take_numbered(arena, 'a', m->m);
    return ur_arena_status(arena, err);
}

/* ---- normalise ---- */

static void scale_rows(ur_weights *w)
{
    double degree = ur_activation_degree(w->f);
    for (size_t j = 0; degree > 0 && j < w->k; j++) {
        double s = ur_norm(w->d, w->V + j * w->d);
        if (!(s > 0) || fabs(s - 1) <= 4 * DBL_EPSILON) /* done already: keep the bits */
            continue;
        for (size_t i = 0; i < w->d; i++)
            w->V[j * w->d + i] /= s;
        w->c[j] /= s;
        for (size_t i = 0; i < w->m; i++)
            w->U[i * w->k + j] *= pow(s, degree);
    }
}

/* order (k) such that column norms of U decrease; of equal ones the earlier first */
static unrelu_status order_by_norm(const ur_weights *w, size_t *order, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_keyed *list = ur_take(&arena, w->k, sizeof *list);
    ur_keyed *scratch = ur_take(&arena, w->k, sizeof *scratch);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < w->k; j++)
        list[j] = (ur_keyed){-ur_norm_steps(w->m, w->U + j, w->k), j};
    ur_sort_keyed(list, scratch, w->k);
    for (size_t j = 0; j < w->k; j++)
        order[j] = list[j].at;
    return UNRELU_OK;
}

static void permute_rows(size_t k, size_t width, const size_t *order, double *A, double *room)
{
    if (!A)
        return;
    for (size_t j = 0; j < k; j++)
        memcpy(room + j * width, A + order[j] * width, width * sizeof *A);
    memcpy(A, room, k * width * sizeof *A);
}

static void permute_columns(size_t rows, size_t k, const size_t *order, double *A, double *room)
{
    for (size_t i = 0; A && i < rows; i++) {
        for (size_t j = 0; j < k; j++)
            room[j] = A[i * k + order[j]];
        memcpy(A + i * k, room, k * sizeof *A);
    }
}

ur_weights ur_network_weights(const unrelu_network *m)
{
    return (ur_weights){m->d, m->k, m->m, m->activation, m->U, m->V, m->c, m->e};
}

unrelu_status ur_weights_normalise(ur_weights *w, size_t *order, unrelu_error *err)
{
    UR_ARENA(arena);
    double *room = ur_take(&arena, w->k, (w->d + 1) * sizeof *room);
    UR_TRY(ur_arena_status(&arena, err));
    scale_rows(w);
    UR_TRY(order_by_norm(w, order, err));
    permute_rows(w->k, w->d, order, w->V, room);
    permute_rows(w->k, 1, order, w->c, room);
    permute_columns(w->m, w->k, order, w->U, room);
    return UNRELU_OK;
}

unrelu_status ur_network_normalise(unrelu_network *m, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_weights weights = ur_network_weights(m);
    size_t *order = ur_take(&arena, m->k, sizeof *order);
    double *room = ur_take(&arena, m->k, (m->d + 1) * sizeof *room);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_weights_normalise(&weights, order, err));
    permute_rows(m->k, m->d, order, m->V_se, room);
    permute_rows(m->k, 1, order, m->c_se, room);
    permute_rows(m->k, 1, order, m->active, room);
    permute_columns(m->m, m->k, order, m->U_se, room);
    return UNRELU_OK;
}
