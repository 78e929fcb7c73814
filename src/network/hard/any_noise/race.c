/* SPDX-License-Identifier: Apache-2.0 */
/* Starts of three kinds, each led down by Gauss-Newton on a few rows with cut tails and judged on
 * all rows of the frame as they are; the best two descend there. Robust: every descent goes on to
 * Huber's objective of the labels as they are, and fits are compared by their Student likelihood,
 * as a few cells decide on sums of squares. In this order: second moments,
 * half-spaces (Algorithm 8), moments again (of the linear residual), then random rows in the space
 * of A'X, every other one on labels that are not cut. Ends where three agree on the least sum of
 * squares to 1e-4, or at eight; a budget given is used up. U = 0 is never better: U is a
 * regression. A step costs n (k p)^2 operations. */
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "dense/student.h"
#include "network/hard/any_noise/any_noise.h"
#include "network/problem/tolerance.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { FIRST_STEPS = 25, STEPS = 40, LAST_STEPS = 200, STARTS = 8, ENOUGH = 3 };
enum { FIRST_ROUNDS = 12, ROUNDS = 60, ROUND_STEPS = 6 }; /* of Huber's objective */
enum { TRY_ALL = 6 }; /* neurons: 64 regressions of at most six features */
/* A step that gains less of the sum of squares is the last: of a start on few rows, of the best on
 * the rows of the frame, and over all rows, where it is the result. */
static const double FIRST_GAIN = 1e-4, GAIN = 1e-6, LAST_GAIN = 1e-7;
/* Sums of squares that differ by this share are of one minimum: as FIRST_GAIN leaves them. */
static const double AGREE = 1e-4;

typedef struct {
    const ur_problem *given;
    const ur_any_rows *rows;
    int robust;
    ur_newton whole; /* on all rows of the frame */
    ur_any_spaces spaces;
    size_t k;
    uint64_t budget;
    double *V;         /* (k, p): a start */
    ur_any_best *best; /* its fit: the first */
    ur_any_fit second; /* the best of those that do not agree with it */
    ur_any_fit other;  /* the one that runs; the cost of those that are none is infinite */
} race;

static void swap(ur_any_fit *one, ur_any_fit *other)
{
    ur_any_fit fit = *one;
    *one = *other;
    *other = fit;
}

/* cost of a robust fit as it is */
static unrelu_status weigh(const ur_newton *problem, ur_any_fit *fit, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t cells = problem->n * problem->m;
    double *R = ur_take(&arena, cells, sizeof *R);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_newton_rest(problem, &fit->fit, R, err));
    fit->huber = ur_huber_of(cells, R, 1);
    fit->fit.rss = fit->huber.rms * fit->huber.rms * (double)cells;
    fit->cost = ur_student_squares(cells, R);
    return UNRELU_OK;
}

/* s->V to its minimum on the few rows (cut: on labels with cut tails), which is then judged */
static unrelu_status enter(race *s, int cut, unrelu_error *err)
{
    const ur_any_rows *rows = s->rows;
    ur_any_best *best = s->best;
    ur_any_fit *fit = &s->other, *least = &best->now;
    ur_newton few = s->whole;
    few.n = rows->n;
    few.x = rows->x;
    few.a = cut || s->robust ? rows->b : rows->a;
    memcpy(fit->fit.V, s->V, s->k * rows->p * sizeof *s->V);
    UR_TRY(ur_newton_solve(&few, FIRST_STEPS, FIRST_GAIN, ur_newton_floor(&s->given->data),
                           &fit->fit, err));
    few.a = rows->a;
    if (s->robust) {
        UR_TRY(ur_newton_huber(&few, FIRST_ROUNDS, ROUND_STEPS, FIRST_GAIN, &fit->fit, &fit->huber,
                               err));
        UR_TRY(weigh(&s->whole, fit, err));
    } else {
        UR_TRY(ur_newton_outer(&s->whole, &fit->fit, err));
        fit->cost = fit->fit.rss;
    }
    best->starts++;
    if (fit->cost < least->cost / (1 + AGREE)) {
        swap(&s->second, least);
        swap(least, fit);
        best->agree = 1;
    } else if (fit->cost <= least->cost * (1 + AGREE)) {
        best->agree++;
        if (fit->cost < least->cost)
            swap(least, fit);
    } else if (fit->cost < s->second.cost) {
        swap(&s->second, fit);
    }
    ur_progress(s->given->exec, "starts", (double)best->starts / (double)s->budget);
    return UNRELU_OK;
}

/* Rows up to sign from second moments, to which E adds nothing whatever its law (start.h). Signs:
 * all 2^k of them are tried for few neurons; beyond, and with hidden biases, those of start.h. */
