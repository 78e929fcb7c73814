/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of labels with wrong cells: every cell of every row against the network, from
 * its weights alone. A cell is met where it is by certify.c; all others are E. Residuals are
 * relative and over the cells that are met: over all of them they would only say how large E is.
 * Rows that are 0 in the network count neither for nor against it, nor do cells that are 0 there
 * and in the labels, but in columns without any output. Cost 4 n k (d
 * + m) flops. */
#include "base/error.h"
#include "base/memory.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/verdict/verdict.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 256 };
enum { RSS, SIZE, HELD_RSS, HELD_SIZE, MET, LIVE, A_COLUMN };

typedef struct {
    const ur_problem *given;
    const ur_data *floors;
    const ur_outcome *out;
    const ur_weights *weights;
    const unsigned char *used; /* n: rows the solver saw */
    double *largest;           /* m: max_j |U_ij| */
    double *sums;              /* (blocks, m A_COLUMN) */
    size_t *missed, *live;     /* n: wrong cells; cells that count */
    unsigned char *idle;       /* n */
    const size_t *first;       /* n: place of the row's first wrong cell in E, or NULL */
} task;

void ur_audit_free(ur_audit *audit)
{
    free(audit->missed);
    free(audit->idle);
    *audit = (ur_audit){0};
}

static double sum_of_sizes(size_t count, const double *x)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += fabs(x[j]);
    return sum;
}

static int is_met(const task *t, size_t j, double terms, double miss)
{
    double per = 1 / t->floors->column_unit[j]; /* powers of two: this is exact */
    return fabs(miss * per) <=
           ur_certify_reach(t->floors, j, per, t->largest[j], terms, t->weights->e[j]);
}

