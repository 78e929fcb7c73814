/* SPDX-License-Identifier: Apache-2.0 */
/* For white normal x and E independent of it, whatever its mean, E[A'X / n] = U diag(P(on)) V
 * (U V / 2 without biases): its singular spaces are those of U and V. n m p operations. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <stdlib.h>
#include <string.h>

void ur_any_centre(size_t n, size_t m, const double *a, double *out)
{
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += a[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            out[i * m + j] = a[i * m + j] - mean;
    }
}

void ur_any_spaces_free(ur_any_spaces *s)
{
    free(s->P);
    free(s->s);
    free(s->Q);
    memset(s, 0, sizeof *s);
}

unrelu_status ur_any_spaces_make(size_t n, size_t p, size_t m, const double *x, const double *a,
                                 ur_any_spaces *s, unrelu_error *err)
{
    size_t r = m < p ? m : p;
    *s = (ur_any_spaces){.r = r};
    double *centred = ur_alloc(n, m * sizeof *centred), *M = ur_alloc(m, p * sizeof *M);
    s->P = ur_alloc(m, r * sizeof *s->P);
    s->s = ur_doubles(r);
    s->Q = ur_alloc(r, p * sizeof *s->Q);
    unrelu_status status =
        centred && M && s->P && s->s && s->Q ? UNRELU_OK : ur_fail_memory(err, n * m, "labels");
    if (status == UNRELU_OK) {
        ur_any_centre(n, m, a, centred);
        ur_multiply_tn(n, m, p, centred, x, M);
        for (size_t i = 0; i < m * p; i++)
            M[i] /= (double)n;
        status = ur_svd(m, p, M, s->P, s->s, s->Q, err);
    }
    free(centred);
    free(M);
    return status;
}
