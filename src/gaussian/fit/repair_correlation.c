/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of single pairs need not make a covariance. The eigenvalues of the correlation are
 * clipped at 0 and its diagonal is restored: the scales stay. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/tolerance.h"

#include <math.h>

void ur_gaussian_set_sigma(unrelu_gaussian *m)
{
    size_t d = m->d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            m->sigma[i * d + j] = m->scale[i] * m->correlation[i * d + j] * m->scale[j];
}

unrelu_status ur_gaussian_repair(unrelu_gaussian *m, int allowed, unrelu_error *err)
{
    size_t d = m->d;
    UR_ARENA(arena);
    double *values = ur_take(&arena, d, sizeof *values);
    double *vectors = ur_take(&arena, d, d * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(m->correlation[i]))
            return ur_fail(err, UNRELU_EINTERNAL, "correlation %zu is not finite", i);
    /* without vectors it takes a fifth of the time */
    UR_TRY(ur_eigen_symmetric(d, m->correlation, values, NULL, err));
    m->lambda_min = values[0];
    m->repaired = allowed && values[0] < -UR_INDEFINITE * (double)d;
    if (m->repaired) {
        UR_TRY(ur_eigen_symmetric(d, m->correlation, values, vectors, err));
        for (size_t i = 0; i < d; i++)
            for (size_t k = 0; k < d; k++)
                vectors[i * d + k] *= sqrt(fmax(values[k], 0));
        ur_gram(d, d, vectors, m->correlation);
        for (size_t i = 0; i < d; i++)
            values[i] = 1 / sqrt(m->correlation[i * d + i]);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                m->correlation[i * d + j] =
                    i == j ? 1 : m->correlation[i * d + j] * values[i] * values[j];
    }
    ur_gaussian_set_sigma(m);
    return UNRELU_OK;
}
