/* SPDX-License-Identifier: Apache-2.0 */
/* For S_1 = Z'D_1 Z and S_2 = Z'D_2 Z in the span (rows z_i of Z), S_2^-1 S_1 = Z^-1 D_2^-1 D_1 Z:
 * its eigenvectors w_i are the columns of Z^-1 and S_2 w_i is z_i up to scale. Of 12 random pairs
 * the one whose z are closest to the span is kept. In every second pair S_2 is a positive
 * definite member where one is found, as then the eigenvalues are real even where the span is
 * known only roughly. What complex pairs are left become two close real z. Each z is then polished
 * to a fixed point of z <- leading eigenvector of the projection of zz' on the span. Exact spans
 * give z to rounding times the square of Z's condition. */
#include "dense/rank_ones.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 12, POLISH = 25, CLIMB = 40 };
/* Smallest over largest eigenvalue of a member that is positive enough: a search for more takes
 * long, and with less the inverse of S_2 costs more than two digits. Pace: the pair whose z are
 * closest to the span is kept, and how close they are is returned. */
static const double DEFINITE = 1e-2;
/* of the first matrix: below, one adds nothing to the span */
static const double SPAN_RANK = 1e-14;

typedef struct {
    size_t k, rank;
    double *basis;                     /* rank x k^2, orthonormal rows */
    double *coordinates;               /* rank */
    double *S1, *S2, *P, *M, *vectors; /* k x k each */
    double *values, *imaginary;        /* k each */
    double *positive;                  /* k x k, or all zero where none was found */
    double *Z, *best;                  /* k x k, unit rows */
} space;

static unrelu_status open_space(size_t k, const double *span, ur_arena *arena, space *s,
                                unrelu_error *err)
{
    size_t kk = k * k;
    UR_ARENA(own);
    double *columns = ur_take(&own, kk, k * sizeof *columns);
    double *Q = ur_take(&own, kk, k * sizeof *Q);
    *s = (space){.k = k,
                 .basis = ur_take(arena, kk, k * sizeof *s->basis),
                 .coordinates = ur_take(arena, k, sizeof *s->coordinates),
                 .values = ur_take(arena, k, sizeof *s->values),
                 .imaginary = ur_take(arena, k, sizeof *s->imaginary)};
    double **const squares[] = {&s->S1,      &s->S2,       &s->P, &s->M,
                                &s->vectors, &s->positive, &s->Z, &s->best};
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        *squares[i] = ur_take(arena, kk, sizeof(double));
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < kk; j++)
            columns[j * k + i] = span[i * kk + j];
    UR_TRY(ur_qr_pivoted(kk, k, columns, SPAN_RANK, &s->rank, Q, NULL, NULL, err));
    for (size_t i = 0; i < s->rank; i++)
        for (size_t j = 0; j < kk; j++)
            s->basis[i * kk + j] = Q[j * s->rank + i];
    return UNRELU_OK;
}

static void member(const space *s, const double *coordinates, double *S)
{
    ur_multiply(1, s->rank, s->k * s->k, coordinates, s->basis, S);
}

/* P = projection of zz' on the span; its distance from zz' */
static double project(space *s, const double *z)
{
    size_t k = s->k;
    double far = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            s->M[i * k + j] = z[i] * z[j];
    ur_multiply(s->rank, k * k, 1, s->basis, s->M, s->coordinates);
    member(s, s->coordinates, s->P);
    for (size_t i = 0; i < k * k; i++)
        far += (s->M[i] - s->P[i]) * (s->M[i] - s->P[i]);
    return sqrt(far);
}

/* A perceptron: the sum of all z_i z_i' has a positive product with every uu', so adding the
 * projections of uu' for the most negative direction u ends in a positive definite member. */
static unrelu_status find_positive(space *s, unrelu_error *err)
{
    size_t k = s->k;
    double *S = s->positive;
    for (int step = 0; step < CLIMB; step++) {
        for (size_t i = 0; i < k; i++) { /* u: unit vectors first, then the worst direction */
            double *u = s->imaginary;
            for (size_t j = 0; j < k; j++)
                u[j] = step > 0 ? s->vectors[j * k] : i == j;
            project(s, u);
            ur_add((k * k), 1, s->P, S);
            if (step > 0)
                break;
        }
        UR_TRY(ur_eigen_symmetric(k, S, s->values, s->vectors, err));
        if (s->values[0] > DEFINITE * s->values[k - 1])
            return UNRELU_OK;
    }
    if (s->values[0] <= UR_ROUNDING * fabs(s->values[k - 1]))
        memset(S, 0, k * k * sizeof *S);
    return UNRELU_OK;
}

