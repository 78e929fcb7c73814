/* SPDX-License-Identifier: Apache-2.0 */
#include "network/newton/newton_information.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 6000 }; /* k p */

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
static unrelu_status gather(const ur_newton_work *w, int gauge, ur_newton_information *info,
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

/* L and its smallest pivot; *regular = 0 where there is none */
static unrelu_status factor(size_t kp, ur_newton_information *info, unrelu_error *err)
{
    info->regular = 1;
    info->pivot = 1;
    for (size_t i = 0; i < kp && info->regular; i++)
        info->regular = isfinite(info->G[i * (kp + 1)]);
    if (info->regular)
        UR_TRY(ur_cholesky(kp, info->G, info->L, &info->regular, err));
    for (size_t i = 0; i < kp && info->regular; i++)
        info->pivot = fmin(info->pivot, info->L[i * (kp + 1)] * info->L[i * (kp + 1)]);
    info->regular = info->regular && info->pivot > UR_ROUNDING;
    return UNRELU_OK;
}

/* of each feature 1 / ((F'F)^-1_jj (F'F)_jj) */
static double own_share(const ur_newton_work *w)
{
    size_t q = w->q;
    double share = 1;
    for (size_t j = 0; j < q; j++) {
        double inverse = ur_dot_steps(q, w->now.K + j, q, w->now.K + j, q);
        double square = ur_dot_steps(w->n, w->now.F + j, q, w->now.F + j, q);
        if (inverse * square > 0)
            share = fmin(share, 1 / (inverse * square));
    }
    return share;
}

unrelu_status ur_newton_inform(const ur_newton *problem, const ur_newton_fit *fit, ur_arena *arena,
                               ur_newton_information *info, unrelu_error *err)
{
    size_t kp = fit->k * problem->p;
    ur_newton_work *w = &info->work;
    *info = (ur_newton_information){.gauge = ur_activation_degree(problem->f) > 0};
    if (kp > LARGEST)
        return UNRELU_OK;
    UR_TRY(ur_newton_open(problem, fit->k, arena, w, err));
    info->G = ur_take(arena, kp, kp * sizeof(double));
    info->L = ur_take(arena, kp, kp * sizeof(double));
    info->Z = ur_take(arena, 2 * w->q, kp * sizeof(double));
    info->scale = ur_take(arena, kp, sizeof(double));
    info->empty = ur_take(arena, w->k, sizeof(int));
    UR_TRY(ur_arena_status(arena, err));
    memcpy(w->now.V, fit->V, kp * sizeof *fit->V);
    UR_TRY(ur_newton_features(w, &w->now, err));
    if (!isfinite(w->now.rss) || features_depend(w))
        return UNRELU_OK;
    for (size_t j = 0; j < w->q; j++)
        for (size_t r = 0; r < w->m; r++)
            w->now.B[j * w->m + r] = j < w->k ? fit->U[r * w->k + j] : fit->e[r];
    info->share = own_share(w);
    UR_TRY(gather(w, info->gauge, info, err));
    return factor(kp, info, err);
}
