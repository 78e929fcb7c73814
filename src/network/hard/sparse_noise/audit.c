/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of labels with wrong cells: every cell of every row against the network, from
 * its weights alone. A cell is met where it is by certify.c; all others are E. Residuals are
 * relative and over the cells that are met: over all of them they would only say how large E is.
 * Rows that are 0 in the network count neither for nor against it, nor do cells that are 0 there
 * and in the labels, but in columns without any output. Cost 4 n k (d + m) flops. */
#include "base/error.h"
#include "dense/blas.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/verdict/verdict.h"
#include "pass/blocks.h"

#include <math.h>

enum { ROWS = 256 };
enum { RSS, SIZE, HELD_RSS, HELD_SIZE, MET, LIVE, A_COLUMN };

typedef struct {
    const ur_data *data, *floors;
    const ur_outcome *out;
    const unsigned char *used; /* n: rows the solver saw */
    double *largest;           /* m: max_j |U_ij| */
    size_t *missed, *live;     /* n: wrong cells; cells that count */
    unsigned char *idle;       /* n */
    size_t *first;             /* n: place of the row's first wrong cell in E */
    int listing;               /* E is written, and nothing summed up */
} task;

/* sums of each column, and wrong cells of each row; or E, by row and column */
static void add_rows(const void *context, size_t first, size_t rows, double *scratch, double *sums)
{
    const task *t = context;
    const ur_weights *w = &t->out->weights;
    double *hidden = scratch, *outputs = scratch + ROWS * w->k;
    ur_network_forward(w, t->data->x + first * w->d, rows, hidden, outputs);
    for (size_t i = 0; i < rows; i++) {
        size_t row = first + i, at = t->first[row];
        const double *a = t->data->a + row * w->m, *y = outputs + i * w->m;
        double terms = ur_sum_sizes(w->k, hidden + i * w->k, 1), size = ur_sum_sizes(w->m, y, 1);
        t->idle[row] = size == 0;
        for (size_t j = 0; j < w->m; j++) {
            double *sum = sums + A_COLUMN * j, miss = a[j] - y[j];
            double per = 1 / t->floors->column_unit[j]; /* powers of two: this is exact */
            double reach = ur_data_reach(t->floors, j, per, t->largest[j], terms, w->e[j]);
            int met = fabs(miss * per) <= reach, mute = t->largest[j] == 0 && w->e[j] == 0;
            int live = size > 0 && (a[j] != 0 || y[j] != 0 || mute);
            if (t->listing && !met) {
                t->out->E_row[at] = (double)row;
                t->out->E_column[at] = (double)j;
                t->out->E_value[at++] = miss;
            }
            if (t->listing)
                continue;
            t->missed[row] += !met;
            t->live[row] += (size_t)live;
            sum[LIVE] += live;
            if (!met)
                continue;
            sum[MET] += live;
            sum[RSS] += miss * per * miss * per;
            sum[SIZE] += a[j] * per * a[j] * per;
            if (!t->used[row]) {
                sum[HELD_RSS] += miss * per * miss * per;
                sum[HELD_SIZE] += a[j] * per * a[j] * per;
            }
        }
    }
}

static double relative(double rss, double size)
{
    return rss > 0 ? sqrt(rss / size) : 0;
}

unrelu_status ur_audit_run(const ur_problem *given, const ur_clean *clean, ur_arena *kept,
                           ur_outcome *out, ur_audit *audit, unrelu_error *err)
{
    const ur_weights *w = &out->weights;
    size_t n = given->data.n, m = w->m, count = 0;
    UR_ARENA(arena);
    unsigned char *used = ur_take(&arena, n, 1);
    double *sums = ur_take(&arena, m, A_COLUMN * sizeof *sums);
    *audit = (ur_audit){.columns_met = 1, .worst = 1, .idle = ur_take(kept, n, 1)};
    audit->missed = ur_take(kept, n, sizeof *audit->missed);
    task t = {.data = &given->data,
              .floors = &clean->data,
              .out = out,
              .used = used,
              .missed = audit->missed,
              .idle = audit->idle,
              .largest = ur_take(&arena, m, sizeof *t.largest),
              .live = ur_take(&arena, n, sizeof *t.live),
              .first = ur_take(&arena, n, sizeof *t.first)};
    const ur_blocks blocks = {.n = n,
                              .step = ROWS,
                              .chunk = ROWS,
                              .len = m * A_COLUMN,
                              .scratch = ROWS * (w->k + m),
                              .add = add_rows,
                              .context = &t};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(kept, err));
    for (size_t i = 0; i < clean->rows; i++)
        used[clean->row[i]] = 1;
    for (size_t i = 0; i < m * w->k; i++)
        t.largest[i / w->k] = fmax(t.largest[i / w->k], fabs(w->U[i]));
    UR_TRY(ur_blocks_sum(&blocks, given->exec, "certifying", sums, err));
    double rss = 0, size = 0, held_rss = 0, held_size = 0;
    for (size_t j = 0; j < m; j++) {
        const double *sum = sums + A_COLUMN * j;
        double unit = clean->data.column_unit[j] / clean->data.unit, square = unit * unit;
        double share = sum[LIVE] > 0 ? sum[MET] / sum[LIVE] : 1;
        rss += square * sum[RSS];
        size += square * sum[SIZE];
        held_rss += square * sum[HELD_RSS];
        held_size += square * sum[HELD_SIZE];
        audit->columns_met &= relative(sum[RSS], sum[SIZE]) <= clean->data.column_floor[j];
        if (share < audit->worst) {
            audit->worst = share;
            audit->worst_column = j;
        }
    }
    audit->residual = relative(rss, size);
    audit->held = held_size > 0 ? relative(held_rss, held_size) : NAN;
    for (size_t i = 0; i < n; i++) {
        t.first[i] = count;
        count += t.missed[i];
        audit->rows += t.live[i] > 0;
        audit->rows_met += t.live[i] > 0 && 2 * t.missed[i] < t.live[i];
    }
    audit->wrong = (double)count / ((double)n * (double)m);
    out->corrupted = count;
    out->E_row = ur_take(out->arena, count, sizeof *out->E_row);
    out->E_column = ur_take(out->arena, count, sizeof *out->E_column);
    out->E_value = ur_take(out->arena, count, sizeof *out->E_value);
    UR_TRY(ur_arena_status(out->arena, err));
    t.listing = 1;
    return ur_blocks_sum(&blocks, given->exec, "certifying", sums, err);
}
