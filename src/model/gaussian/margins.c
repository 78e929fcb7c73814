/* SPDX-License-Identifier: Apache-2.0 */
/* b and scale of every column. */
#include "error.h"
#include "memory.h"
#include "model/gaussian/fit.h"

#include <math.h>
#include <stdlib.h>

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
    const char *name = fit->summary->names[j];
    if (fit->v.observed[j] == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "column %zu (%s) has no observed value: leave it out with --drop", j + 1,
                       name);
    return ur_fail(err, UNRELU_EDATA,
                   "column %zu (%s) has no value above %g among %.0f: its bias and scale cannot "
                   "be learned; leave such columns out with --drop",
                   j + 1, name, fit->summary->limit[j], fit->v.observed[j]);
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

static unrelu_status choose_columns(ur_fit *fit, size_t *dropped, unrelu_error *err)
{
    size_t all = fit->summary->plan.d;
    fit->columns = ur_alloc(all, sizeof *fit->columns);
    if (!fit->columns)
        return ur_fail_memory(err, all, "columns");
    for (size_t j = 0; j < all; j++) {
        if (fit->v.positive[j] > 0)
            start_column(fit, j, &fit->columns[fit->d++]);
        else if (!fit->options->drop)
            return refuse_zeros(fit, j, err);
    }
    *dropped = all - fit->d;
    if (fit->d == 0)
        return ur_fail(err, UNRELU_EDATA, "none of the %zu columns has a positive value", all);
    return UNRELU_OK;
}

unrelu_status ur_fit_margins(ur_fit *fit, unrelu_error *err)
{
    size_t dropped = 0;
    unrelu_status status = choose_columns(fit, &dropped, err);
    if (status == UNRELU_OK && dropped > 0)
        status = ur_warn(fit->model, "dropped", err,
                         "%zu of %zu columns have no positive value and were left out", dropped,
                         fit->summary->plan.d);
    if (status != UNRELU_OK)
        return status;
    for (size_t i = 0; i < fit->d; i++) {
        ur_fit_column *c = &fit->columns[i];
        ur_margin_sums sums = ur_fit_margin_sums(fit, &fit->v, c, NULL);
        ur_margin_censored(&sums, &c->censored);
        c->margin = c->censored;
        if (fit->options->norms == UNRELU_NORMS_TRUNCATED &&
            c->censored.verdict == UR_MARGIN_FITTED)
            ur_margin_truncated(&sums, &c->margin);
    }
    if (fit->options->norms == UNRELU_NORMS_MEDIAN)
        return ur_fit_median(fit, err);
    if (fit->options->norms == UNRELU_NORMS_SGD)
        return ur_fit_sgd(fit, err);
    return UNRELU_OK;
}
