/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

unrelu_status unrelu_gaussian_eigenvalues(const unrelu_gaussian *m, double *values,
                                          unrelu_error *err)
{
    if (!m->eigenvalues && !m->sigma)
        return ur_fail(err, UNRELU_EUSAGE, "the model has no Sigma");
    if (m->eigenvalues) {
        memcpy(values, m->eigenvalues, m->d * sizeof *values);
        return UNRELU_OK;
    }
    for (size_t i = 0; i < m->d * m->d; i++)
        if (!isfinite(m->sigma[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "entry (%zu, %zu) of Sigma is not finite: it has no eigenvalues",
                           i / m->d + 1, i % m->d + 1);
    UR_BLAS_PINNED;
    unrelu_status status = ur_eigen_symmetric(m->d, m->sigma, values, NULL, err);
    for (size_t i = 0; status == UNRELU_OK && i < m->d / 2; i++) {
        double kept = values[i];
        values[i] = values[m->d - 1 - i];
        values[m->d - 1 - i] = kept;
    }
    return status;
}
