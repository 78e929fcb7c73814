/* SPDX-License-Identifier: Apache-2.0 */
/* W (up to rotation) and the eigenvalues of Sigma with standard errors by a group jackknife:
 * with v_i the eigenvectors of the whole, lambda_i(g) = v_i' Sigma(all but g) v_i, and
 *   se_i^2 = (G - 1) / G  sum_g (lambda_i(g) - mean)^2.
 * "auto" counts the eigenvalues that are distinguishable from 0: above 4 standard errors and
 * above 3 |lambda_min| where the smallest is negative (it must be noise). It undercounts where
 * true eigenvalues are that small: nothing else can be said from these data. */
#include "base/error.h"
#include "dense/linear.h"
#include "gaussian/problem/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An eigenvalue is distinguishable from 0 above this many of its standard errors, and this many
 * times the most negative one: less counts noise, more misses small eigenvalues. */
static const double DISTINCT_SE = 4, DISTINCT_NEGATIVE = 3;
/* in each group, so that a jackknife leaves something to fit */
static const double FEWEST_ROWS = 4;

static unrelu_status jackknife(const ur_fit *fit, const double *vectors, double *se,
                               unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_moments_plan *plan = &fit->summary->plan;
    size_t d = fit->d, groups = plan->groups;
    double *by_group = ur_take(&arena, groups, d * sizeof *by_group); /* lambda_i(g) */
    double *body = ur_take(&arena, ur_moments_body_len(plan), sizeof *body);
    double *rho = ur_take(&arena, d, d * sizeof *rho), *scale = ur_take(&arena, d, sizeof *scale);
    double *product = ur_take(&arena, d, d * sizeof *product);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t g = 0; g < groups; g++) {
        ur_moments_total(plan, fit->summary->s, g, body);
        ur_moments_view v = ur_moments_view_of(plan, body);
        UR_TRY(ur_fit_h6(fit, &v, &(ur_fit_pairs){.rho = rho}, err));
        for (size_t i = 0; i < d; i++) {
            ur_margin_sums sums = ur_fit_margin_sums(fit, &v, &fit->columns[i], NULL);
            ur_margin m;
            ur_fit_likelihood(fit, &sums, &m);
            scale[i] = ldexp(m.s, fit->columns[i].exponent);
        }
        for (size_t i = 0; i < d * d; i++)
            rho[i] *= scale[i / d] * scale[i % d];
        ur_multiply(d, d, d, rho, vectors, product);
        for (size_t i = 0; i < d; i++)
            for (size_t k = 0; k < d; k++)
                by_group[g * d + k] += vectors[i * d + k] * product[i * d + k];
    }
    for (size_t k = 0; k < d; k++) {
        double mean = 0, spread = 0;
        for (size_t g = 0; g < groups; g++)
            mean += by_group[g * d + k] / (double)groups;
        for (size_t g = 0; g < groups; g++) {
            double away = by_group[g * d + k] - mean;
            spread += away * away;
        }
        se[d - 1 - k] = sqrt(spread * ((double)groups - 1) / (double)groups);
    }
    return UNRELU_OK;
}

static unrelu_status choose_k(unrelu_gaussian *m, int rank, unrelu_error *err)
{
    size_t d = m->d;
    if (rank > 0) {
        m->k = (size_t)rank;
        size_t positive = 0;
        while (positive < d && m->eigenvalues[positive] > 0)
            positive++;
        m->how_k = ur_take_text(ur_model_arena(m), "as asked; %zu of %zu eigenvalues are positive",
                                positive, d);
        if (m->k > positive)
            return ur_fail(err, UNRELU_EDATA,
                           "rank %zu was asked for, but only %zu of %zu eigenvalues of Sigma are "
                           "positive: ask for at most %zu, or for auto",
                           m->k, positive, d, positive);
        return UNRELU_OK;
    }
    double noise = -DISTINCT_NEGATIVE * fmin(m->eigenvalues[d - 1], 0);
    while (m->k < d && m->eigenvalues[m->k] > noise &&
           m->eigenvalues[m->k] > DISTINCT_SE * m->eigenvalues_se[m->k]) /* never where it is NaN */
        m->k++;
    if (m->k == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "no eigenvalue of Sigma is distinguishable from 0 (largest %g, standard "
                       "error %g): more samples are needed",
                       m->eigenvalues[0], m->eigenvalues_se[0]);
    if (m->k < d)
        m->how_k = ur_take_text(
            ur_model_arena(m),
            "%zu of %zu eigenvalues are distinguishable from 0 (above 4 standard errors and 3 "
            "times the most negative): the last is %.3g, the next %.3g, with standard errors "
            "%.2g and %.2g",
            m->k, d, m->eigenvalues[m->k - 1], m->eigenvalues[m->k], m->eigenvalues_se[m->k - 1],
            m->eigenvalues_se[m->k]);
    else
        m->how_k = ur_take_text(
            ur_model_arena(m),
            "all %zu eigenvalues are distinguishable from 0: the last is %.3g with standard "
            "error %.2g",
            d, m->eigenvalues[d - 1], m->eigenvalues_se[d - 1]);
    return UNRELU_OK;
}

