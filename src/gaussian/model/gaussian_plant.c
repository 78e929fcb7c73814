/* SPDX-License-Identifier: Apache-2.0 */
/* A random rectified Gaussian, as in section 6 of the one-layer paper where k = d. Else W has
 * normal entries and unit rows: W W' has rank k < d, or comes nearer to I as k grows above d. */
#include "base/error.h"
#include "base/random.h"
#include "base/sized.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"

#include <limits.h>
#include <math.h>

enum { STREAM_W = 1, STREAM_B = 2 };

static unrelu_status plant(const unrelu_gaussian_plant_options *o, char letter, unrelu_gaussian *m,
                           unrelu_error *err)
{
    size_t d = o->d, k = o->k ? o->k : d;
    if (o->d < 1)
        return ur_fail(err, UNRELU_EUSAGE, "d must be at least 1");
    if (o->d > INT_MAX || k > INT_MAX)
        return ur_fail(err, UNRELU_EUSAGE, "a W of %zu x %zu is too large", o->d, k);
    if (!(o->kappa >= 1 && o->kappa < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE, "kappa must be at least 1, not %g", o->kappa);
    if (k < o->d && o->kappa != 1)
        return ur_fail(err, UNRELU_EUSAGE, "kappa needs k = d: W W' of rank %zu < %zu is singular",
                       k, o->d);
    if (k > o->d && o->kappa != 1)
        return ur_fail(err, UNRELU_EUSAGE,
                       "kappa needs k = d, not k = %zu with d = %zu: leave out one of the two", k,
                       o->d);
    if (!isfinite(o->bias_value))
        return ur_fail(err, UNRELU_EUSAGE, "the bias must be a number");
    UR_BLAS_BEGIN(NULL, err);
    UR_TRY(ur_gaussian_allocate(m, d, 0, err));
    m->k = k;
    m->seed = o->seed;
    m->names = ur_take_numbered(ur_model_arena(m), letter, d);
    m->W = ur_take(ur_model_arena(m), d, k * sizeof *m->W);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    ur_random_normals(o->seed, STREAM_W, 0, (uint64_t)d * k, m->W);
    if (k == d) { /* W = U diag(l^0, l^-1, ...): the ratio of the extreme squares is kappa */
        double ratio = d > 1 ? pow(o->kappa, 0.5 / (double)(d - 1)) : 1;
        UR_TRY(ur_orthonormalise(d, k, m->W, err));
        for (size_t i = 0; i < d * k; i++)
            m->W[i] *= pow(ratio, -(double)(i % k));
    } else {
        ur_unit_rows(d, k, m->W);
    }
    ur_gram(d, k, m->W, m->sigma);
    for (size_t i = 0; i < d; i++)
        m->scale[i] = sqrt(m->sigma[i * d + i]);
    for (size_t i = 0; i < d * d; i++)
        m->correlation[i] = i / d == i % d ? 1 : m->sigma[i] / (m->scale[i / d] * m->scale[i % d]);
    ur_random_normals(o->seed, STREAM_B, 0, d, m->b);
    for (size_t i = 0; i < d; i++) {
        if (o->bias == UNRELU_BIAS_RECTIFIED)
            m->b[i] = fmax(0, m->b[i]);
        else if (o->bias == UNRELU_BIAS_FIXED)
            m->b[i] = o->bias_value * m->scale[i];
    }
    return UNRELU_OK;
}

unrelu_status ur_gaussian_plant(const unrelu_gaussian_plant_options *o, char letter,
                                unrelu_gaussian **model, unrelu_error *err)
{
    unrelu_gaussian *m = ur_gaussian_new(err);
    return ur_model_hand(m, m ? plant(o, letter, m, err) : UNRELU_ENOMEM, model, err);
}

unrelu_status unrelu_gaussian_plant(const unrelu_gaussian_plant_options *options,
                                    unrelu_gaussian **model, unrelu_error *err)
{
    unrelu_gaussian_plant_options o;
    *model = NULL;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    return ur_gaussian_plant(&o, 'x', model, err);
}
