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

static size_t draws_of(size_t r)
{
    return DRAWS + DRAWS_A_RANK * r;
}

typedef struct {
    const ur_consensus *c;
    size_t count, r;
    size_t *row;    /* count: rows of c that count */
    double *y;      /* count: the column */
    double *A;      /* r (r + 1) */
    double *b;      /* r */
    double *random; /* draws, r */
    double tolerance;
} task;

static int agrees(const task *t, const double *b, size_t i)
{
    const double *at = t->c->at + t->row[i] * t->r;
    double fit = 0;
    for (size_t l = 0; l < t->r; l++)
        fit += b[l] * at[l];
    return fabs(t->y[i] - fit) <= t->tolerance * (1 + fabs(fit));
}

static size_t agreeing(const task *t, const double *b)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        count += (size_t)agrees(t, b, i);
    return count;
}

static void draw(task *t, size_t number)
{
    size_t r = t->r;
    for (size_t l = 0; l < r; l++) {
        size_t i = (size_t)(t->random[number * r + l] * (double)t->count);
        memcpy(t->A + l * (r + 1), t->c->at + t->row[i] * r, r * sizeof *t->A);
        t->A[l * (r + 1) + r] = t->y[i];
    }
}

static void refine(task *t, double *b)
{
    size_t r = t->r, w = r + 1;
    memset(t->A, 0, r * w * sizeof *t->A);
    for (size_t i = 0; i < t->count; i++) {
        const double *at = t->c->at + t->row[i] * r;
        for (size_t l = 0; agrees(t, b, i) && l < r; l++) {
            for (size_t a = 0; a < r; a++)
                t->A[l * w + a] += at[l] * at[a];
            t->A[l * w + r] += at[l] * t->y[i];
        }
    }
    if (ur_eliminate(r, t->A, t->b))
        memcpy(b, t->b, r * sizeof *b);
}

/* b is replaced where another agrees with more cells */
static int improve(task *t, double *b)
{
    size_t best = agreeing(t, b), before = best;
    for (size_t number = 0; number < draws_of(t->r); number++) {
        draw(t, number);
        if (!ur_eliminate(t->r, t->A, t->b))
            continue;
        size_t count = agreeing(t, t->b);
        if (count > best) {
            best = count;
            memcpy(b, t->b, t->r * sizeof *b);
        }
    }
    if (best > before)
        refine(t, b);
    return best > before;
}

/* cells met of each column, and what is typical of them */
static double typical(const ur_consensus *c, const task *t, double *met, double *scratch)
{
    size_t live = 0;
    for (size_t j = 0; j < c->m; j++) {
        for (size_t i = 0; i < t->count; i++)
            met[j] += c->clean[t->row[i] * c->m + j];
        if (c->live[j])
            scratch[live++] = met[j];
    }
    return ur_median(live, scratch);
}

unrelu_status ur_repair(const ur_sparse_cells *cells, const ur_consensus *c, double *B,
                        size_t *repaired, unrelu_error *err)
{
    size_t m = c->m, r = c->r;
    UR_ARENA(arena);
    double *met = ur_take(&arena, m, sizeof *met), *scratch = ur_take(&arena, m, sizeof *scratch);
    task t = {.c = c,
              .r = r,
              .tolerance = LOOSE * cells->tolerance,
              .row = ur_take(&arena, c->rows, sizeof *t.row),
              .y = ur_take(&arena, c->rows, sizeof *t.y),
              .A = ur_take(&arena, r, (r + 1) * sizeof *t.A),
              .b = ur_take(&arena, r, sizeof *t.b),
              .random = ur_take(&arena, draws_of(r), r * sizeof *t.random)};
    *repaired = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < c->rows; i++)
        if (c->met[i] > 0 && !c->idle[i])
            t.row[t.count++] = i;
    double usual = typical(c, &t, met, scratch), n = (double)t.count;
    double least = usual - DEVIATIONS * sqrt(fmax(usual * (1 - usual / n), 0)) - 1;
    ur_random_uniforms(cells->seed, UR_STREAM_SPARSE_REPAIR, 0, draws_of(r) * r, t.random);
    for (size_t j = 0; j < m && t.count > r; j++) {
        if (met[j] >= least)
            continue;
        for (size_t i = 0; i < t.count; i++)
            t.y[i] = cells->a[c->row[t.row[i]] * m + j] * cells->per_unit[j];
        *repaired += (size_t)improve(&t, B + j * r);
    }
    return UNRELU_OK;
}
