/* SPDX-License-Identifier: Apache-2.0 */
/* Additive noise: x = ReLU(y) + e. Negative values are noise alone, but for some of y just above 0:
 * the mean square of those within 4 deviations gives its size, the deviation being that of their
 * median, so that gross cells do not count. Censoring at some deviations leaves values that are y +
 * e again, normal with variance s^2 + noise^2, and the noise is taken out of the diagonal at the
 * end: where b and s are known, so is the share of y above 0 among the negative values. */
#include "base/error.h"
#include "gaussian/problem/fit.h"
#include "law/noise.h"
#include "law/normal.h"
#include "pass/pass.h"
#include "summary/negatives.h"

#include <math.h>

static const double ENOUGH_NEGATIVES = 10; /* their mean square is then known to 45 % */
/* Deviations, by the median, within which negative values are summed: one in 16000 of normal ones
 * lies beyond; and within which they are counted for their shape. */
static const double BOUND = 4, INNER = 1.5;
/* Negative values are not normal where their share within INNER is off by this much, and this many
 * of its deviations; or where so many more lie beyond BOUND than may by chance. */
static const double SHAPE_SHARE = 0.05, SHAPE_DEVIATIONS = 5, FEWEST_BEYOND = 3;

static double median_to_deviation(void)
{
    return 1 / ur_normal_quantile(0.75);
}

/* bound (d) by the median of the negative values of each column; 1 where there are too few */
static unrelu_status find_bounds(const ur_fit *fit, double *bound, unrelu_error *err)
{
    enum { LEVELS = 2 }; /* relative error 2^-12 */
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(fit->source);
    ur_negatives_plan plan = {.d = d};
    double *s = ur_take(&arena, ur_negatives.len(&plan), sizeof *s);
    double *level = ur_take(&arena, d, sizeof *level);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_pass(fit->source, &ur_negatives, &plan, fit->exec, "measuring noise", s, err));
    for (size_t j = 0; j < d; j++) {
        ur_negatives_view v = ur_negatives_of(&plan, s, j);
        level[j] = v.observed > 1 ? fmax(v.negative - 1, 0) / 2 / (v.observed - 1) : 0;
    }
    UR_TRY(ur_fit_quantiles(fit, 1, level, LEVELS, bound, err));
    for (size_t j = 0; j < d; j++) {
        int enough = ur_negatives_of(&plan, s, j).negative >= ENOUGH_NEGATIVES;
        bound[j] = enough ? -bound[j] * median_to_deviation() * BOUND : 1;
    }
    return ur_source_rewind(fit->source, err);
}

/* fit->negatives, and of it a first size of the noise, as if no y above 0 were among them */
static unrelu_status measure(ur_fit *fit, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(fit->source), unmeasured = 0;
    ur_negatives_plan plan = {.d = d, .inner = INNER / BOUND};
    double *bound = ur_take(&arena, d, sizeof *bound);
    double *s = ur_take(&arena, ur_negatives.len(&plan), sizeof *s);
    fit->negatives = ur_take(fit->arena, d, sizeof *fit->negatives);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(fit->arena, err));
    UR_TRY(find_bounds(fit, bound, err));
    plan.bound = bound;
    UR_TRY(ur_pass(fit->source, &ur_negatives, &plan, fit->exec, "measuring noise", s, err));
    UR_TRY(ur_source_rewind(fit->source, err));
    for (size_t j = 0; j < d; j++) {
        ur_negatives_view v = ur_negatives_of(&plan, s, j);
        double within = v.negative - v.beyond;
        unmeasured += v.negative < ENOUGH_NEGATIVES;
        if (v.negative < ENOUGH_NEGATIVES)
            continue;
        fit->negatives[j] =
            (ur_fit_negatives){bound[j], within, v.square / within, v.inner, v.beyond};
        fit->noise[j] = bound[j] * ur_noise_from(within, v.square / within, 0, 0).sigma;
    }
    if (unmeasured > 0)
        ur_model_warn(fit->model, "noise-unmeasured",
                      "%zu of %zu columns have fewer than %.0f negative values to measure noise "
                      "by and are taken as free of it; or give `additive-noise` SD",
                      unmeasured, d, ENOUGH_NEGATIVES);
    return UNRELU_OK;
}

unrelu_status ur_fit_noise(ur_fit *fit, double *limit, unrelu_error *err)
{
    size_t d = unrelu_source_columns(fit->source);
    double given = fit->options->additive_noise;
    if (given == 0)
        return UNRELU_OK;
    fit->noise = ur_take(fit->arena, d, sizeof *fit->noise);
    UR_TRY(ur_arena_status(fit->arena, err));
    for (size_t j = 0; j < d && given != UNRELU_NOISE_AUTO; j++)
        fit->noise[j] = given;
    if (given == UNRELU_NOISE_AUTO)
        UR_TRY(measure(fit, err));
    for (size_t j = 0; j < d; j++)
        limit[j] = fmax(limit[j], UR_NOISE_CENSORING * fit->noise[j]);
    return UNRELU_OK;
}

/* ---- after the margins ---- */

/* are the negative values those of normal noise of this size behind this margin? */
static int is_normal(const ur_fit_negatives *of, double sigma, double b, double total)
{
    double s = sqrt(fmax(total * total - sigma * sigma, 0)), n = of->within + of->beyond;
    double gamma = s > 0 ? b / s : -INFINITY, ratio = s > 0 ? sigma / s : 0;
    double within = ur_negative_part_of(gamma, ratio, of->bound / sigma).share;
    double inner = ur_negative_part_of(gamma, ratio, INNER / BOUND * of->bound / sigma).share;
    double all = ur_negative_part_of(gamma, ratio, INFINITY).share;
    double expected = inner / all, away = fabs(of->inner / n - expected);
    double beyond = n * (1 - within / all);
    return (away <= SHAPE_SHARE ||
            away <= SHAPE_DEVIATIONS * sqrt(expected * (1 - expected) / n)) &&
           of->beyond <= beyond + SHAPE_DEVIATIONS * sqrt(fmax(beyond, 0)) + FEWEST_BEYOND;
}

void ur_fit_settle_noise(const ur_fit *fit, double *variance_se)
{
    unrelu_gaussian *m = fit->model;
    size_t odd = 0, first = 0;
    for (size_t i = 0; i < m->d; i++) {
        const ur_fit_negatives *of = &fit->negatives[fit->columns[i].index];
        if (m->noise[i] == 0 || m->flags[i] & UNRELU_FLAG_CONSTANT)
            continue;
        double unit = of->bound;
        ur_noise noise = ur_noise_from(of->within, of->square, m->b[i] / unit, m->scale[i] / unit);
        m->noise[i] = unit * noise.sigma;
        variance_se[i] = unit * noise.variance_se * unit;
        if (!is_normal(of, m->noise[i], m->b[i], m->scale[i]) && odd++ == 0)
            first = i;
    }
    const ur_fit_negatives *of = &fit->negatives[fit->columns[first].index];
    if (odd > 0)
        ur_model_warn(
            m, "noise-shape",
            "the negative values of %zu column%s (the first: %.40s) are not those of "
            "normal noise: %.0f of %.0f lie within %g deviations (by their median), %.0f "
            "beyond %g; gross cells above 0 are left out by `robust`, and other noise than "
            "normal is not taken out rightly",
            odd, odd == 1 ? "" : "s", m->names[first], of->inner, of->within + of->beyond, INNER,
            of->beyond, BOUND);
}