/* A complex pair a +- ib stands for two close z, perturbed past their meeting: with the phase
 * that makes a and b orthogonal and a the longer, z = a +- b. */
static void make_real(size_t k, double *a, double *b)
{
    double aa = ur_dot(k, a, a), bb = ur_dot(k, b, b);
    double turn = 0.5 * atan2(-2 * ur_dot(k, a, b), aa - bb);
    ur_rotate(k, a, 1, b, 1, cos(turn), -sin(turn));
    for (size_t i = 0; i < k; i++) {
        double sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
    }
}

/* Z from the pair S1, S2 and its worst distance; infinite where the pair is of no use */
static unrelu_status split_pair(space *s, double *worst, unrelu_error *err)
{
    size_t k = s->k;
    *worst = INFINITY;
    UR_TRY(ur_eigen_symmetric(k, s->S2, s->values, s->vectors, err));
    double most = fmax(fabs(s->values[0]), fabs(s->values[k - 1])), least = INFINITY;
    for (size_t i = 0; i < k; i++)
        least = fmin(least, fabs(s->values[i]));
    if (!(most > 0 && least > UR_ROUNDING * most))
        return UNRELU_OK;                             /* the inverse would be rounding */
    ur_multiply_tn(k, k, k, s->vectors, s->S1, s->P); /* M = S_2^-1 S_1 */
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            s->P[i * k + j] /= s->values[i];
    ur_multiply(k, k, k, s->vectors, s->P, s->M);
    UR_TRY(ur_eigen_general(k, s->M, s->values, s->imaginary, s->vectors, err));
    ur_multiply_tn(k, k, k, s->vectors, s->S2, s->Z); /* row i: (S_2 w_i)' */
    for (size_t i = 0; i + 1 < k; i++)
        if (s->imaginary[i] > 0)
            make_real(k, s->Z + i * k, s->Z + (i + 1) * k);
    double far = 0;
    for (size_t i = 0; i < k; i++) {
        double *z = s->Z + i * k, size = ur_norm(k, z);
        if (!(size > 0) || !isfinite(size))
            return UNRELU_OK;
        ur_scale(k, 1 / size, z);
        far = fmax(far, project(s, z));
    }
    *worst = far;
    return UNRELU_OK;
}

/* Z <- leading eigenvectors of the projections, while these come closer, save one that came closer
 * to another row of best than to its own */
static unrelu_status polish(space *s, double *Z, double *worst, unrelu_error *err)
{
    size_t k = s->k;
    double *next = s->imaginary;
    memcpy(Z, s->best, k * k * sizeof *Z);
    *worst = 0;
    for (size_t i = 0; i < k; i++) {
        double *z = Z + i * k, far = project(s, z);
        for (int step = 0; step < POLISH; step++) {
            UR_TRY(ur_eigen_symmetric(k, s->P, s->values, s->vectors, err));
            for (size_t j = 0; j < k; j++)
                next[j] = s->vectors[j * k + k - 1];
            double closer = project(s, next);
            if (!(closer < far))
                break;
            memcpy(z, next, k * sizeof *z);
            far = closer;
        }
        double own = fabs(ur_dot(k, z, s->best + i * k));
        for (size_t j = 0; j < k; j++)
            if (j != i && fabs(ur_dot(k, z, s->best + j * k)) > own) {
                memcpy(z, s->best + i * k, k * sizeof *z);
                break;
            }
        *worst = fmax(*worst, project(s, z));
    }
    return UNRELU_OK;
}

unrelu_status ur_span_split(size_t k, const double *span, uint64_t seed, uint64_t stream, double *Z,
                            double *worst, unrelu_error *err)
{
    space s;
    double best = INFINITY, far;
    UR_ARENA(arena);
    *worst = INFINITY;
    memset(Z, 0, k * k * sizeof *Z);
    UR_TRY(open_space(k, span, &arena, &s, err));
    UR_TRY(find_positive(&s, err));
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        ur_random_normals(seed, stream, 2 * pair * k, s.rank, s.coordinates);
        member(&s, s.coordinates, s.S1);
        ur_random_normals(seed, stream, (2 * pair + 1) * k, s.rank, s.coordinates);
        member(&s, s.coordinates, s.S2);
        if (pair % 2 == 0)
            memcpy(s.S2, s.positive, k * k * sizeof *s.S2);
        UR_TRY(split_pair(&s, &far, err));
        if (far < best) {
            best = far;
            memcpy(s.best, s.Z, k * k * sizeof *s.best);
        }
    }
    return isfinite(best) ? polish(&s, Z, worst, err) : UNRELU_OK;
}
