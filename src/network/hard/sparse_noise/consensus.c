/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of L = C B' one by one, B (m x r) being known to rounding: r cells at random, solved for
 * c, and the other cells counted that agree. A wrong c agrees with a cell by chance once in 1e8,
 * so what half of the cells agree with is right (1 / (1 - gamma)^r draws, gamma the share of wrong
 * cells); then least squares on those. A draw costs 2 r^3 / 3 + 8 r flops: four cells are looked
 * at before all of them. Rows of which nearly half the cells are 0 fit any basis: they are marked
 * as idle and do not count for it. Undecided: fewer cells agree, or the draws ran out. */
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 16, /* rows of one task */
    PROBES = 4, /* cells that are looked at before all */
    BATCH = 8,  /* draws whose random numbers are made at once */
    BEYOND = 3  /* cells beyond r that must agree in any case: by chance once in 1e24 */
};
static const double LOOSE = 10; /* a solution from r cells has lost a digit or two */
/* Share of a row's cells that are "most" of them: more than the half that decides a row. */
static const double MOST = 0.55;
/* Share of a row's cells that are 0 from which it is idle: it fits any basis. */
static const double IDLE = 0.45;
/* Of the cells of a row of zeros one in so many may be wrong. */
enum { WRONG_IN_ZEROS = 10 };
/* Chance that a row with half of its cells wrong stays undecided: e^-8; in the second pass, where
 * the share of wrong cells is known, that the best is missed: e^-7. */
static const double SURE = 8, SURE_AGAIN = 7;
/* Deviations below the median from which a row is looked at again: 1 in 160 by chance. */
static const double UNUSUAL = 2.5;
static const double LEAST_SHARE = 0.1; /* of cells met: bounds the draws */
/* Pivots, of the largest cell: below, six digits are lost, and the cells determine nothing. */
static const double SINGULAR = 1e-6;
/* Rows of the basis, of its largest cell: below, the column is rounding, and not reached. */
static const double REACHED = 1e-9;

size_t ur_consensus_least(size_t m, size_t r)
{
    size_t half = (m + 1) / 2;
    return half > r + BEYOND ? half : r + BEYOND;
}

size_t ur_consensus_most(size_t m, size_t r)
{
    size_t most = (size_t)ceil(MOST * (double)m);
    return most > r + BEYOND ? most : r + BEYOND;
}

uint64_t ur_consensus_draws(const ur_sparse_cells *cells, size_t r)
{
    double enough = SURE * pow(2, (double)r);
    return enough < (double)cells->draws ? (uint64_t)enough : cells->draws;
}

typedef struct {
    const ur_sparse_cells *cells;
    ur_consensus *c;
    uint64_t draws;
    size_t usual; /* in the second pass: rows with fewer cells are looked at */
} task;

typedef struct {
    double *y;            /* m: the row */
    double *A;            /* r (r + 1) */
    double *at;           /* r */
    double *random;       /* BATCH (r + PROBES) */
    size_t *order;        /* live columns; its first are the draw */
    unsigned char *clean; /* m */
} scratch;

int ur_cell_agrees(size_t r, const double *b, const double *at, double y, double tolerance)
{
    double fit = ur_short_dot(r, b, at);
    return fabs(y - fit) <= tolerance * (1 + fabs(fit));
}

/* Gauss with pivots */
int ur_eliminate(size_t r, double *A, double *at)
{
    size_t w = r + 1;
    double largest = 0;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++)
            largest = fabs(A[i * w + j]) > largest ? fabs(A[i * w + j]) : largest;
    for (size_t p = 0; p < r; p++) {
        size_t best = p;
        for (size_t i = p + 1; i < r; i++)
            best = fabs(A[i * w + p]) > fabs(A[best * w + p]) ? i : best;
        if (!(fabs(A[best * w + p]) > SINGULAR * largest))
            return 0;
        for (size_t j = p; j < w && best != p; j++) {
            double swap = A[p * w + j];
            A[p * w + j] = A[best * w + j];
            A[best * w + j] = swap;
        }
        for (size_t i = p + 1; i < r; i++) {
            double factor = A[i * w + p] / A[p * w + p];
            for (size_t j = p + 1; j < w; j++)
                A[i * w + j] -= factor * A[p * w + j];
        }
    }
    for (size_t i = r; i-- > 0;) {
        at[i] = A[i * w + r];
        for (size_t j = i + 1; j < r; j++)
            at[i] -= A[i * w + j] * at[j];
        at[i] /= A[i * w + i];
    }
    return 1;
}

