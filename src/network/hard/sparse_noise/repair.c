/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of which fewer cells are met than of the others: their rows of B may be wrong. A neuron
 * that is off for more than half of the samples leaves half of a column's cells without it, and
 * least squares on the cells that are met stays there. Now that the rows' coordinates are known by
 * consensus, such a column is found by consensus as well: r rows at random, solved for its row of
 * B, and the cells counted that agree; the best of 400 + 100 r draws, then least squares. */
#include "base/error.h"
#include "base/random.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>
#include <string.h>

static const double DEVIATIONS = 1.5; /* below the median: one column in 15 by chance */
static const double LOOSE = 10;       /* tolerances of a cell: coordinates come from few cells */
enum { DRAWS = 400, DRAWS_A_RANK = 100 };

typedef struct {
    size_t count, r, draws;
    double *at;           /* (count, r): coordinates of the rows that count */
    double *y;            /* count: the column */
    double *A;            /* r (r + 1) */
    double *b;            /* r */
    double *random;       /* (draws, r) */
    unsigned char *clean; /* count: cells that agree */
    double tolerance;
} task;

static size_t agreeing(const task *t, const double *b)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        t->clean[i] =
            (unsigned char)ur_cell_agrees(t->r, b, t->at + i * t->r, t->y[i], t->tolerance);
        count += t->clean[i];
    }
    return count;
}

/* b is replaced where another agrees with more cells */
static int improve(task *t, double *b)
{
    size_t r = t->r, w = r + 1, best = agreeing(t, b), before = best;
    for (size_t number = 0; number < t->draws; number++) {
        for (size_t l = 0; l < r; l++) {
            size_t i = (size_t)(t->random[number * r + l] * (double)t->count);
            memcpy(t->A + l * w, t->at + i * r, r * sizeof *t->A);
            t->A[l * w + r] = t->y[i];
        }
        if (!ur_eliminate(r, t->A, t->b))
            continue;
        size_t count = agreeing(t, t->b);
        if (count > best) {
            best = count;
            memcpy(b, t->b, r * sizeof *b);
        }
    }
    if (best == before)
        return 0;
    agreeing(t, b);
    if (ur_cells_refine(r, t->count, t->at, t->y, t->clean, t->A, t->b))
        memcpy(b, t->b, r * sizeof *b);
    return 1;
}

unrelu_status ur_repair(const ur_sparse_cells *cells, const ur_consensus *c, double *B,
                        size_t *repaired, unrelu_error *err)
{
    size_t m = c->m, r = c->r, draws = DRAWS + DRAWS_A_RANK * r, live = 0;
    UR_ARENA(arena);
    double *met = ur_take(&arena, m, sizeof *met), *sorted = ur_take(&arena, m, sizeof *sorted);
    size_t *row = ur_take(&arena, c->rows, sizeof *row);
    task t = {.r = r,
              .draws = draws,
              .tolerance = LOOSE * cells->tolerance,
              .at = ur_take(&arena, c->rows, r * sizeof *t.at),
              .y = ur_take(&arena, c->rows, sizeof *t.y),
              .A = ur_take(&arena, r, (r + 1) * sizeof *t.A),
              .b = ur_take(&arena, r, sizeof *t.b),
              .random = ur_take(&arena, draws, r * sizeof *t.random),
              .clean = ur_take(&arena, c->rows, 1)};
    *repaired = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < c->rows; i++) {
        if (c->met[i] == 0 || c->idle[i])
            continue;
        memcpy(t.at + t.count * r, c->at + i * r, r * sizeof *t.at);
        row[t.count++] = i;
        for (size_t j = 0; j < m; j++)
            met[j] += c->clean[i * m + j];
    }
    for (size_t j = 0; j < m; j++)
        if (c->live[j])
            sorted[live++] = met[j];
    double usual = ur_median(live, sorted), n = (double)t.count;
    double least = usual - DEVIATIONS * sqrt(fmax(usual * (1 - usual / n), 0)) - 1;
    ur_random_uniforms(cells->seed, UR_STREAM_SPARSE_REPAIR, 0, draws * r, t.random);
    for (size_t j = 0; j < m && t.count > r; j++) {
        if (met[j] >= least)
            continue;
        for (size_t i = 0; i < t.count; i++)
            t.y[i] = cells->a[c->row[row[i]] * m + j] * cells->per_unit[j];
        *repaired += (size_t)improve(&t, B + j * r);
    }
    return UNRELU_OK;
}
