/* SPDX-License-Identifier: Apache-2.0 */
/* Neurons by deflated pattern-CCA (network/pattern/deflated.h). With signs, which needs d + 1 rows
 * only where a neuron is on. And without them: rows of V up to sign, then each sign by itself, as
 * the output of a neuron lies in the span of the labels (and 1, where e is fitted) and that of its
 * opposite mostly does not. That is a check too: a row that is wrong passes with neither sign. Both
 * pass where the labels have v x beside the neuron: a pair v, -v, or a linear part.
 * Starts alternate: a random direction; one where the labels still are. They come in rounds of a
 * size that the problem fixes, and a round knows what the rounds before it found: threads do not
 * change the result. (64,64,64) with biases: 64 neurons from about 70 starts in both ways; with 8
 * rows for an input and no biases those without signs wander, and take thrice as long. */
#include "base/error.h"
#include "base/random.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/pattern/deflated.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

/* A round has one start for so many neurons that are missing: of two that find the same one is
 * lost. Pace: fewer rounds, more that are lost. */
enum { ROUND = 8, MISSING_A_START = 4 };
/* Starts in a row without a neuron after which a hunt ends. Pace: of those that can find one nearly
 * all do, and what is left out is looked for otherwise. */
enum { FRUITLESS = 12 };
/* Pace: operations of a step, rows times p (p + 2 k), below which starts go one by one, as starting
 * threads costs about 50 microseconds. The bits do not depend on it. */
static const double HEAVY = 2e5;
/* |w| beside what is known, of |w|: below it a fixed point is made of known neurons. Pace: what
 * passes wrongly meets no labels. */
static const double FRESH = 1e-5;

typedef struct {
    const ur_search *given;
    ur_deflated problem;
    ur_basis w; /* what is known, in y */
    double *V;  /* (k, p): rows that were found, */
    double *W;  /* (k, k): their coordinates */
    size_t found, starts, fruitless;
    const ur_found *before; /* neurons that were known before; NULL: none */
    struct {
        ur_deflated_room *room;
        double *v, *w;
        size_t index;
        ur_deflated_end end;
    } run[ROUND];
} hunt;

/* ---- the hunt ---- */

static unrelu_status hunt_open(const ur_search *given, ur_deflated problem, ur_arena *arena,
                               hunt *h, unrelu_error *err)
{
    size_t p = problem.p, k = problem.k, number = sizeof(double);
    *h = (hunt){.given = given,
                .V = ur_take(arena, k, p * number),
                .W = ur_take(arena, k, k * number),
                .w = {.length = k, .rows = ur_take(arena, k, k * number)}};
    problem.known = h->w.rows;
    h->problem = problem;
    for (size_t i = 0; i < ROUND; i++) {
        h->run[i].room = ur_deflated_room_in(arena, &problem);
        h->run[i].v = ur_take(arena, p, number);
        h->run[i].w = ur_take(arena, k, number);
    }
    return ur_arena_status(arena, err);
}

static void run_one(void *context, size_t i)
{
    hunt *h = context;
    const ur_deflated *q = &h->problem;
    size_t p = q->p, k = q->k, first = h->run[i].index * (p + k);
    double *v = h->run[i].v, *w = h->run[i].w;
    ur_random_normals(h->given->seed, UR_STREAM_HUNT, first, p, v);
    ur_random_normals(h->given->seed, UR_STREAM_HUNT, first + p, k, w);
    ur_basis_remove(&h->w, h->w.count, w);
    if (h->run[i].index % 2 == 1)
        ur_deflated_aim(q, h->run[i].room, w, v);
    h->run[i].end = ur_deflated_run(q, h->run[i].room, v, w);
}

/* Enough rows on both sides? With signs, where e is fitted, what is linear at the samples but few
 * is the constant, and no neuron. */
static int has_sides(const hunt *h, size_t on)
{
    const ur_deflated *q = &h->problem;
    size_t off = q->n - on;
    if (!q->signs)
        return on > q->p && off > q->p;
    return !h->given->frame->terms.constant || off >= q->k;
}

static unrelu_status play_round(hunt *h, size_t count, unrelu_error *err)
{
    const unrelu_exec *exec = h->given->exec;
    size_t n = h->problem.n, p = h->problem.p, k = h->problem.k;
    unrelu_exec silent = exec ? *exec : (unrelu_exec){0};
    silent.progress = NULL;
    if ((double)n * (double)p * (double)(p + 2 * k) < HEAVY)
        silent.threads = 1;
    h->problem.knowns = h->w.count;
    for (size_t i = 0; i < count; i++)
        h->run[i].index = h->starts + i;
    h->starts += count;
    UR_TRY(ur_parallel_for(&silent, "searching", count, run_one, h, err));
    if (ur_cancelled(exec))
        return ur_fail_cancelled(err);
    for (size_t i = 0; i < count; i++) {
        ur_deflated_end end = h->run[i].end;
        h->fruitless++;
        if (1 - end.rho > h->given->slack || !has_sides(h, end.on) || !(end.fresh > FRESH) ||
            !ur_basis_grow(&h->w, h->run[i].w, FRESH))
            continue;
        memcpy(h->V + h->found * p, h->run[i].v, p * sizeof *h->V);
        memcpy(h->W + h->found * k, h->run[i].w, k * sizeof *h->W);
        h->found++;
        h->fruitless = 0;
    }
    return UNRELU_OK;
}

