/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of single pairs need not make a covariance: they are moved to the nearest correlation
 * matrix, in the metric of their standard errors. A pair that is known well keeps its value, those
 * that are known badly give way, and the intervals hold after it as they did before. */
#include "base/error.h"
#include "dense/linear.h"
#include "dense/nearest_correlation.h"
#include "gaussian/model/gaussian_model.h"
#include "law/pair.h"

#include <math.h>

/* A smaller standard error counts as this one, so that weights keep their digits. At 1e-4 intervals
 * of |rho| > 0.9 covered 0.90 for 1e5 rows, below 1e-5 they cover what they did before the repair.
 */
static const double LEAST_ERROR = 1e-6;

void ur_gaussian_set_sigma(unrelu_gaussian *m)
{
    size_t d = m->d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            m->sigma[i * d + j] = m->scale[i] * m->correlation[i * d + j] * m->scale[j];
}

/* NAN: nothing is known of the pair */
static double error_of(const unrelu_gaussian *m, size_t at)
{
    double se = m->correlation_se ? m->correlation_se[at] : NAN;
    /* a copy without an error lies between the solver's limit and 1 */
    if (isnan(se) && m->pair_flags && m->pair_flags[at] & UNRELU_FLAG_DUPLICATE)
        se = 1 - UR_PAIR_LIMIT;
    return se < LEAST_ERROR ? LEAST_ERROR : se;
}

/* 1 / se^2, 0 without an error. Where no pair has one, all are alike: those of n normal values. */
static void set_weights(const unrelu_gaussian *m, double *weight)
{
    size_t d = m->d;
    int any = 0;
    for (size_t i = 0; i < d * d; i++) {
        double se = i / d == i % d ? NAN : error_of(m, i);
        weight[i] = isfinite(se) ? 1 / (se * se) : 0;
        any |= weight[i] > 0;
    }
    for (size_t i = 0; !any && i < d * d; i++)
        weight[i] = fmax((double)m->n, 1);
}

/* R becomes the correlation */
static void take(unrelu_gaussian *m, const double *R, ur_repair *moved)
{
    size_t d = m->d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) {
            size_t at = i * d + j, turned = j * d + i;
            int flat = m->scale[i] == 0 || m->scale[j] == 0; /* a constant: 0 by convention */
            double rho = flat ? 0 : fmax(-1, fmin(1, R[at]));
            double away = fabs(rho - m->correlation[at]), errors = away / error_of(m, at);
            moved->pairs += errors > 1;
            if (errors > moved->errors)
                *moved = (ur_repair){moved->pairs, at, errors, m->correlation[at]};
            m->correlation[at] = m->correlation[turned] = rho;
        }
}

unrelu_status ur_gaussian_repair(unrelu_gaussian *m, int allowed, ur_repair *moved,
                                 unrelu_error *err)
{
    size_t d = m->d;
    UR_ARENA(arena);
    *moved = (ur_repair){0};
    double *values = ur_take(&arena, d, sizeof *values);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(m->correlation[i]))
            return ur_fail(err, UNRELU_EINTERNAL, "correlation %zu is not finite", i);
    /* without vectors it takes a fifth of the time */
    UR_TRY(ur_eigen_symmetric(d, m->correlation, values, NULL, err));
    m->lambda_min = values[0];
    m->repaired = allowed && values[0] < -UR_INDEFINITE * (double)d;
    if (m->repaired) {
        double *weight = ur_take(&arena, d, d * sizeof *weight);
        double *R = ur_take(&arena, d, d * sizeof *R);
        UR_TRY(ur_arena_status(&arena, err));
        set_weights(m, weight);
        UR_TRY(ur_nearest_correlation(d, m->correlation, weight, R, NULL, err));
        take(m, R, moved);
    }
    ur_gaussian_set_sigma(m);
    return UNRELU_OK;
}
