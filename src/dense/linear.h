/* SPDX-License-Identifier: Apache-2.0 */
/* The only LAPACK calls. BLAS is pinned to one thread by ur_blas_pin around each public call. */
#ifndef UR_LINEAR_H
#define UR_LINEAR_H

#include "unrelu/unrelu.h"

/* eigenvalues (d, increasing) of symmetric A (d x d, kept); vectors (d x d, column j in
 * vectors[i * d + j]) may be NULL */
unrelu_status ur_eigen_symmetric(size_t d, const double *A, double *values, double *vectors,
                                 unrelu_error *err);
/* lower Cholesky factor of A in L (d x d); *positive = 0 where A is not positive definite */
unrelu_status ur_cholesky(size_t d, const double *A, double *L, int *positive, unrelu_error *err);
/* A (m x k) -> orthonormal columns spanning the same space (thin QR, signs such that R's
 * diagonal is positive) */
unrelu_status ur_orthonormalise(size_t m, size_t k, double *A, unrelu_error *err);
/* C = A A' for A (m x k), both triangles */
void ur_gram(size_t m, size_t k, const double *A, double *C);
/* C = A B, (m x k)(k x p) */
void ur_multiply(size_t m, size_t k, size_t p, const double *A, const double *B, double *C);

/* save-set-restore of the BLAS thread count: int saved = ur_blas_pin(); ... ur_blas_unpin(saved) */
int ur_blas_pin(void);
void ur_blas_unpin(int saved);

#endif