static unrelu_status show(const hunt *h, unrelu_error *err)
{
    const ur_found *before = h->before;
    const ur_find find = {.kind = h->problem.signs ? UR_KEPT_NEURONS : UR_KEPT_KINKS,
                          .known = before ? before->found : 0,
                          .others = h->found,
                          .V = before ? before->V : NULL,
                          .W = h->V,
                          .wanted = h->given->wanted,
                          .starts = h->starts,
                          .measure = -(double)(h->found + (before ? before->found : 0))};
    ur_count(h->given->exec, (unrelu_counts){.stage = "searching",
                                             .fraction = (double)h->w.count / (double)h->problem.k,
                                             .found = find.known + find.others,
                                             .wanted = find.wanted,
                                             .starts = find.starts,
                                             .residual = NAN});
    return ur_watch_show(h->given->watch, h->given->frame, find, err);
}

static unrelu_status play(hunt *h, size_t most, unrelu_error *err)
{
    size_t k = h->problem.k;
    while (h->w.count < k && h->found < most && h->fruitless < FRUITLESS) {
        size_t round = (k - h->w.count) / MISSING_A_START;
        round = round < 1 ? 1 : round > ROUND ? ROUND : round;
        UR_TRY(show(h, err));
        UR_TRY(play_round(h, round, err));
    }
    return show(h, err);
}

unrelu_status ur_found_open(const ur_search *given, ur_arena *kept, ur_found *found,
                            unrelu_error *err)
{
    size_t k = given->wanted, number = sizeof(double);
    *found = (ur_found){.k = k,
                        .V = ur_take(kept, k, given->frame->p * number),
                        .w = ur_take(kept, k, given->rank * number)};
    return ur_arena_status(kept, err);
}

/* ---- without signs ---- */

/* Rows for each coordinate of v, beside those for each of w. Pace: with fewer rows without signs
 * few starts find a neuron. */
enum { ROWS_A_COORDINATE = 3 };

/* y (n x (m + 1)) spans what the labels, and 1, have outside of the span of x: its rank. one
 * (rank): the coordinates of 1, 0 where it lies in that span */
static unrelu_status label_kinks(const ur_frame *f, double tolerance, double *y, size_t *rank,
                                 double *one, unrelu_error *err)
{
    size_t n = f->n, p = f->p, m = f->m, wide = m + 1;
    UR_ARENA(arena);
    double *rest = ur_take(&arena, n, wide * sizeof *rest);
    double *B = ur_take(&arena, p, wide * sizeof *B);
    double *diagonal = ur_take(&arena, wide, sizeof *diagonal), largest = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        memcpy(rest + i * wide, f->a + i * m, m * sizeof *rest);
        rest[i * wide + m] = 1;
    }
    for (size_t j = 0; j < wide; j++)
        largest = fmax(largest, ur_norm_steps(n, rest + j, wide));
    for (int twice = 0; twice < 2; twice++) {
        ur_multiply_tn(n, p, wide, f->x, rest, B);
        ur_gemm(UR_PLAIN, UR_PLAIN, n, wide, p, -1 / (double)n, f->x, p, B, wide, 1, rest, wide);
    }
    double left = ur_norm_steps(n, rest + m, wide);
    for (size_t i = 0; i < n && !(left > tolerance * sqrt((double)n)); i++)
        rest[i * wide + m] = 0;
    UR_TRY(ur_qr_pivoted(n, wide, rest, tolerance, rank, y, NULL, diagonal, err));
    if (!(diagonal[0] > tolerance * largest)) /* the labels are linear */
        *rank = 0;
    for (size_t j = 0; j < *rank; j++)
        one[j] = ur_dot_steps(n, y + j, *rank, rest + m, wide);
    return UNRELU_OK;
}

/* f of both signs of row j: columns 2 j and 2 j + 1 of r (n x 2 rows), at unit length; then w (rank
 * x 2 rows) are their coordinates in y, and r what is left of them */
