/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a model, column by column, and their intervals. These are made of the ends of the
 * interval of b, which is symmetric, and of that of s, which is so by its logarithm: each alone
 * moves an answer by so much, and the two moves are put together as standard errors are, with the
 * correlation of b and s (the method of variance estimates recovery: G. Y. Zou, C. Y. Huo and J.
 * Taleb, Environmetrics 20 (2009), 172-180, for the mean of lognormal values). Where answers are
 * nearly linear this is the delta method; the interval of a lognormal mean reaches farther up than
 * down, as it must to leave as much out above as below. */
#include "gaussian/answer/answer.h"

#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "law/normal.h"
#include "law/power.h"

#include <math.h>

static const double LOW_SHARE = 0.05, HIGH_SHARE = 0.95; /* of quantiles */
static const double UCL_LEVEL = 0.90;                    /* of two sides: 5 % are above it */

/* On a scale where intervals are made: means of what is positive, and deviations, by their
 * logarithms; medians and quantiles as the model has them. */
enum { MEAN, SD, RECTIFIED, MEDIAN, LOW, HIGH, ANSWERS };
/* with the values of b and s; with one of them at an end of its interval */
enum { CENTRE, B_DOWN, B_UP, S_DOWN, S_UP, PLACES };

typedef struct {
    ur_column_law law;
    double b_se, s_se, correlation; /* of the errors of b and s; NaN: not known */
} column;

static column column_of(const unrelu_gaussian *m, size_t i)
{
    int errors = m->b_se && m->scale_se && m->b_scale_cov;
    double limit = m->limit ? m->limit[i] : ur_transform_undoes(m->transform) ? -INFINITY : 0;
    column c = {.law = {m->transform, m->lambda ? m->lambda[i] : 0, m->b[i], m->scale[i], limit},
                .b_se = errors ? m->b_se[i] : NAN,
                .s_se = errors ? m->scale_se[i] : NAN,
                .correlation = 0};
    if (!(isfinite(c.b_se) && isfinite(c.s_se) && isfinite(m->b_scale_cov[i])))
        c.b_se = c.s_se = c.correlation = NAN;
    else if (c.b_se > 0 && c.s_se > 0)
        c.correlation = fmax(-1, fmin(1, m->b_scale_cov[i] / c.b_se / c.s_se));
    return c;
}

static ur_column_law place_of(const column *c, int place, double z)
{
    ur_column_law law = c->law;
    double ratio = law.s > 0 ? c->s_se / law.s : 0;
    law.b += place == B_DOWN ? -z * c->b_se : place == B_UP ? z * c->b_se : 0;
    law.s *= place == S_DOWN ? exp(-z * ratio) : place == S_UP ? exp(z * ratio) : 1;
    return law;
}

/* Which way an answer moves most towards a side (-1: down, 1: up) where one number goes to an end
 * of its interval; returns by how much, and which end it was (-1 or 1). */
static double most(double centre, double down, double up, int side, int *end)
{
    double by_down = side * (down - centre), by_up = side * (up - centre);
    *end = by_down > by_up ? -1 : 1;
    return isnan(by_down) || isnan(by_up) ? NAN : fmax(0, fmax(by_down, by_up));
}

/* the end of the interval of an answer on a side of it */
static double end_of(const double at[PLACES], double correlation, int side)
{
    int b_end, s_end;
    double by_b = most(at[CENTRE], at[B_DOWN], at[B_UP], side, &b_end);
    double by_s = most(at[CENTRE], at[S_DOWN], at[S_UP], side, &s_end);
    double together = 2 * correlation * b_end * s_end * by_b * by_s;
    double square = by_b * by_b + by_s * by_s + together; /* NaN stays */
    return at[CENTRE] + side * sqrt(square < 0 ? 0 : square);
}

static double half_width(double level)
{
    return -ur_normal_quantile((1 - level) / 2);
}

/* ---- the scales ---- */

static int has_signs(const ur_column_law *law)
{
    return law->transform == UNRELU_TRANSFORM_NONE || law->transform == UNRELU_TRANSFORM_LEAKY;
}

/* what the mean of max(limit, x) lies above; -inf: it has any sign */
static double floor_of(const ur_column_law *law)
{
    if (law->limit == -INFINITY)
        return has_signs(law) ? -INFINITY : 0;
    return ur_untransform(law->transform, law->lambda, law->limit);
}

static double to_scale(const ur_column_law *law, int answer, double x)
{
    double least = floor_of(law);
    if (answer == SD || (answer == MEAN && !has_signs(law)))
        return log(x);
    return answer == RECTIFIED && isfinite(least) ? log(x - least) : x;
}

static double from_scale(const ur_column_law *law, int answer, double y)
{
    double least = floor_of(law);
    if (answer >= MEDIAN)
        return ur_untransform(law->transform, law->lambda, y);
    if (answer == SD || (answer == MEAN && !has_signs(law)))
        return exp(y);
    return answer == RECTIFIED && isfinite(least) ? least + exp(y) : y;
}

