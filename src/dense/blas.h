/* SPDX-License-Identifier: Apache-2.0 */
/* The door to BLAS: the dozen routines that are used, on row-major matrices of doubles, and a few
 * of them in single precision. Sizes are
 * below 2^31 (what reads data sees to that). */
#ifndef UR_BLAS_H
#define UR_BLAS_H

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <stddef.h>

typedef enum { UR_PLAIN = CblasNoTrans, UR_TURNED = CblasTrans } ur_turn; /* A, or A' */
typedef enum { UR_UPPER = CblasUpper, UR_LOWER = CblasLower } ur_half;
typedef enum { UR_LEFT = CblasLeft, UR_RIGHT = CblasRight } ur_hand;

static inline int ur_blas_int(size_t size)
{
    assert(size <= INT_MAX);
    return (int)size;
}

/* x'y */
static inline double ur_dot(size_t n, const double *x, const double *y)
{
    return cblas_ddot(ur_blas_int(n), x, 1, y, 1);
}
/* the same of every x_step-th and y_step-th element */
static inline double ur_dot_steps(size_t n, const double *x, size_t x_step, const double *y,
                                  size_t y_step)
{
    return cblas_ddot(ur_blas_int(n), x, ur_blas_int(x_step), y, ur_blas_int(y_step));
}
/* |x| */
static inline double ur_norm(size_t n, const double *x)
{
    return cblas_dnrm2(ur_blas_int(n), x, 1);
}
static inline double ur_norm_steps(size_t n, const double *x, size_t step)
{
    return cblas_dnrm2(ur_blas_int(n), x, ur_blas_int(step));
}
/* sum of |x_i| over every step-th element */
static inline double ur_sum_sizes(size_t n, const double *x, size_t step)
{
    return cblas_dasum(ur_blas_int(n), x, ur_blas_int(step));
}
/* x *= a */
static inline void ur_scale(size_t n, double a, double *x)
{
    cblas_dscal(ur_blas_int(n), a, x, 1);
}
/* y += a x */
static inline void ur_add(size_t n, double a, const double *x, double *y)
{
    cblas_daxpy(ur_blas_int(n), a, x, 1, y, 1);
}
static inline void ur_add_steps(size_t n, double a, const double *x, size_t x_step, double *y,
                                size_t y_step)
{
    cblas_daxpy(ur_blas_int(n), a, x, ur_blas_int(x_step), y, ur_blas_int(y_step));
}
/* (x, y) = (c x + s y, c y - s x) */
static inline void ur_rotate(size_t n, double *x, size_t x_step, double *y, size_t y_step, double c,
                             double s)
{
    cblas_drot(ur_blas_int(n), x, ur_blas_int(x_step), y, ur_blas_int(y_step), c, s);
}
/* y = a A x + b y, or a A'x + b y; A is m x n with rows lda apart */
static inline void ur_gemv(ur_turn turn, size_t m, size_t n, double a, const double *A, size_t lda,
                           const double *x, double b, double *y)
{
    cblas_dgemv(CblasRowMajor, (CBLAS_TRANSPOSE)turn, ur_blas_int(m), ur_blas_int(n), a, A,
                ur_blas_int(lda), x, 1, b, y, 1);
}
/* y = A x into every step-th element of y */
static inline void ur_gemv_steps(size_t m, size_t n, const double *A, size_t lda, const double *x,
                                 double *y, size_t step)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, ur_blas_int(m), ur_blas_int(n), 1, A, ur_blas_int(lda),
                x, 1, 0, y, ur_blas_int(step));
}
/* A += a x y' */
static inline void ur_ger(size_t m, size_t n, double a, const double *x, const double *y, double *A,
                          size_t lda)
{
    cblas_dger(CblasRowMajor, ur_blas_int(m), ur_blas_int(n), a, x, 1, y, 1, A, ur_blas_int(lda));
}
/* C = a A B + b C with C m x n, A (turned or not) m x k and B k x n */
static inline void ur_gemm(ur_turn turn_A, ur_turn turn_B, size_t m, size_t n, size_t k, double a,
                           const double *A, size_t lda, const double *B, size_t ldb, double b,
                           double *C, size_t ldc)
{
    cblas_dgemm(CblasRowMajor, (CBLAS_TRANSPOSE)turn_A, (CBLAS_TRANSPOSE)turn_B, ur_blas_int(m),
                ur_blas_int(n), ur_blas_int(k), a, A, ur_blas_int(lda), B, ur_blas_int(ldb), b, C,
                ur_blas_int(ldc));
}
/* one half of C = a A A' + b C with C n x n, A (turned or not) n x k */
static inline void ur_syrk(ur_half half, ur_turn turn, size_t n, size_t k, double a,
                           const double *A, size_t lda, double b, double *C, size_t ldc)
{
    cblas_dsyrk(CblasRowMajor, (CBLAS_UPLO)half, (CBLAS_TRANSPOSE)turn, ur_blas_int(n),
                ur_blas_int(k), a, A, ur_blas_int(lda), b, C, ur_blas_int(ldc));
}
/* B = T^-1 B or B T^-1 with B m x n, T triangular (turned or not) */
static inline void ur_trsm(ur_hand side, ur_half half, ur_turn turn, size_t m, size_t n,
                           const double *T, size_t ldt, double *B, size_t ldb)
{
    cblas_dtrsm(CblasRowMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)half, (CBLAS_TRANSPOSE)turn,
                CblasNonUnit, ur_blas_int(m), ur_blas_int(n), 1, T, ur_blas_int(ldt), B,
                ur_blas_int(ldb));
}
/* x = T^-1 x */
static inline void ur_trsv(ur_half half, ur_turn turn, size_t n, const double *T, size_t ldt,
                           double *x)
{
    cblas_dtrsv(CblasRowMajor, (CBLAS_UPLO)half, (CBLAS_TRANSPOSE)turn, CblasNonUnit,
                ur_blas_int(n), T, ur_blas_int(ldt), x, 1);
}

/* ---- in single precision ---- */

/* lower half of C = a A'A + b C with A k x n */
static inline void ur_single_syrk(size_t n, size_t k, float a, const float *A, size_t lda, float b,
                                  float *C, size_t ldc)
{
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, ur_blas_int(n), ur_blas_int(k), a, A,
                ur_blas_int(lda), b, C, ur_blas_int(ldc));
}
/* C = A'B + b C with A k x m and B k x n */
static inline void ur_single_gemm_tn(size_t m, size_t n, size_t k, const float *A, size_t lda,
                                     const float *B, size_t ldb, float b, float *C, size_t ldc)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, ur_blas_int(m), ur_blas_int(n),
                ur_blas_int(k), 1, A, ur_blas_int(lda), B, ur_blas_int(ldb), b, C,
                ur_blas_int(ldc));
}
/* B = L^-1 B with B m x n, L lower triangular */
static inline void ur_single_trsm_lower(size_t m, size_t n, const float *L, size_t ldl, float *B,
                                        size_t ldb)
{
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ur_blas_int(m),
                ur_blas_int(n), 1, L, ur_blas_int(ldl), B, ur_blas_int(ldb));
}
/* x = L^-1 x, or L'^-1 x */
static inline void ur_single_trsv_lower(ur_turn turn, size_t n, const float *L, size_t ldl,
                                        float *x)
{
    cblas_strsv(CblasRowMajor, CblasLower, (CBLAS_TRANSPOSE)turn, CblasNonUnit, ur_blas_int(n), L,
                ur_blas_int(ldl), x, 1);
}

#endif
