/* SPDX-License-Identifier: Apache-2.0 */
/* Starts of three kinds, each led down by Gauss-Newton on a few rows with cut tails and judged on
 * all rows of the frame as they are; the best two descend there. In this order: second moments,
 * half-spaces (Algorithm 8), moments again (of the linear residual), then random rows in the space
 * of A'X, every other one on labels that are not cut. Ends where three agree on the least sum of
 * squares to 1e-4, or at eight; a budget given is used up. U = 0 is never better: U is a
 * regression. A step costs n (k p)^2 operations. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_STEPS = 25, STEPS = 40, LAST_STEPS = 200, STARTS = 8, ENOUGH = 3 };
static const double FIRST_GAIN = 1e-4, GAIN = 1e-6, LAST_GAIN = 1e-7, AGREE = 1e-4;

typedef struct {
    ur_recover *r;
    const ur_frame *frame;
    const ur_any_rows *rows;
    ur_newton whole;
    ur_any_spaces spaces;
    size_t k;
    uint64_t budget;
    double *V;            /* (k, p): a start */
    ur_any_best *best;    /* its fit: the first */
    ur_newton_fit second; /* the best of those that do not agree with it */
    ur_newton_fit other;  /* the one that runs; rss of those that are none is infinite */
} race;

static void swap(ur_newton_fit *one, ur_newton_fit *other)
{
    ur_newton_fit fit = *one;
    *one = *other;
    *other = fit;
}

static void judge(race *q)
{
    ur_any_best *best = q->best;
    ur_newton_fit *fit = &q->other;
    double least = best->fit.rss;
    best->starts++;
    if (fit->rss < least / (1 + AGREE)) {
        swap(&q->second, &best->fit);
        swap(&best->fit, fit);
        best->agree = 1;
    } else if (fit->rss <= least * (1 + AGREE)) {
        best->agree++;
        if (fit->rss < least)
            swap(&best->fit, fit);
    } else if (fit->rss < q->second.rss) {
        swap(&q->second, fit);
    }
}

static double floor_of(const ur_recover *r)
{
    return r->data.floor * r->data.floor / 100;
}

/* q->V to its minimum on the few rows; cut: on labels with cut tails */
static unrelu_status enter(race *q, int cut, unrelu_error *err)
{
    const ur_any_rows *rows = q->rows;
    ur_newton few = q->whole;
    few.n = rows->n;
    few.x = rows->x;
    few.a = cut ? rows->b : rows->a;
    memcpy(q->other.V, q->V, q->k * rows->p * sizeof *q->V);
    UR_TRY(ur_newton_solve(&few, FIRST_STEPS, FIRST_GAIN, floor_of(q->r), &q->other, err));
    UR_TRY(ur_newton_outer(&q->whole, &q->other, err));
    judge(q);
    ur_progress(q->r->exec, "starts", (double)q->best->starts / (double)q->budget);
    return UNRELU_OK;
}

static unrelu_status try_moments(race *q, ur_moments_kind kind, unrelu_error *err)
{
    int exists = 0;
    unrelu_status status = ur_any_moments(q->r, q->rows, q->k, kind, q->V, &exists, err);
    q->best->skipped |= status == UNRELU_OK && !exists;
    return status == UNRELU_OK && exists ? enter(q, 1, err) : status;
}

static unrelu_status try_halfspaces(race *q, unrelu_error *err)
{
    unrelu_status status =
        ur_any_halfspaces(q->rows, &q->spaces, q->k, q->r->options->seed, q->r->exec, q->V, err);
    return status == UNRELU_OK ? enter(q, 1, err) : status;
}

/* within the k leading rows of Q, where there are so many */
static unrelu_status try_random(race *q, unrelu_error *err)
{
    size_t k = q->k, p = q->rows->p, number = q->best->starts, first = number * k * p;
    double *z = ur_alloc(k, k * sizeof *z);
    if (!z)
        return ur_fail_memory(err, k * k, "weights");
    if (k <= q->spaces.r) {
        ur_random_normals(q->r->options->seed, UR_STREAM_ANY_RANDOM, first, k * k, z);
        ur_multiply(k, k, p, z, q->spaces.Q, q->V);
    } else {
        ur_random_normals(q->r->options->seed, UR_STREAM_ANY_RANDOM, first, k * p, q->V);
    }
    ur_unit_rows(k, p, q->V);
    free(z);
    return enter(q, number % 2 == 0, err);
}

static int is_over(const race *q)
{
    const ur_newton_fit *fit = &q->best->fit;
    double floor = q->r->data.floor;
    if (fit->rss <= floor * floor * q->frame->size)
        return 1;
    return q->best->starts >= q->budget || (q->r->options->budget == 0 && q->best->agree >= ENOUGH);
}

static unrelu_status run(race *q, unrelu_error *err)
{
    unrelu_status status = try_moments(q, UR_MOMENTS_REDUCED, err);
    if (status == UNRELU_OK && !is_over(q))
        status = try_halfspaces(q, err);
    if (status == UNRELU_OK && !is_over(q))
        status = try_moments(q, UR_MOMENTS_LINEAR, err);
    while (status == UNRELU_OK && !is_over(q))
        status = ur_cancelled(q->r->exec) ? ur_fail_cancelled(err) : try_random(q, err);
    return status;
}

/* the first, and the second where few agree on the first, on all rows of the frame */
static unrelu_status decide(race *q, unrelu_error *err)
{
    ur_newton_fit *first = &q->best->fit, *second = &q->second;
    unrelu_status status = ur_any_descend(q->r, &q->whole, 0, first, err);
    if (status != UNRELU_OK || q->best->agree >= ENOUGH || isinf(second->rss))
        return status;
    status = ur_any_descend(q->r, &q->whole, 0, second, err);
    if (status == UNRELU_OK && second->rss < first->rss)
        swap(first, second);
    return status;
}

unrelu_status ur_any_race(ur_recover *r, const ur_frame *frame, const ur_any_rows *rows, size_t k,
                          uint64_t budget, ur_arena *arena, ur_any_best *best, unrelu_error *err)
{
    UR_ARENA(own);
    race q = {.r = r, .frame = frame, .rows = rows, .k = k, .best = best};
    q.whole = ur_frame_problem(frame, r->options->activation, r->exec);
    q.budget = budget > 0 ? budget : STARTS;
    q.V = ur_take(&own, k, rows->p * sizeof *q.V);
    *best = (ur_any_best){0};
    UR_TRY(ur_newton_alloc(&q.whole, k, arena, &best->fit, err));
    UR_TRY(ur_newton_alloc(&q.whole, k, arena, &q.second, err));
    UR_TRY(ur_newton_alloc(&q.whole, k, arena, &q.other, err));
    best->fit.rss = q.second.rss = INFINITY;
    unrelu_status status = ur_arena_status(&own, err);
    if (status == UNRELU_OK)
        status = ur_any_spaces_make(rows->n, rows->p, rows->m, rows->x, rows->b, &q.spaces, err);
    if (status == UNRELU_OK)
        status = run(&q, err);
    if (status == UNRELU_OK)
        status = decide(&q, err);
    ur_any_spaces_free(&q.spaces);
    return status;
}

unrelu_status ur_any_descend(const ur_recover *r, const ur_newton *problem, int last,
                             ur_newton_fit *fit, unrelu_error *err)
{
    return ur_newton_solve(problem, last ? LAST_STEPS : STEPS, last ? LAST_GAIN : GAIN, floor_of(r),
                           fit, err);
}
