/* SPDX-License-Identifier: Apache-2.0 */
/* b and scale of every column, and what they say of it, into the model: counts, flags, and the
 * data's units. */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/normal.h"
#include "law/power.h"
#include "summary/column_sums.h"

#include <math.h>
#include <stdio.h>

/* fewer positives, or a larger error of b / scale, and a column is called weak: b is then known to
 * a quarter of the scale at best */
static const double ENOUGH_POSITIVES = 10, WEAK_GAMMA_SE = 0.25;
/* the share of zeros must exceed 1/2 by this many of its standard deviations before b < 0 is
 * taken as shown */
static const double NEGATIVE_BIAS_DEVIATIONS = 3;
/* a misfit must matter (as a share of all cells) and be sure */
static const double MISFIT_SHARE = 0.05, MISFIT_DEVIATIONS = 5;
/* The mean square of the positives over their mean squared must exceed that of the fitted normal by
 * this share of it: half-normal values to the power 1.4 do by 0.25, 0.3 % of cells of 10 scales in
 * a column of b = -scale by 2.6. */
static const double MISFIT_SPREAD = 0.4;
/* b / scale from which on that ratio is 2 of a normal but for 3 / (b / scale)^2, and would be
 * rounding further below */
static const double FAR_BELOW = -30;
/* of this many zeros, the share that the normal explains where they are called inexplicable */
static const double FEWEST_ZEROS = 3, MISFIT_RATIO = 0.1;

ur_margin_sums ur_fit_margin_sums(const ur_fit *fit, const ur_moments_view *v,
                                  const ur_fit_column *a, const ur_fit_column *b)
{
    size_t i = a->index;
    ur_margin_sums sums = {v->observed[i], v->positive[i], a->shift, v->sum[i], v->square[i]};
    if (b) { /* take out the rows where b is missing */
        size_t d = fit->summary->plan.d, j = b->index;
        double both = i <= j ? v->mm[i * d + j] : v->mm[j * d + i];
        sums.n -= *v->rows - v->observed[j] - both;
        sums.positive -= v->mg[j * d + i];
        sums.sum -= v->mt[j * d + i];
        sums.square -= v->mtt[j * d + i];
        if (sums.positive <= 0) /* what is left of the sums is rounding */
            sums.sum = sums.square = 0;
        sums.square = fmax(sums.square, 0);
    }
    return sums;
}

void ur_fit_likelihood(const ur_fit *fit, const ur_margin_sums *sums, ur_margin *out)
{
    ur_margin_censored(sums, out);
    if (fit->options->norms == UNRELU_NORMS_TRUNCATED &&
        (out->verdict == UR_MARGIN_FITTED || out->verdict == UR_MARGIN_NO_ZEROS))
        ur_margin_truncated(sums, out);
}

/* Under b >= 0, which the paper assumes, a column of zeros is a zero row of W with bias 0 (footnote
 * 3): had its row any length, half of it at least would be positive. */
static int is_zero_row(const ur_fit *fit, size_t j)
{
    return fit->options->literal && fit->v.positive[j] == 0 && fit->v.observed[j] > 0;
}

static unrelu_status refuse_column(const ur_fit *fit, size_t j, unrelu_error *err)
{
    const unrelu_summary *summary = fit->summary;
    char label[128];
    snprintf(label, sizeof label, "column %zu (%.60s)", j + 1, summary->names[j]);
    if (fit->source)
        ur_source_column_label(fit->source, j, label, sizeof label);
    if (fit->v.observed[j] == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no observed value: leave it out with `drop`",
                       label);
    return ur_fail(err, UNRELU_EDATA,
                   "%s has no value above %g among %.0f: its bias and scale cannot be learned; "
                   "leave such columns out with `drop`",
                   label, summary->limit[j], fit->v.observed[j]);
}

