/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of columns by a few passes, each of which counts values in finer bins. */
#include "base/error.h"
#include "gaussian/problem/fit.h"
#include "pass/pass.h"
#include "summary/histogram.h"

#include <math.h>
#include <string.h>

unrelu_status ur_fit_quantiles(const ur_fit *fit, size_t quantiles, const double *level, int levels,
                               double *value, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(fit->source), searches = quantiles * d;
    ur_histogram_plan plan = {.d = d, .quantiles = quantiles, .cut = fit->cut};
    plan.prefix = ur_take(&arena, searches, sizeof *plan.prefix);
    double *rank = ur_take(&arena, searches, sizeof *rank);
    double *counts = ur_take(&arena, searches, UR_HISTOGRAM_BINS * sizeof *counts);
    UR_TRY(ur_arena_status(&arena, err));
    for (; plan.level < levels; plan.level++) {
        memset(counts, 0, searches * UR_HISTOGRAM_BINS * sizeof *counts);
        UR_TRY(ur_source_rewind(fit->source, err));
        UR_TRY(ur_pass(fit->source, &ur_histogram, &plan, fit->exec, "finding quantiles", counts,
                       err));
        for (size_t i = 0; i < searches; i++) {
            const double *own = counts + i * UR_HISTOGRAM_BINS;
            double n = 0;
            for (size_t bin = 0; plan.level == 0 && bin < UR_HISTOGRAM_BINS; bin++)
                n += own[bin];
            if (plan.level == 0)
                rank[i] = floor(level[i] * fmax(n - 1, 0) + 0.5);
            ur_histogram_descend(own, plan.level, &plan.prefix[i], &rank[i]);
        }
    }
    for (size_t i = 0; i < searches; i++)
        value[i] = ur_histogram_result(plan.prefix[i], levels);
    return UNRELU_OK;
}