static void project_outputs(const ur_search *given, const double *t, size_t rows, double *r,
                            double *w)
{
    size_t n = given->frame->n, rank = given->rank, count = 2 * rows;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < rows; j++) {
            double value = t[i * rows + j];
            r[i * count + 2 * j] = fmax(0, value);
            r[i * count + 2 * j + 1] = fmax(0, -value);
        }
    for (size_t j = 0; j < count; j++) {
        double factor = 1 / ur_norm_steps(n, r + j, count);
        for (size_t i = 0; i < n; i++)
            r[i * count + j] *= factor;
    }
    ur_multiply_tn(n, rank, count, given->y, r, w);
    ur_gemm(UR_PLAIN, UR_PLAIN, n, count, rank, -1, given->y, rank, w, count, 1, r, count);
}

/* row j of V, or its opposite, becomes a row of found */
static void give_row(const hunt *h, size_t j, int opposite, const double *w, size_t place,
                     ur_found *found)
{
    size_t p = h->problem.p, rank = h->given->rank;
    for (size_t i = 0; i < p; i++)
        found->V[place * p + i] = opposite ? -h->V[j * p + i] : h->V[j * p + i];
    for (size_t i = 0; i < rank; i++)
        found->w[place * rank + i] = w[i * 2 * h->found + 2 * j + (size_t)opposite];
}

static unrelu_status give_signs(const hunt *h, ur_found *found, unrelu_error *err)
{
    const ur_search *given = h->given;
    size_t n = h->problem.n, p = h->problem.p, count = 2 * h->found;
    double outside = sqrt(given->slack); /* of their length: as far off as in 1 - rho */
    UR_ARENA(arena);
    double *t = ur_take(&arena, n, h->found * sizeof *t);
    double *r = ur_take(&arena, n, count * sizeof *r);
    double *w = ur_take(&arena, given->rank, count * sizeof *w);
    int *both = ur_take(&arena, h->found, sizeof *both); /* 1 + whether the opposite fits less */
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_nt(n, p, h->found, h->problem.x, h->V, t);
    project_outputs(given, t, h->found, r, w);
    for (size_t j = 0; j < h->found && found->found < found->k; j++) {
        double plus = ur_norm_steps(n, r + 2 * j, count);
        double minus = ur_norm_steps(n, r + 2 * j + 1, count);
        int opposite = minus < plus;
        if (!(fmin(plus, minus) <= outside))
            continue;
        give_row(h, j, opposite, w, found->found++, found);
        both[j] = fmax(plus, minus) <= outside ? 1 + opposite : 0;
    }
    for (size_t j = 0; j < h->found && found->found + found->opposite < found->k; j++)
        if (both[j])
            give_row(h, j, 2 - both[j], w, found->found + found->opposite++, found);
    return UNRELU_OK;
}

unrelu_status ur_exact_kinks(const ur_search *given, double tolerance, ur_arena *kept,
                             ur_found *found, unrelu_error *err)
{
    const ur_frame *frame = given->frame;
    size_t n = frame->n, p = frame->p, number = sizeof(double), k = 0;
    UR_ARENA(arena);
    double *y = ur_take(&arena, n, (frame->m + 1) * number);
    double *one = ur_take(&arena, frame->m + 1, number);
    hunt h;
    UR_TRY(ur_found_open(given, kept, found, err));
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(label_kinks(frame, tolerance, y, &k, one, err));
    if (k == 0 || n < ROWS_A_COORDINATE * p + k)
        return UNRELU_OK;
    const ur_deflated problem = {.n = n, .p = p, .k = k, .x = frame->x, .y = y};
    UR_TRY(hunt_open(given, problem, &arena, &h, err));
    if (ur_norm(k, one) > 0)
        ur_basis_grow(&h.w, one, 0);
    UR_TRY(play(&h, k, err));
    found->starts = h.starts;
    found->complete = h.w.count == k;
    return h.found > 0 ? give_signs(&h, found, err) : UNRELU_OK;
}

/* ---- with signs ---- */

unrelu_status ur_exact_signed(const ur_search *given, ur_found *found, unrelu_error *err)
{
    const ur_frame *frame = given->frame;
    size_t n = frame->n, p = frame->p, k = given->rank, before = found->found;
    UR_ARENA(arena);
    hunt h;
    const ur_deflated problem = {.n = n, .p = p, .k = k, .x = frame->x, .y = given->y, .signs = 1};
    UR_TRY(hunt_open(given, problem, &arena, &h, err));
    h.before = found;
    double *one = ur_take(&arena, k, sizeof *one), *ones = ur_take(&arena, n, sizeof *ones);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    ur_gemv(UR_TURNED, n, k, 1, given->y, k, ones, 0, one);
    if (frame->terms.constant)
        ur_basis_grow(&h.w, one, FRESH);
    for (size_t j = 0; j < before; j++)
        ur_basis_grow(&h.w, found->w + j * k, FRESH);
    UR_TRY(play(&h, given->wanted - before, err));
    memcpy(found->V + before * p, h.V, h.found * p * sizeof *h.V);
    memcpy(found->w + before * k, h.W, h.found * k * sizeof *h.W);
    found->found += h.found;
    found->starts += h.starts;
    return UNRELU_OK;
}
