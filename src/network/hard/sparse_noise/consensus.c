/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of L = C B' one by one, B (m x r) being known to rounding: r cells at random, solved for
 * c, and the other cells counted that agree. A wrong c agrees with a cell by chance once in 1e8,
 * so what half of the cells agree with is right (1 / (1 - gamma)^r draws, gamma the share of wrong
 * cells); then least squares on those. A draw costs 2 r^3 / 3 + 8 r flops: four cells are looked
 * at before all of them. Rows of which nearly half the cells are 0 fit any basis: they are marked
 * as idle and do not count for it. Undecided: fewer cells agree, or the draws ran out.
 *
 * Then columns of which fewer cells are met than of the others: their rows of B may be wrong. A
 * neuron that is off for more than half of the samples leaves half of a column's cells without it,
 * and least squares on the cells that are met stays there. Now that the rows' coordinates are
 * known, such a column is found in the same way: r rows at random, solved for its row of B, and the
 * cells counted that agree; the best of 400 + 100 r draws, then least squares. */
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
/* tolerances of a cell: a solution from r cells has lost a digit or two, coordinates from few too
 */
static const double LOOSE = 10;
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
/* Pivots, of the largest cell: below, six digits are lost, and the cells determine nothing. */
static const double SINGULAR = 1e-6;
/* Rows of the basis, of its largest cell: below, the column is rounding, and not reached. */
static const double REACHED = 1e-9;

/* of the columns, in turn: draws for one */
enum { COLUMN_DRAWS = 400, COLUMN_DRAWS_A_RANK = 100 };
static const double LAGS = 1.5; /* deviations below the median: one column in 15 by chance */

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

/* ---- y = B at, in most of some lines ---- */

typedef struct {
    size_t r, count;
    const double *B;           /* (count, r) */
    const unsigned char *live; /* count: the lines that matter; NULL: all */
    double *y;                 /* count */
    unsigned char *clean;      /* count: lines that agree with `at` */
    double *at;                /* r */
    double *A;                 /* r x (r + 1) */
} vote;

