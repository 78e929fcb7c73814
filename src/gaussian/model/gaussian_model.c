/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/model/gaussian_model.h"

#include "base/error.h"
#include "gaussian/problem/tolerance.h"

#include <math.h>

unrelu_gaussian *ur_gaussian_new(unrelu_error *err)
{
    unrelu_gaussian *m = ur_model_new(&ur_gaussian_kind, err);
    if (m)
        m->method = m->norms = m->angles = m->how_k = "";
    return m;
}

unrelu_status ur_gaussian_allocate(unrelu_gaussian *m, size_t d, int errors, unrelu_error *err)
{
    double **vectors[] = {&m->b, &m->scale, &m->b_se, &m->scale_se, &m->observed, &m->positive};
    double **squares[] = {&m->sigma, &m->correlation, &m->sigma_se, &m->correlation_se, &m->n_pair};
    size_t vector_count = errors ? 6 : 2, square_count = errors ? 5 : 2;
    ur_arena *arena = ur_model_arena(m);
    m->d = d;
    for (size_t i = 0; i < vector_count; i++)
        *vectors[i] = ur_take(arena, d, sizeof(double));
    for (size_t i = 0; i < square_count; i++)
        *squares[i] = ur_take(arena, d, d * sizeof(double));
    if (errors) {
        m->flags = ur_take(arena, d, sizeof *m->flags);
        m->pair_flags = ur_take(arena, d, d);
    }
    return ur_arena_status(arena, err);
}

void unrelu_gaussian_margin(const unrelu_gaussian *m, size_t column, double *b, double *s,
                            double *limit)
{
    double noise = m->noise ? m->noise[column] : 0;
    *b = m->b[column];
    *s = hypot(m->scale[column], noise);
    *limit = m->limit ? m->limit[column] : 0;
    if (m->noise)
        *limit = fmax(*limit, UR_NOISE_CENSORING * noise);
}

void unrelu_gaussian_free(unrelu_gaussian *m)
{
    ur_model_free(m);
}
