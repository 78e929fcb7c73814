/* SPDX-License-Identifier: Apache-2.0 */
/* What symmetric.c and lifted.c share: whitened labels and inputs, their products, moments of
 * those summed over blocks of rows, and a neuron's row from its output. */
#ifndef UR_LIFT_H
#define UR_LIFT_H

#include "base/arena.h"
#include "network/problem/start.h"

enum { UR_LIFT_BLOCK = 512 }; /* rows at a time */

typedef struct {
    size_t n, k, r;
    size_t p;       /* columns of W: d, and one more where ones were appended */
    double *y;      /* (n, k): the k leading directions of the labels, unit second moments */
    double *x;      /* (n, r): inputs (and ones) of unit second moments; r is their rank */
    double *W;      /* r x p: x = W (raw x, 1), times the row's factor where scaled */
    double *one;    /* r: mean of x, so that one . x = 1 where ones were appended */
    double *factor; /* n: 1 / sqrt(0.3 + |x|^2 / r), x before scaling */
} ur_lift;

/* What is appended to x and done to the labels. relu is homogeneous: a network stays one where a
 * row's inputs (and ones) and labels are multiplied by one factor, which bounds heavy tails. */
typedef struct {
    const char *method; /* for sentences */
    int ones;           /* append 1 to x */
    int centred;        /* subtract the labels' means */
    int scaled;         /* multiply rows of x and y by their factors, before whitening */
} ur_lift_options;

/* Second moments are about 0, in units of each column's root mean square; directions below 1e-13
 * of the largest are dropped. EDATA where the labels have rank below k. The arrays are the arena's.
 */
unrelu_status ur_lift_new(const ur_start *start, const ur_lift_options *options, ur_arena *arena,
                          ur_lift *lift, unrelu_error *err);

/* k (k + 1) / 2 products of a row, sqrt 2 on the mixed ones, so that products of such vectors
 * are Frobenius products; and a symmetric matrix from such a vector */
static inline size_t ur_lift_pairs(size_t k)
{
    return k * (k + 1) / 2;
}
void ur_lift_products(size_t k, const double *y, double *out);
void ur_lift_matrix(size_t k, const double *v, double *M);

/* C (p x q) += L'R for blocks L (rows x p) and R (rows x q), on several threads; symmetric: only
 * the lower triangle (L = R) */
unrelu_status ur_lift_add(const unrelu_exec *exec, size_t rows, size_t p, const double *L, size_t q,
                          const double *R, int symmetric, double *C, unrelu_error *err);

/* For neurons with outputs h_j = z_j . y + const (rows of Z, k x k) and approximate w (k x r):
 * three steps of least squares of h_j on x over {w_j . x > 0}; the constant (which only x with
 * ones can carry) is taken off by the mean of h_j over the rest. A neuron with r positive rows
 * or fewer keeps its w. */
unrelu_status ur_lift_regress(const ur_lift *lift, const unrelu_exec *exec, const double *Z,
                              int constant, double *w, unrelu_error *err);
/* V (k x d) unit rows and c (k, may be NULL) in raw coordinates; EDATA where a row vanishes */
unrelu_status ur_lift_rows(const ur_lift *lift, size_t d, const double *w, double *V, double *c,
                           unrelu_error *err);

#endif
