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
#include "base/random.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "network/exact/exact.h"
#include "network/pattern/pattern.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { ROUND = 8 };
/* Pace: operations of a step (rows times p (p + 2 rank)) below which starts go one by one, as
 * starting threads costs about 50 microseconds. It decides what a round knows, hence the bits; what
 * is found is judged by rho and the certificate. */
static const double HEAVY = 2e5;

typedef struct {
    const ur_search *given;
    ur_pattern problem;
    ur_found *found;
    ur_basis V, w;            /* what the found rows and their coordinates span */
    size_t known, in_V, in_w; /* what this round knows: found rows, dimensions of the two */
    int stops;                /* its runs may end near a known row */
    struct {
        ur_pattern_room *room;
        double *v, *w, *yw; /* p, k, n */
        size_t index;       /* of the start */
        ur_pattern_end end;
    } run[ROUND];
} search;

static void run_one(void *context, size_t i)
{
    search *s = context;
    const ur_pattern *q = &s->problem;
    size_t p = q->p, k = q->k, index = s->run[i].index;
    double *v = s->run[i].v, *w = s->run[i].w, *yw = s->run[i].yw;
    ur_random_normals(s->given->seed, UR_STREAM_EXACT, index * (p + k), p, v);
    if (index % 2 == 1 && s->in_w > 0 && s->in_w < k) {
        ur_random_normals(s->given->seed, UR_STREAM_EXACT, index * (p + k) + p, k, w);
        ur_basis_remove(&s->w, s->in_w, w);
        ur_gemv(UR_PLAIN, q->n, k, 1, q->y, k, w, 0, yw);
        ur_gemv(UR_TURNED, q->n, p, 1, q->x, p, yw, 0, v);
    }
    if (index % 4 < 2 && s->in_V < p)
        ur_basis_remove(&s->V, s->in_V, v);
    s->run[i].end = ur_pattern_run(q, s->run[i].room, s->found->V, s->stops ? s->known : 0, v, w);
}

int ur_is_row_of(size_t rows, size_t p, const double *V, const double *v)
{
    for (size_t j = 0; j < rows; j++) {
        double distance = 0;
        for (size_t i = 0; i < p; i++)
            distance = fmax(distance, fabs(v[i] - V[j * p + i]));
        if (distance < UR_SAME_ROW)
            return 1;
    }
    return 0;
}

static void keep(search *s, const double *v, const double *w)
{
    ur_found *found = s->found;
    size_t p = s->problem.p, k = s->problem.k;
    memcpy(found->V + found->found * p, v, p * sizeof *v);
    memcpy(found->w + found->found * k, w, k * sizeof *w);
    ur_basis_grow(&s->V, v, UR_SAME_ROW);
    ur_basis_grow(&s->w, w, UR_SAME_ROW);
    found->found++;
}

static unrelu_status play_round(search *s, size_t count, int together, unrelu_error *err)
{
    const unrelu_exec *exec = s->given->exec;
    ur_found *found = s->found;
    size_t p = s->problem.p, k = s->problem.k;
    s->known = found->found;
    s->in_V = s->V.count;
    s->in_w = s->w.count;
    /* later runs do not stop near a known row: it may have a close twin */
    s->stops = found->starts < s->given->starts / 2;
    for (size_t i = 0; i < count; i++)
        s->run[i].index = found->starts + i;
    if (together) {
        unrelu_exec silent = exec ? *exec : (unrelu_exec){0};
        silent.progress = NULL;
        UR_TRY(ur_parallel_for(&silent, "searching", count, run_one, s, err));
    }
    if (ur_cancelled(exec))
        return ur_fail_cancelled(err);
    for (size_t i = 0; i < count && found->found < found->k; i++) {
        if (!together)
            run_one(s, i);
        const double *v = s->run[i].v, *w = s->run[i].w;
        ur_pattern_end end = s->run[i].end;
        /* Where e is fitted the constant function is a fixed point too, and so is any that is
         * linear at the samples but few: on everywhere, and no neuron. */
        int constant = s->given->frame->terms.constant && s->problem.n - end.active < k;
        found->starts++;
        if (1 - end.rho > s->given->slack || constant || ur_is_row_of(found->found, p, found->V, v))
            continue;
        keep(s, v, w);
    }
    const ur_find find = {.kind = UR_KEPT_NEURONS,
                          .known = found->found,
                          .V = found->V,
                          .wanted = found->k,
                          .starts = found->starts,
                          .measure = -(double)found->found};
    return ur_watch_show(s->given->watch, s->given->frame, find, err);
}

unrelu_status ur_exact_search(const ur_search *given, ur_arena *kept, ur_found *found,
                              unrelu_error *err)
{
    const ur_frame *frame = given->frame;
    size_t n = frame->n, p = frame->p, k = given->rank, number = sizeof(double);
    int heavy = (double)n * (double)p * (double)(p + 2 * k) > HEAVY;
    size_t round = heavy ? ROUND : 1;
    UR_ARENA(arena);
    *found = (ur_found){.k = given->wanted,
                        .V = ur_take(kept, given->wanted, p * number),
                        .w = ur_take(kept, given->wanted, k * number)};
    search s = {.given = given,
                .problem = {n, p, k, frame->x, given->y, given->degree},
                .found = found,
                .V = {.length = p, .rows = ur_take(&arena, p, p * number)},
                .w = {.length = k, .rows = ur_take(&arena, k, k * number)}};
    for (size_t i = 0; i < round; i++) {
        s.run[i].room = ur_pattern_room_in(&arena, &s.problem);
        s.run[i].v = ur_take(&arena, p, number);
        s.run[i].w = ur_take(&arena, k, number);
        s.run[i].yw = ur_take(&arena, n, number);
    }
    UR_TRY(ur_arena_status(kept, err));
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; given->known && j < given->known->found; j++)
        keep(&s, given->known->V + j * p, given->known->w + j * k);
    while (found->starts < given->starts && found->found < found->k) {
        size_t left = given->starts - found->starts;
        ur_count(given->exec, (unrelu_counts){.stage = "searching",
                                              .fraction = (double)found->found / (double)found->k,
                                              .found = found->found,
                                              .wanted = found->k,
                                              .starts = found->starts,
                                              .residual = NAN});
        if (found->found == 0 && found->starts >= given->patience)
            break;
        UR_TRY(
            play_round(&s, left < round ? left : round, heavy && ur_threads(given->exec) > 1, err));
    }
    return UNRELU_OK;
}
