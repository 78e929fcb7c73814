/* SPDX-License-Identifier: Apache-2.0 */
/* What the moment methods share: whitened inputs, means over their rows, regressions, and the
 * tensor of labels with products of inputs. */
#ifndef UR_SCORE_H
#define UR_SCORE_H

#include "base/arena.h"
#include "network/problem/start.h"
#include "pass/blocks.h"

/* --- score.c --- */
/* x = mean + L white, Sigma = L L' the covariance of x: the rows of `white` have mean 0 and
 * covariance I, so that v x + c = (L'v) white + (v mean + c) */
typedef struct {
    size_t n, d;
    double *mean, *L; /* d, d x d lower */
    double *x;        /* (n, d): white */
    const unrelu_exec *exec;
} ur_white;

/* fails with EDATA and the rank where Sigma is singular; the arrays are the arena's */
unrelu_status ur_white_new(const ur_sample *sample, const unrelu_exec *exec, ur_arena *arena,
                           ur_white *white, unrelu_error *err);
/* rows of V (k x d) -> L'v_j in W (k x d), their shift v_j mean (k, or NULL) */
void ur_white_rows(const ur_white *white, size_t k, const double *V, double *W, double *shift);
/* rows of white coordinates -> L^-T v_j, normalised, in place */
void ur_white_back(const ur_white *white, size_t k, double *V);

/* out = the mean over the rows of what `add` of the blocks sums, in chunks as of d columns */
unrelu_status ur_mean_of_rows(ur_blocks blocks, size_t d, const unrelu_exec *exec, double *out,
                              unrelu_error *err);

/* Least squares of labels b (n, q) on p features of white x: the means gram = F'F/n (p x p) and
 * cross = F'b/n (p x q) over the first n rows */
typedef struct {
    const ur_white *white;
    size_t p, q, extra; /* extra: doubles of scratch a row */
    void (*features)(const void *context, const double *x, size_t rows, double *F, double *extra);
    const void *context;
    const double *b;
} ur_regression;
unrelu_status ur_regression_means(const ur_regression *r, size_t n, double *gram, double *cross,
                                  unrelu_error *err);
/* cross <- (gram with unit diagonal + ridge)^-1 cross, in the features' own scales. With ridge
 * 0, *positive = 0 (and cross is spoiled) where a feature is, but for a share 1e-8 of its
 * variance, a combination of those before it. */
unrelu_status ur_regression_solve(size_t p, size_t q, double *gram, double *cross, double ridge,
                                  int *positive, unrelu_error *err);
/* both, over all rows: coefficients (p x q) */
unrelu_status ur_regress(const ur_regression *r, double ridge, double *coefficients, int *positive,
                         unrelu_error *err);

/* --- score_labels.c --- */
/* y (n, *r), mean 0 and covariance I: the r <= min(k, m) leading combinations of the labels,
 * of their residual on x where `residual`. y is the arena's. */
unrelu_status ur_score_labels(const ur_start *start, const ur_white *white, int residual,
                              ur_arena *arena, size_t *r, double **y, unrelu_error *err);

/* --- score_tensor.c --- */
/* numbers of a packed upper triangle */
static inline size_t ur_packed(size_t d)
{
    return d * (d + 1) / 2;
}
/* T (w x d(d+1)/2, rows of the upper triangle) = mean of y_s x_a x_b, w = r; with `outer` that of
 * (y_s x_c) x_a x_b, w = r d, row s d + c */
unrelu_status ur_score_tensor(const ur_white *white, size_t r, const double *y, int outer,
                              double *T, unrelu_error *err);
/* d x d from the packed upper triangle */
void ur_score_unpack(size_t d, const double *packed, double *full);
/* Q (d x k): the leading eigenvectors of sum_s T_s^2; core (w, k, k) = Q'T_s Q */
unrelu_status ur_score_reduce(size_t w, size_t d, size_t k, const double *T, double *Q,
                              double *core, unrelu_error *err);
/* Decomposes core (w, k, k) from random starts and Jennrich's, keeps the best; V (k x d): the
 * vectors v_k' Q', in the data's coordinates. *fit may be NULL. */
unrelu_status ur_score_decompose(const ur_start *start, const ur_white *white, size_t w,
                                 const double *core, const double *Q, double *V, double *fit,
                                 unrelu_error *err);

/* --- moments.c --- */
/* fails with EDATA where k > d */
unrelu_status ur_score_check(const ur_start *start, unrelu_error *err);
/* fails with EDATA where the r combinations of the labels are one only and k > 1 */
unrelu_status ur_score_check_unique(const ur_start *start, size_t r, unrelu_error *err);

#endif
