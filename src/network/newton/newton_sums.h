/* SPDX-License-Identifier: Apache-2.0 */
/* The sums over samples that Gauss-Newton needs at one V, for a problem of newton.h:
 *   F (n x q) = w f(X V') with the constant feature w as last column where e is fitted,
 *   D (n x q) = w f'(X V') (0 for the constant), B (q x m) = U' over e', R = w A - F B,
 *   g_j = sum_i D_ij (R u_j)_i x_i: minus half the gradient of |R|^2.
 * Rows are taken in blocks of fixed size and the sums of blocks added in their order: the bits
 * do not depend on the threads. F and D are kept for two V, n (4 k + 4) doubles; all other memory
 * is bounded. */
#ifndef UR_NEWTON_SUMS_H
#define UR_NEWTON_SUMS_H

#include "base/arena.h"
#include "network/newton/newton.h"
#include "pass/blocks.h"

typedef struct {
    double *V; /* k x p */
    double *F, *D;
    double *K; /* q x q: K'K = (F'F)^-1 on the space F'F spans to 13 digits, 0 beside it */
    double *B;
    double *g;  /* k x p */
    double rss; /* infinite where f overflows */
} ur_newton_state;

typedef struct {
    const ur_newton *problem;
    unrelu_exec exec; /* of the problem, without its progress */
    size_t n, p, m, k, q, kp;
    const double *a; /* times the weights */
    double norm;     /* |A|^2 */
    ur_newton_state now, next;
    double *total; /* what the passes sum */
    double *small; /* q x (m + 2), for the solves with F'F */
} ur_newton_work;

/* what a pass sees */
typedef struct {
    const ur_newton_work *w;
    const ur_newton_state *s;
    const void *more;
} ur_newton_input;

/* the arrays are the arena's */
unrelu_status ur_newton_open(const ur_newton *problem, size_t k, ur_arena *arena, ur_newton_work *w,
                             unrelu_error *err);
/* total = sum over all rows of what `add` of the pass adds, whose context is the input. pass: add,
 * len, and scratch for a row; cost: flops a row, which decides whether threads are started */
unrelu_status ur_newton_sum(ur_blocks pass, size_t cost, ur_newton_input input, double *total,
                            unrelu_error *err);

/* F, D, K and B of s->V */
unrelu_status ur_newton_features(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err);
/* rss and g of s->B */
unrelu_status ur_newton_residual(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err);
/* B one step of iterative refinement better, from the residual just computed for it */
void ur_newton_refine(const ur_newton_work *w, ur_newton_state *s);
/* all of s for s->V: B refined once where the residual is small enough for it to matter */
unrelu_status ur_newton_evaluate(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err);

/* k p small: lower triangle of G (kp x kp) = W'W, and Z (q x kp) = F'W; G and Z lie together */
unrelu_status ur_newton_gram(const ur_newton_work *w, const ur_newton_state *s, double *GZ,
                             unrelu_error *err);
/* k p large, a neuron at a time. G: the k diagonal blocks (p x p) of W'W, or all its kp x kp
 * where full is set, lower triangles; Z as above */
unrelu_status ur_newton_gram_large(const ur_newton_work *w, const ur_newton_state *s, int full,
                                   double *G, double *Z, unrelu_error *err);

enum { UR_NEWTON_DENSE = 250 }; /* largest k p of the dense solver */

#endif