int ur_cells_refine(size_t r, size_t count, const double *B, const double *y,
                    const unsigned char *clean, double *A, double *at)
{
    size_t w = r + 1;
    memset(A, 0, r * w * sizeof *A);
    for (size_t j = 0; j < count; j++) {
        const double *b = B + j * r;
        for (size_t i = 0; clean[j] && i < r; i++) {
            for (size_t l = 0; l < r; l++)
                A[i * w + l] += b[i] * b[l];
            A[i * w + r] += b[i] * y[j];
        }
    }
    return ur_eliminate(r, A, at);
}

/* draws r cells and probes; whether the cells have a solution that one of the probes agrees with */
static int try_draw(const task *t, scratch *s, size_t probes, const double *random)
{
    size_t r = t->c->r, w = r + 1;
    for (size_t i = 0; i < r + probes; i++) {
        size_t other = i + (size_t)(random[i] * (double)(t->c->width - i)), swap = s->order[i];
        s->order[i] = s->order[other];
        s->order[other] = swap;
    }
    for (size_t i = 0; i < r; i++) {
        memcpy(s->A + i * w, t->c->B + s->order[i] * r, r * sizeof *s->A);
        s->A[i * w + r] = s->y[s->order[i]];
    }
    if (!ur_eliminate(r, s->A, s->at))
        return 0;
    for (size_t i = r; i < r + probes; i++)
        if (ur_cell_agrees(r, t->c->B + s->order[i] * r, s->at, s->y[s->order[i]],
                           LOOSE * t->cells->tolerance))
            return 1;
    return 0;
}

/* the cells that agree with the solution in s; count of those that matter */
static size_t mark(const task *t, const scratch *s, double tolerance)
{
    size_t count = 0;
    for (size_t j = 0; j < t->c->m; j++) {
        s->clean[j] = (unsigned char)ur_cell_agrees(t->c->r, t->c->B + j * t->c->r, s->at, s->y[j],
                                                    tolerance);
        count += s->clean[j] && t->c->live[j];
    }
    return count;
}

/* cells that must agree: with 0 nearly all of them, as wrong cells are often 0 themselves */
static size_t needed(const task *t, const scratch *s)
{
    double largest = 0;
    for (size_t i = 0; i < t->c->r; i++)
        largest = fmax(largest, fabs(s->at[i]));
    size_t w = t->c->width, least = ur_consensus_least(w, t->c->r), all = w - w / WRONG_IN_ZEROS;
    return largest <= t->cells->tolerance && all > least ? all : least;
}

/* the solution in s becomes that of row i where more cells agree with it than with the last */
static int accept(const task *t, scratch *s, size_t i)
{
    ur_consensus *c = t->c;
    double pivot = INFINITY;
    if (mark(t, s, LOOSE * t->cells->tolerance) < needed(t, s) ||
        !ur_cells_refine(c->r, c->m, c->B, s->y, s->clean, s->A, s->at))
        return 0;
    /* How well these cells determine the coordinates: the smallest eigenvalue of B'B over them (1:
     * all cells are), from below, by the pivots that the elimination has left. */
    for (size_t l = 0; l < c->r; l++)
        pivot = fmin(pivot, fabs(s->A[l * (c->r + 1) + l]));
    size_t met = mark(t, s, t->cells->tolerance);
    if (met < needed(t, s) || met <= c->met[i])
        return 0;
    c->met[i] = met;
    c->spread[i] = pivot;
    memcpy(c->at + i * c->r, s->at, c->r * sizeof *s->at);
    memcpy(c->clean + i * c->m, s->clean, c->m);
    return 1;
}

