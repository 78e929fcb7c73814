/* SPDX-License-Identifier: Apache-2.0 */
/* Row-major in, row-major out, without a transposed copy of the input: a symmetric matrix is
 * its own transpose, and the QR of a row-major A is the LQ of the column-major A'. */
#include "dense/linear.h"

#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"

#include <assert.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static unrelu_status check(const char *routine, lapack_int info, unrelu_error *err)
{
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return ur_fail(err, UNRELU_ENOMEM, "not enough memory for LAPACK %s", routine);
    if (info != 0)
        return ur_fail(err, UNRELU_EINTERNAL, "LAPACK %s failed with info %ld", routine,
                       (long)info);
    return UNRELU_OK;
}

static unrelu_status check_size(size_t d, unrelu_error *err)
{
    if (d > INT_MAX / 8)
        return ur_fail(err, UNRELU_EINTERNAL, "a matrix of order %zu is too large for LAPACK", d);
    return UNRELU_OK;
}

/* B (p x n) = A' of A (n x p) */
static void transpose(size_t n, size_t p, const double *A, double *B)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            B[j * n + i] = A[i * p + j];
}

unrelu_status ur_eigen_symmetric(size_t d, const double *A, double *values, double *vectors,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(check_size(d, err));
    if (d == 0)
        return UNRELU_OK;
    double *Z = ur_take(&arena, d, d * sizeof *Z);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(Z, A, d * d * sizeof *Z);
    lapack_int order = (lapack_int)d;
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', order, Z, order, values);
    UR_TRY(check("dsyevd", info, err));
    if (vectors)
        transpose(d, d, Z, vectors);
    return UNRELU_OK;
}

unrelu_status ur_cholesky(size_t d, const double *A, double *L, int *positive, unrelu_error *err)
{
    *positive = 0;
    UR_TRY(check_size(d, err));
    if (d > 0) {
        memmove(L, A, d * d * sizeof *L);
        /* upper in column-major = lower in row-major */
        lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)d, L, (lapack_int)d);
        if (info > 0)
            return UNRELU_OK;
        UR_TRY(check("dpotrf", info, err));
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++)
            L[i * d + j] = 0;
    *positive = 1;
    return UNRELU_OK;
}

int ur_cholesky_in_place(size_t d, double *A)
{
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)d, A, (lapack_int)d) == 0;
}

int ur_eigen_in_place(size_t d, double *A, double *values)
{
    return LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, A, (lapack_int)d, values) == 0;
}

unrelu_status ur_orthonormalise(size_t m, size_t k, double *A, unrelu_error *err)
{
    assert(m >= k);
    UR_ARENA(arena);
    UR_TRY(check_size(m, err));
    if (k == 0)
        return UNRELU_OK;
    lapack_int rows = (lapack_int)k, columns = (lapack_int)m;
    double *tau = ur_take(&arena, k, sizeof *tau);
    double *diagonal = ur_take(&arena, k, sizeof *diagonal);
    UR_TRY(ur_arena_status(&arena, err));
    /* A' = L Q, so A = Q' R with R = L' */
    lapack_int info = LAPACKE_dgelqf(LAPACK_COL_MAJOR, rows, columns, A, rows, tau);
    UR_TRY(check("dgelqf", info, err));
    for (size_t j = 0; j < k; j++)
        diagonal[j] = A[j * k + j];
    info = LAPACKE_dorglq(LAPACK_COL_MAJOR, rows, columns, rows, A, rows, tau);
    UR_TRY(check("dorglq", info, err));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < k; j++)
            if (diagonal[j] < 0)
                A[i * k + j] = -A[i * k + j];
    return UNRELU_OK;
}

unrelu_status ur_qr_triangle(size_t n, size_t p, double *A, double *R, unrelu_error *err)
{
    size_t least = n < p ? n : p;
    UR_ARENA(arena);
    memset(R, 0, p * p * sizeof *R);
    UR_TRY(check_size(n > p ? n : p, err));
    if (least == 0)
        return UNRELU_OK;
    double *tau = ur_take(&arena, least, sizeof *tau);
    UR_TRY(ur_arena_status(&arena, err));
    lapack_int rows = (lapack_int)p;
    lapack_int info = LAPACKE_dgelqf(LAPACK_COL_MAJOR, rows, (lapack_int)n, A, rows, tau);
    UR_TRY(check("dgelqf", info, err));
    for (size_t i = 0; i < least; i++) /* column i of L is row i of R */
        memcpy(R + i * p + i, A + i * p + i, (p - i) * sizeof *R);
    return UNRELU_OK;
}

unrelu_status ur_qr_pivoted(size_t n, size_t p, const double *A, double tolerance, size_t *rank,
                            double *Q, double *R, double *diagonal, unrelu_error *err)
{
    size_t least = n < p ? n : p, r = 0;
    UR_ARENA(arena);
    *rank = 0;
    UR_TRY(check_size(n > p ? n : p, err));
    if (least == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, n, p * sizeof *F), *tau = ur_take(&arena, least, sizeof *tau);
    lapack_int *pivot = ur_take(&arena, p, sizeof *pivot), rows = (lapack_int)n;
    UR_TRY(ur_arena_status(&arena, err));
    transpose(n, p, A, F);
    lapack_int info = LAPACKE_dgeqp3(LAPACK_COL_MAJOR, rows, (lapack_int)p, F, rows, pivot, tau);
    UR_TRY(check("dgeqp3", info, err));
    for (size_t j = 0; j < least; j++) {
        double size = fabs(F[j * n + j]);
        if (diagonal)
            diagonal[j] = size;
        if (r == j && size > tolerance * fabs(F[0]))
            r = j + 1;
    }
    if (R)
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < p; j++)
                R[i * p + (size_t)pivot[j] - 1] = j >= i ? F[j * n + i] : 0;
    *rank = r;
    if (r == 0)
        return UNRELU_OK;
    info = LAPACKE_dorgqr(LAPACK_COL_MAJOR, rows, (lapack_int)r, (lapack_int)r, F, rows, tau);
    UR_TRY(check("dorgqr", info, err));
    transpose(r, n, F, Q);
    return UNRELU_OK;
}

