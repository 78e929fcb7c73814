/* SPDX-License-Identifier: Apache-2.0 */
/* The signs, from the linear part: M = ratio sum_j s_j t_j b_j' + eta e' is p m equations, linear
 * in s and e. Where they determine these, least squares gives s_j = +-1 to rounding. With few
 * labels and many neurons they do not, but s_j is one of two numbers: fold_subset.c. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"
#include "network/signless/fold_subset.h"

#include <math.h>
#include <string.h>

/* Of a sign, by least squares: rounding leaves 1e-12, labels in single precision 1e-4; a part that
 * is linear in x far more. The certificate judges what follows from it. */
static const double SIGN_OFF = 1e-2;
/* of the common size of signs that are not 1: they are of a leaky activation */
static const double SIZE_OFF = 1e-4;

/* column j = t_j b_j' / |b_j| over p m equations, then the m columns of e; M behind it */
static void set_equations(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                          double *A, double *M)
{
    size_t p = folds->p, m = folds->m, k = s->k, wide = k + (eta ? m : 0);
    for (size_t i = 0; i < p; i++)
        for (size_t r = 0; r < m; r++) {
            double *row = A + (i * m + r) * wide;
            for (size_t j = 0; j < k; j++) {
                const double *b = s->B + j * m;
                row[j] = s->T[j * p + i] * b[r] / ur_norm(m, b);
            }
            if (eta)
                row[k + r] = eta[i];
            M[i * m + r] = s->B[(k + i) * m + r];
        }
}

/* s (k) as real numbers; *rank of wide columns */
static unrelu_status solve(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                           double *real, int *determined, unrelu_error *err)
{
    size_t p = folds->p, m = folds->m, k = s->k, wide = k + (eta ? m : 0), rank = 0;
    UR_ARENA(arena);
    double *A = ur_take(&arena, p * m, wide * sizeof *A), *M = ur_take(&arena, p * m, sizeof *M);
    double *X = ur_take(&arena, wide, sizeof *X);
    UR_TRY(ur_arena_status(&arena, err));
    *determined = 0;
    if (wide > p * m)
        return UNRELU_OK;
    set_equations(folds, s, eta, A, M);
    UR_TRY(ur_least_squares(p * m, wide, 1, A, M, UR_ROUNDING, X, &rank, err));
    *determined = rank == wide;
    for (size_t j = 0; j < k; j++)
        real[j] = X[j] / ur_norm(m, s->B + j * m);
    return UNRELU_OK;
}

/* whether all |real_j| are one number, and which */
static int is_common(size_t k, const double *real, double off, double *size)
{
    double least = INFINITY, most = 0;
    for (size_t j = 0; j < k; j++) {
        least = fmin(least, fabs(real[j]));
        most = fmax(most, fabs(real[j]));
    }
    *size = (least + most) / 2;
    return most - least <= 2 * off * *size;
}

unrelu_status ur_fold_signs(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                            double ratio, double error, int *signs, ur_signs_end *end,
                            double *slope, unrelu_error *err)
{
    size_t k = s->k;
    int determined;
    double size = 0;
    UR_ARENA(arena);
    double *real = ur_take(&arena, k, sizeof *real);
    UR_TRY(ur_arena_status(&arena, err));
    *slope = NAN;
    UR_TRY(solve(folds, s, eta, real, &determined, err));
    if (!determined)
        return ur_fold_subset(folds, s, eta, ratio, error, signs, end, err);
    for (size_t j = 0; j < k; j++)
        signs[j] = real[j] < 0 ? -1 : 1;
    int common = is_common(k, real, SIGN_OFF, &size);
    *end = common && fabs(size - ratio) <= SIGN_OFF * ratio ? UR_SIGNS_FOUND : UR_SIGNS_NONE;
    if (*end == UR_SIGNS_NONE && k > 1 && size > 1 && is_common(k, real, SIZE_OFF, &size))
        *slope = (size - 1) / (size + 1);
    return UNRELU_OK;
}
