/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/names.h"
#include "read/source.h"

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
