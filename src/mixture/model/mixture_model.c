/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/model/mixture.h"

#include <limits.h>
#include <math.h>

void unrelu_mixture_free(unrelu_mixture *m)
{
    ur_model_free(m);
}

unrelu_mixture *ur_mixture_new(unrelu_error *err)
{
    unrelu_mixture *m = ur_model_new(&ur_mixture_kind, err);
    if (m)
        m->method = m->precision = m->how_p = "";
    return m;
}

unrelu_status ur_mixture_hold(unrelu_mixture *m, unrelu_gaussian *hidden, unrelu_error *err)
{
    m->hidden = ur_arena_adopt(ur_model_arena(m), hidden, ur_model_free);
    return ur_arena_status(ur_model_arena(m), err);
}

unrelu_status ur_mixture_alloc(unrelu_mixture *m, unrelu_error *err)
{
    if (m->d > INT_MAX || m->p > INT_MAX)
        return ur_fail(err, UNRELU_EUSAGE, "a mixture of %zu columns and %zu units is too large",
                       m->d, m->p);
    ur_arena *arena = ur_model_arena(m);
    if (!m->A)
        m->A = ur_take(arena, m->d, m->p * sizeof *m->A);
    if (!m->names)
        m->names = ur_take_numbered(arena, 'x', m->d);
    return ur_arena_status(arena, err);
}

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
