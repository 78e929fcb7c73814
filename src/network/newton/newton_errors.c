/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of (V, U, e) under normal noise of deviation sigma. With U and e eliminated the
 * information on V is H of newton_work.h. Where f is homogeneous H v_j = 0, and the scale is
 * fixed by n_j'v_j = const, n_j = v_j on the first `unit` columns and 0 elsewhere:
 *   Cov V / sigma^2 = P (H + sum_j h_j v_j v_j')^-1 P',  P_j = I - v_j n_j' / n_j'v_j,
 * in which the gauge h_j drops out. B_r, row r of [U e], moves with V:
 *   Cov B_r / sigma^2 = (F'F)^-1 + M_r (Cov V / sigma^2) M_r',  M_rl = U_rl (F'F)^-1 F'W_l.
 * n (kp)^2 + (kp)^3 + q (kp)^2 flops; above k p = 6000 nothing is computed. */
#include "network/newton/newton.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/newton/newton_information.h"

#include <math.h>
#include <string.h>

static void fill(double *x, size_t count, double value)
{
    for (size_t i = 0; x && i < count; i++)
        x[i] = value;
}

/* G <- (L L')^-1 in the units of V, both triangles */
static void invert(ur_newton_information *info)
{
    size_t kp = info->work.kp;
    double *inverse = info->L;
    ur_cholesky_inverse(kp, inverse);
    for (size_t i = 0; i < kp; i++)
        for (size_t j = 0; j < kp; j++)
            info->G[i * kp + j] = inverse[i * kp + j] * info->scale[i] * info->scale[j];
}

static unrelu_status errors_of_U(const ur_newton_work *w, const ur_newton_information *info,
                                 double sigma, double *U_se, double *e_se, unrelu_error *err)
{
    size_t k = w->k, p = w->p, q = w->q, kp = w->kp, m = w->m;
    UR_ARENA(arena);
    /* E_jll' = y_jl' G_ll' y_jl', y_j row j of Z; room for Z G is behind Z */
    double *E = ur_take(&arena, q * k, k * sizeof *E), *ZG = info->Z + q * kp;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t l = 0; l < k; l++) {
        if (info->empty[l])
            continue;
        ur_gemm(UR_PLAIN, UR_PLAIN, q, kp, p, 1, info->Z + l * p, kp, info->G + l * p * kp, kp, 0,
                ZG, kp);
        for (size_t j = 0; j < q; j++)
            for (size_t i = 0; i < k; i++)
                E[(j * k + l) * k + i] =
                    info->empty[i] ? 0 : ur_dot(p, ZG + j * kp + i * p, info->Z + j * kp + i * p);
    }
    for (size_t j = 0; j < q; j++) {
        double own = 0;
        for (size_t i = 0; i < q; i++)
            own += w->now.K[i * q + j] * w->now.K[i * q + j];
        for (size_t r = 0; r < m; r++) {
            double variance = own;
            for (size_t l = 0; l < k; l++)
                for (size_t i = 0; i < k; i++)
                    variance += w->now.B[l * m + r] * E[(j * k + l) * k + i] * w->now.B[i * m + r];
            double se = j < k && info->empty[j] ? NAN : sigma * sqrt(fmax(0, variance));
            if (j < k)
                U_se[r * k + j] = se;
            else if (e_se)
                e_se[r] = se;
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_newton_errors(const ur_newton *problem, const ur_newton_fit *fit, size_t unit,
                               double sigma, double *V_se, double *U_se, double *e_se,
                               int *singular, unrelu_error *err)
{
    size_t kp = fit->k * problem->p;
    fill(V_se, kp, NAN);
    fill(U_se, problem->m * fit->k, NAN);
    fill(e_se, problem->m, problem->constant ? NAN : 0);
    *singular = 1;
    UR_ARENA(arena);
    ur_newton_information info;
    UR_TRY(ur_newton_inform(problem, fit, &arena, &info, err));
    if (!info.regular)
        return UNRELU_OK;
    *singular = 0;
    const ur_newton_work w = info.work;
    invert(&info);
    for (int side = 0; side < 2 && info.gauge; side++) /* G <- P G P' */
        for (size_t j = 0; j < w.k; j++) {
            const double *v = w.now.V + j * w.p;
            double squares = ur_dot(unit, v, v);
            size_t across = side ? kp : 1, along = side ? 1 : kp;
            double *G = info.G + j * w.p * along;
            for (size_t i = 0; i < kp && squares > 0; i++, G += across) {
                double part = ur_dot_steps(unit, v, 1, G, along) / squares;
                ur_add_steps(w.p, -part, v, 1, G, along);
            }
        }
    for (size_t j = 0; j < w.k; j++)
        *singular |= info.empty[j];
    for (size_t i = 0; i < kp; i++)
        V_se[i] = info.empty[i / w.p] ? NAN : sigma * sqrt(fmax(0, info.G[i * (kp + 1)]));
    return errors_of_U(&w, &info, sigma, U_se, e_se, err);
}
