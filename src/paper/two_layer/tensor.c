/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 4 of the two-layer paper, steps 1 to 4, with the Hermite score of order p: for white
 * Gaussian x and unit v_j
 *   E[a (x) S_p(x)] = c_p sum_j U_j (x) v_j^(x)p,   c_p = E[f(g) He_p(g)] = E f^(p)(g).
 *   S_2 = xx' - I, S_3 = xxx - 3 sym(x I), and S_4 traced over two places:
 *   ((|x|^2 - d - 4) xx' - (|x|^2 - d - 2) I), whose mean with a is c_4 sum_j U_j (x) v_j v_j'.
 * Departs from the letter: inputs are whitened by their own mean and covariance; no normal noise
 * is added to the labels (it only adds variance); orders 3 and 4 take the labels' residual on
 * [1, x], which has the same tensor; and alternating least squares on the stack takes the place
 * of a random contraction and the power method, whose gaps close for k >= 10. Refuses an order
 * with c_p = 0. Row error for power:2, (d, k, m) = (10, 5, 8): .15 at n = 1e4, .049 at 1e5 by
 * order 3, .064 and .018 by order 2; order 4 for relu .11 at 5e4, .052 at 2e5. Order 3 costs
 * n r d^2 (d + 1) operations and holds r d^2 (d + 1)/2 numbers, r = min(k, m). */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    size_t r;
    double *y;    /* (n, r) */
    double *T;    /* (w, packed) */
    double *Q;    /* d x k */
    double *core; /* (w, k, k) */
} work;

static unrelu_status work_open(ur_arena *arena, size_t rows, size_t d, size_t k, work *w,
                               unrelu_error *err)
{
    w->T = ur_take(arena, rows, ur_packed(d) * sizeof *w->T);
    w->Q = ur_take(arena, d, k * sizeof *w->Q);
    w->core = ur_take(arena, rows * k, k * sizeof *w->core);
    return ur_arena_status(arena, err);
}

static const char *const primes[] = {"''", "'''", "''''"}; /* of orders 2 to 4 */

unrelu_status ur_tensor_signal(unrelu_activation f, int order, unrelu_error *err)
{
    static const char *const ordinal[] = {"second", "third", "fourth"};
    double c = ur_activation_hermite(f, 1, 0, order);
    char name[48];
    if (isfinite(c) && fabs(c) >= UR_NO_SIGNAL)
        return UNRELU_OK;
    unrelu_activation_name(f, name, sizeof name);
    if (!isfinite(c))
        return ur_fail(err, UNRELU_EDATA,
                       "the %s Hermite coefficient of %s is infinite for Gaussian inputs: no "
                       "tensor of moments exists",
                       ordinal[order - 2], name);
    return ur_fail(err, UNRELU_EDATA,
                   "the %s Hermite coefficient of %s is 0 (E f%s = 0): order %d carries no signal; "
                   "use `order` %d",
                   ordinal[order - 2], name, primes[order - 2], order, order == 2 ? 3 : 2);
}

/* ---- order 3: S_3 = xxx but for terms in x, which labels without linear part do not see ---- */

static unrelu_status third(const ur_start *start, const ur_white *white, work *w, double *V,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = white->d, k = start->k, r = w->r, all = r * k;
    double *small = ur_take(&arena, all, k * k * sizeof *small);
    double *S = ur_take(&arena, all, all * sizeof *S),
           *values = ur_take(&arena, all, sizeof *values);
    double *vectors = ur_take(&arena, all, all * sizeof *vectors);
    double *E = ur_take(&arena, all, k * sizeof *E);
    UR_TRY(work_open(&arena, r * d, d, k, w, err));
    UR_TRY(ur_score_tensor(white, r, w->y, 1, w->T, err));
    UR_TRY(ur_score_reduce(r * d, d, k, w->T, w->Q, w->core, err));
    for (size_t s = 0; s < r; s++) /* (r d, k, k) -> (r k, k, k): Q on the remaining place */
        ur_multiply_tn(d, k, k * k, w->Q, w->core + s * d * k * k, small + s * k * k * k);
    ur_gram(all, k * k, small, S); /* -> (k, k, k): the k leading combinations of the matrices */
    UR_TRY(ur_eigen_symmetric(all, S, values, vectors, err));
    for (size_t i = 0; i < all; i++)
        for (size_t j = 0; j < k; j++)
            E[i * k + j] = vectors[i * all + all - 1 - j];
    ur_multiply_tn(all, k, k * k, E, small, w->core);
    return ur_score_decompose(start, white, k, w->core, w->Q, V, NULL, err);
}

/* ---- order 4 ---- */

static unrelu_status fourth(const ur_start *start, const ur_white *white, work *w, double *V,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = white->d, p = ur_packed(d);
    double *mean = ur_take(&arena, w->r, sizeof *mean);
    UR_TRY(ur_score_check_unique(start, w->r, err));
    UR_TRY(work_open(&arena, w->r, d, start->k, w, err));
    /* y <- (|x|^2 - d - 4) y; its mean is that of (|x|^2 - d - 2) y, as y has mean 0 */
    for (size_t i = 0; i < white->n; i++) {
        const double *x = white->x + i * d;
        double weight = ur_dot(d, x, x) - (double)d - 4;
        for (size_t s = 0; s < w->r; s++) {
            w->y[i * w->r + s] *= weight;
            mean[s] += w->y[i * w->r + s] / (double)white->n;
        }
    }
    UR_TRY(ur_score_tensor(white, w->r, w->y, 0, w->T, err));
    for (size_t s = 0; s < w->r; s++)
        for (size_t a = 0, i = 0; a < d; i += d - a, a++)
            w->T[s * p + i] -= mean[s];
    UR_TRY(ur_score_reduce(w->r, d, start->k, w->T, w->Q, w->core, err));
    return ur_score_decompose(start, white, w->r, w->core, w->Q, V, NULL, err);
}

unrelu_status ur_start_tensor(const ur_start *start, int order, double *V, ur_start_note *note,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    ur_white white = {0};
    work w = {0};
    if (order < 2 || order > 4)
        return ur_fail(err, UNRELU_EUSAGE, "order %d: a tensor has order 2, 3 or 4", order);
    UR_TRY(ur_tensor_signal(start->f, order, err));
    UR_TRY(ur_score_check(start, err));
    UR_TRY(ur_white_new(&start->sample, start->exec, &arena, &white, err));
    snprintf(note->guarantee, sizeof note->guarantee,
             "Theorem 5 and Corollary 4 (Algorithm 4; Theorem 7 after exactification): V up to "
             "signs and order, approximately, for Gaussian inputs and U, V of full rank k; here "
             "the score of order %d%s, no noise added to the labels, alternating least squares "
             "in place of the power method",
             order, order == 3 ? "" : " in place of 3");
    snprintf(note->assumption, sizeof note->assumption,
             "the score of order %d sees E f%s = %.4g of each neuron", order, primes[order - 2],
             ur_activation_hermite(start->f, 1, 0, order));
    if (order == 2)
        return ur_start_moments(start, UR_MOMENTS_PLAIN, V, NULL, err);
    UR_TRY(ur_score_labels(start, &white, 1, &arena, &w.r, &w.y, err));
    return order == 3 ? third(start, &white, &w, V, err) : fourth(start, &white, &w, V, err);
}
