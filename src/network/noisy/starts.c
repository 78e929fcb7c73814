/* SPDX-License-Identifier: Apache-2.0 */
/* The best of several starts for a given k: second-order score tensors (of the linear residual,
 * reduced, and of all quadratics where there are rows for it), fixed points of pattern-CCA (which
 * are close where the noise is small), and random rows; each led to a minimum by Gauss-Newton. The
 * tensor is what makes k >= 10 with noise work; the others are cheap insurance, and their number
 * that agrees is reported. */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/student.h"
#include "network/data/cut_tails.h"
#include "network/exact/exact.h"
#include "network/noisy/folded.h"
#include "network/noisy/noisy.h"
#include "network/problem/start.h"
#include "network/problem/tolerance.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    STEPS = 40,
    RANDOM_STARTS = 2,
    SPLITS = 4,
    FOLDED = 6
}; /* what is slower leads to no better place */
/* of the root mean square of a row of labels: smaller rows get no larger weight */
static const double LEAST_ROW = 1e-3;
/* 1 - rho of a fixed point that may lead to a neuron, with noise */
static const double NEAR = 0.1;
/* rows beyond which a factorisation of the labels takes longer than a start is worth */
enum { MOST_PATTERN_ROWS = 20000, TRIES_A_NEURON = 4, LEAST_TRIES = 20, PATIENCE = 12 };

double ur_parameters(const ur_problem *given, size_t k, ur_terms terms)
{
    size_t each = given->data.d + given->data.m + (terms.hidden ? 1 : 0);
    if (ur_activation_degree(given->options.activation) > 0)
        each--;
    return (double)(k * each + (terms.constant ? given->data.m : 0));
}

typedef struct {
    const ur_problem *given;
    const ur_frame *frame;
    ur_newton problem;
    ur_start start; /* raw rows of the frame */
    double *x;      /* (n, d) */
    double *weight; /* n, or NULL */
    double *cut;    /* (n, m): robust: labels with cut tails; else NULL */
    double *raw;    /* (k, q): a start in the data's coordinates */
    double *c;      /* k */
    double *cost;   /* of every start that ran */
    double gain;    /* of rss: where a start ends */
    ur_best *best;
} race;

/* per cell of the frame: all that the fit saw, and nothing else */
static void set_criterion(const ur_problem *given, const ur_frame *frame, size_t k, ur_best *best)
{
    double cells = (double)(frame->n * frame->m);
    best->residual = sqrt(best->fit.rss / frame->size);
    best->bic = cells * log(fmax(best->cost / cells, DBL_MIN)) +
                ur_parameters(given, k, frame->terms) * log(cells);
}

/* what the starts need, in `arena`; the best fit in `kept` */
static unrelu_status open_race(race *q, size_t k, ur_arena *arena, ur_arena *kept,
                               unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    const ur_data *data = &q->given->data;
    const unrelu_recover_options *o = &q->given->options;
    q->problem = ur_frame_problem(frame, o->activation, q->given->exec);
    q->x = ur_take(arena, frame->n, frame->d * sizeof *q->x);
    q->raw = ur_take(arena, k, (frame->q + 1) * sizeof *q->raw);
    q->c = ur_take(arena, k, sizeof *q->c);
    q->cost = ur_take(arena, 64, sizeof *q->cost);
    if (o->robust)
        q->cut = ur_take(arena, frame->n, frame->m * sizeof *q->cut);
    /* exp(t^2) has no moments to speak of: rows are weighted by the inverse of their labels */
    if (o->activation.kind == UNRELU_EXPM1SQ)
        q->weight = ur_take(arena, frame->n, sizeof *q->weight);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_newton_alloc(&q->problem, k, kept, &q->best->fit, err));
    int heavy = 0;
    if (q->cut)
        UR_TRY(ur_cut_tails(frame->n, frame->m, frame->a, q->cut, &heavy, err));
    for (size_t i = 0; i < frame->n; i++)
        memcpy(q->x + i * frame->d, data->x + frame->row[i] * frame->d, frame->d * sizeof *q->x);
    double mean = sqrt(frame->size / (double)frame->n);
    for (size_t i = 0; i < frame->n && q->weight; i++) {
        double norm = 0;
        for (size_t j = 0; j < frame->m; j++)
            norm = hypot(norm, frame->a[i * frame->m + j]);
        q->weight[i] = 1 / fmax(norm, LEAST_ROW * mean);
    }
    q->start =
        (ur_start){.sample = {frame->n, frame->d, frame->m, q->x, q->cut ? q->cut : frame->a},
                   .k = k,
                   .f = o->activation,
                   .hidden = frame->terms.hidden,
                   .constant = frame->terms.constant,
                   .seed = o->seed,
                   .exec = q->given->exec};
    return UNRELU_OK;
}

