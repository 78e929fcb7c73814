/* SPDX-License-Identifier: Apache-2.0 */
/* From estimates to the model: the data's units, Sigma, flags; then repair and rank. */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double ENOUGH_POSITIVES = 10, WEAK_GAMMA_SE = 0.25;
/* the share of zeros must exceed 1/2 by this many of its standard deviations before b < 0 is
 * taken as shown */
static const double NEGATIVE_BIAS_DEVIATIONS = 3;
/* a misfit must matter and be sure */
static const double MISFIT_SHARE = 0.05, MISFIT_DEVIATIONS = 5, MISFIT_RATIO = 0.1;

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
    int inexplicable = zeros >= 3 && n * expected < MISFIT_RATIO * zeros;
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

unrelu_status ur_fit_set_columns(ur_fit *fit, unrelu_error *err)
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

/* Var of the latent = Var of what was seen - noise^2; covariances between columns stay. */
static unrelu_status take_noise_out(ur_fit *fit, double *product_se, unrelu_error *err)
{
    unrelu_gaussian *m = fit->model;
    size_t d = m->d;
    for (size_t i = 0; m->noise && i < d; i++) {
        if (m->noise[i] == 0 || m->flags[i] & UNRELU_FLAG_CONSTANT)
            continue;
        double ratio = m->noise[i] / m->scale[i], left = 1 - ratio * ratio;
        if (!(left > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s): the noise %g exceeds the deviation %g of its values: "
                           "nothing is left to learn",
                           i + 1, m->names[i], m->noise[i], m->scale[i]);
        double shrink = sqrt(left);
        m->scale[i] *= shrink;
        m->scale_se[i] /= shrink;
        for (size_t j = 0; j < d; j++) {
            double *pair[] = {&m->correlation[i * d + j],    &m->correlation[j * d + i],
                              &m->correlation_se[i * d + j], &m->correlation_se[j * d + i],
                              &product_se[i * d + j],        &product_se[j * d + i]};
            for (size_t k = 0; j != i && k < 6; k++)
                *pair[k] = k < 2 ? fmax(-1, fmin(1, *pair[k] / shrink)) : *pair[k] / shrink;
        }
    }
    return UNRELU_OK;
}

static void set_sigma_se(const ur_fit *fit, const double *product_se)
{
    unrelu_gaussian *m = fit->model;
    size_t d = m->d;
    /* product_se knows how the errors of rho and of censored scales go together, of no others */
    double known = fit->options->norms == UNRELU_NORMS_CENSORED ? 1 : NAN;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            m->sigma_se[i * d + j] = known * m->scale[i] * product_se[i * d + j] * m->scale[j];
        m->sigma_se[i * d + i] = 2 * m->scale[i] * m->scale_se[i];
        double square = m->sigma[i * d + i];
        if (m->scale[i] > 0 && (isinf(square) || square < 1e-307))
            m->flags[i] |= UNRELU_FLAG_SIGMA_RANGE;
    }
}

static void spread_pair_flags(unrelu_gaussian *m)
{
    for (size_t i = 0; i < m->d; i++)
        for (size_t j = 0; j < m->d; j++)
            m->flags[i] |= m->pair_flags[i * m->d + j];
}

unrelu_status ur_fit_finish(ur_fit *fit, double *product_se, unrelu_error *err)
{
    unrelu_gaussian *m = fit->model;
    unrelu_status status = take_noise_out(fit, product_se, err);
    if (status != UNRELU_OK)
        return status;
    ur_gaussian_set_sigma(m);
    set_sigma_se(fit, product_se);
    spread_pair_flags(m);
    status = ur_fit_rank(fit, err);
    if (status == UNRELU_OK)
        status = ur_gaussian_repair(m, !fit->options->literal, err);
    return status == UNRELU_OK ? ur_fit_warn(fit, err) : status;
}
