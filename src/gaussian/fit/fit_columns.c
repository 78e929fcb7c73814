/* SPDX-License-Identifier: Apache-2.0 */
/* From margins to the columns of the model: the data's units, counts and flags. */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/problem/fit.h"
#include "law/normal.h"

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
/* of this many zeros, the share that the normal explains where they are called inexplicable */
static const double FEWEST_ZEROS = 3, MISFIT_RATIO = 0.1;

void ur_fit_name_method(unrelu_gaussian *m, const unrelu_gaussian_options *o)
{
    static const char *const norms[] = {"censored", "truncated", "median", "sgd"};
    static const char *const angles[] = {"h6", "signs", "likelihood"};
    snprintf(m->method, sizeof m->method, "%s", o->literal ? "paper" : "efficient");
    snprintf(m->norms, sizeof m->norms, "%s", norms[o->norms]);
    snprintf(m->angles, sizeof m->angles, "%s", angles[o->angles]);
    m->seed = o->seed;
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

static uint32_t flags_of(const ur_fit *fit, const ur_fit_column *c)
{
    double n = fit->v.observed[c->index], positive = fit->v.positive[c->index],
           zeros = n - positive;
    const ur_margin *m = &c->censored;
    uint32_t flags = ur_fit_flags(n, positive, m);
    if (flags & UNRELU_FLAG_CONSTANT)
        return flags;
    if (c->margin.verdict == UR_MARGIN_NO_MAXIMUM)
        flags |= UNRELU_FLAG_NO_TRUNCATED;
    if (zeros - n / 2 > NEGATIVE_BIAS_DEVIATIONS * sqrt(n) / 2 &&
        (fit->options->literal || fit->options->norms >= UNRELU_NORMS_MEDIAN))
        flags |= UNRELU_FLAG_NEGATIVE_BIAS;
    if (m->verdict == UR_MARGIN_FITTED && is_misfit(n, zeros, m->gamma))
        flags |= UNRELU_FLAG_MISFIT;
    return flags;
}

unrelu_status ur_fit_set_columns(const ur_fit *fit, unrelu_error *err)
{
    unrelu_gaussian *m = fit->model;
    m->n = (size_t)*fit->v.rows;
    m->rows_dropped = (size_t)*fit->v.rows_dropped;
    ur_fit_name_method(m, fit->options);
    if (fit->noise && !(m->noise = ur_doubles(m->d)))
        return ur_fail_memory(err, m->d, "noise levels");
    int limited = 0;
    for (size_t i = 0; i < fit->d; i++)
        limited |= fit->limit[fit->columns[i].index] != 0;
    if (limited && !(m->limit = ur_doubles(m->d)))
        return ur_fail_memory(err, m->d, "limits");
    for (size_t i = 0; i < fit->d; i++) {
        const ur_fit_column *c = &fit->columns[i];
        int e = c->exponent;
        if (!(m->names[i] = ur_string_copy(fit->summary->names[c->index])))
            return ur_fail_memory(err, m->d, "names");
        m->observed[i] = fit->v.observed[c->index];
        m->positive[i] = fit->v.positive[c->index];
        m->b[i] = c->limit + ldexp(c->margin.b, e);
        m->b_se[i] = ldexp(c->margin.b_se, e);
        m->scale[i] = ldexp(c->margin.s, e);
        m->scale_se[i] = ldexp(c->margin.s_se, e);
        m->flags[i] = flags_of(fit, c);
        if (m->noise)
            m->noise[i] = fit->noise[c->index];
        if (m->limit)
            m->limit[i] = fit->limit[c->index];
    }
    return UNRELU_OK;
}
