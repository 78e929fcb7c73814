/* SPDX-License-Identifier: Apache-2.0 */
/* Shortest augmenting paths (the Hungarian method): prices u of rows and v of columns keep
 * cost_ij - u_i - v_j >= 0, with equality on the pairs made so far. Each row is entered by a
 * Dijkstra search over columns in these reduced costs, then the path is flipped. The short side s
 * is the rows: O(s^2 t) time for s x t costs, exact up to rounding of the sums. */
#include "dense/match.h"

#include "base/arena.h"
#include "base/error.h"

#include <math.h>

typedef struct {
    size_t s, t;
    const double *cost;
    size_t row_step, column_step; /* of cost */
    double *u, *v;                /* s, t */
    double *distance;             /* t: shortest path to a column */
    size_t *row;                  /* t: the row a column is paired with */
    size_t *before;               /* t: the column before it on its path */
    unsigned char *reached;       /* t */
} matching;

static double reduced(const matching *m, size_t i, size_t j)
{
    return m->cost[i * m->row_step + j * m->column_step] - m->u[i] - m->v[j];
}

/* the nearest column not reached yet */
static size_t nearest(const matching *m)
{
    size_t best = UR_UNMATCHED;
    for (size_t j = 0; j < m->t; j++)
        if (!m->reached[j] && (best == UR_UNMATCHED || m->distance[j] < m->distance[best]))
            best = j;
    return best;
}

/* the free column at the end of the shortest path from row i */
static size_t search(matching *m, size_t i)
{
    size_t column = UR_UNMATCHED, at = i;
    double length = 0;
    for (size_t j = 0; j < m->t; j++) {
        m->distance[j] = INFINITY;
        m->reached[j] = 0;
    }
    for (;;) {
        for (size_t j = 0; j < m->t; j++) {
            double through = length + reduced(m, at, j);
            if (!m->reached[j] && through < m->distance[j]) {
                m->distance[j] = through;
                m->before[j] = column;
            }
        }
        column = nearest(m);
        length = m->distance[column];
        m->reached[column] = 1;
        if (m->row[column] == UR_UNMATCHED)
            return column;
        at = m->row[column];
    }
}

static void enter(matching *m, size_t i)
{
    size_t end = search(m, i);
    double length = m->distance[end];
    m->u[i] += length;
    for (size_t j = 0; j < m->t; j++)
        if (m->reached[j] && j != end) {
            m->v[j] -= length - m->distance[j];
            m->u[m->row[j]] += length - m->distance[j];
        }
    for (size_t j = end; j != UR_UNMATCHED; j = m->before[j])
        m->row[j] = m->before[j] == UR_UNMATCHED ? i : m->row[m->before[j]];
}

unrelu_status ur_match(size_t rows, size_t columns, const double *cost, size_t *match,
                       unrelu_error *err)
{
    int wide = rows <= columns;
    size_t s = wide ? rows : columns, t = wide ? columns : rows;
    UR_ARENA(arena);
    matching m = {.s = s,
                  .t = t,
                  .cost = cost,
                  .row_step = wide ? columns : 1,
                  .column_step = wide ? 1 : columns,
                  .u = ur_take(&arena, s, sizeof *m.u),
                  .v = ur_take(&arena, t, sizeof *m.v),
                  .distance = ur_take(&arena, t, sizeof *m.distance),
                  .row = ur_take(&arena, t, sizeof *m.row),
                  .before = ur_take(&arena, t, sizeof *m.before),
                  .reached = ur_take(&arena, t, 1)};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < t; j++)
        m.row[j] = UR_UNMATCHED;
    for (size_t i = 0; i < s; i++)
        enter(&m, i);
    for (size_t i = 0; i < rows; i++)
        match[i] = wide ? UR_UNMATCHED : m.row[i];
    for (size_t j = 0; wide && j < t; j++)
        if (m.row[j] != UR_UNMATCHED)
            match[m.row[j]] = j;
    return UNRELU_OK;
}
