/* SPDX-License-Identifier: Apache-2.0 */
#include "network/noisy/tangent.h"

#include "base/error.h"
#include "dense/activation.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

/* n m k p: 80 MB, and 2e10 operations for 500 columns. Beyond it V and c are taken as known, and
 * residuals seem less alike than noise: a test by them finds less, and nothing that is not there.
 */
static const double LARGEST = 1e7;
/* Of the diagonal: directions that the rows hardly determine (lengths of rows of V, neurons that
 * are never on) count as known. */
static const double RIDGE = 1e-8;

/* F (n x k, and ones where e is fitted) and D, values and slopes of the neurons; t (n x k) room */
static void set_features(const ur_weights *w, ur_terms terms, size_t n, const double *x, double *t,
                         double *F, double *D)
{
    size_t k = w->k, q = k + (terms.constant ? 1 : 0);
    ur_gemm(UR_PLAIN, UR_TURNED, n, k, w->d, 1, x, w->d, w->V, w->d, 0, t, k);
    for (size_t i = 0; i < n * k; i++)
        t[i] += w->c ? w->c[i % k] : 0;
    for (size_t i = 0; i < n; i++) {
        ur_activation_apply(w->f, k, t + i * k, F + i * q, D + i * k);
        if (terms.constant)
            F[i * q + k] = 1;
    }
}

/* C = C - Q Q'C, C (n x columns) */
static void leave_outer(const ur_tangent *t, size_t columns, double *C, double *room)
{
    ur_gemm(UR_TURNED, UR_PLAIN, t->outer, columns, t->n, 1, t->Q, t->outer, C, columns, 0, room,
            columns);
    ur_gemm(UR_PLAIN, UR_PLAIN, t->n, columns, t->outer, -1, t->Q, t->outer, room, columns, 1, C,
            columns);
}

/* J: U_rj D_ij (x_i, 1) beside Q, with orthonormal columns */
static unrelu_status set_inner(const ur_weights *w, ur_terms terms, const double *x,
                               const double *D, ur_tangent *t, unrelu_error *err)
{
    size_t n = t->n, m = t->m, k = w->k, d = w->d, p = d + (terms.hidden ? 1 : 0), kp = k * p;
    UR_ARENA(arena);
    double *G = ur_take(&arena, kp, kp * sizeof *G), *L = ur_take(&arena, kp, kp * sizeof *L);
    double *room = ur_take(&arena, t->outer + 1, m * kp * sizeof *room);
    double *scale = ur_take(&arena, kp, sizeof *scale);
    double unit = 0; /* of U, whose squares may be no numbers */
    int positive = 1;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < m * k; i++)
        unit = fmax(unit, fabs(w->U[i]));
    unit = unit > 0 ? unit : 1;
    for (size_t i = 0; i < n * m; i++)
        for (size_t c = 0; c < kp; c++) {
            double input = c % p < d ? x[i / m * d + c % p] : 1;
            t->J[i * kp + c] = w->U[i % m * k + c / p] / unit * D[i / m * k + c / p] * input;
        }
    leave_outer(t, m * kp, t->J, room);
    ur_multiply_tn(n * m, kp, kp, t->J, t->J, G);
    for (size_t c = 0; c < kp; c++)
        scale[c] = G[c * (kp + 1)] > 0 ? 1 / sqrt(G[c * (kp + 1)]) : 0;
    for (size_t a = 0; a < kp; a++)
        for (size_t b = 0; b < kp; b++)
            G[a * kp + b] = G[a * kp + b] * scale[a] * scale[b] + (a == b ? RIDGE : 0);
    UR_TRY(ur_cholesky(kp, G, L, &positive, err));
    for (size_t i = 0; i < n * m * kp; i++)
        t->J[i] *= positive ? scale[i % kp] : 0;
    if (positive)
        ur_trsm(UR_RIGHT, UR_LOWER, UR_TURNED, n * m, kp, L, kp, t->J, kp);
    return UNRELU_OK;
}

unrelu_status ur_tangent_make(const ur_weights *w, ur_terms terms, size_t n, const double *x,
                              ur_arena *arena, ur_tangent *t, unrelu_error *err)
{
    size_t m = w->m, k = w->k, q = k + (terms.constant ? 1 : 0);
    size_t kp = k * (w->d + (terms.hidden ? 1 : 0));
    UR_ARENA(own);
    double *F = ur_take(&own, n, q * sizeof *F), *D = ur_take(&own, n, k * sizeof *D);
    double *room = ur_take(&own, n, k * sizeof *room);
    *t = (ur_tangent){.n = n,
                      .m = m,
                      .inner = (double)(n * m) * (double)kp <= LARGEST ? kp : 0,
                      .Q = ur_take(arena, n, q * sizeof(double)),
                      .leverage = ur_take(arena, n, m * sizeof(double))};
    t->J = ur_take(arena, n * m, t->inner * sizeof(double));
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    set_features(w, terms, n, x, room, F, D);
    UR_TRY(ur_qr_pivoted(n, q, F, UR_ROUNDING, &t->outer, t->Q, NULL, NULL, err));
    if (t->inner > 0)
        UR_TRY(set_inner(w, terms, x, D, t, err));
    for (size_t i = 0; i < n * m; i++) {
        const double *Q = t->Q + i / m * t->outer, *J = t->J + i * t->inner;
        t->leverage[i] = ur_dot(t->outer, Q, Q) + ur_dot(t->inner, J, J);
    }
    return UNRELU_OK;
}

void ur_tangent_leave(const ur_tangent *t, size_t columns, double *E, double *room)
{
    double *inner = room + t->outer * t->m * columns;
    if (t->inner > 0) /* J is beside Q: both see the same E */
        ur_gemm(UR_TURNED, UR_PLAIN, t->inner, columns, t->n * t->m, 1, t->J, t->inner, E, columns,
                0, inner, columns);
    leave_outer(t, t->m * columns, E, room);
    if (t->inner > 0)
        ur_gemm(UR_PLAIN, UR_PLAIN, t->n * t->m, columns, t->inner, -1, t->J, t->inner, inner,
                columns, 1, E, columns);
}
