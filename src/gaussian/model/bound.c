/* SPDX-License-Identifier: Apache-2.0 */
/* The Cramer-Rao bound of a rectified Gaussian: inverse Fisher information over n, of one
 * coordinate for b and its scale, of one pair (all five parameters unknown) for what belongs to
 * the pair. At correlation 0 that is Var(rho) = 1 / (n tau_i tau_j) with tau = Phi - g phi + phi^2
 * / Phi(-g), g = b / scale. NaN where the information is singular: a coordinate that is hardly
 * ever positive, a scale of 0, a correlation beyond 0.999999. 20 to 50 us a pair. */
#include "unrelu/unrelu.h"

#include "base/error.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "law/information.h"

#include <math.h>

static double gamma_of(const unrelu_gaussian *m, size_t i)
{
    double above = m->b[i] - (m->limit ? m->limit[i] : 0);
    return m->scale[i] > 0 ? above / m->scale[i] : NAN;
}

static void put(double *matrix, size_t d, size_t i, size_t j, double value)
{
    if (matrix)
        matrix[i * d + j] = matrix[j * d + i] = value;
}

unrelu_status unrelu_gaussian_bound(const unrelu_gaussian *m, double n, double *b_se,
                                    double *scale_se, double *sigma_se, double *correlation_se,
                                    unrelu_error *err)
{
    size_t d = m->d;
    if (!(n > 0 && isfinite(n)))
        return ur_fail(err, UNRELU_EUSAGE, "the number of samples must be above 0, not %g", n);
    if (m->d < 1 || !m->b || !m->scale || !m->correlation)
        return ur_fail(err, UNRELU_EUSAGE, "a bound needs a model with b, scales and correlations");
    for (size_t i = 0; i < m->d; i++)
        if (!isfinite(m->b[i]) || !isfinite(m->scale[i]) || m->scale[i] < 0)
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu has b %g and scale %g: no bound is defined", i + 1, m->b[i],
                           m->scale[i]);
    UR_BLAS_BEGIN(NULL, err);
    for (size_t i = 0; i < d; i++) {
        double V[3], s = m->scale[i], g = gamma_of(m, i);
        ur_information_margin(g, V);
        if (b_se)
            b_se[i] = s * sqrt(V[0] / n);
        if (scale_se)
            scale_se[i] = s * sqrt(V[2] / n);
        put(sigma_se, d, i, i, 2 * s * s * sqrt(V[2] / n));
        put(correlation_se, d, i, i, 0);
        for (size_t j = 0; (sigma_se || correlation_se) && j < i; j++) {
            double rho, product;
            ur_information_bounds(g, gamma_of(m, j), m->correlation[i * d + j], &rho, &product);
            put(correlation_se, d, i, j, sqrt(rho / n));
            put(sigma_se, d, i, j, s * m->scale[j] * sqrt(product / n));
        }
    }
    return UNRELU_OK;
}