unrelu_status ur_least_squares(size_t n, size_t p, size_t q, const double *A, const double *B,
                               double tolerance, double *X, size_t *rank, unrelu_error *err)
{
    size_t tall = n > p ? n : p, least = n < p ? n : p;
    lapack_int found = 0;
    UR_ARENA(arena);
    if (rank)
        *rank = 0;
    UR_TRY(check_size(tall, err));
    if (p == 0 || q == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, n, p * sizeof *F), *G = ur_take(&arena, tall, q * sizeof *G);
    double *s = ur_take(&arena, least, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    transpose(n, p, A, F);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++)
            G[j * tall + i] = B[i * q + j];
    lapack_int info = LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)p, (lapack_int)q,
                                     F, (lapack_int)n, G, (lapack_int)tall, s, tolerance, &found);
    UR_TRY(check("dgelsd", info, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < q; j++)
            X[i * q + j] = G[j * tall + i];
    if (rank)
        *rank = (size_t)found;
    return UNRELU_OK;
}

unrelu_status ur_solve_positive(size_t d, size_t q, const double *A, double *B, int *positive,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    double *L = ur_take(&arena, d, d * sizeof *L);
    *positive = 0;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_cholesky(d, A, L, positive, err));
    if (*positive && d > 0 && q > 0) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, d, q, L, d, B, q);
        ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, d, q, L, d, B, q);
    }
    return UNRELU_OK;
}

void ur_solve_lower(size_t d, const double *L, double *x)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++)
            x[i] -= L[i * d + j] * x[j];
        x[i] /= L[i * d + i];
    }
}

unrelu_status ur_svd(size_t n, size_t p, const double *A, double *U, double *s, double *Vt,
                     unrelu_error *err)
{
    size_t least = n < p ? n : p;
    UR_ARENA(arena);
    UR_TRY(check_size(n > p ? n : p, err));
    if (least == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, n, p * sizeof *F);
    UR_TRY(ur_arena_status(&arena, err));
    /* row-major A is column-major A' = Vt' diag(s) U': the factors change places */
    memcpy(F, A, n * p * sizeof *F);
    lapack_int info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, U ? 'S' : 'N', (lapack_int)p, (lapack_int)n,
                                     F, (lapack_int)p, s, Vt, (lapack_int)p, U, (lapack_int)least);
    return check("dgesdd", info, err);
}

unrelu_status ur_eigen_general(size_t d, const double *A, double *real, double *imaginary,
                               double *vectors, unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(check_size(d, err));
    if (d == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, d, d * sizeof *F), *Z = ur_take(&arena, d, d * sizeof *Z);
    lapack_int order = (lapack_int)d;
    UR_TRY(ur_arena_status(&arena, err));
    transpose(d, d, A, F);
    lapack_int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', order, F, order, real, imaginary,
                                    NULL, 1, Z, order);
    UR_TRY(check("dgeev", info, err));
    transpose(d, d, Z, vectors);
    return UNRELU_OK;
}

void ur_unit_rows(size_t m, size_t k, double *A)
{
    for (size_t i = 0; i < m; i++) {
        double norm = ur_norm(k, A + i * k);
        if (norm > 0)
            ur_scale(k, 1 / norm, A + i * k);
    }
}

void ur_gram(size_t m, size_t k, const double *A, double *C)
{
    ur_gemm(UR_PLAIN, UR_TURNED, m, m, k, 1, A, k, A, k, 0, C, m);
    for (size_t i = 0; i < m; i++) /* the two triangles may differ in the last bit */
        for (size_t j = 0; j < i; j++)
            C[i * m + j] = C[j * m + i];
}

/* C (m x p), also where a size is 0, which BLAS refuses */
static void multiply(ur_turn turn_A, ur_turn turn_B, size_t m, size_t k, size_t p, const double *A,
                     const double *B, double *C)
{
    if (k == 0)
        memset(C, 0, m * p * sizeof *C);
    else if (m > 0 && p > 0)
        ur_gemm(turn_A, turn_B, m, p, k, 1, A, turn_A == UR_PLAIN ? k : m, B,
                turn_B == UR_PLAIN ? p : k, 0, C, p);
}

void ur_multiply(size_t m, size_t k, size_t p, const double *A, const double *B, double *C)
{
    multiply(UR_PLAIN, UR_PLAIN, m, k, p, A, B, C);
}

void ur_multiply_tn(size_t n, size_t m, size_t p, const double *A, const double *B, double *C)
{
    multiply(UR_TURNED, UR_PLAIN, m, n, p, A, B, C);
}

void ur_multiply_nt(size_t m, size_t k, size_t p, const double *A, const double *B, double *C)
{
    multiply(UR_PLAIN, UR_TURNED, m, k, p, A, B, C);
}
