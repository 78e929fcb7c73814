/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of single pairs need not make a covariance. The eigenvalues of the correlation are
 * clipped at 0 and its diagonal is restored: the scales stay. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"

#include <math.h>
#include <stdlib.h>

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
    double *values = ur_doubles(d), *vectors = ur_alloc(d, d * sizeof *vectors);
    unrelu_status status = UNRELU_OK;
    if (!values || !vectors)
        status = ur_fail_memory(err, d * d, "eigenvectors");
    for (size_t i = 0; status == UNRELU_OK && i < d * d; i++)
        if (!isfinite(m->correlation[i]))
            status = ur_fail(err, UNRELU_EINTERNAL, "correlation %zu is not finite", i);
    if (status == UNRELU_OK) /* without vectors it takes a fifth of the time */
        status = ur_eigen_symmetric(d, m->correlation, values, NULL, err);
    if (status == UNRELU_OK) {
        m->lambda_min = values[0];
        /* rounding of d eigenvalues of size up to d is no reason to touch the estimate */
        m->repaired = allowed && values[0] < -1e-14 * (double)d;
    }
    if (status == UNRELU_OK && m->repaired)
        status = ur_eigen_symmetric(d, m->correlation, values, vectors, err);
    if (status == UNRELU_OK && m->repaired) {
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
    free(values);
    free(vectors);
    return status;
}
