/* SPDX-License-Identifier: Apache-2.0 */
/* The only LAPACK calls. BLAS is pinned to one thread by UR_BLAS_BEGIN in each public call. */
#ifndef UR_LINEAR_H
#define UR_LINEAR_H

#include "base/arena.h"
#include "unrelu/unrelu.h"

/* Of the largest pivot, singular value or eigenvalue, or of the size of what is subtracted: a
 * direction with less than this depends on the others, and what is left of it is rounding.
 * Factorisations err by 1e-15 to 1e-14. Ten times larger, and what has a condition number of 1e12
 * loses a dimension. */
#define UR_ROUNDING 1e-13

/* An eigenvalue of a correlation of d columns that is this far below 0, times d, is not rounding
 * (LAPACK's error is d DBL_EPSILON of the largest, which is at most d). 10 times larger would leave
 * estimates unrepaired that are no covariances. */
#define UR_INDEFINITE 1e-14

/* eigenvalues (d, increasing) of symmetric A (d x d, kept); vectors (d x d, column j in
 * vectors[i * d + j]) may be NULL */
unrelu_status ur_eigen_symmetric(size_t d, const double *A, double *values, double *vectors,
                                 unrelu_error *err);
/* lower Cholesky factor of A in L (d x d); *positive = 0 where A is not positive definite */
unrelu_status ur_cholesky(size_t d, const double *A, double *L, int *positive, unrelu_error *err);
/* For inner loops, without allocation or message. The lower triangle of A becomes L, the rest is
 * not touched; 0 where A is not positive definite. */
int ur_cholesky_in_place(size_t d, double *A);
int ur_single_cholesky_in_place(size_t d, float *A);
/* a Cholesky factor without zeros on its diagonal becomes (L L')^-1, both triangles */
void ur_cholesky_inverse(size_t d, double *L);
/* Symmetric A (lower triangle) becomes its eigenvectors, one a ROW; values increase. 0: failed.
 * room has the size that ur_eigen_room says for this d. */
size_t ur_eigen_room(size_t d);
int ur_eigen_in_place(size_t d, double *A, double *values, size_t size, double *room);
/* The two largest eigenvalues, the larger first, of symmetric A (d x d, lower triangle, destroyed),
 * and their vectors, one a ROW (of d = 1: one). 0: failed. A tenth of the time of all of them. */
typedef struct {
    size_t size, indices;
    double *work;
    int *whole;
} ur_top_room;
/* in the arena, whose status says whether it is whole */
ur_top_room ur_top_room_in(ur_arena *arena, size_t d);
int ur_eigen_top(size_t d, double *A, double values[2], double *vectors, ur_top_room *room);
/* A (m x k) -> orthonormal columns spanning the same space (thin QR, signs such that R's
 * diagonal is positive) */
unrelu_status ur_orthonormalise(size_t m, size_t k, double *A, unrelu_error *err);
/* R (p x p, upper triangular, zeros in rows beyond n) of A = Q R, A (n x p) destroyed */
unrelu_status ur_qr_triangle(size_t n, size_t p, double *A, double *R, unrelu_error *err);
/* A (n x p, kept) with pivoted columns = Q R: Q (n x r) has orthonormal columns, R (r x p) is
 * in the order of A's columns (A = Q R), diagonal (min(n, p), decreasing) is |R_jj| of the
 * pivoted factor. The rank r counts |R_jj| > tolerance |R_11|. Q has room for n x min(n, p),
 * R for min(n, p) x p; R and diagonal may be NULL. */
unrelu_status ur_qr_pivoted(size_t n, size_t p, const double *A, double tolerance, size_t *rank,
                            double *Q, double *R, double *diagonal, unrelu_error *err);
/* X (p x q) of least norm that minimises |A X - B|, A (n x p) and B (n x q) kept; singular
 * values below tolerance times the largest count as 0 (rank may be NULL) */
unrelu_status ur_least_squares(size_t n, size_t p, size_t q, const double *A, const double *B,
                               double tolerance, double *X, size_t *rank, unrelu_error *err);
/* B (d x q) <- A^-1 B for symmetric positive definite A (kept); *positive = 0, B kept, where it
 * is not */
unrelu_status ur_solve_positive(size_t d, size_t q, const double *A, double *B, int *positive,
                                unrelu_error *err);
/* x = L^-1 x, L lower triangular; a plain loop, the same on any machine */
void ur_solve_lower(size_t d, const double *L, double *x);
/* thin A (n x p, kept) = U diag(s) Vt, U (n x r), s (r, decreasing), Vt (r x p), r = min(n, p);
 * U and Vt may both be NULL */
unrelu_status ur_svd(size_t n, size_t p, const double *A, double *U, double *s, double *Vt,
                     unrelu_error *err);
/* eigenvalues of general A (d x d, kept) and right eigenvectors: column j of vectors is the
 * vector of a real eigenvalue j; complex pairs (imaginary[j] != 0) keep LAPACK's convention */
unrelu_status ur_eigen_general(size_t d, const double *A, double *real, double *imaginary,
                               double *vectors, unrelu_error *err);
/* x'y in the order of places: for short vectors, where a call of BLAS costs more */
static inline double ur_short_dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}
/* rows of A (m x k) to unit length; a row of zeros stays */
void ur_unit_rows(size_t m, size_t k, double *A);
/* C = A A' for A (m x k), both triangles */
void ur_gram(size_t m, size_t k, const double *A, double *C);
/* C = A B, (m x k)(k x p) */
void ur_multiply(size_t m, size_t k, size_t p, const double *A, const double *B, double *C);

/* C = A' B, (n x m)'(n x p); C = A B', (m x k)(p x k)' */
void ur_multiply_tn(size_t n, size_t m, size_t p, const double *A, const double *B, double *C);
void ur_multiply_nt(size_t m, size_t k, size_t p, const double *A, const double *B, double *C);

#endif