static unrelu_status standard_errors(const ur_estimate *e, const double *vectors, unrelu_error *err)
{
    unrelu_gaussian *m = e->model;
    const ur_fit *fit = e->moments;
    const char *why = NULL;
    double fewest = INFINITY; /* rows of the smallest group */
    for (size_t g = 0; fit && g < fit->summary->plan.groups; g++)
        fewest = fmin(fewest, *ur_moments_group(&fit->summary->plan, fit->summary->s, g));
    unrelu_status reason = UNRELU_EUSAGE;
    if (!fit || e->options->angles != UNRELU_ANGLES_H6 ||
        e->options->norms > UNRELU_NORMS_TRUNCATED)
        why = "the jackknife needs `angles` h6 with `norms` censored or truncated";
    else if (fit->summary->plan.groups < 2)
        why = "the summary keeps one group: summarize with `groups` 10";
    else if (fewest < FEWEST_ROWS) {
        why = "the jackknife needs at least four rows in each of its groups";
        reason = UNRELU_EDATA;
    } else if (fit->noise)
        why = "the jackknife does not know the noise level's own error";
    if (!why) {
        unrelu_status status = jackknife(fit, vectors, m->eigenvalues_se, err);
        if (status != UNRELU_OK || isfinite(m->eigenvalues_se[0]))
            return status;
        why = "a column has all its positive values in one group of rows";
        reason = UNRELU_EDATA;
    }
    for (size_t i = 0; i < m->d; i++)
        m->eigenvalues_se[i] = NAN;
    if (e->options->rank == UNRELU_RANK_AUTO)
        return ur_fail(err, reason,
                       "`rank` auto needs standard errors of eigenvalues: %s; or give `rank` K",
                       why);
    ur_model_warn(m, "no-se", "eigenvalues have no standard errors: %s", why);
    return UNRELU_OK;
}

/* The eigenvalues are those of the estimate before repair: a negative one tells the noise. */
unrelu_status ur_fit_rank(const ur_estimate *e, unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_gaussian *m = e->model;
    size_t d = m->d;
    int rank = e->options->rank;
    if (rank == UNRELU_RANK_NONE)
        return UNRELU_OK;
    if (rank > (int)d)
        return ur_fail(err, UNRELU_EUSAGE, "rank %d was asked for, but there are %zu columns", rank,
                       d);
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(m->sigma[i]))
            return ur_fail(err, UNRELU_EDATA, "Sigma has no eigenvalues: that of %s and %s is %g%s",
                           m->names[i / d], m->names[i % d], m->sigma[i],
                           isnan(m->sigma[i]) ? " (no truncated maximum likelihood)"
                                              : "; rescale the columns");
    double *values = ur_take(&arena, d, sizeof *values); /* increasing, as LAPACK gives them */
    double *vectors = ur_take(&arena, d, d * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    m->eigenvalues = ur_take(ur_model_arena(m), d, sizeof *m->eigenvalues);
    m->eigenvalues_se = ur_take(ur_model_arena(m), d, sizeof *m->eigenvalues_se);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    UR_TRY(ur_eigen_symmetric(d, m->sigma, values, vectors, err));
    for (size_t i = 0; i < d; i++)
        m->eigenvalues[i] = values[d - 1 - i];
    UR_TRY(standard_errors(e, vectors, err));
    UR_TRY(choose_k(m, rank, err));
    m->W = ur_take(ur_model_arena(m), d, m->k * sizeof *m->W);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k < m->k; k++)
            m->W[i * m->k + k] = vectors[i * d + d - 1 - k] * sqrt(m->eigenvalues[k]);
    return UNRELU_OK;
}
