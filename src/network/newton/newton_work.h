/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of newton/ share: the sums over samples that Gauss-Newton needs at one V, for a
 * problem of newton.h, and the model made of them (below).
 *   F (n x q) = w f(X V') with the constant feature w as last column where e is fitted,
 *   D (n x q) = w f'(X V') (0 for the constant), B (q x m) = U' over e', R = w A - F B,
 *   g_j = sum_i D_ij (R u_j)_i x_i: minus half the gradient of |R|^2.
 * Rows are taken in blocks of fixed size and the sums of blocks added in their order: the bits
 * do not depend on the threads. F and D are kept for two V, n (4 k + 4) doubles; all other memory
 * is bounded. */
#ifndef UR_NEWTON_WORK_H
#define UR_NEWTON_WORK_H

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

/* --- newton_model.c --- */
/* The quadratic model of |R|^2 about one V, and its damped minimiser:
 *   H_jl = (U'U)_jl [W_j'W_l - (K Z_j)'(K Z_l)],  t_j = tr(H_jj) / p,
 *   s solves (H + diag_j t_j (lambda I + v_j v_j')) s = g,
 * the gauge v_j v_j' only where f is homogeneous (H_jj v_j = 0 there). A neuron without
 * information (dead, without output, or spanned by the features) is held where it is.
 * Up to k p = 250 H is formed: n (kp)^2 + (kp)^3 / 3 flops. Beyond it only its diagonal blocks,
 * n k p (p + 2 q), which precondition conjugate gradients: 4 n k (p + k) a step. */
typedef struct {
    int dense, gauge;
    double *H;    /* kp x kp, or k blocks p x p: lower triangles */
    double *M;    /* as H: of the damped system, its Cholesky factor */
    double *Y;    /* q x kp: K Z, behind H in memory */
    double *C;    /* k x k: U'U */
    double *t;    /* k: t_j */
    double *hold; /* k: what holds a neuron without information, else 0 */
    double *room; /* q kp; conjugate gradients 4 kp + 2 q k */
    double first; /* |g| of the first model in the norm of the preconditioner; 0: none yet */
} ur_newton_model;

/* the arrays are the arena's */
unrelu_status ur_newton_model_open(const ur_newton_work *w, ur_arena *arena, ur_newton_model *model,
                                   unrelu_error *err);
/* H about w->now */
unrelu_status ur_newton_model_form(const ur_newton_work *w, ur_newton_model *model,
                                   unrelu_error *err);
/* s (k x p); *gain = by how much the model promises to lower rss; *positive = 0 and no s where
 * the damped system is not positive definite. sharp: conjugate gradients to rounding. */
unrelu_status ur_newton_model_step(const ur_newton_work *w, ur_newton_model *model, double lambda,
                                   int sharp, double *s, double *gain, int *positive,
                                   unrelu_error *err);

#endif
