/* SPDX-License-Identifier: Apache-2.0 */
/* From estimates to the model: noise taken out, Sigma, then rank, repair and warnings. */
#include "base/error.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"

#include <math.h>

/* of intervals, unless unrelu_gaussian_answer is asked for others */
static const double ANSWERS_LEVEL = 0.95;
/* a smaller variance is near or below DBL_MIN and has lost digits */
static const double LEAST_VARIANCE = 1e-307;

/* Var of the latent = Var of what was seen - noise^2; covariances between columns stay. noise_se:
 * of noise^2, or NULL. */
static unrelu_status take_noise_out(unrelu_gaussian *m, double *product_se, const double *noise_se,
                                    unrelu_error *err)
{
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
        m->b_scale_cov[i] /= shrink;
        for (size_t j = 0; j < d; j++) {
            double *pair[] = {&m->correlation[i * d + j],    &m->correlation[j * d + i],
                              &m->correlation_se[i * d + j], &m->correlation_se[j * d + i],
                              &product_se[i * d + j],        &product_se[j * d + i]};
            for (size_t k = 0; j != i && k < 6; k++)
                *pair[k] = k < 2 ? fmax(-1, fmin(1, *pair[k] / shrink)) : *pair[k] / shrink;
        }
    }
    for (size_t i = 0; noise_se && i < d; i++) { /* and what is not known of the noise itself */
        double own = m->scale[i] > 0 ? noise_se[i] / m->scale[i] / m->scale[i] / 2 : 0;
        m->scale_se[i] = hypot(m->scale_se[i], own * m->scale[i]);
        for (size_t j = 0; j < d; j++)
            if (j != i) {
                double *se = &m->correlation_se[i * d + j], *turned = &m->correlation_se[j * d + i];
                *se = *turned = hypot(*se, own * m->correlation[i * d + j]);
            }
    }
    return UNRELU_OK;
}

/* Of values near the end of a double's range, b and scale may lie beyond it: no file holds that. */
static unrelu_status check_range(const unrelu_gaussian *m, unrelu_error *err)
{
    for (size_t i = 0; i < m->d; i++)
        if (isinf(m->b[i]) || isinf(m->scale[i]))
            return ur_fail(
                err, UNRELU_EDATA,
                "column %zu (%s): its values are so large that %s is beyond 1.8e308, the "
                "largest number that a double holds; divide them by a power of ten, or leave the "
                "column out with `columns`",
                i + 1, m->names[i], isinf(m->b[i]) ? "b" : "scale");
    return UNRELU_OK;
}

unrelu_status ur_fit_finish(const ur_estimate *e, unrelu_error *err)
{
    unrelu_gaussian *m = e->model;
    size_t d = m->d;
    UR_TRY(check_range(m, err));
    UR_TRY(take_noise_out(m, e->product_se, e->noise_se, err));
    ur_gaussian_set_sigma(m);
    /* product_se knows how the errors of rho and of censored scales go together, of no others */
    double known = e->options->norms == UNRELU_NORMS_CENSORED ? 1 : NAN;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            m->sigma_se[i * d + j] = known * m->scale[i] * e->product_se[i * d + j] * m->scale[j];
            m->flags[i] |= m->pair_flags[i * d + j];
        }
        m->sigma_se[i * d + i] = 2 * m->scale[i] * m->scale_se[i];
        double square = m->sigma[i * d + i];
        if (m->scale[i] > 0 && (isinf(square) || square < LEAST_VARIANCE))
            m->flags[i] |= UNRELU_FLAG_SIGMA_RANGE;
    }
    UR_TRY(ur_fit_rank(e, err));
    ur_repair moved;
    UR_TRY(ur_gaussian_repair(m, !e->options->literal, &moved, err));
    ur_fit_warn(e, &moved);
    return unrelu_gaussian_answer(m, ANSWERS_LEVEL, err);
}
