/* SPDX-License-Identifier: Apache-2.0 */
/* Joint Gauss-Newton (Levenberg-Marquardt) for a = U f(V x) + e with U and e projected out: the
 * maximum likelihood under normal noise, and the exact solution where there is none.
 *   F = f(X V'), D = f'(X V'), W_j = D_j x; U = (F'F)^-1 F'A;
 *   H_jl = (U'U)_jl [W_j'W_l - Z_j'(F'F)^-1 Z_l], Z_j = F'W_j; gradient_j = W_j'(A - F U')u_j,
 * plus the gauge tr(H_jj)/p v_j v_j' where f is homogeneous (rows are renormalised).
 * Dense up to k p = 250, beyond it conjugate gradients with block-Jacobi preconditioning.
 * Noiseless labels are fitted to |R| / |A| of 1e-15 and better. n, p, m, k > 0; BLAS is the
 * caller's to pin. Where f overflows at the V given, rss is infinite and V stays. */
#ifndef UR_NEWTON_H
#define UR_NEWTON_H

#include "base/arena.h"
#include "dense/huber.h"
#include "network/model/network.h"

typedef struct {
    size_t n, p, m;
    const double *x;      /* (n, p), best whitened; a column of ones among p where c is fitted */
    const double *a;      /* (n, m) */
    const double *weight; /* n factors of the rows of f and a, or NULL */
    unrelu_activation f;
    int constant; /* e is fitted: a constant feature beside the k neurons */
    double goal;  /* rss that is worth going on for: a solve ends where the model promises far less;
                   * 0: none */
    const unrelu_exec *exec;
} ur_newton;

typedef struct {
    size_t k;
    double *V;  /* k x p, given and improved */
    double *U;  /* m x k */
    double *e;  /* m; zero where not fitted */
    double rss; /* sum of squares of a - U f(V x) - e, summed directly */
    int steps;
    int converged;
} ur_newton_fit;

/* V, U, e with room for k neurons of this problem, zeroed */
unrelu_status ur_newton_alloc(const ur_newton *problem, size_t k, ur_arena *arena,
                              ur_newton_fit *fit, unrelu_error *err);
/* the numbers of a fit of no more neurons to the same problem */
void ur_newton_copy(const ur_newton *problem, const ur_newton_fit *from, ur_newton_fit *to);
/* U, e and rss for the V of fit, by a QR factorisation of the features (minimum norm) */
unrelu_status ur_newton_outer(const ur_newton *problem, ur_newton_fit *fit, unrelu_error *err);
/* Damped steps until the relative gain of rss is below tolerance (or rss / |A|^2 <= least), at
 * most `steps` of them, refused ones counted; only V need be set. With noise and a kink in f a
 * tolerance below 1e-7 buys no likelihood: rss is rough there. */
unrelu_status ur_newton_solve(const ur_newton *problem, int steps, double tolerance, double least,
                              ur_newton_fit *fit, unrelu_error *err);
/* One undamped step from V, kept only where it lowers rss; U, e, rss of the V it ends with */
unrelu_status ur_newton_polish(const ur_newton *problem, ur_newton_fit *fit, unrelu_error *err);

/* R (n x m) = a - U f(V x) - e */
unrelu_status ur_newton_rest(const ur_newton *problem, const ur_newton_fit *fit, double *R,
                             unrelu_error *err);
/* From V, U and e of fit to where the objective of huber.h over all cells is least nearby: rounds
 * of `steps` steps of ur_newton_solve (0: V stays as it is, of unit rows where f is homogeneous)
 * until one gains less than tolerance times n m s, s its scale. No weights. U is not the least
 * squares of V then, and rss not the least. */
unrelu_status ur_newton_huber(const ur_newton *problem, int rounds, int steps, double tolerance,
                              ur_newton_fit *fit, ur_huber *huber, unrelu_error *err);

/* Standard errors at the optimum for noise sigma. Here x holds the raw inputs, with the ones as
 * LAST column where c is fitted (p = d + 1); where f is homogeneous the scale is fixed by
 * |v_j| = 1 over the first `unit` columns. V_se (k x p), U_se (m x k), e_se (m, or NULL).
 * NaN where the information is singular, *singular says so: those of a neuron that is never on
 * or has no output alone, else all. Above k p = 6000 all are NaN. */
unrelu_status ur_newton_errors(const ur_newton *problem, const ur_newton_fit *fit, size_t unit,
                               double sigma, double *V_se, double *U_se, double *e_se,
                               int *singular, unrelu_error *err);

/* How much a sample decides on all weights at once, at most: its leverage is 1 where they are not
 * determined without it. */
typedef struct {
    int singular;    /* they are not determined with it either, to rounding; or k p is above 6000 */
    double leverage; /* the largest, of `row` */
    size_t row;
    double blur; /* by how much rounding may have moved it */
} ur_newton_hinge;
unrelu_status ur_newton_leverage(const ur_newton *problem, const ur_newton_fit *fit,
                                 ur_newton_hinge *hinge, unrelu_error *err);

#endif