static vote vote_in(ur_arena *arena, size_t count, size_t r)
{
    vote v = {.r = r, .count = count, .y = ur_take(arena, count, sizeof *v.y)};
    v.clean = ur_take(arena, count, 1);
    v.at = ur_take(arena, r, sizeof *v.at);
    v.A = ur_take(arena, r, (r + 1) * sizeof *v.A);
    return v;
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

static int agrees(const vote *v, size_t line, double tolerance)
{
    double fit = ur_short_dot(v->r, v->B + line * v->r, v->at);
    return fabs(v->y[line] - fit) <= tolerance * (1 + fabs(fit));
}

/* at from r lines; 0 where these are singular */
static int solve(vote *v, const size_t *line)
{
    size_t r = v->r, w = r + 1;
    for (size_t i = 0; i < r; i++) {
        memcpy(v->A + i * w, v->B + line[i] * r, r * sizeof *v->A);
        v->A[i * w + r] = v->y[line[i]];
    }
    return ur_eliminate(r, v->A, v->at);
}

/* marks the lines that agree; count of those that matter */
static size_t mark(vote *v, double tolerance)
{
    size_t count = 0;
    for (size_t j = 0; j < v->count; j++) {
        v->clean[j] = (unsigned char)agrees(v, j, tolerance);
        count += v->clean[j] && (!v->live || v->live[j]);
    }
    return count;
}

/* at by least squares on the lines that are marked, as by solve */
static int refine(vote *v)
{
    size_t r = v->r, w = r + 1;
    memset(v->A, 0, r * w * sizeof *v->A);
    for (size_t j = 0; j < v->count; j++) {
        const double *b = v->B + j * r;
        for (size_t i = 0; v->clean[j] && i < r; i++) {
            for (size_t l = 0; l < r; l++)
                v->A[i * w + l] += b[i] * b[l];
            v->A[i * w + r] += b[i] * v->y[j];
        }
    }
    return ur_eliminate(r, v->A, v->at);
}

/* ---- rows ---- */

typedef struct {
    const ur_sparse_cells *cells;
    ur_consensus *c;
    uint64_t draws;
    size_t usual; /* in the second pass: rows with fewer cells are looked at */
} task;

/* cells that must agree: with 0 nearly all of them, as wrong cells are often 0 themselves */
static size_t needed(const task *t, const vote *v)
{
    double largest = 0;
    for (size_t i = 0; i < v->r; i++)
        largest = fmax(largest, fabs(v->at[i]));
    size_t w = t->c->width, least = ur_consensus_least(w, v->r), all = w - w / WRONG_IN_ZEROS;
    return largest <= t->cells->tolerance && all > least ? all : least;
}

/* the solution in v becomes that of row i where more cells agree with it than with the last */
static int accept(const task *t, vote *v, size_t i)
{
    ur_consensus *c = t->c;
    double pivot = INFINITY;
    if (mark(v, LOOSE * t->cells->tolerance) < needed(t, v) || !refine(v))
        return 0;
    /* How well these cells determine the coordinates: the smallest eigenvalue of B'B over them (1:
     * all cells are), from below, by the pivots that the elimination has left. */
    for (size_t l = 0; l < c->r; l++)
        pivot = fmin(pivot, fabs(v->A[l * (c->r + 1) + l]));
    size_t met = mark(v, t->cells->tolerance);
    if (met < needed(t, v) || met <= c->met[i])
        return 0;
    c->met[i] = met;
    c->spread[i] = pivot;
    memcpy(c->at + i * c->r, v->at, c->r * sizeof *v->at);
    memcpy(c->clean + i * c->m, v->clean, c->m);
    return 1;
}

/* The first solution; in the second pass the best one, for rows with fewer cells than usual.
 * random: BATCH draws; order: the live columns, the first of them in turn those of a draw and its
 * probes. */
static void decide(const task *t, vote *v, double *random, size_t *order, size_t row)
{
    ur_consensus *c = t->c;
    size_t r = c->r, probes = c->width - r < PROBES ? c->width - r : PROBES, len = r + probes;
    uint64_t first = ((uint64_t)c->row[row] * 2 + (t->usual > 0)) * t->cells->draws;
    if (t->usual > 0 && (c->met[row] == 0 || c->met[row] >= t->usual))
        return;
    size_t zeros = 0;
    for (size_t j = 0; j < c->m; j++) {
        v->y[j] = t->cells->a[c->row[row] * c->m + j] * t->cells->per_unit[j];
        zeros += v->y[j] == 0 && c->live[j];
    }
    c->idle[row] = (double)zeros > IDLE * (double)c->width;
    for (uint64_t d = 0; d < t->draws; d++) {
        const double *draw = random + d % BATCH * len;
        if (d % BATCH == 0)
            ur_random_uniforms(t->cells->seed, UR_STREAM_SPARSE_DRAWS, (first + d) * len,
                               BATCH * len, random);
        for (size_t i = 0; i < len; i++) {
            size_t other = i + (size_t)(draw[i] * (double)(c->width - i)), swap = order[i];
            order[i] = order[other];
            order[other] = swap;
        }
        if (!solve(v, order))
            continue;
        int probed = 0; /* one of the probes agrees */
        for (size_t i = r; i < len && !probed; i++)
            probed = agrees(v, order[i], LOOSE * t->cells->tolerance);
        if (probed && accept(t, v, row) && t->usual == 0)
            return;
    }
}

static unrelu_status decide_block(void *context, size_t block, unrelu_error *err)
{
    UR_ARENA(arena);
    task *t = context;
    size_t r = t->c->r, m = t->c->m, last = (block + 1) * BLOCK, live = 0;
    vote v = vote_in(&arena, m, r);
    double *random = ur_take(&arena, BATCH, (r + PROBES) * sizeof *random);
    size_t *order = ur_take(&arena, m, sizeof *order);
    UR_TRY(ur_arena_status(&arena, err));
    v.B = t->c->B;
    v.live = t->c->live;
    for (size_t j = 0; j < m; j++)
        if (t->c->live[j])
            order[live++] = j;
    last = last < t->c->rows ? last : t->c->rows;
    for (size_t i = block * BLOCK; i < last; i++)
        decide(t, &v, random, order, i);
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
    t.draws = (uint64_t)fmin((double)cells->draws, SURE_AGAIN / pow(share, (double)r));
    return t.usual > 0 ? ur_each(cells->exec, "cleaning", blocks, decide_block, &t, err)
                       : UNRELU_OK;
}

/* ---- columns ---- */

/* b is replaced where another agrees with more cells; line: r of scratch */
static int improve(vote *v, size_t draws, const double *random, size_t *line, double tolerance,
                   double *b)
{
    size_t r = v->r, size = r * sizeof *b;
    memcpy(v->at, b, size);
    size_t best = mark(v, tolerance), before = best;
    for (size_t number = 0; number < draws; number++) {
        for (size_t l = 0; l < r; l++)
            line[l] = (size_t)(random[number * r + l] * (double)v->count);
        if (!solve(v, line))
            continue;
        size_t count = mark(v, tolerance);
        if (count > best) {
            best = count;
            memcpy(b, v->at, size);
        }
    }
    if (best == before)
        return 0;
    memcpy(v->at, b, size);
    mark(v, tolerance);
    if (refine(v))
        memcpy(b, v->at, size);
    return 1;
}

/* rows of B of columns that are met less than the others; *repaired: how many changed */
static unrelu_status repair(const ur_sparse_cells *cells, const ur_consensus *c, double *B,
                            size_t *repaired, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t m = c->m, r = c->r, draws = COLUMN_DRAWS + COLUMN_DRAWS_A_RANK * r, live = 0, n = 0;
    double *met = ur_take(&arena, m, sizeof *met), *sorted = ur_take(&arena, m, sizeof *sorted);
    double *at = ur_take(&arena, c->rows, r * sizeof *at);
    double *random = ur_take(&arena, draws, r * sizeof *random);
    size_t *row = ur_take(&arena, c->rows, sizeof *row), *line = ur_take(&arena, r, sizeof *line);
    vote v = vote_in(&arena, c->rows, r);
    *repaired = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < c->rows; i++) {
        if (c->met[i] == 0 || c->idle[i])
            continue;
        memcpy(at + n * r, c->at + i * r, r * sizeof *at);
        row[n++] = c->row[i];
        for (size_t j = 0; j < m; j++)
            met[j] += c->clean[i * m + j];
    }
    v.count = n;
    v.B = at;
    for (size_t j = 0; j < m; j++)
        if (c->live[j])
            sorted[live++] = met[j];
    double usual = ur_median(live, sorted);
    double least = usual - LAGS * sqrt(fmax(usual * (1 - usual / (double)n), 0)) - 1;
    ur_random_uniforms(cells->seed, UR_STREAM_SPARSE_REPAIR, 0, draws * r, random);
    for (size_t j = 0; j < m && n > r; j++) {
        if (met[j] >= least)
            continue;
        for (size_t i = 0; i < n; i++)
            v.y[i] = cells->a[row[i] * m + j] * cells->per_unit[j];
        *repaired += (size_t)improve(&v, draws, random, line, LOOSE * cells->tolerance, B + j * r);
    }
    return UNRELU_OK;
}

unrelu_status ur_consensus_find(const ur_sparse_cells *cells, size_t rows, const size_t *row,
                                size_t r, double *B, ur_arena *arena, ur_consensus *c,
                                unrelu_error *err)
{
    size_t repaired = 0;
    UR_TRY(ur_consensus_run(cells, rows, row, r, B, arena, c, err));
    UR_TRY(repair(cells, c, B, &repaired, err));
    if (repaired == 0)
        return UNRELU_OK;
    ur_arena_end(arena);
    UR_TRY(ur_orthonormalise(cells->m, r, B, err));
    return ur_consensus_run(cells, rows, row, r, B, arena, c, err);
}
