/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/model/gaussian_model.h"

#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "gaussian/problem/tolerance.h"
#include "gaussian/summary/undone.h"
#include "law/power.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

unrelu_gaussian *ur_gaussian_new(unrelu_error *err)
{
    unrelu_gaussian *m = ur_model_new(&ur_gaussian_kind, err);
    if (m)
        m->joint_loglik = NAN;
    if (m)
        m->method = m->norms = m->angles = m->how_k = m->activation = m->errors = m->indicator =
            m->na = "";
    return m;
}

unrelu_status ur_gaussian_allocate(unrelu_gaussian *m, size_t d, int errors, unrelu_error *err)
{
    double **vectors[] = {&m->b,        &m->scale,    &m->b_se,       &m->scale_se,
                          &m->observed, &m->positive, &m->b_scale_cov};
    double **squares[] = {&m->sigma, &m->correlation, &m->sigma_se, &m->correlation_se, &m->n_pair};
    size_t vector_count = errors ? 7 : 2, square_count = errors ? 5 : 2;
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

unrelu_status ur_gaussian_set_activation(unrelu_gaussian *m, unrelu_transform inverse, double slope,
                                         unrelu_error *err)
{
    char name[UR_ACTIVATION_NAME];
    ur_arena *arena = ur_model_arena(m);
    if (!ur_transform_undoes(inverse))
        return UNRELU_OK;
    ur_activation_write(inverse, slope, name);
    m->transform = inverse;
    m->activation = ur_take_copy(arena, name);
    if (inverse == UNRELU_TRANSFORM_SIGMOID)
        return ur_arena_status(arena, err);
    m->lambda = ur_take(arena, m->d, sizeof *m->lambda);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < m->d; i++)
        m->lambda[i] = slope;
    return UNRELU_OK;
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

unrelu_status unrelu_gaussian_eigenvalues(const unrelu_gaussian *m, double *values,
                                          unrelu_error *err)
{
    if (!m->eigenvalues && !m->sigma)
        return ur_fail(err, UNRELU_EUSAGE, "the model has no Sigma");
    if (m->eigenvalues) {
        memcpy(values, m->eigenvalues, m->d * sizeof *values);
        return UNRELU_OK;
    }
    for (size_t i = 0; i < m->d * m->d; i++)
        if (!isfinite(m->sigma[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "entry (%zu, %zu) of Sigma is not finite: it has no eigenvalues",
                           i / m->d + 1, i % m->d + 1);
    UR_BLAS_BEGIN(NULL, err);
    UR_TRY(ur_eigen_symmetric(m->d, m->sigma, values, NULL, err));
    for (size_t i = 0; i < m->d / 2; i++) { /* LAPACK's increase */
        double kept = values[i];
        values[i] = values[m->d - 1 - i];
        values[m->d - 1 - i] = kept;
    }
    return UNRELU_OK;
}

unrelu_status unrelu_gaussian_match(const unrelu_gaussian *m, const unrelu_source *samples,
                                    size_t *place, unrelu_error *err)
{
    size_t width = unrelu_source_columns(samples), missing;
    const char *label = ur_source_label(samples);
    switch (ur_names_match(ur_source_names(samples), width, m->names, m->d, place, &missing)) {
    case UR_NAMES_FOUND:
        break;
    case UR_NAMES_COUNT:
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu columns, and the model %zu: give the samples of the model, or "
                       "choose its columns with `columns`",
                       label, width, m->d);
    case UR_NAMES_MISSING:
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no column '%.80s', which the model has: its %zu columns are "
                       "'%.80s'%s",
                       label, m->names[missing], width, unrelu_source_name(samples, 0),
                       width > 1 ? ", ..." : "");
    }
    return UNRELU_OK;
}

/* ---- samples ---- */

unrelu_status ur_gaussian_check_sampled(const unrelu_gaussian *m, unrelu_error *err)
{
    for (size_t i = 0; i < m->d; i++)
        if (!isfinite(m->b[i]) || !isfinite(m->scale[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) has b %g and scale %g: no samples can be drawn", i + 1,
                           m->names[i], m->b[i], m->scale[i]);
    for (size_t i = 0; i < m->d * m->d; i++)
        if (!isfinite(m->correlation[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "a correlation is not a number: no samples can be drawn");
    return UNRELU_OK;
}

ur_sampled ur_gaussian_sampled(const unrelu_gaussian *m)
{
    return (ur_sampled){.d = m->d,
                        .p = m->d,
                        .b = m->b,
                        .scale = m->scale,
                        .correlation = m->correlation,
                        .limit = m->limit,
                        .transform = m->transform,
                        .lambda = m->lambda};
}

unrelu_status unrelu_gaussian_sampler(const unrelu_gaussian *model, uint64_t seed,
                                      unrelu_sampler **out, unrelu_error *err)
{
    *out = NULL;
    UR_TRY(ur_gaussian_check_sampled(model, err));
    const ur_sampled law = ur_gaussian_sampled(model);
    return ur_sampler_make(&law, seed, out, err);
}

void unrelu_gaussian_free(unrelu_gaussian *m)
{
    ur_model_free(m);
}
