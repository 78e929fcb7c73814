/* SPDX-License-Identifier: Apache-2.0 */
/* A student of more rows than the network has neurons meets the labels too: surplus rows end
 * without output, or share the pattern of signs of another row (then b_i |z t_i| + b_j |z t_j| is
 * one neuron, though each of the two costs more to remove than a weak neuron does), or can be
 * removed when the others move. Each of these is tried, with a short descent behind it, and kept
 * where the labels are met again. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"

#include <math.h>
#include <string.h>

enum { STEPS = 15, LAST_STEPS = 3, MERGES = 3, REMOVALS = 2, POWER_STEPS = 30 };
static const double DAMPING = 1e-6;       /* Pace: of the first step, which is nearly Newton's */
static const double LAST_DAMPING = 1e-12; /* Pace: of the last ones, which are */
/* Share of samples, as |S_i.S_j| / n, on which two rows must agree to be tried as one. Pace: what
 * is tried in vain costs a descent. */
static const double ALIKE = .98;

unrelu_status ur_fold_costs(const ur_folds *folds, const ur_fold_state *s, double *costs,
                            unrelu_error *err)
{
    size_t q = s->q, m = folds->m;
    UR_ARENA(arena);
    double *X = ur_take(&arena, q, q * sizeof *X);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < q; j++)
        X[j * q + j] = 1;
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, q, s->L, q, X, q); /* L^-1 */
    for (size_t j = 0; j < s->k; j++) {
        double inverse = ur_norm_steps(q, X + j, q) * s->scale[j], b = ur_norm(m, s->B + j * m);
        costs[j] = b * b / (inverse * inverse) / folds->base;
    }
    return UNRELU_OK;
}

static void drop_row(const ur_folds *folds, ur_fold_state *s, size_t j)
{
    size_t p = folds->p;
    s->k--;
    memmove(s->T + j * p, s->T + (j + 1) * p, (s->k - j) * p * sizeof *s->T);
}

/* to a short descent from `changed`, where it meets the labels; s is then that */
static unrelu_status try_rows(const ur_folds *folds, ur_fold_state *changed, ur_fold_state *s,
                              int *met, unrelu_error *err)
{
    const ur_fold_descent how = {.steps = STEPS, .damping = DAMPING};
    UR_TRY(ur_fold_descend(folds, how, changed, err));
    *met = changed->share <= folds->met;
    if (!*met)
        return UNRELU_OK;
    ur_fold_rows_copy(folds, changed, s);
    return ur_fold_evaluate(folds, s, err);
}

/* a. those without output, all at once */
static unrelu_status drop_idle(const ur_folds *folds, ur_fold_state *other, ur_fold_state *s,
                               int *done, unrelu_error *err)
{
    UR_ARENA(arena);
    double *costs = ur_take(&arena, s->k, sizeof *costs);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_fold_costs(folds, s, costs, err));
    ur_fold_rows_copy(folds, s, other);
    for (size_t j = s->k; j-- > 0;)
        if (costs[j] <= folds->met)
            drop_row(folds, other, j);
    *done = 0;
    return other->k < s->k ? try_rows(folds, other, s, done, err) : UNRELU_OK;
}

/* b. t (p): leading right vector of b_i t_i' + sign b_j t_j' */
static void merge_rows(const ur_folds *folds, const ur_fold_state *s, size_t i, size_t j,
                       double sign, double *t)
{
    size_t p = folds->p, m = folds->m;
    const double *a = s->T + i * p, *b = s->T + j * p, *u = s->B + i * m, *v = s->B + j * m;
    double cosine = sign * ur_dot(p, a, b), uu = ur_dot(m, u, u), vv = ur_dot(m, v, v);
    double uv = ur_dot(m, u, v), x = 1, y = 1; /* t = x a + y sign b */
    for (int step = 0; step < POWER_STEPS; step++) {
        double on_a = x + y * cosine, on_b = x * cosine + y; /* t.a, t.(sign b) */
        x = uu * on_a + uv * on_b;
        y = uv * on_a + vv * on_b;
        double size = fabs(x) + fabs(y);
        if (!(size > 0))
            break;
        x /= size;
        y /= size;
    }
    for (size_t c = 0; c < p; c++)
        t[c] = x * a[c] + y * sign * b[c];
}

/* the pair of rows whose signs agree most, below *most, which becomes theirs */
static void find_alike(size_t k, const double *A, double *most, size_t *first, size_t *second)
{
    double below = *most;
    *most = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++) {
            double alike = fabs(A[i * k + j]);
            if (alike < below && alike > *most) {
                *most = alike;
                *first = j;
                *second = i;
            }
        }
}

static unrelu_status merge_alike(const ur_folds *folds, ur_fold_state *other, ur_fold_state *s,
                                 int *done, unrelu_error *err)
{
    size_t k = s->k, i = 0, j = 0;
    double most = INFINITY;
    UR_ARENA(arena);
    double *A = ur_take(&arena, k, k * sizeof *A), *t = ur_take(&arena, folds->p, sizeof *t);
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_tn(folds->n, k, k, s->S, s->S, A);
    *done = 0;
    for (int tries = 0; tries < MERGES && !*done; tries++) {
        find_alike(k, A, &most, &i, &j);
        if (!(most > ALIKE * (double)folds->n))
            return UNRELU_OK;
        merge_rows(folds, s, i, j, A[j * k + i] < 0 ? -1 : 1, t);
        ur_fold_rows_copy(folds, s, other);
        drop_row(folds, other, j); /* j > i */
        if (ur_norm(folds->p, t) > 0)
            memcpy(other->T + i * folds->p, t, folds->p * sizeof *t);
        else /* outputs that cancel: the two are no neuron at all */
            drop_row(folds, other, i);
        UR_TRY(try_rows(folds, other, s, done, err));
    }
    return UNRELU_OK;
}

/* c. one of the cheapest */
static unrelu_status drop_cheap(const ur_folds *folds, ur_fold_state *other, ur_fold_state *s,
                                int *done, unrelu_error *err)
{
    UR_ARENA(arena);
    double *costs = ur_take(&arena, s->k, sizeof *costs);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_fold_costs(folds, s, costs, err));
    *done = 0;
    for (int tries = 0; tries < REMOVALS && !*done; tries++) {
        size_t cheapest = 0;
        for (size_t j = 1; j < s->k; j++)
            if (costs[j] < costs[cheapest])
                cheapest = j;
        ur_fold_rows_copy(folds, s, other);
        drop_row(folds, other, cheapest);
        costs[cheapest] = INFINITY;
        UR_TRY(try_rows(folds, other, s, done, err));
    }
    return UNRELU_OK;
}

unrelu_status ur_fold_prune(const ur_folds *folds, ur_fold_state *s, unrelu_error *err)
{
    const ur_fold_descent last = {.steps = LAST_STEPS, .damping = LAST_DAMPING};
    UR_ARENA(arena);
    ur_fold_state other;
    UR_TRY(ur_fold_state_open(folds, s->k, &arena, &other, err));
    for (int done = 1; done && s->k > 0;) {
        UR_TRY(drop_idle(folds, &other, s, &done, err));
        if (!done)
            UR_TRY(merge_alike(folds, &other, s, &done, err));
        if (!done && s->k > 0)
            UR_TRY(drop_cheap(folds, &other, s, &done, err));
    }
    ur_folds sharply = *folds;
    sharply.least = 0;
    return ur_fold_descend(&sharply, last, s, err);
}
