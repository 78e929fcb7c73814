/* SPDX-License-Identifier: Apache-2.0 */
/* Row-major in, row-major out, without a transposed copy of the input: a symmetric matrix is
 * its own transpose, and the QR of a row-major A is the LQ of the column-major A'. */
#include "dense/linear.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"

#include <assert.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
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

unrelu_status ur_eigen_symmetric(size_t d, const double *A, double *values, double *vectors,
                                 unrelu_error *err)
{
    unrelu_status status = check_size(d, err);
    if (status != UNRELU_OK || d == 0)
        return status;
    double *Z = ur_alloc(d, d * sizeof *Z);
    if (!Z)
        return ur_fail_memory(err, d * d, "numbers of an eigenproblem");
    memcpy(Z, A, d * d * sizeof *Z);
    lapack_int order = (lapack_int)d;
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', order, Z, order, values);
    status = check("dsyevd", info, err);
    if (status == UNRELU_OK && vectors)
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < d; i++)
                vectors[i * d + j] = Z[j * d + i];
    free(Z);
    return status;
}

unrelu_status ur_cholesky(size_t d, const double *A, double *L, int *positive, unrelu_error *err)
{
    *positive = 0;
    unrelu_status status = check_size(d, err);
    if (status != UNRELU_OK)
        return status;
    *positive = 1;
    if (d == 0)
        return UNRELU_OK;
    memmove(L, A, d * d * sizeof *L);
    /* upper in column-major = lower in row-major */
    lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)d, L, (lapack_int)d);
    if (info > 0) {
        *positive = 0;
        return UNRELU_OK;
    }
    status = check("dpotrf", info, err);
    if (status != UNRELU_OK)
        *positive = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++)
            L[i * d + j] = 0;
    return status;
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
    unrelu_status status = check_size(m, err);
    if (status != UNRELU_OK || k == 0)
        return status;
    lapack_int rows = (lapack_int)k, columns = (lapack_int)m;
    double *tau = ur_doubles(2 * k);
    if (!tau)
        return ur_fail_memory(err, 2 * k, "numbers of a QR factorisation");
    double *diagonal = tau + k;
    /* A' = L Q, so A = Q' R with R = L' */
    lapack_int info = LAPACKE_dgelqf(LAPACK_COL_MAJOR, rows, columns, A, rows, tau);
    status = check("dgelqf", info, err);
    if (status == UNRELU_OK) {
        for (size_t j = 0; j < k; j++)
            diagonal[j] = A[j * k + j];
        info = LAPACKE_dorglq(LAPACK_COL_MAJOR, rows, columns, rows, A, rows, tau);
        status = check("dorglq", info, err);
    }
    if (status == UNRELU_OK)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < k; j++)
                if (diagonal[j] < 0)
                    A[i * k + j] = -A[i * k + j];
    free(tau);
    return status;
}

unrelu_status ur_qr_triangle(size_t n, size_t p, double *A, double *R, unrelu_error *err)
{
    size_t least = n < p ? n : p;
    unrelu_status status = check_size(n > p ? n : p, err);
    memset(R, 0, p * p * sizeof *R);
    if (status != UNRELU_OK || least == 0)
        return status;
    double *tau = ur_doubles(least);
    if (!tau)
        return ur_fail_memory(err, least, "numbers of a QR factorisation");
    lapack_int rows = (lapack_int)p;
    status =
        check("dgelqf", LAPACKE_dgelqf(LAPACK_COL_MAJOR, rows, (lapack_int)n, A, rows, tau), err);
    for (size_t i = 0; i < least; i++) /* column i of L is row i of R */
        memcpy(R + i * p + i, A + i * p + i, (p - i) * sizeof *R);
    free(tau);
    return status;
}

unrelu_status ur_qr_pivoted(size_t n, size_t p, const double *A, double tolerance, size_t *rank,
                            double *Q, double *R, double *diagonal, unrelu_error *err)
{
    size_t least = n < p ? n : p;
    *rank = 0;
    unrelu_status status = check_size(n > p ? n : p, err);
    if (status != UNRELU_OK || least == 0)
        return status;
    double *F = ur_alloc(n, p * sizeof *F), *tau = ur_doubles(least);
    lapack_int *pivot = ur_alloc(p, sizeof *pivot);
    if (!F || !tau || !pivot) {
        status = ur_fail_memory(err, n * p, "numbers of a QR factorisation");
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            F[j * n + i] = A[i * p + j];
    status = check("dgeqp3",
                   LAPACKE_dgeqp3(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)p, F, (lapack_int)n,
                                  pivot, tau),
                   err);
    if (status != UNRELU_OK)
        goto done;
    size_t r = 0;
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
    if (r > 0)
        status = check("dorgqr",
                       LAPACKE_dorgqr(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)r, (lapack_int)r,
                                      F, (lapack_int)n, tau),
                       err);
    for (size_t i = 0; i < n && status == UNRELU_OK; i++)
        for (size_t j = 0; j < r; j++)
            Q[i * r + j] = F[j * n + i];
done:
    free(F);
    free(tau);
    free(pivot);
    return status;
}

