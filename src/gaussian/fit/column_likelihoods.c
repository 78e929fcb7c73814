/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "law/normal.h"

#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

unrelu_status ur_fit_take_likelihoods(unrelu_gaussian *m, unrelu_error *err)
{
    double **const members[] = {&m->loglik, &m->aic, &m->bic};
    ur_arena *arena = ur_model_arena(m);
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        *members[k] = ur_take(arena, m->d, sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < m->d; i++)
        m->loglik[i] = m->aic[i] = m->bic[i] = NAN;
    return UNRELU_OK;
}

void ur_fit_set_likelihood(unrelu_gaussian *m, size_t i, double loglik, int parameters)
{
    m->loglik[i] = loglik;
    m->aic[i] = 2 * (parameters - loglik);
    m->bic[i] = parameters * log(m->observed[i]) - 2 * loglik;
}

double ur_fit_margin_likelihood(const ur_margin_sums *sums, const ur_margin *m, int exponent)
{
    double p = sums->positive, away = sums->shift - m->b, zeros = sums->n - p;
    double squares = sums->square + away * (2 * sums->sum + away * p); /* sum of (x - b)^2 */
    if (!(m->s > 0))
        return NAN;
    return -p * (LOG_SQRT_2PI + log(m->s) + exponent * M_LN2) - squares / (2 * m->s * m->s) +
           (zeros > 0 ? zeros * ur_normal_log_cdf(-m->b / m->s) : 0);
}

double ur_fit_log_slope(unrelu_transform transform, double lambda, double y)
{
    switch (transform) {
    case UNRELU_TRANSFORM_NONE:
        return 0;
    case UNRELU_TRANSFORM_SQRT:
        return -log(2 * y);
    case UNRELU_TRANSFORM_LOG:
        return -y;
    case UNRELU_TRANSFORM_BOXCOX: /* (lambda - 1) log x */
        return (lambda - 1) * (lambda == 0 ? y : log1p(lambda * y) / lambda);
    default:
        return NAN;
    }
}
