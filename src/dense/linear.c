/* SPDX-License-Identifier: Apache-2.0 */
/* Row-major in, row-major out, without a transposed copy of the input: a symmetric matrix is
 * its own transpose, and the QR of a row-major A is the LQ of the column-major A'. */
#include "dense/linear.h"

#include "error.h"
#include "memory.h"

#include <assert.h>
#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
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

void ur_gram(size_t m, size_t k, const double *A, double *C)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)m, (int)k, 1, A, (int)k, A,
                (int)k, 0, C, (int)m);
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
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)p, (int)k, 1, A, (int)k, B,
                (int)p, 0, C, (int)p);
}

int ur_blas_pin(void)
{
    int saved = openblas_get_num_threads();
    if (saved != 1)
        openblas_set_num_threads(1);
    return saved;
}

void ur_blas_unpin(int saved)
{
    if (saved != 1)
        openblas_set_num_threads(saved);
}
