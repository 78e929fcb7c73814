/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/model/gaussian_model.h"

#include "base/error.h"
#include "base/memory.h"
#include "gaussian/problem/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

unrelu_status ur_gaussian_allocate(unrelu_gaussian *m, size_t d, int errors, unrelu_error *err)
{
    m->d = d;
    double **vectors[] = {&m->b, &m->scale, &m->b_se, &m->scale_se, &m->observed, &m->positive};
    double **squares[] = {&m->sigma, &m->correlation, &m->sigma_se, &m->correlation_se, &m->n_pair};
    size_t vector_count = errors ? 6 : 2, square_count = errors ? 5 : 2;
    int failed = 0;
    for (size_t i = 0; i < vector_count; i++)
        failed |= !(*vectors[i] = ur_doubles(d));
    for (size_t i = 0; i < square_count; i++)
        failed |= !(*squares[i] = ur_alloc(d, d * sizeof(double)));
    failed |= !(m->names = ur_alloc(d, sizeof *m->names));
    if (errors) {
        failed |= !(m->flags = ur_alloc(d, sizeof *m->flags));
        failed |= !(m->pair_flags = ur_alloc(d, d));
    }
    return failed ? ur_fail_memory(err, d, "columns of a model") : UNRELU_OK;
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
    if (!m)
        return;
    double *arrays[] = {
        m->observed,       m->positive, m->b,        m->b_se,        m->scale,
        m->scale_se,       m->sigma,    m->sigma_se, m->correlation, m->noise,
        m->limit,          m->W,        m->n_pair,   m->eigenvalues, m->eigenvalues_se,
        m->correlation_se, m->lambda};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    ur_strings_free(m->names, m->d);
    free(m->flags);
    free(m->pair_flags);
    free(m->warnings);
    memset(m, 0, sizeof *m);
}
