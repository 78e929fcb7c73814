/* SPDX-License-Identifier: Apache-2.0 */
/* The one rule by which a fit is judged: p says whether a distance is there, its size whether it
 * matters. Of many samples far smaller distances are found than do harm. */
#include "gaussian/check/judge.h"

#include "base/error.h"
#include "model/kind.h"

#include <math.h>

/* how often one of all columns may be called other than good by chance */
static const double LEVEL = 0.05;
/* The least level of one column: p of 999 runs is a multiple of 0.001, and below 0.002 where no
 * simulated column was as far. */
static const double LEAST_LEVEL = 0.002;
/* A share of all cells: at some value one cell in twenty lies on the wrong side. A normal of
 * skewness 0.75 is that far from its fit. */
static const double MATTERS = 0.05;
/* Of sqrt(values seen) times the distance: fitted normals reach 1.2 in one column of a thousand
 * (Stephens 1974), so that no simulation is needed where it is more. */
static const double BEYOND_CHANCE = 1.4;
/* Of sqrt(rows looked at) times what their distance may be above that of all: nearly four
 * deviations of a share, and Kolmogorov's law is beyond it once in 700 columns. */
static const double SAMPLED = 1.9;

/* Values seen, below which nothing is called good: fitted normals reach 0.89 / sqrt(values) in one
 * column of twenty, so that of fewer only distances above 0.28 would be found. */
static const double ENOUGH = 10;

const char ur_judge_remedy[] =
    "compare transforms, and look for outliers, codes such as -999 and rounding ('unrelu check')";

int ur_judge_is_far(double ks, double seen)
{
    return ks >= MATTERS && ks * sqrt(seen) > BEYOND_CHANCE;
}

int ur_judge_is_far_by_some(double ks, double rows)
{
    return (ks - MATTERS) * sqrt(rows) > SAMPLED;
}

unrelu_fit_word unrelu_fit_judge(double ks, double ks_p, double seen, size_t columns)
{
    double level = fmax(LEVEL / (double)(columns ? columns : 1), LEAST_LEVEL);
    if (!isfinite(ks) || !isfinite(ks_p))
        return UNRELU_FIT_UNKNOWN;
    if (ks_p < level)
        return ks < MATTERS ? UNRELU_FIT_SLIGHT : UNRELU_FIT_POOR;
    return seen >= ENOUGH ? UNRELU_FIT_GOOD : UNRELU_FIT_UNKNOWN;
}

const char *unrelu_fit_word_name(unrelu_fit_word word)
{
    static const char *const names[] = {"", "good", "slight", "poor"};
    return (size_t)word < sizeof names / sizeof *names ? names[word] : "";
}

unrelu_status unrelu_gaussian_judge(unrelu_gaussian *m, unrelu_source *samples,
                                    const unrelu_goodness_options *options, const unrelu_exec *exec,
                                    unrelu_error *err)
{
    unrelu_goodness *g = NULL;
    size_t poor = 0, first = 0;
    ur_arena *arena = ur_model_arena(m);
    const char **words = ur_take(arena, m->d, sizeof *words);
    double *ks = ur_take(arena, m->d, sizeof *ks), *ks_p = ur_take(arena, m->d, sizeof *ks_p);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(unrelu_gaussian_goodness(m, samples, options, exec, &g, err));
    for (size_t i = 0; i < m->d; i++) {
        ks[i] = g->ks[i];
        ks_p[i] = g->ks_p[i];
        unrelu_fit_word word =
            unrelu_fit_judge(ks[i], ks_p[i], g->observed[i] - g->censored[i], m->d);
        words[i] = unrelu_fit_word_name(word);
        if (word != UNRELU_FIT_POOR || m->flags[i] & UNRELU_FLAG_MISFIT)
            continue;
        m->flags[i] |= UNRELU_FLAG_MISFIT;
        first = poor++ ? first : i;
    }
    if (poor > 0)
        ur_model_warn(m, "misfit",
                      "%zu column%s (the first: %.40s): the distribution is %.2g from that of the "
                      "fitted normal, and p %.2g; %s",
                      poor, poor == 1 ? "" : "s", m->names[first], ks[first], ks_p[first],
                      ur_judge_remedy);
    m->fit = words;
    m->ks = ks;
    m->ks_p = ks_p;
    unrelu_goodness_free(g);
    return UNRELU_OK;
}
