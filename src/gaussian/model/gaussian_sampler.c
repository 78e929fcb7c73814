/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "model/sampler.h"

#include <math.h>

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