unrelu_status ur_least_squares(size_t n, size_t p, size_t q, const double *A, const double *B,
                               double tolerance, double *X, size_t *rank, unrelu_error *err)
{
    unrelu_status status = check_size(n > p ? n : p, err);
    if (rank)
        *rank = 0;
    if (status != UNRELU_OK || p == 0 || q == 0)
        return status;
    size_t tall = n > p ? n : p, least = n < p ? n : p;
    lapack_int found = 0;
    double *F = ur_alloc(n, p * sizeof *F), *G = ur_alloc(tall, q * sizeof *G),
           *s = ur_doubles(least);
    if (!F || !G || !s) {
        status = ur_fail_memory(err, n * p, "numbers of a least squares problem");
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            F[j * n + i] = A[i * p + j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++)
            G[j * tall + i] = B[i * q + j];
    status = check("dgelsd",
                   LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)p, (lapack_int)q, F,
                                  (lapack_int)n, G, (lapack_int)tall, s, tolerance, &found),
                   err);
    for (size_t i = 0; i < p && status == UNRELU_OK; i++)
        for (size_t j = 0; j < q; j++)
            X[i * q + j] = G[j * tall + i];
    if (rank)
        *rank = (size_t)found;
done:
    free(F);
    free(G);
    free(s);
    return status;
}

unrelu_status ur_solve_positive(size_t d, size_t q, const double *A, double *B, int *positive,
                                unrelu_error *err)
{
    double *L = ur_alloc(d, d * sizeof *L);
    *positive = 0;
    if (!L)
        return ur_fail_memory(err, d * d, "numbers of a linear system");
    unrelu_status status = ur_cholesky(d, A, L, positive, err);
    if (status == UNRELU_OK && *positive && d > 0 && q > 0) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, d, q, L, d, B, q);
        ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, d, q, L, d, B, q);
    }
    free(L);
    return status;
}

unrelu_status ur_svd(size_t n, size_t p, const double *A, double *U, double *s, double *Vt,
                     unrelu_error *err)
{
    size_t least = n < p ? n : p;
    unrelu_status status = check_size(n > p ? n : p, err);
    if (status != UNRELU_OK || least == 0)
        return status;
    double *F = ur_alloc(n, p * sizeof *F);
    if (!F)
        return ur_fail_memory(err, n * p, "numbers of a singular value problem");
    /* row-major A is column-major A' = Vt' diag(s) U': the factors change places */
    memcpy(F, A, n * p * sizeof *F);
    lapack_int info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, U ? 'S' : 'N', (lapack_int)p, (lapack_int)n,
                                     F, (lapack_int)p, s, Vt, (lapack_int)p, U, (lapack_int)least);
    free(F);
    return check("dgesdd", info, err);
}

unrelu_status ur_eigen_general(size_t d, const double *A, double *real, double *imaginary,
                               double *vectors, unrelu_error *err)
{
    unrelu_status status = check_size(d, err);
    if (status != UNRELU_OK || d == 0)
        return status;
    double *F = ur_alloc(d, d * sizeof *F), *Z = ur_alloc(d, d * sizeof *Z);
    if (!F || !Z) {
        status = ur_fail_memory(err, d * d, "numbers of an eigenproblem");
        goto done;
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            F[j * d + i] = A[i * d + j];
    status = check("dgeev",
                   LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', (lapack_int)d, F, (lapack_int)d, real,
                                 imaginary, NULL, 1, Z, (lapack_int)d),
                   err);
    for (size_t i = 0; i < d && status == UNRELU_OK; i++)
        for (size_t j = 0; j < d; j++)
            vectors[i * d + j] = Z[j * d + i];
done:
    free(F);
    free(Z);
    return status;
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

void ur_multiply(size_t m, size_t k, size_t p, const double *A, const double *B, double *C)
{
    assert(m <= INT_MAX && k <= INT_MAX && p <= INT_MAX);
    if (m == 0 || p == 0)
        return;
    if (k == 0) {
        memset(C, 0, m * p * sizeof *C);
        return;
    }
    ur_gemm(UR_PLAIN, UR_PLAIN, m, p, k, 1, A, k, B, p, 0, C, p);
}

void ur_multiply_tn(size_t n, size_t m, size_t p, const double *A, const double *B, double *C)
{
    assert(n <= INT_MAX && m <= INT_MAX && p <= INT_MAX);
    if (n == 0)
        memset(C, 0, m * p * sizeof *C);
    else if (m > 0 && p > 0)
        ur_gemm(UR_TURNED, UR_PLAIN, m, p, n, 1, A, m, B, p, 0, C, p);
}

void ur_multiply_nt(size_t m, size_t k, size_t p, const double *A, const double *B, double *C)
{
    assert(m <= INT_MAX && k <= INT_MAX && p <= INT_MAX);
    if (k == 0)
        memset(C, 0, m * p * sizeof *C);
    else if (m > 0 && p > 0)
        ur_gemm(UR_PLAIN, UR_TURNED, m, p, k, 1, A, k, B, k, 0, C, p);
}