/* fit->columns: those that can be fitted */
static unrelu_status choose_columns(ur_fit *fit, unrelu_error *err)
{
    const unrelu_summary *summary = fit->summary;
    size_t all = summary->plan.d;
    fit->columns = ur_take(fit->arena, all, sizeof *fit->columns);
    UR_TRY(ur_arena_status(fit->arena, err));
    for (size_t j = 0; j < all; j++) {
        double e = ur_moments_exponent(&summary->plan, summary->s)[j];
        int usable = fit->v.positive[j] > 0 || is_zero_row(fit, j);
        if (!usable && fit->options->drop)
            continue;
        if (!usable)
            return refuse_column(fit, j, err);
        ur_fit_column *c = &fit->columns[fit->d++];
        c->index = j;
        c->exponent = e == 0 ? 0 : (int)(e + UR_NO_EXPONENT);
        c->limit = ur_origin(summary->limit[j]);
        c->shift = ldexp(ur_moments_shift(&summary->plan, summary->s)[j], -c->exponent);
    }
    if (fit->d == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "none of the %zu columns has a value above its limit (0, or `censor-at`)",
                       all);
    if (fit->d < all)
        ur_model_warn(fit->model, "dropped",
                      "left out for want of a positive value: %zu of %zu columns", all - fit->d,
                      all);
    return UNRELU_OK;
}

unrelu_status ur_fit_margins(ur_fit *fit, unrelu_error *err)
{
    UR_TRY(choose_columns(fit, err));
    for (size_t i = 0; i < fit->d; i++) {
        ur_fit_column *c = &fit->columns[i];
        ur_margin_sums sums = ur_fit_margin_sums(fit, &fit->v, c, NULL);
        ur_margin_censored(&sums, &c->censored);
        ur_fit_likelihood(fit, &sums, &c->margin);
        if (is_zero_row(fit, c->index)) {
            ur_margin_constant(0, &c->censored);
            c->margin = c->censored;
        }
    }
    if (fit->options->norms == UNRELU_NORMS_MEDIAN)
        UR_TRY(ur_fit_median(fit, err));
    if (fit->options->norms == UNRELU_NORMS_SGD)
        UR_TRY(ur_fit_sgd(fit, err));
    for (size_t i = 0; fit->options->literal && i < fit->d; i++) {
        ur_margin *m = &fit->columns[i].margin; /* line 4 of Algorithm 1 */
        if (m->b < 0)
            m->b = m->gamma = 0;
    }
    return UNRELU_OK;
}

/* ---- columns of the model ---- */

void ur_fit_name_method(unrelu_gaussian *m, const unrelu_gaussian_options *o)
{
    static const char *const norms[] = {"censored", "truncated", "median", "sgd"};
    static const char *const angles[] = {"h6", "signs", "likelihood"};
    m->method = o->literal ? "paper" : "efficient";
    m->norms = norms[o->norms];
    m->angles = angles[o->angles];
    m->seed = o->seed;
}

double ur_fit_covariance(double bs, int exponent)
{
    double covariance = ldexp(bs, 2 * exponent);
    return isfinite(covariance) ? covariance : NAN;
}

uint32_t ur_fit_flags(double observed, double positive, const ur_margin *m)
{
    uint32_t flags = 0;
    if (m->verdict == UR_MARGIN_CONSTANT)
        return UNRELU_FLAG_CONSTANT | (observed < 2 ? UNRELU_FLAG_FEW_POSITIVES : 0);
    if (m->verdict == UR_MARGIN_NO_ZEROS)
        flags |= UNRELU_FLAG_NO_ZEROS;
    if (positive < ENOUGH_POSITIVES ||
        (m->verdict == UR_MARGIN_FITTED && !(m->gamma_se <= WEAK_GAMMA_SE)))
        flags |= UNRELU_FLAG_FEW_POSITIVES;
    return flags;
}

/* Zeros, mean and mean square are three numbers for two parameters: the share of zeros is a free
 * test of the normal shape. Its error given the fit is at most that of a plain share. */
static int is_misfit(double n, double zeros, double gamma)
{
    double expected = ur_normal_cdf(-gamma), away = fabs(zeros / n - expected);
    int far = away > MISFIT_SHARE &&
              away > MISFIT_DEVIATIONS * sqrt(expected * (1 - expected) / n + 1 / (n * n));
    /* a few zeros far below all other values are no censored ones */
    int inexplicable = zeros >= FEWEST_ZEROS && n * expected < MISFIT_RATIO * zeros;
    return far || inexplicable;
}

/* The same with more power where most is censored, and a few gross cells move b and scale together
 * so that the share of zeros fits: mean square over mean squared of the values above the limit, of
 * which a normal has from 1 (nothing censored) to 2 (all). Its deviation is at most that of the
 * exponential law, 2 / sqrt(positives). */
