/* SPDX-License-Identifier: Apache-2.0 */
/* Which models can fill samples, and which column is which (base/names.h); every column of the
 * samples must be one of the model, for it is written again. */
#include "gaussian/impute/impute.h"

#include "base/error.h"
#include "base/names.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

/* of a correlation, by which one that was rounded may exceed 1 */
static const double BEYOND_1 = 1e-9;

/* the first column of the samples that the model does not have, or has not as often */
static size_t unknown_column(const unrelu_gaussian *m, const unrelu_source *samples)
{
    size_t column = 0;
    for (int known = 1; known && column < m->d; column += (size_t)known) {
        const char *name = unrelu_source_name(samples, column);
        size_t here = 0, there = 0;
        for (size_t i = 0; i <= column; i++)
            here += strcmp(unrelu_source_name(samples, i), name) == 0;
        for (size_t i = 0; i < m->d; i++)
            there += (size_t)ur_name_same(name, m->names[i]);
        known = here <= there;
    }
    return column;
}

unrelu_status ur_impute_match(const unrelu_gaussian *m, const unrelu_source *samples, size_t *place,
                              unrelu_error *err)
{
    size_t width = unrelu_source_columns(samples), missing;
    if (width != m->d)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s has %zu column%s, and the model has %zu: choose the model's columns with "
            "`columns`",
            ur_source_label(samples), width, width == 1 ? "" : "s", m->d);
    if (ur_names_match(ur_source_names(samples), width, m->names, m->d, place, &missing) ==
        UR_NAMES_FOUND)
        return UNRELU_OK;
    size_t column = unknown_column(m, samples);
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: column %zu is called '%.60s', and the model's columns are '%.60s'%s: fill "
                   "samples of the columns that the model was fitted to",
                   ur_source_label(samples), column + 1, unrelu_source_name(samples, column),
                   m->names[0], m->d > 1 ? ", ..." : "");
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
                           "`additive-noise` to impute",
                           i + 1, name, m->noise[i]);
    }
    for (size_t i = 0; i < m->d * m->d; i++)
        if (!(fabs(m->correlation[i]) <= 1 + BEYOND_1))
            return ur_fail(err, UNRELU_EDATA,
                           "the correlation of columns %zu and %zu of the model is %g: nothing can "
                           "be imputed",
                           i / m->d + 1, i % m->d + 1, m->correlation[i]);
    return UNRELU_OK;
}
