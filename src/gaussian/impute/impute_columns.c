/* SPDX-License-Identifier: Apache-2.0 */
/* Which models can fill samples, and which column is which: by name where both have names of their
 * own, else by place. */
#include "gaussian/impute/impute.h"

#include "base/error.h"
#include "base/memory.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_number(const char *name, size_t i)
{
    char number[32];
    snprintf(number, sizeof number, "x%zu", i + 1);
    return strcmp(name, number) == 0;
}

/* of the model, or of the source where there is one */
static int has_names(const unrelu_gaussian *m, const unrelu_source *source)
{
    for (size_t i = 0; i < m->d && (source || m->names); i++)
        if (!is_number(source ? unrelu_source_name(source, i) : m->names[i], i))
            return 1;
    return 0;
}

/* m->d where the model has no such column, or another of the samples' has taken it */
static size_t find_name(const unrelu_gaussian *m, const char *name, size_t guess,
                        const size_t *taken)
{
    for (size_t tried = 0; tried < m->d; tried++) {
        size_t i = (guess + tried) % m->d;
        if (!taken[i] && strcmp(m->names[i], name) == 0)
            return i;
    }
    return m->d;
}

static unrelu_status refuse_name(const unrelu_gaussian *m, const unrelu_source *samples,
                                 size_t column, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: column %zu is called '%.60s', and the model's columns are '%.60s'%s: fill "
                   "samples of the columns that the model was fitted to",
                   ur_source_label(samples), column + 1, unrelu_source_name(samples, column),
                   m->names[0], m->d > 1 ? ", ..." : "");
}

unrelu_status ur_impute_match(const unrelu_gaussian *m, const unrelu_source *samples, size_t *place,
                              unrelu_error *err)
{
    size_t d = m->d, width = unrelu_source_columns(samples);
    if (width != d)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s has %zu column%s, and the model has %zu: choose the model's columns with "
            "--columns",
            ur_source_label(samples), width, width == 1 ? "" : "s", d);
    int named = has_names(m, NULL) && has_names(m, samples);
    size_t *taken = ur_alloc(d, sizeof *taken);
    unrelu_status status = taken ? UNRELU_OK : ur_fail_memory(err, d, "columns");
    for (size_t j = 0; j < d && status == UNRELU_OK; j++) {
        size_t i = named ? find_name(m, unrelu_source_name(samples, j), j, taken) : j;
        if (i == d) {
            status = refuse_name(m, samples, j, err);
            break;
        }
        place[j] = i;
        taken[i] = 1;
    }
    free(taken);
    return status;
}

unrelu_status ur_impute_check(const unrelu_gaussian *m, unrelu_error *err)
{
    if (m->d == 0 || !m->b || !m->scale || !m->correlation)
        return ur_fail(err, UNRELU_EUSAGE, "the model has no %s: nothing can be imputed",
                       m->d == 0         ? "columns"
                       : !m->correlation ? "correlation"
                                         : "b or scale");
    for (size_t i = 0; i < m->d; i++) {
        const char *name = m->names ? m->names[i] : "";
        if (!isfinite(m->b[i]) || !isfinite(m->scale[i]) || m->scale[i] < 0)
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) of the model has b %g and scale %g: nothing can be "
                           "imputed",
                           i + 1, name, m->b[i], m->scale[i]);
        if (m->noise && m->noise[i] > 0)
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) of the model has additive noise of %g: values that "
                           "carry noise are not what the rectifier was given; fit without "
                           "--additive-noise to impute",
                           i + 1, name, m->noise[i]);
    }
    for (size_t i = 0; i < m->d * m->d; i++)
        if (!(fabs(m->correlation[i]) <= 1 + 1e-9))
            return ur_fail(err, UNRELU_EDATA,
                           "the correlation of columns %zu and %zu of the model is %g: nothing can "
                           "be imputed",
                           i / m->d + 1, i % m->d + 1, m->correlation[i]);
    return UNRELU_OK;
}