static void set_answers(const ur_column_law *law, double out[ANSWERS])
{
    ur_moments moments = ur_answer_moments(law);
    out[MEAN] = to_scale(law, MEAN, moments.mean);
    out[SD] = to_scale(law, SD, moments.sd);
    out[RECTIFIED] = to_scale(law, RECTIFIED, moments.rectified);
    out[MEDIAN] = law->b;
    out[LOW] = law->b + ur_normal_quantile(LOW_SHARE) * law->s;
    out[HIGH] = law->b + ur_normal_quantile(HIGH_SHARE) * law->s;
}

/* ---- members of the model ---- */

typedef struct {
    double value[ANSWERS], ends[ANSWERS][2];
} column_answers;

static column_answers answers_of(const column *c, double level)
{
    double at[PLACES][ANSWERS], z = half_width(level);
    column_answers out;
    for (int p = 0; p < PLACES; p++) {
        ur_column_law law = place_of(c, p, z);
        set_answers(&law, at[p]);
    }
    for (int a = 0; a < ANSWERS; a++) {
        double one[PLACES];
        for (int p = 0; p < PLACES; p++)
            one[p] = at[p][a];
        out.value[a] = from_scale(&c->law, a, at[CENTRE][a]);
        for (int side = 0; side < 2; side++)
            out.ends[a][side] = from_scale(&c->law, a, end_of(one, c->correlation, side ? 1 : -1));
    }
    return out;
}

static unrelu_status take(unrelu_gaussian *m, unrelu_error *err)
{
    const struct {
        double **at;
        size_t count; /* for each column */
    } members[] = {{&m->mean, 1},
                   {&m->sd, 1},
                   {&m->median, 1},
                   {&m->ucl95, 1},
                   {&m->mean_ci, 2},
                   {&m->sd_ci, 2},
                   {&m->median_ci, 2},
                   {&m->quantiles, 2},
                   {&m->quantiles_ci, 4},
                   {&m->rectified_mean, 1},
                   {&m->rectified_mean_ci, 2}};
    ur_arena *arena = ur_model_arena(m);
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        if (!*members[k].at) /* a file may hold some of them */
            *members[k].at = ur_take(arena, m->d, members[k].count * sizeof(double));
    return ur_arena_status(arena, err);
}

unrelu_status unrelu_gaussian_answer(unrelu_gaussian *m, double level, unrelu_error *err)
{
    if (!(level > 0 && level < 1))
        return ur_fail(err, UNRELU_EUSAGE,
                       "the `level` of intervals must lie between 0 and 1, not %g", level);
    UR_TRY(take(m, err));
    m->level = level;
    for (size_t i = 0; i < m->d; i++) {
        column c = column_of(m, i);
        column_answers a = answers_of(&c, level), ucl = answers_of(&c, UCL_LEVEL);
        m->mean[i] = a.value[MEAN];
        m->sd[i] = a.value[SD];
        m->median[i] = a.value[MEDIAN];
        m->rectified_mean[i] = a.value[RECTIFIED];
        m->ucl95[i] = ucl.ends[MEAN][1];
        for (size_t side = 0; side < 2; side++) {
            m->mean_ci[2 * i + side] = a.ends[MEAN][side];
            m->sd_ci[2 * i + side] = a.ends[SD][side];
            m->median_ci[2 * i + side] = a.ends[MEDIAN][side];
            m->rectified_mean_ci[2 * i + side] = a.ends[RECTIFIED][side];
            m->quantiles[2 * i + side] = a.value[LOW + (int)side];
            m->quantiles_ci[4 * i + side] = a.ends[LOW][side];
            m->quantiles_ci[4 * i + 2 + side] = a.ends[HIGH][side];
        }
    }
    return UNRELU_OK;
}

/* ---- the share above a value ---- */

unrelu_status unrelu_gaussian_exceed(const unrelu_gaussian *m, size_t i, double value, double level,
                                     double *share, double *ci, unrelu_error *err)
{
    if (i >= m->d)
        return ur_fail(err, UNRELU_EUSAGE, "the model has %zu columns, and no column %zu", m->d,
                       i + 1);
    if (!isfinite(value) || !ur_transform_takes(m->transform, value))
        return ur_fail(
            err, UNRELU_EUSAGE, "%g is no value that column %zu (%.60s) can have: give %s", value,
            i + 1, m->names[i],
            m->transform == UNRELU_TRANSFORM_SIGMOID                 ? "a number between 0 and 1"
            : has_signs(&(ur_column_law){.transform = m->transform}) ? "a finite number"
                                                                     : "a number of at least 0");
    if (!(level > 0 && level < 1))
        return ur_fail(err, UNRELU_EUSAGE,
                       "the `level` of intervals must lie between 0 and 1, not %g", level);
    column c = column_of(m, i);
    double at[PLACES], y = ur_transform(m->transform, c.law.lambda, value);
    if (c.law.s == 0 || isinf(y)) { /* no error moves it */
        *share = ci[0] = ci[1] = c.law.b > y;
        return UNRELU_OK;
    }
    for (int p = 0; p < PLACES; p++) { /* in deviations */
        ur_column_law law = place_of(&c, p, half_width(level));
        at[p] = (law.b - y) / law.s;
    }
    *share = ur_normal_cdf(at[CENTRE]);
    ci[0] = ur_normal_cdf(end_of(at, c.correlation, -1));
    ci[1] = ur_normal_cdf(end_of(at, c.correlation, 1));
    return UNRELU_OK;
}
