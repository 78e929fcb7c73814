/* SPDX-License-Identifier: Apache-2.0 */
/* Neurons with few samples on one side of their kink. They are not found while all samples count
 * alike, and these few keep the others from being met. So the rows that are met worst are left out
 * until the rest is met; what that leaves of all rows is then not 0 on the rare sides alone, and a
 * fit to these rows and as many others sees them: one row more, from the regression of what is left
 * on z there. Where fewer than p samples are on a side, nothing of it is known, and rows that were
 * kept back show that. */
#include "base/error.h"
#include "base/order.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/signless.h"

#include <math.h>
#include <string.h>

/* Pace: shares of the rows that are left out, one after another, and steps after each */
enum { SHARES = 4, STEPS = 15, BALANCED_STEPS = 60, STALL = 6 };
static const double LEFT_OUT[SHARES] = {.02, .03, .04, .05};
static const double DAMPING = 1e-3; /* Pace: of the first step */
/* Pace: where a smaller part than this of what was left is due to rows that are left out, others
 * than rare sides are missing */
static const double DUE = .3;
/* times what a row leaves on average where the labels are just met */
static const double BAD = 1e4;
/* rounds, each of which finds a neuron; labels for each number, rows beside the bad ones */
enum { ROUNDS = 8, LABELS_A_NUMBER = 5 };

/* the folds on some of the rows, in the order given */
static unrelu_status choose_rows(const ur_folds *folds, size_t count, const size_t *row,
                                 ur_arena *arena, ur_folds *some, unrelu_error *err)
{
    size_t p = folds->p, m = folds->m;
    double *z = ur_take(arena, count, p * sizeof *z), *a = ur_take(arena, count, m * sizeof *a);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < count; i++) {
        memcpy(z + i * p, folds->z + row[i] * p, p * sizeof *z);
        memcpy(a + i * m, folds->a + row[i] * m, m * sizeof *a);
    }
    *some = *folds;
    some->n = count;
    some->z = z;
    some->a = a;
    return ur_folds_open(some, folds->floor, err);
}

static double row_rest(const ur_folds *folds, const double *R, size_t i)
{
    return ur_dot(folds->m, R + i * folds->m, R + i * folds->m);
}

/* all rows but a share of them, those of which most is left */
static unrelu_status best_rows(const ur_folds *folds, const double *R, double left_out, size_t *row,
                               size_t *count, unrelu_error *err)
{
    size_t n = folds->n;
    UR_ARENA(arena);
    ur_keyed *keys = ur_take(&arena, n, sizeof *keys), *scratch = ur_take(&arena, n, sizeof *keys);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        keys[i] = (ur_keyed){row_rest(folds, R, i), i};
    ur_sort_keyed(keys, scratch, n);
    *count = n - (size_t)(left_out * (double)n);
    for (size_t i = 0; i < *count; i++)
        row[i] = keys[i].at;
    return UNRELU_OK;
}

unrelu_status ur_fold_trim(const ur_folds *folds, ur_fold_state *s, ur_arena *arena, ur_folds *some,
                           ur_fold_state *on_some, int *met, unrelu_error *err)
{
    const ur_fold_descent how = {.steps = STEPS, .damping = DAMPING};
    double before = s->share;
    *met = 0;
    for (int i = 0; i < SHARES && !*met; i++) {
        UR_ARENA(here);
        size_t *row = ur_take(&here, folds->n, sizeof *row), count;
        UR_TRY(ur_arena_status(&here, err));
        UR_TRY(best_rows(folds, s->R, LEFT_OUT[i], row, &count, err));
        UR_TRY(choose_rows(folds, count, row, &here, some, err));
        UR_TRY(ur_fold_state_open(some, s->k, &here, on_some, err));
        ur_fold_rows_copy(folds, s, on_some);
        UR_TRY(ur_fold_descend(some, how, on_some, err));
        *met = on_some->share <= some->met;
        if (*met) {
            ur_arena_give(&here, arena);
            return ur_fold_prune(some, on_some, err);
        }
        if (!(on_some->share <= DUE * before))
            return UNRELU_OK;
        before = on_some->share;
        ur_fold_rows_copy(folds, on_some, s);
        UR_TRY(ur_fold_evaluate(folds, s, err));
    }
    return UNRELU_OK;
}

