/* SPDX-License-Identifier: Apache-2.0 */
/* The quadratic model of |R|^2 about one V, and its damped minimiser:
 *   H_jl = (U'U)_jl [W_j'W_l - (K Z_j)'(K Z_l)],  t_j = tr(H_jj) / p,
 *   s solves (H + diag_j t_j (lambda I + v_j v_j')) s = g,
 * the gauge v_j v_j' only where f is homogeneous (H_jj v_j = 0 there). A neuron without
 * information (dead, without output, or spanned by the features) is held where it is.
 * Up to k p = 250 H is formed: n (kp)^2 + (kp)^3 / 3 flops. Beyond it only its diagonal blocks,
 * n k p (p + 2 q), which precondition conjugate gradients: 4 n k (p + k) a step. */
#ifndef UR_NEWTON_MODEL_H
#define UR_NEWTON_MODEL_H

#include "network/newton/newton_sums.h"

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