/* from the minimum for labels with cut tails to that of Huber's objective for the labels */
static unrelu_status go_on(const race *q, ur_newton_fit *fit, double *cost, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t cells = q->problem.n * q->problem.m;
    double *R = ur_take(&arena, cells, sizeof *R);
    ur_huber huber;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_newton_huber(&q->problem, UR_HUBER_ROUNDS, UR_HUBER_STEPS, UR_START_GAIN, fit, &huber,
                           err));
    UR_TRY(ur_newton_rest(&q->problem, fit, R, err));
    *cost = ur_student_squares(cells, R);
    return UNRELU_OK;
}

/* one start, V (k x p) in the frame, to its minimum */
static unrelu_status enter(race *q, const double *V, unrelu_error *err)
{
    size_t k = q->start.k;
    UR_ARENA(arena);
    ur_newton_fit fit;
    double enough = ur_newton_floor(&q->given->data);
    UR_TRY(ur_newton_alloc(&q->problem, k, &arena, &fit, err));
    memcpy(fit.V, V, k * q->frame->p * sizeof *V);
    if (q->weight) {
        ur_newton weighted = q->problem;
        weighted.weight = q->weight;
        UR_TRY(ur_newton_solve(&weighted, STEPS, q->gain, enough, &fit, err));
    }
    ur_newton first = q->problem;
    first.a = q->cut ? q->cut : first.a;
    UR_TRY(ur_newton_solve(&first, STEPS, q->gain, enough, &fit, err));
    q->best->work += (double)fit.steps * (double)q->frame->n * pow((double)(k * q->frame->p), 2);
    double cost = fit.rss;
    if (q->cut)
        UR_TRY(go_on(q, &fit, &cost, err));
    if (q->best->starts == 0 || cost < q->best->cost) {
        ur_newton_copy(&q->problem, &fit, &q->best->fit);
        q->best->cost = cost;
    }
    q->cost[q->best->starts++] = cost;
    ur_count(q->given->exec, (unrelu_counts){.stage = "fitting noisy labels",
                                             .fraction = -1,
                                             .found = k,
                                             .starts = q->best->starts,
                                             .residual = sqrt(q->best->fit.rss / q->frame->size)});
    return UNRELU_OK;
}

/* rows q->raw (k x d) and q->c, signed */
static unrelu_status enter_raw(race *q, unrelu_error *err)
{
    size_t k = q->start.k;
    UR_ARENA(arena);
    double *inside = ur_take(&arena, k, q->frame->q * sizeof *inside);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_enter(q->frame, q->start.f, k, q->raw, q->c, inside, err));
    return enter(q, inside, err);
}

static unrelu_status try_moments(race *q, ur_moments_kind kind, unrelu_error *err)
{
    unrelu_error why = {0};
    size_t weak = 0;
    memset(q->c, 0, q->start.k * sizeof *q->c);
    unrelu_status status = ur_start_moments(&q->start, kind, q->raw, NULL, &why);
    if (status == UNRELU_OK && q->start.hidden && q->start.f.kind == UNRELU_RELU)
        status = ur_start_biases(&q->start, q->raw, q->c, &weak, &why);
    else if (status == UNRELU_OK)
        status = ur_start_signs(&q->start, q->given->options.signs, q->raw, &why);
    if (status == UNRELU_EDATA) { /* this start does not exist; others may */
        q->best->skipped = 1;
        return UNRELU_OK;
    }
    if (status != UNRELU_OK) {
        if (err)
            *err = why;
        return status;
    }
    return enter_raw(q, err);
}

