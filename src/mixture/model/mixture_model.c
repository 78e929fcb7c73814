/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "mixture/model/mixture.h"

#include <limits.h>

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

static void free_gaussian(void *gaussian)
{
    unrelu_gaussian_free(gaussian);
}

unrelu_status ur_mixture_hold(unrelu_mixture *m, unrelu_gaussian *hidden, unrelu_error *err)
{
    m->hidden = ur_arena_adopt(ur_model_arena(m), hidden, free_gaussian);
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
