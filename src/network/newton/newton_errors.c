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
#include "network/newton/newton_work.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 6000 };

typedef struct {
    double *G;     /* kp x kp: H, its factor, its inverse, Cov V */
    double *Z;     /* q x kp: Z, then (F'F)^-1 Z; behind it room of the same size */
    double *scale; /* kp */
    int *empty;    /* k: no information on v_j */
} information;

static void fill(double *x, size_t count, double value)
{
    for (size_t i = 0; x && i < count; i++)
        x[i] = value;
}

/* whether columns of F depend on one another, beyond those that are 0 */
static int features_depend(const ur_newton_work *w)
{
    size_t q = w->q, lost = 0, zero = 0;
    for (size_t j = 0; j < q; j++) {
        lost += ur_sum_sizes(q, w->now.K + j * q, 1) == 0;
        zero += ur_sum_sizes(q, w->now.K + j, q) == 0;
    }
    return lost > zero;
}

/* G = H in units where its diagonal was 1 before U and e were eliminated, with a gauge where f is
 * homogeneous (taken in these coordinates, where the null vector is v_j / scale); Z = (F'F)^-1 F'W.
 * Neurons without information get the identity. */
static unrelu_status gather(const ur_newton_work *w, int gauge, information *info,
                            unrelu_error *err)
{
    size_t k = w->k, p = w->p, q = w->q, kp = w->kp;
    UR_ARENA(arena);
    double *G = info->G, *Y = info->Z + q * kp, *C = ur_take(&arena, k, k * sizeof *C);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_newton_gram_large(w, &w->now, 1, G, info->Z, err));
    ur_gram(k, w->m, w->now.B, C);
    for (size_t i = 0; i < kp; i++)
        info->scale[i] = G[i * (kp + 1)] * C[i / p * (k + 1)];
    ur_multiply(q, q, kp, w->now.K, info->Z, Y);
    ur_multiply_tn(q, q, kp, w->now.K, Y, info->Z);
    ur_syrk(UR_LOWER, UR_TURNED, kp, q, -1, Y, kp, 1, G, kp);
    for (size_t j = 0; j < k; j++)
        info->empty[j] = 1;
    for (size_t i = 0; i < kp; i++) {
        for (size_t j = 0; j <= i; j++)
            G[i * kp + j] *= C[i / p * k + j / p];
        double before = info->scale[i];
        if (!(G[i * (kp + 1)] <= UR_ROUNDING * before))
            info->empty[i / p] = 0;
        info->scale[i] = before > 0 ? 1 / sqrt(before) : 1;
    }
    for (size_t i = 0; i < kp; i++)
        for (size_t j = 0; j <= i; j++)
            if (info->empty[i / p] || info->empty[j / p])
                G[i * kp + j] = i == j;
            else
                G[i * kp + j] *= info->scale[i] * info->scale[j];
    for (size_t j = 0; j < k && gauge; j++) {
        const double *v = w->now.V + j * p, *scale = info->scale + j * p;
        double squares = 0;
        for (size_t a = 0; a < p; a++)
            squares += v[a] / scale[a] * (v[a] / scale[a]);
        for (size_t a = 0; a < p && squares > 0; a++)
            for (size_t b = 0; b <= a; b++)
                G[(j * p + a) * kp + j * p + b] += v[a] / scale[a] * (v[b] / scale[b]) / squares;
    }
    return UNRELU_OK;
}

/* G <- G^-1 in the units of V, both triangles; *singular where there is none */
static unrelu_status invert(const ur_newton_work *w, information *info, int *singular,
                            unrelu_error *err)
{
    size_t kp = w->kp;
    UR_ARENA(arena);
    double *L = ur_take(&arena, kp, kp * sizeof *L), *X = info->G;
    UR_TRY(ur_arena_status(&arena, err));
    int positive = 1;
    for (size_t i = 0; i < kp && positive; i++)
        positive = isfinite(info->G[i * (kp + 1)]);
    if (positive)
        UR_TRY(ur_cholesky(kp, info->G, L, &positive, err));
    for (size_t i = 0; i < kp && positive; i++)
        positive = L[i * (kp + 1)] * L[i * (kp + 1)] > UR_ROUNDING;
    *singular = !positive;
    if (!positive)
        return UNRELU_OK;
    memset(X, 0, kp * kp * sizeof *X);
    for (size_t i = 0; i < kp; i++)
        X[i * (kp + 1)] = info->scale[i];
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, kp, kp, L, kp, X, kp);
    ur_syrk(UR_LOWER, UR_TURNED, kp, kp, 1, X, kp, 0, L, kp);
    for (size_t i = 0; i < kp; i++)
        for (size_t j = 0; j <= i; j++)
            X[i * kp + j] = X[j * kp + i] = L[i * kp + j];
    return UNRELU_OK;
}

static unrelu_status errors_of_U(const ur_newton_work *w, const information *info, double sigma,
                                 double *U_se, double *e_se, unrelu_error *err)
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
    int gauge = ur_activation_degree(problem->f) > 0;
    fill(V_se, kp, NAN);
    fill(U_se, problem->m * fit->k, NAN);
    fill(e_se, problem->m, problem->constant ? NAN : 0);
    *singular = 1;
    if (kp > LARGEST)
        return UNRELU_OK;
    UR_ARENA(arena);
    ur_newton_work w;
    UR_TRY(ur_newton_open(problem, fit->k, &arena, &w, err));
    information info = {.G = ur_take(&arena, kp, kp * sizeof(double)),
                        .Z = ur_take(&arena, 2 * w.q, kp * sizeof(double)),
                        .scale = ur_take(&arena, kp, sizeof(double)),
                        .empty = ur_take(&arena, w.k, sizeof(int))};
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(w.now.V, fit->V, kp * sizeof *fit->V);
    UR_TRY(ur_newton_features(&w, &w.now, err));
    if (!isfinite(w.now.rss) || features_depend(&w))
        return UNRELU_OK;
    for (size_t j = 0; j < w.q; j++)
        for (size_t r = 0; r < w.m; r++)
            w.now.B[j * w.m + r] = j < w.k ? fit->U[r * w.k + j] : fit->e[r];
    UR_TRY(gather(&w, gauge, &info, err));
    UR_TRY(invert(&w, &info, singular, err));
    if (*singular)
        return UNRELU_OK;
    for (int side = 0; side < 2 && gauge; side++) /* G <- P G P' */
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
