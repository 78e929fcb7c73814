/* SPDX-License-Identifier: Apache-2.0 */
/* What must be known before the main pass.
 *
 * Gross outliers: two upper quantiles of a column, taken among its positives, give a mean and a
 * deviation that a few per cent of wild cells cannot move; rows with a cell beyond mean + 4
 * deviations are dropped (dropping beats clipping by 2.4 to 11 times in the error of Sigma). */
#include "base/error.h"
#include "gaussian/problem/fit.h"
#include "law/normal.h"
#include "pass/pass.h"
#include "summary/histogram.h"

#include <math.h>
#include <string.h>

static const double OUTLIER = 4; /* deviations; of normal rows 1 in 30000 cells is lost */
/* Levels of the two quantiles: as a share of the positives where these are few, and not below what
 * keeps a few per cent of wild cells out. */
static const double LOW_LEVEL = 0.6, HIGH_LEVEL = 0.9;
static const double LOW_OF_POSITIVES = 0.7, HIGH_OF_POSITIVES = 0.2;

/* by a few passes, each of which counts values in finer bins */
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

unrelu_status ur_fit_cut(ur_fit *fit, const double *limit, unrelu_error *err)
{
    enum { LEVELS = 3 }; /* relative error 2^-24 */
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(fit->source);
    if (!fit->options->robust)
        return UNRELU_OK;
    double *cut = ur_take(fit->arena, d, sizeof *cut); /* fit->cut, once it is known */
    double *level = ur_take(&arena, d, 2 * sizeof *level);
    double *value = ur_take(&arena, d, 2 * sizeof *value);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(fit->arena, err));
    /* the share of cells above the limit decides which quantiles are among the positives */
    ur_collect_rules rules = {.groups = 1, .limit = limit, .negatives = 1};
    unrelu_summary *summary = NULL;
    UR_TRY(ur_summary_collect_rules(fit->source, &rules, fit->exec, &summary, err));
    ur_moments_view v =
        ur_moments_view_of(&summary->plan, ur_moments_group(&summary->plan, summary->s, 0));
    for (size_t j = 0; j < d; j++) {
        double share = v.observed[j] > 0 ? v.positive[j] / v.observed[j] : 0;
        level[j] = fmax(LOW_LEVEL, 1 - LOW_OF_POSITIVES * share);
        level[d + j] = fmax(HIGH_LEVEL, 1 - HIGH_OF_POSITIVES * share);
    }
    unrelu_summary_free(summary);
    UR_TRY(ur_fit_quantiles(fit, 2, level, LEVELS, value, err));
    UR_TRY(ur_source_rewind(fit->source, err));
    for (size_t j = 0; j < d; j++) {
        double z1 = ur_normal_quantile(level[j]), z2 = ur_normal_quantile(level[d + j]);
        double s = (value[d + j] - value[j]) / (z2 - z1), mean = value[j] - s * z1;
        cut[j] = value[j] > limit[j] && s > 0 ? mean + OUTLIER * s : INFINITY;
    }
    fit->cut = cut;
    return UNRELU_OK;
}