static void add_row(const task *t, size_t row, const double *hidden, const double *y, double *sums)
{
    const ur_weights *w = t->weights;
    const double *a = t->given->data.a + row * w->m;
    double terms = sum_of_sizes(w->k, hidden), size = sum_of_sizes(w->m, y);
    t->idle[row] = size == 0;
    for (size_t j = 0; j < w->m; j++) {
        double miss = a[j] - y[j], per = 1 / t->floors->column_unit[j];
        double *sum = sums + A_COLUMN * j;
        int met = is_met(t, j, terms, miss);
        int mute = t->largest[j] == 0 && w->e[j] == 0;
        int live = size > 0 && (a[j] != 0 || y[j] != 0 || mute);
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

static void list_row(const task *t, size_t row, const double *hidden, const double *y)
{
    const ur_weights *w = t->weights;
    const double *a = t->given->data.a + row * w->m;
    double terms = sum_of_sizes(w->k, hidden);
    size_t at = t->first[row];
    for (size_t j = 0; j < w->m; j++) {
        if (is_met(t, j, terms, a[j] - y[j]))
            continue;
        t->out->E_row[at] = (double)row;
        t->out->E_column[at] = (double)j;
        t->out->E_value[at++] = a[j] - y[j];
    }
}

static unrelu_status audit_block(void *context, size_t block, unrelu_error *err)
{
    task *t = context;
    const ur_weights *w = t->weights;
    const ur_data *data = &t->given->data;
    size_t first = block * ROWS, left = data->n - first, rows = left < ROWS ? left : ROWS;
    UR_ARENA(arena);
    double *hidden = ur_take(&arena, rows, w->k * sizeof *hidden);
    double *y = ur_take(&arena, rows, w->m * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    ur_network_forward(w, data->x + first * w->d, rows, hidden, y);
    for (size_t i = 0; i < rows; i++) {
        const double *h = hidden + i * w->k, *fit = y + i * w->m;
        if (t->first)
            list_row(t, first + i, h, fit);
        else
            add_row(t, first + i, h, fit, t->sums + block * w->m * A_COLUMN);
    }
    return UNRELU_OK;
}

/* the wrong cells, by row and column */
static unrelu_status list(task *t, size_t blocks, ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = t->given->data.n, *first = ur_take(&arena, n, sizeof *first), count = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        first[i] = count;
        count += t->missed[i];
    }
    out->corrupted = count;
    out->E_row = ur_take(out->arena, count, sizeof *out->E_row);
    out->E_column = ur_take(out->arena, count, sizeof *out->E_column);
    out->E_value = ur_take(out->arena, count, sizeof *out->E_value);
    UR_TRY(ur_arena_status(out->arena, err));
    t->first = first;
    return ur_each(t->given->exec, "certifying", blocks, audit_block, t, err);
}

static double relative(double rss, double size)
{
    return rss > 0 ? sqrt(rss / size) : 0;
}

static void read_columns(const task *t, size_t blocks, ur_audit *audit)
{
    const ur_data *data = t->floors;
    size_t m = data->m;
    double rss = 0, size = 0, held_rss = 0, held_size = 0;
    audit->columns_met = 1;
    audit->worst = 1;
    for (size_t b = 1; b < blocks; b++)
        for (size_t i = 0; i < m * A_COLUMN; i++)
            t->sums[i] += t->sums[b * m * A_COLUMN + i];
    for (size_t j = 0; j < m; j++) {
        const double *sum = t->sums + A_COLUMN * j;
        double unit = data->column_unit[j] / data->unit, square = unit * unit;
        double share = sum[LIVE] > 0 ? sum[MET] / sum[LIVE] : 1;
        rss += square * sum[RSS];
        size += square * sum[SIZE];
        held_rss += square * sum[HELD_RSS];
        held_size += square * sum[HELD_SIZE];
        audit->columns_met &= relative(sum[RSS], sum[SIZE]) <= data->column_floor[j];
        if (share < audit->worst) {
            audit->worst = share;
            audit->worst_column = j;
        }
    }
    audit->residual = relative(rss, size);
    audit->held = held_size > 0 ? relative(held_rss, held_size) : NAN;
}

static void read_rows(const task *t, ur_audit *audit)
{
    const ur_data *data = &t->given->data;
    double wrong = 0;
    for (size_t i = 0; i < data->n; i++) {
        wrong += (double)t->missed[i];
        audit->rows += t->live[i] > 0;
        audit->rows_met += t->live[i] > 0 && 2 * t->missed[i] < t->live[i];
    }
    audit->wrong = wrong / ((double)data->n * (double)data->m);
}

unrelu_status ur_audit_run(const ur_problem *given, const ur_clean *clean, ur_outcome *out,
                           ur_audit *audit, unrelu_error *err)
{
    const ur_weights *w = &out->weights;
    size_t n = given->data.n, m = w->m, blocks = (n + ROWS - 1) / ROWS;
    UR_ARENA(arena);
    unsigned char *used = ur_take(&arena, n, 1);
    *audit = (ur_audit){.missed = ur_alloc(n, sizeof *audit->missed), .idle = ur_alloc(n, 1)};
    task t = {.given = given,
              .floors = &clean->data,
              .out = out,
              .weights = w,
              .used = used,
              .missed = audit->missed,
              .idle = audit->idle};
    t.largest = ur_take(&arena, m, sizeof *t.largest);
    t.sums = ur_take(&arena, blocks, m * A_COLUMN * sizeof *t.sums);
    t.live = ur_take(&arena, n, sizeof *t.live);
    UR_TRY(ur_arena_status(&arena, err));
    if (!t.missed || !t.idle)
        return ur_fail_memory(err, n, "marks");
    for (size_t i = 0; i < clean->rows; i++)
        used[clean->row[i]] = 1;
    for (size_t i = 0; i < m * w->k; i++)
        t.largest[i / w->k] = fmax(t.largest[i / w->k], fabs(w->U[i]));
    UR_TRY(ur_each(given->exec, "certifying", blocks, audit_block, &t, err));
    read_columns(&t, blocks, audit);
    read_rows(&t, audit);
    return list(&t, blocks, out, err);
}
