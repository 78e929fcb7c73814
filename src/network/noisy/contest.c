/* SPDX-License-Identifier: Apache-2.0 */
#include "network/noisy/contest.h"

#include "base/error.h"
#include "network/data/watch.h"

#include <math.h>
#include <string.h>

/* Rows that are looked at first. Pace, but for the last two: what fewer do not show is added where
 * all are looked at. */
enum {
    CELLS_A_NUMBER = 25, /* labels for each number of the network */
    ROWS_A_COLUMN = 20,  /* for each input and neuron */
    LEAST_ROWS = 2000,
    MOST_ROWS_A_COLUMN = 200, /* and not more than so many of these, */
    MOST_ROWS = 5000,         /* or than these */
};
/* Pace: of what the criterion asks for one more neuron, the gain of a step below which a fit on the
 * way to k ends */
static const double ON_THE_WAY = .1;

void ur_contest_end(ur_contest *c)
{
    ur_arena_end(&c->arena);
}

void ur_contest_swap(ur_contest *a, ur_contest *b)
{
    ur_contest c = *a;
    *a = *b;
    *b = c;
}

int ur_contest_met(const ur_problem *given, const ur_contest *c)
{
    return c->ready && c->best.residual <= given->data.floor;
}

double ur_contest_step(const ur_contest *c, size_t k)
{
    return (double)c->frame.n * pow((double)(k * c->frame.d), 2);
}

double ur_contest_rss(const ur_quest *q, const ur_contest *c, size_t k, double bic)
{
    double cells = (double)(c->frame.n * c->frame.m);
    return cells * exp((bic - ur_parameters(q->given, k, c->frame.terms) * log(cells)) / cells);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t rows_of(const ur_quest *q, size_t k, ur_terms terms)
{
    const ur_data *data = &q->given->data;
    double cells = CELLS_A_NUMBER * ur_parameters(q->given, k, terms);
    size_t columns = data->d + k, most = ur_frame_rows(data, k);
    size_t rows =
        larger(larger((size_t)(cells / (double)data->m), ROWS_A_COLUMN * columns), LEAST_ROWS);
    size_t enough = larger(MOST_ROWS_A_COLUMN * columns, MOST_ROWS);
    rows = larger(rows < enough ? rows : enough, q->least);
    return k > data->m && rows > most && q->least < data->n ? most : rows;
}

unrelu_status ur_contest_take(const ur_quest *q, const ur_best *best, ur_arena *arena,
                              ur_contest *c, unrelu_error *err)
{
    c->best = *best;
    c->k = best->fit.k;
    c->rows = ur_take(arena, c->k, c->frame.q * sizeof *c->rows);
    UR_TRY(ur_arena_status(arena, err));
    ur_frame_back(&c->frame, c->k, c->best.fit.V, c->rows);
    *q->work += best->work;
    c->ready = 1;
    if (arena != &c->arena)
        ur_arena_give(arena, &c->arena);
    const ur_find find = {.kind = UR_KEPT_FIT,
                          .known = c->k,
                          .V = best->fit.V,
                          .wanted = q->given->options.k,
                          .starts = best->starts,
                          .measure = best->bic / (double)(c->frame.n * c->frame.m)};
    return ur_watch_show(q->given->watch, &c->frame, find, err);
}

/* where a fit on the way ends: of rss */
static double rough_gain(const ur_quest *q, const ur_contest *c)
{
    double cells = (double)(c->frame.n * c->frame.m);
    double each =
        ur_parameters(q->given, 2, c->frame.terms) - ur_parameters(q->given, 1, c->frame.terms);
    return fmax(UR_START_GAIN, ON_THE_WAY * each * log(cells) / cells);
}

unrelu_status ur_contest_run(const ur_quest *q, size_t k, ur_terms terms, size_t agree, int rough,
                             const ur_contest *before, ur_contest *c, unrelu_error *err)
{
    ur_best best;
    UR_TRY(
        ur_frame_make(&q->given->data, rows_of(q, k, terms), terms, 0, &c->arena, &c->frame, err));
    c->rough = rough;
    c->gain = rough ? rough_gain(q, c) : UR_START_GAIN;
    int usable = before && before->ready && before->frame.q == c->frame.q;
    UR_TRY(ur_starts(q->given, &c->frame, k, agree, c->gain, usable ? before->rows : NULL,
                     usable ? before->k : 0, &c->arena, &best, err));
    return ur_contest_take(q, &best, &c->arena, c, err);
}

unrelu_status ur_contest_attempt(const ur_quest *q, size_t k, const double *V, ur_contest *c,
                                 int *won, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_best best;
    double goal = ur_contest_rss(q, c, k, c->best.bic);
    UR_TRY(ur_start_once(q->given, &c->frame, k, V, goal, c->gain, &arena, &best, err));
    *won = best.bic < c->best.bic;
    if (*won)
        return ur_contest_take(q, &best, &arena, c, err);
    *q->work += best.work;
    return UNRELU_OK;
}

unrelu_status ur_contest_go_on(const ur_quest *q, size_t rows, ur_terms terms, double bic,
                               const ur_contest *c, ur_contest *other, unrelu_error *err)
{
    size_t k = c->k, d = c->frame.d;
    UR_ARENA(arena);
    ur_best best;
    UR_TRY(ur_frame_make(&q->given->data, rows, terms, 0, &other->arena, &other->frame, err));
    other->gain = UR_START_GAIN;
    const ur_frame *frame = &other->frame;
    double *V = ur_take(&arena, k, d * sizeof *V), *biases = ur_take(&arena, k, sizeof *biases);
    double *inside = ur_take(&arena, k, frame->q * sizeof *inside);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < k; j++) {
        memcpy(V + j * d, c->rows + j * c->frame.q, d * sizeof *V);
        biases[j] = c->frame.q > d ? c->rows[j * c->frame.q + d] : 0;
    }
    UR_TRY(ur_frame_enter(frame, q->given->options.activation, k, V, biases, inside, err));
    double goal = isnan(bic) ? 0 : ur_contest_rss(q, other, k, bic);
    UR_TRY(ur_start_once(q->given, frame, k, inside, goal, other->gain, &other->arena, &best, err));
    best.starts = c->best.starts;
    best.agree = c->best.agree;
    best.skipped = c->best.skipped;
    return ur_contest_take(q, &best, &other->arena, other, err);
}