/* fixed points of largest correlation, whatever it is: near the neurons where noise is small */
static unrelu_status try_patterns(race *q, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t k = q->start.k, wide = frame->m + (frame->terms.constant ? 1 : 0), rank = 0;
    size_t most = k + (frame->terms.constant ? 1 : 0);
    if (frame->m < k || frame->n > MOST_PATTERN_ROWS || !ur_activation_rectifies(q->start.f) ||
        ur_activation_degree(q->start.f) <= 0)
        return UNRELU_OK;
    UR_ARENA(arena);
    ur_found found;
    double *labels = ur_take(&arena, frame->n, wide * sizeof *labels);
    double *U = ur_take(&arena, frame->n, wide * sizeof *U);
    double *s = ur_take(&arena, wide, sizeof *s), *Vt = ur_take(&arena, wide, wide * sizeof *Vt);
    double *y = ur_take(&arena, frame->n, most * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < frame->n; i++) {
        memcpy(labels + i * wide, frame->a + i * frame->m, frame->m * sizeof *labels);
        if (frame->terms.constant)
            labels[i * wide + frame->m] = sqrt(q->frame->size / (double)frame->n);
    }
    UR_TRY(ur_svd(frame->n, wide, labels, U, s, Vt, err));
    rank = most < wide ? most : wide;
    for (size_t i = 0; i < frame->n; i++)
        memcpy(y + i * rank, U + i * wide, rank * sizeof *y);
    const ur_search search = {.frame = frame,
                              .y = y,
                              .rank = rank,
                              .wanted = k,
                              .degree = ur_activation_degree(q->start.f),
                              .slack = NEAR,
                              .starts = TRIES_A_NEURON * k + LEAST_TRIES,
                              .patience = PATIENCE,
                              .seed = q->start.seed,
                              .exec = q->given->exec};
    UR_TRY(ur_exact_search(&search, &arena, &found, err));
    return found.found == k ? enter(q, found.V, err) : UNRELU_OK;
}

/* random rows behind the first `known`, which are given */
static unrelu_status try_random(race *q, size_t number, size_t known, unrelu_error *err)
{
    size_t k = q->start.k, d = q->frame->d;
    uint64_t first = (1000000 + number * 1000 + k) * 1000003;
    ur_random_normals(q->start.seed, UR_STREAM_FILL, first, (k - known) * d, q->raw + known * d);
    ur_unit_rows(k - known, d, q->raw + known * d);
    memset(q->c + known, 0, (k - known) * sizeof *q->c);
    return enter_raw(q, err);
}

/* `known` rows v, c into q->raw and q->c */
static void set_raw(race *q, const double *before, size_t known)
{
    size_t d = q->frame->d, wide = q->frame->q;
    for (size_t j = 0; j < known; j++) {
        memcpy(q->raw + j * d, before + j * wide, d * sizeof *q->raw);
        q->c[j] = wide > d ? before[j * wide + d] : 0;
    }
}

static unrelu_status try_same(race *q, const double *before, unrelu_error *err)
{
    set_raw(q, before, q->start.k);
    return enter_raw(q, err);
}

static unrelu_status try_grown(race *q, const double *before, size_t smaller, unrelu_error *err)
{
    if (!before || smaller >= q->start.k)
        return UNRELU_OK;
    set_raw(q, before, smaller);
    return try_random(q, 500, smaller, err);
}

/* A neuron of the best fit with fewer becomes two, a step to both sides of it: two kinks that are
 * close together look like one to fewer neurons, and lie beyond the reach of random rows. */
static unrelu_status try_split(race *q, const double *before, size_t smaller, size_t number,
                               unrelu_error *err)
{
    static const double step[] = {0.3, 0.03}; /* of the length of the row, in the frame */
    size_t k = q->start.k, d = q->frame->d, wide = q->frame->q, p = q->frame->p;
    if (!before || smaller == 0 || smaller + 1 != k)
        return UNRELU_OK;
    size_t which = number % smaller;
    UR_ARENA(arena);
    double *inside = ur_take(&arena, k, wide * sizeof *inside);
    double *aside = ur_take(&arena, p, sizeof *aside);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < k; j++) {
        const double *row = before + (j < smaller ? j : which) * wide;
        memcpy(q->raw + j * d, row, d * sizeof *q->raw);
        q->c[j] = wide > d ? row[d] : 0;
    }
    UR_TRY(ur_frame_enter(q->frame, q->start.f, k, q->raw, q->c, inside, err));
    double *one = inside + which * p, *other = inside + smaller * p;
    uint64_t first = (2000000 + number * 1000 + k) * 1000003;
    ur_random_normals(q->start.seed, UR_STREAM_FILL, first, p, aside);
    double along = ur_dot(p, aside, one) / ur_dot(p, one, one);
    ur_add(p, -along, one, aside);
    ur_unit_rows(1, p, aside);
    double size = step[number / smaller % 2] * ur_norm(p, one);
    ur_add(p, size, aside, one);
    ur_add(p, -size, aside, other);
    return enter(q, inside, err);
}

