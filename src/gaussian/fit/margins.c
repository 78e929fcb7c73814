/* SPDX-License-Identifier: Apache-2.0 */
/* b and scale of every column. */
#include "base/error.h"
#include "gaussian/problem/fit.h"

#include <math.h>
#include <stdio.h>

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

static unrelu_status refuse_zeros(const ur_fit *fit, size_t j, unrelu_error *err)
{
    char label[128];
    snprintf(label, sizeof label, "column %zu (%.60s)", j + 1, fit->summary->names[j]);
    if (fit->source)
        ur_source_column_label(fit->source, j, label, sizeof label);
    if (fit->v.observed[j] == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no observed value: leave it out with `drop`",
                       label);
    return ur_fail(err, UNRELU_EDATA,
                   "%s has no value above %g among %.0f: its bias and scale cannot be learned; "
                   "leave such columns out with `drop`",
                   label, fit->summary->limit[j], fit->v.observed[j]);
}

static void start_column(const ur_fit *fit, size_t j, ur_fit_column *c)
{
    const unrelu_summary *summary = fit->summary;
    double e = ur_moments_exponent(&summary->plan, summary->s)[j];
    c->index = j;
    c->exponent = e == 0 ? 0 : (int)(e + UR_NO_EXPONENT);
    c->limit = summary->limit[j];
    c->shift = ldexp(ur_moments_shift(&summary->plan, summary->s)[j], -c->exponent);
    c->noise = fit->noise ? ldexp(fit->noise[j], -c->exponent) : 0;
}

static unrelu_status choose_columns(ur_fit *fit, unrelu_error *err)
{
    size_t all = fit->summary->plan.d;
    fit->columns = ur_take(fit->arena, all, sizeof *fit->columns);
    UR_TRY(ur_arena_status(fit->arena, err));
    for (size_t j = 0; j < all; j++) {
        if (fit->v.positive[j] > 0)
            start_column(fit, j, &fit->columns[fit->d++]);
        else if (!fit->options->drop)
            return refuse_zeros(fit, j, err);
    }
    if (fit->d == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "none of the %zu columns has a value above its limit (0, or `censor-at`)",
                       all);
    if (fit->d == all)
        return UNRELU_OK;
    return ur_warn(fit->model, "dropped", err,
                   "left out for want of a positive value: %zu of %zu columns", all - fit->d, all);
}

void ur_fit_likelihood(const ur_fit *fit, const ur_margin_sums *sums, ur_margin *out)
{
    ur_margin_censored(sums, out);
    if (fit->options->norms == UNRELU_NORMS_TRUNCATED &&
        (out->verdict == UR_MARGIN_FITTED || out->verdict == UR_MARGIN_NO_ZEROS))
        ur_margin_truncated(sums, out);
}

unrelu_status ur_fit_margins(ur_fit *fit, unrelu_error *err)
{
    UR_TRY(choose_columns(fit, err));
    for (size_t i = 0; i < fit->d; i++) {
        ur_fit_column *c = &fit->columns[i];
        ur_margin_sums sums = ur_fit_margin_sums(fit, &fit->v, c, NULL);
        ur_margin_censored(&sums, &c->censored);
        ur_fit_likelihood(fit, &sums, &c->margin);
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
