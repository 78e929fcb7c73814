/* SPDX-License-Identifier: Apache-2.0 */
/* Neurons from many starts of pattern-CCA. Half of the starts are random directions; the others
 * look where the labels still are: for random w orthogonal to the coordinates w_j of the found
 * neurons, y w has none of them in it, and x'(y w) points to a mixture of the missing ones. With
 * one neuron missing that is the neuron itself, so that about 1.5k starts do what k ln k would. In
 * both kinds every second start is also made orthogonal to the found rows (not all: with k = d
 * and one row missing only one such direction is left). Starts come in rounds of a size that the
 * problem fixes, a round knows what the rounds before it found, and its runs are looked at in
 * order: threads do not change the result. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas.h"
#include "network/exact/exact.h"
#include "network/pattern/pattern.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 8 };
static const double SAME = 1e-6; /* rows closer than this are one neuron */

/* orthonormal rows, growing */
typedef struct {
    size_t length, count;
    double *rows;
} basis;

typedef struct {
    const ur_frame *frame;
    ur_pattern problem;
    ur_found *found;
    basis V, w; /* what the found rows and their coordinates span */
    uint64_t seed;
} search;

typedef struct {
    const search *s;
    ur_pattern_room *room;
    double *v, *w, *yw;              /* p, k, n */
    size_t index, found, in_V, in_w; /* of the start; what its round knows */
    int stops;                       /* it may end near a known row */
    ur_pattern_end end;
} run;

static void remove_span(const basis *b, size_t count, double *u)
{
    size_t length = b->length;
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j < count; j++) {
            const double *row = b->rows + j * b->length;
            ur_add(length, -ur_dot(length, row, u), row, u);
        }
}

static void extend(basis *b, const double *u)
{
    if (b->count == b->length)
        return;
    double *row = b->rows + b->count * b->length;
    memcpy(row, u, b->length * sizeof *row);
    remove_span(b, b->count, row);
    double norm = ur_norm(b->length, row);
    if (norm < 1e-6) /* u is a unit vector */
        return;
    ur_scale(b->length, 1 / norm, row);
    b->count++;
}

static void choose_start(run *r)
{
    const search *s = r->s;
    const ur_pattern *q = &s->problem;
    size_t p = q->p, k = q->k;
    ur_random_normals(s->seed, UR_STREAM_EXACT, r->index * (p + k), p, r->v);
    if (r->index % 2 == 1 && r->in_w > 0 && r->in_w < k) {
        ur_random_normals(s->seed, UR_STREAM_EXACT, r->index * (p + k) + p, k, r->w);
        remove_span(&s->w, r->in_w, r->w);
        ur_gemv(UR_PLAIN, q->n, k, 1, q->y, k, r->w, 0, r->yw);
        ur_gemv(UR_TURNED, q->n, p, 1, q->x, p, r->yw, 0, r->v);
    }
    if (r->index % 4 < 2 && r->in_V < p)
        remove_span(&s->V, r->in_V, r->v);
}

static void run_one(void *runs, size_t i)
{
    run *r = (run *)runs + i;
    choose_start(r);
    r->end = ur_pattern_run(&r->s->problem, r->room, r->s->found->V, r->stops ? r->found : 0, r->v,
                            r->w);
}

static int is_known(const ur_found *found, size_t p, const double *v)
{
    for (size_t j = 0; j < found->found; j++) {
        double distance = 0;
        for (size_t i = 0; i < p; i++)
            distance = fmax(distance, fabs(v[i] - found->V[j * p + i]));
        if (distance < SAME)
            return 1;
    }
    return 0;
}

/* Where e is fitted the constant function is a fixed point too, and so is any that is linear at
 * the samples but few: on everywhere, and no neuron. */