/* rows without signs, which then get them */
static unrelu_status try_folded(race *q, size_t number, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t k = q->start.k, found = k;
    UR_ARENA(arena);
    double *rows;
    UR_TRY(
        ur_folded_start(q->given, frame->terms, frame->n, k, number, &found, &arena, &rows, err));
    if (found != k)
        return UNRELU_OK;
    set_raw(q, rows, k);
    return enter_raw(q, err);
}

static size_t count_agreeing(const race *q)
{
    size_t agree = 0;
    for (size_t i = 0; i < q->best->starts; i++)
        agree += q->cost[i] <= q->best->cost * (1 + UR_AGREE);
    return agree;
}

static int is_over(const race *q, size_t enough)
{
    double least = q->given->data.floor;
    int met = q->best->starts > 0 && q->best->fit.rss <= least * least * q->frame->size;
    return met || count_agreeing(q) >= enough;
}

/* all but rows without signs */
static unrelu_status try_others(race *q, int joint, size_t enough, const double *before,
                                size_t smaller, unrelu_error *err)
{
    static const ur_moments_kind kinds[] = {UR_MOMENTS_QUADRATIC, UR_MOMENTS_REDUCED,
                                            UR_MOMENTS_LINEAR};
    if (joint)
        UR_TRY(try_grown(q, before, smaller, err));
    for (size_t i = 0; joint && enough > 1 && i < SPLITS && !is_over(q, SIZE_MAX); i++)
        UR_TRY(try_split(q, before, smaller, i, err));
    for (size_t i = 0; i < 3 && !is_over(q, enough); i++)
        UR_TRY(try_moments(q, kinds[i], err));
    if (!is_over(q, enough))
        UR_TRY(try_patterns(q, err));
    if (!joint && !is_over(q, enough))
        UR_TRY(try_grown(q, before, smaller, err));
    size_t tries = joint || q->best->starts == 0 ? 3 * RANDOM_STARTS : RANDOM_STARTS;
    for (size_t i = 0; i < tries && !is_over(q, enough); i++)
        UR_TRY(try_random(q, i, 0, err));
    return UNRELU_OK;
}

unrelu_status ur_starts(const ur_problem *given, const ur_frame *frame, size_t k, size_t enough,
                        double gain, const double *before, size_t smaller, ur_arena *arena,
                        ur_best *best, unrelu_error *err)
{
    memset(best, 0, sizeof *best);
    race q = {.given = given, .frame = frame, .gain = gain, .best = best};
    int joint = frame->m < k; /* fewer labels than neurons: moments are weak, growth is better */
    UR_ARENA(own);
    UR_TRY(open_race(&q, k, &own, arena, err));
    if (before && smaller == k) { /* it was chosen, and is no witness that others agree */
        UR_TRY(try_same(&q, before, err));
        enough++;
    }
    size_t before_folded = best->starts,
           folded = joint && ur_folded_applies(given, frame->terms, k) ? FOLDED : 0;
    for (size_t i = 0; i < folded && !is_over(&q, enough); i++)
        UR_TRY(try_folded(&q, i, err));
    if (best->starts == before_folded)
        UR_TRY(try_others(&q, joint, enough, before, smaller, err));
    best->agree = count_agreeing(&q);
    if (before && smaller == k && best->starts > 1) {
        best->agree -= best->agree > 1;
        best->starts--;
    }
    set_criterion(given, frame, k, best);
    return UNRELU_OK;
}

unrelu_status ur_start_once(const ur_problem *given, const ur_frame *frame, size_t k,
                            const double *V, double goal, double gain, ur_arena *arena,
                            ur_best *best, unrelu_error *err)
{
    memset(best, 0, sizeof *best);
    race q = {.given = given, .frame = frame, .gain = gain, .best = best};
    UR_ARENA(own);
    UR_TRY(open_race(&q, k, &own, arena, err));
    if (!q.cut && !q.weight)
        q.problem.goal = goal;
    UR_TRY(enter(&q, V, err));
    best->agree = 1;
    set_criterion(given, frame, k, best);
    return UNRELU_OK;
}