static int is_spread(const ur_margin_sums *sums, double gamma)
{
    double mean = sums->shift + sums->sum / sums->positive;
    double square = sums->square / sums->positive +
                    sums->shift * (2 * sums->sum / sums->positive + sums->shift);
    double of_normal = gamma + ur_normal_hazard(-gamma); /* the mean, in scales */
    double expected = gamma < FAR_BELOW ? 2 : (1 + gamma * of_normal) / (of_normal * of_normal);
    double above = square / (mean * mean) - expected;
    return above > MISFIT_SPREAD * expected && above > MISFIT_DEVIATIONS * 2 / sqrt(sums->positive);
}

unrelu_status ur_fit_set_columns(const ur_fit *fit, unrelu_error *err)
{
    unrelu_gaussian *m = fit->model;
    m->n = (size_t)*fit->v.rows;
    size_t *index = ur_take(fit->arena, m->d, sizeof *index);
    UR_TRY(ur_arena_status(fit->arena, err));
    for (size_t i = 0; i < fit->d; i++)
        index[i] = fit->columns[i].index;
    if (fit->source)
        UR_TRY(ur_gaussian_set_reading(m, fit->source, index, err));
    m->rows_dropped = (size_t)*fit->v.rows_dropped;
    ur_fit_name_method(m, fit->options);
    ur_arena *arena = ur_model_arena(m);
    const char **names = ur_take(arena, m->d, sizeof *names);
    /* whether the norms take b >= 0 for granted */
    int assumed = fit->options->literal || fit->options->norms >= UNRELU_NORMS_MEDIAN, limited = 0;
    for (size_t i = 0; i < fit->d; i++)
        limited |= fit->limit[fit->columns[i].index] != 0;
    m->noise = fit->noise ? ur_take(arena, m->d, sizeof *m->noise) : NULL;
    m->limit = limited ? ur_take(arena, m->d, sizeof *m->limit) : NULL;
    UR_TRY(ur_arena_status(arena, err));
    m->names = names;
    int maximised = fit->options->norms == UNRELU_NORMS_CENSORED && !fit->options->literal &&
                    !fit->noise && !ur_transform_undoes(fit->options->transform);
    if (maximised)
        UR_TRY(ur_fit_take_likelihoods(m, err));
    for (size_t i = 0; i < fit->d; i++) {
        const ur_fit_column *c = &fit->columns[i];
        int e = c->exponent;
        double n = fit->v.observed[c->index], zeros = n - fit->v.positive[c->index];
        m->observed[i] = n;
        m->positive[i] = fit->v.positive[c->index];
        names[i] = ur_take_copy(arena, fit->summary->names[c->index]);
        m->b[i] = c->limit + ldexp(c->margin.b, e);
        m->b_se[i] = ldexp(c->margin.b_se, e);
        m->scale[i] = ldexp(c->margin.s, e);
        m->scale_se[i] = ldexp(c->margin.s_se, e);
        m->b_scale_cov[i] = ur_fit_covariance(c->margin.bs, e);
        m->flags[i] = ur_fit_flags(n, m->positive[i], &c->censored);
        if (isinf(fit->limit[c->index])) /* none was to be expected */
            m->flags[i] &= ~(uint32_t)UNRELU_FLAG_NO_ZEROS;
        int varies = !(m->flags[i] & UNRELU_FLAG_CONSTANT);
        if (varies && c->margin.verdict == UR_MARGIN_NO_MAXIMUM)
            m->flags[i] |= UNRELU_FLAG_NO_TRUNCATED;
        if (varies && assumed && zeros - n / 2 > NEGATIVE_BIAS_DEVIATIONS * sqrt(n) / 2)
            m->flags[i] |= UNRELU_FLAG_NEGATIVE_BIAS;
        ur_margin_sums sums = ur_fit_margin_sums(fit, &fit->v, c, NULL);
        if (maximised)
            ur_fit_set_likelihood(m, i, ur_fit_margin_likelihood(&sums, &c->margin, e),
                                  UR_MARGIN_PARAMETERS);
        double gamma = c->censored.gamma;
        if (c->censored.verdict == UR_MARGIN_FITTED &&
            (is_misfit(n, zeros, gamma) || is_spread(&sums, gamma)))
            m->flags[i] |= UNRELU_FLAG_MISFIT;
        if (m->noise)
            m->noise[i] = fit->noise[c->index];
        if (m->limit)
            m->limit[i] = fit->limit[c->index];
    }
    if (maximised && m->d == 1)
        m->joint_loglik = m->loglik[0];
    return ur_arena_status(arena, err);
}