/* the first solution; in the second pass the best one, for rows with fewer cells than usual */
static void decide(const task *t, scratch *s, size_t i)
{
    ur_consensus *c = t->c;
    size_t probes = c->width - c->r < PROBES ? c->width - c->r : PROBES, len = c->r + probes;
    uint64_t first = ((uint64_t)c->row[i] * 2 + (t->usual > 0)) * t->cells->draws;
    if (t->usual > 0 && (c->met[i] == 0 || c->met[i] >= t->usual))
        return;
    size_t zeros = 0;
    for (size_t j = 0; j < c->m; j++) {
        s->y[j] = t->cells->a[c->row[i] * c->m + j] * t->cells->per_unit[j];
        zeros += s->y[j] == 0 && c->live[j];
    }
    c->idle[i] = (double)zeros > IDLE * (double)c->width;
    for (uint64_t d = 0; d < t->draws; d++) {
        if (d % BATCH == 0)
            ur_random_uniforms(t->cells->seed, UR_STREAM_SPARSE_DRAWS, (first + d) * len,
                               BATCH * len, s->random);
        if (try_draw(t, s, probes, s->random + d % BATCH * len) && accept(t, s, i) && t->usual == 0)
            return;
    }
}

static unrelu_status decide_block(void *context, size_t block, unrelu_error *err)
{
    UR_ARENA(arena);
    task *t = context;
    size_t r = t->c->r, m = t->c->m, last = (block + 1) * BLOCK, live = 0;
    scratch s = {.y = ur_take(&arena, m, sizeof *s.y),
                 .A = ur_take(&arena, r, (r + 1) * sizeof *s.A),
                 .at = ur_take(&arena, r, sizeof *s.at),
                 .random = ur_take(&arena, BATCH, (r + PROBES) * sizeof *s.random),
                 .order = ur_take(&arena, m, sizeof *s.order),
                 .clean = ur_take(&arena, m, 1)};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < m; j++)
        if (t->c->live[j])
            s.order[live++] = j;
    last = last < t->c->rows ? last : t->c->rows;
    for (size_t i = block * BLOCK; i < last; i++)
        decide(t, &s, i);
    return UNRELU_OK;
}

unrelu_status ur_consensus_run(const ur_sparse_cells *cells, size_t rows, const size_t *row,
                               size_t r, const double *B, ur_arena *arena, ur_consensus *c,
                               unrelu_error *err)
{
    size_t m = cells->m, blocks = (rows + BLOCK - 1) / BLOCK;
    task t = {.cells = cells, .c = c, .draws = ur_consensus_draws(cells, r)};
    *c = (ur_consensus){.rows = rows,
                        .m = m,
                        .r = r,
                        .row = row,
                        .B = B,
                        .at = ur_take(arena, rows, r * sizeof *c->at),
                        .met = ur_take(arena, rows, sizeof *c->met),
                        .clean = ur_take(arena, rows, m),
                        .idle = ur_take(arena, rows, 1),
                        .spread = ur_take(arena, rows, sizeof *c->spread),
                        .live = ur_take(arena, m, 1)};
    UR_TRY(ur_arena_status(arena, err));
    double largest = 0;
    for (size_t i = 0; i < m * r; i++)
        largest = fmax(largest, fabs(B[i]));
    for (size_t j = 0; j < m; j++) { /* columns that the basis reaches */
        for (size_t l = 0; l < r; l++)
            c->live[j] |= fabs(B[j * r + l]) > REACHED * largest;
        c->width += c->live[j];
    }
    if (c->width < r + BEYOND)
        return UNRELU_OK;
    UR_TRY(ur_each(cells->exec, "cleaning", blocks, decide_block, &t, err));
    /* rows with clearly fewer cells than the median row are looked at again: where a neuron has few
     * outputs, a wrong value of it still agrees with all other cells */
    UR_ARENA(own);
    size_t count = 0;
    double *met = ur_take(&own, rows, sizeof *met);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < rows; i++)
        if (c->met[i] > 0 && !c->idle[i])
            met[count++] = (double)c->met[i];
    double median = ur_median(count, met), share = median / (double)c->width;
    t.usual = (size_t)fmax(0, median - UNUSUAL * sqrt(median * (1 - share)) - 1);
    t.draws =
        (uint64_t)fmin((double)cells->draws, SURE_AGAIN / pow(fmax(share, LEAST_SHARE), (double)r));
    return t.usual > 0 ? ur_each(cells->exec, "cleaning", blocks, decide_block, &t, err)
                       : UNRELU_OK;
}
