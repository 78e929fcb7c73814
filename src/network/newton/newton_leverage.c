/* SPDX-License-Identifier: Apache-2.0 */
/* Leverages of the samples on all weights at once. Row i of the Jacobian of the labels has a row
 * for each label r: f_i for U_r (and e_r), and U_rj D_ij x_i for v_j. With U and e eliminated
 *   h_i = (f_i (F'F)^-1 f_i') I + J_i H^-1 J_i',  J_ir = U_rj (D_ij x_i - f_i (F'F)^-1 F'W_j),
 * an m x m matrix whose largest eigenvalue is 1 where the weights are not determined with sample i
 * left out, and which no gauge changes. n m (kp)^2 flops beside the information itself. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/newton/newton_information.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 64 };
/* Error of a cell of the information in units of its rounding, where features are orthogonal.
 * Larger, and what is ill-conditioned is never sure; smaller, and a hinge hides in rounding. */
static const double ROUNDINGS = 30;

typedef struct {
    const ur_newton_information *info;
    double *J; /* (BLOCK, kp): D x - f Z of each sample */
    double *T; /* (kp, BLOCK m): L^-1 J', a column for each label of each sample */
    double *h; /* m x m */
    double *values;
    size_t size; /* of room, for eigenvalues */
    double *room;
} leverages;

/* J and T of samples first .. first + rows - 1 */
static void solve_rows(const leverages *l, size_t first, size_t rows)
{
    const ur_newton_information *info = l->info;
    const ur_newton_work *w = &info->work;
    size_t p = w->p, kp = w->kp, m = w->m, q = w->q, columns = rows * m;
    for (size_t i = 0; i < rows; i++) {
        const double *x = w->problem->x + (first + i) * p, *D = w->now.D + (first + i) * q;
        for (size_t c = 0; c < kp; c++)
            l->J[i * kp + c] = D[c / p] * x[c % p];
    }
    ur_gemm(UR_PLAIN, UR_PLAIN, rows, kp, q, -1, w->now.F + first * q, q, info->Z, kp, 1, l->J, kp);
    for (size_t c = 0; c < kp; c++) {
        const double *u = w->now.B + c / p * m; /* column j of U */
        double scale = info->empty[c / p] ? 0 : info->scale[c];
        for (size_t i = 0; i < rows; i++)
            for (size_t r = 0; r < m; r++)
                l->T[c * columns + i * m + r] = u[r] * scale * l->J[i * kp + c];
    }
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, kp, columns, info->L, kp, l->T, columns);
}

/* of sample first + i, whose columns of T are solved for; 0 where it is below `least` in any case
 */
static double leverage_of(const leverages *l, size_t first, size_t i, size_t rows, double least)
{
    const ur_newton_work *w = &l->info->work;
    size_t kp = w->kp, m = w->m, q = w->q, columns = rows * m;
    const double *f = w->now.F + (first + i) * q, *T = l->T + i * m;
    double own = 0, trace = 0;
    for (size_t a = 0; a < q; a++) {
        double part = ur_dot(q, w->now.K + a * q, f);
        own += part * part;
    }
    for (size_t r = 0; r < m; r++)
        for (size_t s = 0; s <= r; s++) {
            l->h[r * m + s] = ur_dot_steps(kp, T + r, columns, T + s, columns) + (r == s ? own : 0);
            trace += r == s ? l->h[r * m + s] : 0;
        }
    if (m == 1 || !(trace > least)) /* the largest eigenvalue is no larger */
        return trace > least ? trace : 0;
    return ur_eigen_in_place(m, l->h, l->values, l->size, l->room) ? l->values[m - 1] : trace;
}

unrelu_status ur_newton_leverage(const ur_newton *problem, const ur_newton_fit *fit,
                                 ur_newton_hinge *hinge, unrelu_error *err)
{
    size_t n = problem->n, m = problem->m, kp = fit->k * problem->p;
    *hinge = (ur_newton_hinge){.singular = 1, .leverage = 1};
    UR_ARENA(arena);
    ur_newton_information info;
    UR_TRY(ur_newton_inform(problem, fit, &arena, &info, err));
    for (size_t j = 0; info.regular && j < fit->k; j++)
        info.regular = !info.empty[j];
    if (!info.regular)
        return UNRELU_OK;
    leverages l = {.info = &info,
                   .J = ur_take(&arena, BLOCK, kp * sizeof *l.J),
                   .T = ur_take(&arena, BLOCK * m, kp * sizeof *l.T),
                   .h = ur_take(&arena, m, m * sizeof *l.h),
                   .values = ur_take(&arena, m, sizeof *l.values),
                   .size = ur_eigen_room(m)};
    l.room = ur_take(&arena, l.size, sizeof *l.room);
    UR_TRY(ur_arena_status(&arena, err));
    double blur = ROUNDINGS * DBL_EPSILON / info.share / info.pivot;
    if (!(blur < 1))
        return UNRELU_OK;
    *hinge = (ur_newton_hinge){.blur = blur};
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        solve_rows(&l, first, rows);
        for (size_t i = 0; i < rows; i++) {
            double leverage = leverage_of(&l, first, i, rows, hinge->leverage);
            if (leverage > hinge->leverage) {
                hinge->leverage = leverage;
                hinge->row = first + i;
            }
        }
    }
    return UNRELU_OK;
}
