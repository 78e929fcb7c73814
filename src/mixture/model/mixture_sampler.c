/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "model/sampler.h"

#include <math.h>

unrelu_status unrelu_mixture_sampler(const unrelu_mixture *model, uint64_t seed,
                                     unrelu_sampler **out, unrelu_error *err)
{
    const unrelu_gaussian *hidden = model->hidden;
    *out = NULL;
    if (!model->A || hidden->d != model->p)
        return ur_fail(err, UNRELU_EUSAGE, "the mixture has %s: no samples can be drawn",
                       model->A ? "another number of units than of columns of A" : "no A");
    for (size_t i = 0; i < model->d * model->p; i++)
        if (!isfinite(model->A[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "A has %g at row %zu, column %zu: no samples can be drawn", model->A[i],
                           i / model->p + 1, i % model->p + 1);
    if (!(model->noise >= 0 && model->noise < INFINITY))
        return ur_fail(err, UNRELU_EDATA, "the noise is %g: no samples can be drawn", model->noise);
    UR_TRY(ur_gaussian_check_sampled(hidden, err));
    ur_sampled law = ur_gaussian_sampled(hidden);
    law.limit = NULL; /* units are off at 0, whatever they were fitted by */
    law.d = model->d;
    law.A = model->A;
    law.noise = model->noise;
    return ur_sampler_make(&law, seed, out, err);
}
