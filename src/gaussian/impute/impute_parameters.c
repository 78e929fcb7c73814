/* SPDX-License-Identifier: Apache-2.0 */
/* What a fit is not sure of, so that imputations differ by it: before each of them b, scale and the
 * correlations are drawn from the normal law of their errors (a proper imputation, Rubin 1987).
 *
 *   log scale* = log scale + (scale_se / scale) e,  e ~ N(0, R o R)
 *   b* = b + b_se (r e + sqrt(1 - r^2) f),          f ~ N(0, R),  r from b_scale_cov
 *   atanh rho* = atanh rho + rho_se / (1 - rho^2) g, g independent
 *
 * R and R o R are the correlations that errors of means and of scales of complete columns have;
 * their roots are symmetric, which rounding of equal eigenvalues cannot turn.
 * Eigenvalues below 0 of the matrix of rho* are cut off, and its diagonal made 1 again. What has no
 * error stays as it is; so do the correlations of a model with a rank, which errors would raise. */
#include "gaussian/impute/impute.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

static const uint64_t STREAM_PARAMETERS = (uint64_t)1 << 39;
/* a larger correlation is that of copies, whose errors mean nothing on the scale of atanh */
static const double RHO_MOST = 1 - 1e-9;

static double error_at(const double *se, size_t i)
{
    return se && isfinite(se[i]) && se[i] > 0 ? se[i] : 0;
}

/* F (d x d), symmetric but for the lengths of its rows, which are 1: F F' = A but for eigenvalues
 * below 0 */
static unrelu_status set_root(size_t d, const double *A, double *F, unrelu_error *err)
{
    UR_ARENA(arena);
    double *values = ur_take(&arena, d, sizeof *values);
    double *V = ur_take(&arena, d, d * sizeof *V), *rooted = ur_take(&arena, d, d * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_eigen_symmetric(d, A, values, V, err));
    for (size_t i = 0; i < d * d; i++)
        rooted[i] = V[i] * sqrt(fmax(0, values[i % d]));
    ur_gemm(UR_PLAIN, UR_TURNED, d, d, d, 1, rooted, d, V, d, 0, F, d);
    for (size_t i = 0; i < d; i++) {
        double norm = ur_norm(d, F + i * d);
        if (norm > 0)
            ur_scale(d, 1 / norm, F + i * d);
    }
    return UNRELU_OK;
}

unrelu_status ur_parameters_begin(const unrelu_gaussian *m, ur_parameters *p, ur_arena *arena,
                                  unrelu_error *err)
{
    UR_BLAS_BEGIN(NULL, err);
    size_t d = m->d;
    *p = (ur_parameters){.model = m};
    p->for_b = ur_take(arena, d, d * sizeof *p->for_b);
    p->for_scale = ur_take(arena, d, d * sizeof *p->for_scale);
    double *square = ur_take(arena, d, d * sizeof *square);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < d * d; i++)
        square[i] = m->correlation[i] * m->correlation[i];
    UR_TRY(set_root(d, m->correlation, p->for_b, err));
    return set_root(d, square, p->for_scale, err);
}

static double product(size_t d, const double *row, const double *z)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++)
        sum += row[k] * z[k];
    return sum;
}

static void draw_margins(const ur_parameters *p, const double *z, double *b, double *scale)
{
    const unrelu_gaussian *m = p->model;
    size_t d = m->d;
    for (size_t i = 0; i < d; i++) {
        double b_se = error_at(m->b_se, i), scale_se = error_at(m->scale_se, i), r = 0;
        if (m->b_scale_cov && isfinite(m->b_scale_cov[i]) && b_se > 0 && scale_se > 0)
            r = fmax(-1, fmin(1, m->b_scale_cov[i] / b_se / scale_se));
        double e = product(d, p->for_scale + i * d, z), f = product(d, p->for_b + i * d, z + d);
        b[i] = m->b[i] + b_se * (r * e + sqrt(1 - r * r) * f);
        scale[i] = m->scale[i] > 0 ? m->scale[i] * exp(scale_se / m->scale[i] * e) : 0;
    }
}

static unrelu_status draw_correlation(const unrelu_gaussian *m, const double *z, double *R,
                                      unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = m->d, at = 0;
    double *F = ur_take(&arena, d, d * sizeof *F);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++, at++) {
            double rho = m->correlation[i * d + j], se = error_at(m->correlation_se, i * d + j);
            if (se > 0 && fabs(rho) < RHO_MOST)
                rho = tanh(atanh(rho) + se / (1 - rho * rho) * z[at]);
            R[i * d + j] = R[j * d + i] = rho;
        }
    UR_TRY(set_root(d, R, F, err));
    ur_gemm(UR_PLAIN, UR_TURNED, d, d, d, 1, F, d, F, d, 0, R, d);
    for (size_t i = 0; i < d; i++)
        R[i * d + i] = 1;
    return UNRELU_OK;
}

unrelu_status ur_parameters_draw(const ur_parameters *p, uint64_t seed, size_t draw, double *b,
                                 double *scale, double *R, unrelu_error *err)
{
    UR_BLAS_BEGIN(NULL, err);
    UR_ARENA(arena);
    const unrelu_gaussian *m = p->model;
    size_t d = m->d, count = 2 * d + d * (d - 1) / 2;
    double *z = ur_take(&arena, count, sizeof *z);
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_normals(seed, STREAM_PARAMETERS + draw, 0, count, z);
    draw_margins(p, z, b, scale);
    memcpy(R, m->correlation, d * d * sizeof *R);
    int free_rank = m->k == 0 || m->k >= d, any = 0;
    for (size_t i = 0; i < d * d && !any; i++)
        any = error_at(m->correlation_se, i) > 0;
    return free_rank && any ? draw_correlation(m, z + 2 * d, R, err) : UNRELU_OK;
}
