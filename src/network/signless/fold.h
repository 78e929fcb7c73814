/* SPDX-License-Identifier: Apache-2.0 */
/* Networks without the signs of their rows. As relu(t) = (t + |t|) / 2,
 *     a = U relu(V x + c) + e  =  sum_j b_j |z t_j| + M'z,   z = (x, 1) in the frame, b_j = u_j /
 * 2, with t_j = +-(v_j, c_j) and M free: t and -t are one point, so that no start has to guess a
 * sign. fold_state    b and M by least squares for given rows t_j, and what they leave fold_model
 * gradient and Gauss-Newton matrix of that in the rows fold_descent  Levenberg-Marquardt fold_birth
 * further rows, where a fit stalls fold_prune    to the fewest rows, where the labels are met
 *   fold_signs    the signs, from M
 * Everything runs on one thread: the bits do not depend on their number. */
#ifndef UR_FOLD_H
#define UR_FOLD_H

#include "base/arena.h"
#include "unrelu/unrelu.h"

typedef struct {
    size_t n, p, m;
    const double *z; /* (n, p) with z'z = n I */
    const double *a; /* (n, m) */
    int constant;    /* a constant that z does not span is fitted too */
    double base;     /* what the linear part alone leaves of a: sum of squares */
    double size;     /* of a */
    double floor;    /* of a relative residual of the labels */
    double met;      /* share of `base` below which the labels are met */
    double least;    /* at which a descent may end */
    const unrelu_exec *exec;
} ur_folds;

/* k rows and what follows from them; q = k + p + (1 where the constant is fitted) */
typedef struct {
    size_t k, q;
    double *T;     /* k x p, unit rows */
    double *S;     /* (n, k): signs of z t */
    double *F;     /* (n, q): |z t|, z, 1 */
    double *scale; /* q: 1 / |column of F| */
    double *L;     /* q x q, lower: L L' = scale F'F scale, and a ridge */
    double *B;     /* q x m: b_j, then M */
    double *R;     /* (n, m) = a - F B */
    double share;  /* |R|^2 / base */
} ur_fold_state;

/* base, size, met and least of the other members */
unrelu_status ur_folds_open(ur_folds *folds, double data_floor, unrelu_error *err);
/* free numbers of a network of k neurons in this form */
double ur_fold_unknowns(const ur_folds *folds, size_t k);

/* --- fold_state.c --- */
/* arrays for up to k rows, zeroed, with k rows in use */
unrelu_status ur_fold_state_open(const ur_folds *folds, size_t k, ur_arena *arena, ur_fold_state *s,
                                 unrelu_error *err);
/* the rows of another state, which has no more of them than `to` has room for */
void ur_fold_rows_copy(const ur_folds *folds, const ur_fold_state *from, ur_fold_state *to);
/* All else for the rows T, brought to unit length: by scaled normal equations and one step of
 * refinement */
unrelu_status ur_fold_evaluate(const ur_folds *folds, ur_fold_state *s, unrelu_error *err);

/* --- fold_model.c --- */
/* Of |R|^2 / 2 with B projected out, W_j = diag(S_j) z, Q an orthonormal basis of F:
 *   g_j = W_j'R b_j,  H_jl = (b_j b_l) [W_j'W_l - (Q'W_j)'(Q'W_l)],  h_j = tr H_jj / p. */
typedef struct {
    double *g;  /* k x p: minus the gradient */
    double *H;  /* kp x kp, lower triangle; not of one in single precision: */
    float *low; /* kp x kp: H there */
    int single;
    ur_arena *arena;
    double *h; /* k */
} ur_fold_model;
/* not formed yet; single = 1 afterwards: the matrix will be in single precision */
unrelu_status ur_fold_model_open(const ur_folds *folds, size_t k, ur_arena *arena,
                                 ur_fold_model *model, unrelu_error *err);
unrelu_status ur_fold_model_form(const ur_folds *folds, const ur_fold_state *s,
                                 ur_fold_model *model, unrelu_error *err);

/* --- fold_squares.c --- */
/* W'W (kp x kp, lower triangle) in H, or, where that is NULL, in single precision in low */
unrelu_status ur_fold_squares(const ur_folds *folds, const ur_fold_state *s, double *H, float *low,
                              unrelu_error *err);

/* --- fold_single.c --- */
/* the same without g, h and the factors b_j b_l: H (kp x kp, lower triangle) in single precision */
unrelu_status ur_fold_single_form(const ur_folds *folds, const ur_fold_state *s, float *H,
                                  unrelu_error *err);
/* step = M^-1 g, M (lower triangle) becomes its factor; room: kp. 0 where M is not positive
 * definite */
int ur_fold_single_solve(size_t kp, float *M, const double *g, float *room, double *step);

/* --- fold_descent.c --- */
typedef struct {
    int steps;      /* at most, refused ones not counted */
    double damping; /* of the first step, in the unit of h; at 0 none stops before `steps` */
    int stall;      /* it ends where `stall` steps gain little; 0: it does not */
} ur_fold_descent;
/* Levenberg-Marquardt from s->T, until s->share is at most folds->least */
unrelu_status ur_fold_descend(const ur_folds *folds, ur_fold_descent how, ur_fold_state *s,
                              unrelu_error *err);

/* --- fold_birth.c --- */
/* `count` more rows behind those of s (which has room for them), each the direction, of some
 * hundreds tried, that takes most of what is left; draws: which random numbers */
unrelu_status ur_fold_births(const ur_folds *folds, size_t count, uint64_t seed, uint64_t draws,
                             ur_fold_state *s, unrelu_error *err);

/* --- fold_prune.c --- */
/* s meets the labels: rows are dropped, and those of one pattern merged, as long as the others meet
 * the labels as well */
unrelu_status ur_fold_prune(const ur_folds *folds, ur_fold_state *s, unrelu_error *err);
/* costs (k): what |R|^2 rises by without a row, as a share of base */
unrelu_status ur_fold_costs(const ur_folds *folds, const ur_fold_state *s, double *costs,
                            unrelu_error *err);

/* --- fold_signs.c --- */
typedef enum {
    UR_SIGNS_FOUND, /* all are +-ratio */
    UR_SIGNS_OPEN,  /* several choices meet the labels, or too many had to be tried */
    UR_SIGNS_NONE,  /* none does: a part of the labels is linear in x */
} ur_signs_end;
/* Signs s_j with M = ratio sum_j s_j t_j b_j' + eta e', z eta = 1 (eta NULL: no e among M).
 * ratio: of the activation, (1 + slope) / (1 - slope); *slope: of a leaky one, where all signs come
 * out as another ratio, else NaN; error: of the labels, relative */
unrelu_status ur_fold_signs(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                            double ratio, double error, int *signs, ur_signs_end *end,
                            double *slope, unrelu_error *err);

#endif