/* ---- rows of rare sides beside others ---- */

/* R (n, m) of all rows, by the outputs of a fit to some */
static unrelu_status rest_of(const ur_folds *folds, const ur_fold_state *s, double *R,
                             unrelu_error *err)
{
    size_t n = folds->n, m = folds->m, p = folds->p, k = s->k;
    UR_ARENA(arena);
    double *G = ur_take(&arena, n, k * sizeof *G);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(R, folds->a, n * m * sizeof *R);
    ur_multiply_nt(n, p, k, folds->z, s->T, G);
    for (size_t i = 0; i < n * k; i++)
        G[i] = fabs(G[i]);
    if (k > 0)
        ur_gemm(UR_PLAIN, UR_PLAIN, n, m, k, -1, G, k, s->B, m, 1, R, m);
    ur_gemm(UR_PLAIN, UR_PLAIN, n, m, p, -1, folds->z, p, s->B + k * m, m, 1, R, m);
    for (size_t i = 0; i < n && folds->constant; i++)
        ur_add(m, -1, s->B + (k + p) * m, R + i * m);
    return UNRELU_OK;
}

/* The rows that are not met, then others, spread evenly; *bad: how many of the first. row: n */
static void balance(const ur_folds *folds, size_t k, const double *R, size_t *row, size_t *bad,
                    size_t *count)
{
    size_t n = folds->n, good = 0, want;
    double most = BAD * folds->met * folds->base / (double)n;
    *bad = 0;
    for (size_t i = 0; i < n; i++)
        if (row_rest(folds, R, i) > most)
            row[(*bad)++] = i;
    want = (size_t)(LABELS_A_NUMBER * ur_fold_unknowns(folds, k + 1) / (double)folds->m);
    want = want > *bad ? want : *bad;
    want = want < n - *bad ? want : n - *bad;
    *count = *bad;
    for (size_t i = 0; i < n && good < n - *bad; i++) { /* the good-th of n - bad good ones */
        if (row_rest(folds, R, i) > most)
            continue;
        if ((good + 1) * want / (n - *bad) > good * want / (n - *bad))
            row[(*count)++] = i;
        good++;
    }
}

/* t (p): leading direction of the regression of R on z over these rows */
static unrelu_status direction_of(const ur_folds *folds, const double *R, size_t count,
                                  const size_t *row, double *t, unrelu_error *err)
{
    size_t p = folds->p, m = folds->m, r = p < m ? p : m;
    UR_ARENA(arena);
    double *z = ur_take(&arena, count, p * sizeof *z), *a = ur_take(&arena, count, m * sizeof *a);
    double *C = ur_take(&arena, p, m * sizeof *C), *U = ur_take(&arena, p, r * sizeof *U);
    double *values = ur_take(&arena, r, sizeof *values), *Vt = ur_take(&arena, r, m * sizeof *Vt);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < count; i++) {
        memcpy(z + i * p, folds->z + row[i] * p, p * sizeof *z);
        memcpy(a + i * m, R + row[i] * m, m * sizeof *a);
    }
    UR_TRY(ur_least_squares(count, p, m, z, a, UR_ROUNDING, C, NULL, err));
    UR_TRY(ur_svd(p, m, C, U, values, Vt, err));
    for (size_t i = 0; i < p; i++)
        t[i] = U[i * r];
    return UNRELU_OK;
}

/* one round: a row more, fitted to the rows that were not met and others; *done: all are met, or
 * there is nothing to be had */
