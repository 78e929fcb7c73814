/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as a model sees them: its columns by name, its limits, its scale. */
#include "gaussian/impute/impute.h"

#include "base/error.h"
#include "base/names.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

unrelu_status ur_impute_match(const unrelu_gaussian *m, const unrelu_source *samples, size_t *place,
                              unrelu_error *err)
{
    size_t width = unrelu_source_columns(samples), missing, column = 0;
    if (width != m->d)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s has %zu column%s, and the model has %zu: choose the model's columns with "
            "`columns`",
            ur_source_label(samples), width, width == 1 ? "" : "s", m->d);
    if (ur_names_match(ur_source_names(samples), width, m->names, m->d, place, &missing) ==
        UR_NAMES_FOUND)
        return UNRELU_OK;
    /* the first that the model does not have, or has not as often */
    for (int known = 1; known && column < m->d; column += (size_t)known) {
        const char *name = unrelu_source_name(samples, column);
        size_t here = 0, there = 0;
        for (size_t i = 0; i <= column; i++)
            here += strcmp(unrelu_source_name(samples, i), name) == 0;
        for (size_t i = 0; i < m->d; i++)
            there += (size_t)ur_name_same(name, m->names[i]);
        known = here <= there;
    }
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: column %zu is called '%.60s', and the model's columns are '%.60s'%s: fill "
                   "samples of the columns that the model was fitted to",
                   ur_source_label(samples), column + 1, unrelu_source_name(samples, column),
                   m->names[0], m->d > 1 ? ", ..." : "");
}

unrelu_status ur_model_cells_load(const unrelu_gaussian *m, unrelu_source *samples,
                                  const size_t *place, const double *limit, unrelu_source *limits,
                                  const unrelu_exec *exec, ur_arena *arena, ur_model_cells *out,
                                  unrelu_error *err)
{
    size_t d = m->d;
    double *at = ur_take(arena, d, sizeof *at), *zero = ur_take(arena, d, sizeof *zero);
    /* a model of cells with limits of their own says where a 0 was hidden, not which values were */
    int by_cells = strcmp(m->angles, "likelihood") == 0;
    ur_cells_rules rules = {
        .at = by_cells ? zero : at, .limit = limit, .limits = limits, .zero = by_cells ? at : NULL};
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < d; j++) {
        at[j] = m->limit ? unrelu_gaussian_untransform(m, place[j], m->limit[place[j]]) : 0;
        zero[j] = fmin(0, at[j]); /* limits below 0, or none: values may have any sign */
    }
    UR_TRY(ur_cells_load(samples, &rules, exec, arena, &out->cells, err));
    size_t n = out->cells.n;
    if (n == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows", ur_source_label(samples));
    out->x = out->cells.x;
    out->upper = out->cells.upper;
    if (m->transform == UNRELU_TRANSFORM_NONE)
        return UNRELU_OK;
    double *x = ur_take(arena, n, d * sizeof *x), *upper = NULL;
    if (out->upper)
        upper = ur_take(arena, n, d * sizeof *upper);
    UR_TRY(ur_arena_status(arena, err));
    memcpy(x, out->cells.x, n * d * sizeof *x);
    if (upper)
        memcpy(upper, out->cells.upper, n * d * sizeof *upper);
    for (size_t j = 0; j < d; j++) {
        double lambda = m->lambda ? m->lambda[place[j]] : 0;
        size_t guessed;
        char label[160];
        ur_source_column_label(samples, j, label, sizeof label);
        UR_TRY(ur_transform_column(m->transform, lambda, n, x + j * n, upper ? upper + j * n : NULL,
                                   out->cells.state + j * n, label, &guessed, err));
        if (guessed > 0)
            return ur_fail(err, UNRELU_EDATA,
                           "%s: %zu cell%s censored at 0, which has no image on the model's "
                           "scale: give a limit above 0 with `limit` or `limits`",
                           label, guessed, guessed == 1 ? " is" : "s are");
    }
    out->x = x;
    out->upper = upper;
    return UNRELU_OK;
}