unrelu_status ur_any_moments(const ur_problem *given, const ur_any_rows *rows, size_t k,
                             ur_moments_kind kind, double *V, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_frame *frame = rows->frame;
    int hidden = frame->terms.hidden;
    size_t weak = 0;
    ur_start start = {.sample = {rows->n, hidden ? rows->d : rows->p, rows->m,
                                 hidden ? rows->raw : rows->x, rows->b},
                      .k = k,
                      .f = given->options.activation,
                      .hidden = hidden,
                      .constant = frame->terms.constant,
                      .seed = given->options.seed,
                      .exec = given->exec};
    if (!hidden) {
        UR_TRY(ur_start_moments(&start, kind, V, NULL, err));
        return k <= TRY_ALL ? ur_any_choose_signs(rows, k, V, err)
                            : ur_start_signs(&start, UNRELU_SIGNS_REGRESSION, V, err);
    }
    /* found in the data's own coordinates, with c */
    double *raw = ur_take(&arena, k, rows->d * sizeof *raw), *c = ur_take(&arena, k, sizeof *c);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_start_moments(&start, kind, raw, NULL, err));
    UR_TRY(ur_start_biases(&start, raw, c, &weak, err));
    return ur_frame_enter(frame, start.f, k, raw, c, V, err);
}

static unrelu_status try_moments(race *s, ur_moments_kind kind, unrelu_error *err)
{
    unrelu_error why = {0};
    unrelu_status status = ur_any_moments(s->given, s->rows, s->k, kind, s->V, &why);
    if (status == UNRELU_OK)
        return enter(s, 1, err);
    s->best->skipped = 1;
    if (status == UNRELU_EDATA) /* the others remain */
        return UNRELU_OK;
    if (err)
        *err = why;
    return status;
}

static int is_over(const race *s)
{
    return ur_any_is_met(s->given, s->rows->frame, &s->best->now.fit) ||
           s->best->starts >= s->budget ||
           (s->given->options.budget == 0 && s->best->agree >= ENOUGH);
}

unrelu_status ur_any_race(const ur_problem *given, const ur_any_rows *rows, size_t k, int robust,
                          ur_arena *arena, ur_any_best *best, unrelu_error *err)
{
    UR_ARENA(own);
    uint64_t budget = given->options.budget > 0 ? given->options.budget : STARTS;
    race s = {.given = given, .rows = rows, .robust = robust, .k = k};
    s.budget = budget;
    s.best = best;
    s.whole = ur_frame_problem(rows->frame, given->options.activation, given->exec);
    s.V = ur_take(&own, k, rows->p * sizeof *s.V);
    double *z = ur_take(&own, k, (k + rows->p) * sizeof *z);
    *best = (ur_any_best){0};
    UR_TRY(ur_newton_alloc(&s.whole, k, arena, &best->now.fit, err));
    UR_TRY(ur_newton_alloc(&s.whole, k, arena, &s.second.fit, err));
    UR_TRY(ur_newton_alloc(&s.whole, k, arena, &s.other.fit, err));
    best->now.cost = s.second.cost = best->now.fit.rss = INFINITY;
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_any_spaces_make(rows, &own, &s.spaces, err));
    UR_TRY(try_moments(&s, UR_MOMENTS_REDUCED, err));
    if (!is_over(&s)) {
        UR_TRY(ur_any_halfspaces(rows, &s.spaces, k, given->options.seed, given->exec, s.V, err));
        UR_TRY(enter(&s, 1, err));
    }
    if (!is_over(&s))
        UR_TRY(try_moments(&s, UR_MOMENTS_LINEAR, err));
    while (!is_over(&s)) {
        if (ur_cancelled(given->exec))
            return ur_fail_cancelled(err);
        /* random, within the k leading rows of Q where there are so many */
        size_t p = rows->p, first = best->starts * k * p, wide = k <= s.spaces.r ? k : p;
        ur_random_normals(given->options.seed, UR_STREAM_ANY_RANDOM, first, k * wide, z);
        if (k <= s.spaces.r)
            ur_multiply(k, k, p, z, s.spaces.Q, s.V);
        else
            memcpy(s.V, z, k * p * sizeof *z);
        ur_unit_rows(k, p, s.V);
        UR_TRY(enter(&s, best->starts % 2 == 0, err));
    }
    /* the first, and the second where few agree on the first, on all rows of the frame */
    UR_TRY(ur_any_descend(given, &s.whole, UR_ANY_DOWN, robust, &best->now, err));
    if (best->agree >= ENOUGH || isinf(s.second.cost))
        return UNRELU_OK;
    UR_TRY(ur_any_descend(given, &s.whole, UR_ANY_DOWN, robust, &s.second, err));
    if (s.second.cost < best->now.cost)
        swap(&best->now, &s.second);
    return UNRELU_OK;
}

unrelu_status ur_any_descend(const ur_problem *given, const ur_newton *problem, ur_any_stage stage,
                             int robust, ur_any_fit *fit, unrelu_error *err)
{
    int last = stage == UR_ANY_LAST, steps = last ? LAST_STEPS : STEPS;
    double gain = last ? LAST_GAIN : GAIN;
    if (robust) {
        UR_TRY(ur_newton_huber(problem, ROUNDS, stage == UR_ANY_STEADY ? 0 : ROUND_STEPS, gain,
                               &fit->fit, &fit->huber, err));
        return weigh(problem, fit, err);
    }
    if (stage == UR_ANY_STEADY)
        UR_TRY(ur_newton_outer(problem, &fit->fit, err));
    else
        UR_TRY(
            ur_newton_solve(problem, steps, gain, ur_newton_floor(&given->data), &fit->fit, err));
    fit->cost = fit->fit.rss;
    return UNRELU_OK;
}