static unrelu_status add_rare(const ur_folds *folds, ur_fold_state *s, int *met, int *done,
                              unrelu_error *err)
{
    const ur_fold_descent how = {.steps = BALANCED_STEPS, .damping = DAMPING, .stall = STALL};
    size_t n = folds->n, p = folds->p, bad, count;
    UR_ARENA(arena);
    ur_folds some;
    ur_fold_state more;
    double *R = ur_take(&arena, n, folds->m * sizeof *R);
    size_t *row = ur_take(&arena, n, sizeof *row);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(rest_of(folds, s, R, err));
    balance(folds, s->k, R, row, &bad, &count);
    *met = bad == 0;
    *done = *met || bad < p || 2 * bad > n;
    if (*done)
        return UNRELU_OK;
    UR_TRY(choose_rows(folds, count, row, &arena, &some, err));
    UR_TRY(ur_fold_state_open(&some, s->k + 1, &arena, &more, err));
    ur_fold_rows_copy(folds, s, &more);
    UR_TRY(direction_of(folds, R, bad, row, more.T + s->k * p, err));
    more.k = s->k + 1;
    UR_TRY(ur_fold_descend(&some, how, &more, err));
    if (more.share > some.met) { /* another rare side is still among the rows */
        ur_folds fewer;
        ur_fold_state on_fewer;
        int left;
        UR_TRY(ur_fold_trim(&some, &more, &arena, &fewer, &on_fewer, &left, err));
        *done = !left;
        more = left ? on_fewer : more;
    } else {
        UR_TRY(ur_fold_prune(&some, &more, err));
    }
    if (*done)
        return UNRELU_OK;
    ur_fold_rows_copy(folds, &more, s);
    memcpy(s->B, more.B, more.q * folds->m * sizeof *s->B);
    s->q = more.q;
    return UNRELU_OK;
}

/* B of s by the rows that the student meets, of those of the pool: R (n, m) is what it leaves */
static unrelu_status fit_to_met(const ur_folds *pool, const double *R, ur_fold_state *s, int *any,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    ur_folds some;
    ur_fold_state on_some;
    size_t *row = ur_take(&arena, pool->n, sizeof *row), count = 0;
    double most = BAD * pool->met * pool->base / (double)pool->n;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < pool->n; i++)
        if (row_rest(pool, R, i) <= most)
            row[count++] = i;
    *any = 2 * count > pool->n && count > 2 * s->q;
    if (!*any)
        return UNRELU_OK;
    UR_TRY(choose_rows(pool, count, row, &arena, &some, err));
    UR_TRY(ur_fold_state_open(&some, s->k, &arena, &on_some, err));
    ur_fold_rows_copy(pool, s, &on_some);
    UR_TRY(ur_fold_evaluate(&some, &on_some, err));
    memcpy(s->B, on_some.B, on_some.q * pool->m * sizeof *s->B);
    s->q = on_some.q;
    return UNRELU_OK;
}

unrelu_status ur_fold_widen(const ur_problem *given, size_t rows, size_t most, ur_arena *arena,
                            ur_student *student, unrelu_error *err)
{
    size_t k = student->s.k;
    int met = 0, done = 0, any;
    UR_ARENA(here);
    ur_student wide = *student;
    ur_frame *frame = &wide.frame;
    UR_TRY(ur_frame_make(&given->data, rows, student->frame.terms, 1, arena, frame, err));
    wide.folds = ur_folds_of(frame, given->exec);
    UR_TRY(ur_folds_open(&wide.folds, given->data.floor, err));
    UR_TRY(ur_fold_state_open(&wide.folds, most, arena, &wide.s, err));
    double *raw = ur_take(&here, k, frame->q * sizeof *raw);
    double *R = ur_take(&here, frame->n, frame->m * sizeof *R);
    UR_TRY(ur_arena_status(&here, err));
    UR_TRY(ur_fold_rest(given, student, frame->n, frame->row, R, err));
    ur_frame_back(&student->frame, k, student->s.T, raw);
    ur_frame_forth(frame, k, raw, wide.s.T);
    wide.s.k = k;
    ur_unit_rows(k, frame->p, wide.s.T);
    UR_TRY(fit_to_met(&wide.folds, R, &wide.s, &any, err));
    for (int i = 0; i < ROUNDS && any && !done && wide.s.k < most; i++)
        UR_TRY(add_rare(&wide.folds, &wide.s, &met, &done, err));
    UR_TRY(ur_fold_evaluate(&wide.folds, &wide.s, err));
    if (wide.s.share <= wide.folds.met)
        UR_TRY(ur_fold_prune(&wide.folds, &wide.s, err));
    wide.met = wide.s.share <= wide.folds.met;
    *student = wide;
    return UNRELU_OK;
}