static void look_at(search *s, const run *r, double slack)
{
    size_t p = s->problem.p, k = s->problem.k;
    ur_found *found = s->found;
    int constant = s->frame->terms.constant && s->problem.n - r->end.active < k;
    found->starts++;
    if (1 - r->end.rho > slack || constant || is_known(found, p, r->v))
        return;
    memcpy(found->V + found->found * p, r->v, p * sizeof *r->v);
    memcpy(found->w + found->found * k, r->w, k * sizeof *r->w);
    extend(&s->V, r->v);
    extend(&s->w, r->w);
    found->found++;
}

static unrelu_status play_round(search *s, run *runs, size_t count, double slack, int stops,
                                int together, const unrelu_exec *exec, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < count; i++) {
        runs[i].index = s->found->starts + i;
        runs[i].found = s->found->found;
        runs[i].in_V = s->V.count;
        runs[i].in_w = s->w.count;
        runs[i].stops = stops;
    }
    if (together) {
        unrelu_exec silent = exec ? *exec : unrelu_exec_default();
        silent.progress = NULL;
        status = ur_parallel_for(&silent, "searching", count, run_one, runs, err);
    }
    if (ur_cancelled(exec))
        status = ur_fail_cancelled(err);
    for (size_t i = 0; i < count && status == UNRELU_OK && s->found->found < s->found->k; i++) {
        if (!together)
            run_one(runs, i);
        look_at(s, &runs[i], slack);
    }
    return status;
}

static unrelu_status prepare(search *s, run *runs, size_t round, ur_arena *arena, unrelu_error *err)
{
    const ur_pattern *q = &s->problem;
    ur_found *found = s->found;
    found->V = ur_take(arena, found->k, q->p * sizeof *found->V);
    found->w = ur_take(arena, found->k, q->k * sizeof *found->w);
    s->V = (basis){.length = q->p, .rows = ur_alloc(q->p, q->p * sizeof(double))};
    s->w = (basis){.length = q->k, .rows = ur_alloc(q->k, q->k * sizeof(double))};
    int good = found->V && found->w && s->V.rows && s->w.rows;
    for (size_t i = 0; i < round && good; i++) {
        runs[i] = (run){.s = s,
                        .room = ur_pattern_room_new(q),
                        .v = ur_doubles(q->p),
                        .w = ur_doubles(q->k),
                        .yw = ur_doubles(q->n)};
        good = runs[i].room && runs[i].v && runs[i].w && runs[i].yw;
    }
    return good ? UNRELU_OK : ur_fail_memory(err, q->n * q->p, "numbers of the search");
}

unrelu_status ur_exact_search(const ur_frame *frame, const double *y, size_t rank, size_t wanted,
                              double degree, double slack, size_t starts, size_t patience,
                              uint64_t seed, const unrelu_exec *exec, ur_arena *arena,
                              ur_found *found, unrelu_error *err)
{
    run runs[ROUND] = {0};
    *found = (ur_found){.k = wanted};
    search s = {.frame = frame, .found = found, .seed = seed};
    s.problem = (ur_pattern){frame->n, frame->p, rank, frame->x, y, degree};
    /* starting threads costs about 50 microseconds: small problems go one by one */
    int heavy = (double)frame->n * (double)frame->p * (double)(frame->p + 2 * rank) > 2e5;
    size_t round = heavy ? ROUND : 1;
    unrelu_status status = prepare(&s, runs, round, arena, err);
    while (status == UNRELU_OK && found->starts < starts && found->found < wanted) {
        size_t left = starts - found->starts;
        ur_progress(exec, "searching", (double)found->found / (double)wanted);
        if (found->found == 0 && found->starts >= patience)
            break;
        /* later runs do not stop near a known row: it may have a close twin */
        status = play_round(&s, runs, left < round ? left : round, slack,
                            found->starts < starts / 2, heavy && ur_threads(exec) > 1, exec, err);
    }
    for (size_t i = 0; i < round; i++) {
        ur_pattern_room_free(runs[i].room);
        free(runs[i].v);
        free(runs[i].w);
        free(runs[i].yw);
    }
    free(s.V.rows);
    free(s.w.rows);
    return status;
}
