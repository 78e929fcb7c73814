/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/memory.h"
#include "mixture/model/mixture.h"
#include "model/warnings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void unrelu_mixture_free(unrelu_mixture *m)
{
    if (!m)
        return;
    ur_strings_free(m->names, m->d);
    free(m->A);
    free(m->A_se);
    free(m->warnings);
    unrelu_gaussian_free(&m->hidden);
    memset(m, 0, sizeof *m);
}

unrelu_status ur_mixture_alloc(unrelu_mixture *m, unrelu_error *err)
{
    if (m->d > INT_MAX || m->p > INT_MAX)
        return ur_fail(err, UNRELU_EUSAGE, "a mixture of %zu columns and %zu units is too large",
                       m->d, m->p);
    if (!m->A && !(m->A = ur_alloc(m->d, m->p * sizeof *m->A)))
        return ur_fail_memory(err, m->d * m->p, "entries of A");
    if (!m->names && !(m->names = ur_strings_number('x', m->d)))
        return ur_fail_memory(err, m->d, "names");
    return UNRELU_OK;
}

unrelu_status ur_mixture_warn(unrelu_mixture *m, const char *code, unrelu_error *err,
                              const char *format, ...)
{
    va_list values;
    va_start(values, format);
    unrelu_status status =
        ur_warnings_add(&m->warnings, &m->warning_count, code, err, format, values);
    va_end(values);
    return status;
}
