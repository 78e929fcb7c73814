/* SPDX-License-Identifier: Apache-2.0 */
/* For white normal x and E independent of it, whatever its mean, E[A'X / n] = U diag(P(on)) V
 * (U V / 2 without biases): its singular spaces are those of U and V. n m p operations. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

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

unrelu_status ur_any_spaces_make(size_t n, size_t p, size_t m, const double *x, const double *a,
                                 ur_arena *arena, ur_any_spaces *s, unrelu_error *err)
{
    UR_ARENA(own);
    size_t r = m < p ? m : p;
    double *centred = ur_take(&own, n, m * sizeof *centred), *M = ur_take(&own, m, p * sizeof *M);
    *s = (ur_any_spaces){.r = r,
                         .P = ur_take(arena, m, r * sizeof *s->P),
                         .s = ur_take(arena, r, sizeof *s->s),
                         .Q = ur_take(arena, r, p * sizeof *s->Q)};
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    ur_any_centre(n, m, a, centred);
    ur_multiply_tn(n, m, p, centred, x, M);
    for (size_t i = 0; i < m * p; i++)
        M[i] /= (double)n;
    return ur_svd(m, p, M, s->P, s->s, s->Q, err);
}
