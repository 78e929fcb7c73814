/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of labels with wrong cells: every cell of every row against the network, from
 * its weights alone. A cell is met within 30 floors of the size of its terms, as in certify.c; all
 * others are E. Residuals are relative and over the cells that are met: over all of them they
 * would only say how large E is. Rows that are 0 in the network count neither for nor against it,
 * nor do cells that are 0 there and in the labels, but in columns without any output. Cost 4 n k (d
 * + m) flops. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256 };
enum { RSS, SIZE, HELD_RSS, HELD_SIZE, MET, LIVE, A_COLUMN };
static const double FAR_OFF = 30; /* floors */

typedef struct {
    const ur_recover *r;
    const ur_data *floors;
    const unsigned char *used; /* n: rows the solver saw */
    double *largest;           /* m: max_j |U_ij| */
    double *sums;              /* (blocks, m A_COLUMN) */
    size_t *missed, *live;     /* n: wrong cells; cells that count */
    unsigned char *idle;       /* n */
    const size_t *first;       /* n: place of the row's first wrong cell in E, or NULL */
    unrelu_status *status;     /* blocks */
} task;

void ur_audit_free(ur_audit *audit)
{
    free(audit->missed);
    free(audit->idle);
    *audit = (ur_audit){0};
}

/* how far off cell j may be, t being the hidden units of its row */
static double allowed(const task *t, size_t j, double terms)
{
    const ur_data *data = t->floors;
    double about = t->largest[j] * terms + fabs(t->r->model->e[j]) +
                   data->column_rms[j] * data->column_unit[j];
    return FAR_OFF * data->column_floor[j] * about;
}

static void add_row(const task *t, size_t row, const double *hidden, const double *y, double *sums)
{
    const unrelu_network *model = t->r->model;
    const double *a = t->r->data.a + row * model->m;
    double terms = 0, size = 0;
    for (size_t j = 0; j < model->k; j++)
        terms += fabs(hidden[j]);
    for (size_t j = 0; j < model->m; j++)
        size += fabs(y[j]);
    t->idle[row] = size == 0;
    for (size_t j = 0; j < model->m; j++) {
        double miss = a[j] - y[j], per = 1 / t->floors->column_unit[j];
        double *sum = sums + A_COLUMN * j;
        int met = fabs(miss) <= allowed(t, j, terms);
        int mute = t->largest[j] == 0 && model->e[j] == 0;
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
    unrelu_network *model = t->r->model;
    const double *a = t->r->data.a + row * model->m;
    double terms = 0;
    size_t at = t->first[row];
    for (size_t j = 0; j < model->k; j++)
        terms += fabs(hidden[j]);
    for (size_t j = 0; j < model->m; j++) {
        if (fabs(a[j] - y[j]) <= allowed(t, j, terms))
            continue;
        model->E_row[at] = (double)row;
        model->E_column[at] = (double)j;
        model->E_value[at++] = a[j] - y[j];
    }
}

static void audit_block(void *context, size_t block)
{
    task *t = context;
    const unrelu_network *model = t->r->model;
    size_t first = block * ROWS, left = model->n - first, rows = left < ROWS ? left : ROWS;
    double *hidden = ur_alloc(rows, model->k * sizeof *hidden);
    double *y = ur_alloc(rows, model->m * sizeof *y);
    if (hidden && y)
        ur_network_forward(model, t->r->data.x + first * model->d, rows, hidden, y);
    else
        t->status[block] = UNRELU_ENOMEM;
    for (size_t i = 0; i < rows && hidden && y; i++) {
        const double *h = hidden + i * model->k, *fit = y + i * model->m;
        if (t->first)
            list_row(t, first + i, h, fit);
        else
            add_row(t, first + i, h, fit, t->sums + block * model->m * A_COLUMN);
    }
    free(hidden);
    free(y);
}

static unrelu_status pass(task *t, size_t blocks, unrelu_error *err)
{
    unrelu_status status = ur_parallel_for(t->r->exec, "certifying", blocks, audit_block, t, err);
    for (size_t b = 0; b < blocks && status == UNRELU_OK; b++)
        if (t->status[b] != UNRELU_OK)
            status = ur_fail_memory(err, ROWS * t->r->model->m, "cells");
    return status;
}

/* the wrong cells, by row and column */
static unrelu_status list(task *t, size_t blocks, unrelu_error *err)
{
    unrelu_network *model = t->r->model;
    size_t *first = ur_alloc(model->n, sizeof *first), count = 0;
    if (!first)
        return ur_fail_memory(err, model->n, "rows");
    for (size_t i = 0; i < model->n; i++) {
        first[i] = count;
        count += t->missed[i];
    }
    model->corrupted = count;
    model->E_row = ur_doubles(count);
    model->E_column = ur_doubles(count);
    model->E_value = ur_doubles(count);
    t->first = first;
    unrelu_status status = UNRELU_OK;
    if (!model->E_row || !model->E_column || !model->E_value)
        status = ur_fail_memory(err, count, "wrong cells");
    else
        status = pass(t, blocks, err);
    free(first);
    return status;
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
    const ur_data *data = &t->r->data;
    double wrong = 0;
    for (size_t i = 0; i < data->n; i++) {
        wrong += (double)t->missed[i];
        audit->rows += t->live[i] > 0;
        audit->rows_met += t->live[i] > 0 && 2 * t->missed[i] < t->live[i];
    }
    audit->wrong = wrong / ((double)data->n * (double)data->m);
}

unrelu_status ur_audit_run(ur_recover *r, const ur_clean *clean, ur_audit *audit, unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t n = model->n, m = model->m, blocks = (n + ROWS - 1) / ROWS;
    unsigned char *used = ur_alloc(n, 1);
    *audit = (ur_audit){.missed = ur_alloc(n, sizeof *audit->missed), .idle = ur_alloc(n, 1)};
    task t = {
        .r = r, .floors = &clean->data, .used = used, .missed = audit->missed, .idle = audit->idle};
    t.largest = ur_doubles(m);
    t.sums = ur_alloc(blocks, m * A_COLUMN * sizeof *t.sums);
    t.live = ur_alloc(n, sizeof *t.live);
    t.status = ur_alloc(blocks, sizeof *t.status);
    unrelu_status status = UNRELU_OK;
    if (!used || !t.missed || !t.idle || !t.largest || !t.sums || !t.live || !t.status) {
        status = ur_fail_memory(err, n + m * blocks, "sums");
        goto done;
    }
    for (size_t i = 0; i < clean->rows; i++)
        used[clean->row[i]] = 1;
    for (size_t i = 0; i < m * model->k; i++)
        t.largest[i / model->k] = fmax(t.largest[i / model->k], fabs(model->U[i]));
    status = pass(&t, blocks, err);
    if (status == UNRELU_OK) {
        read_columns(&t, blocks, audit);
        read_rows(&t, audit);
        status = list(&t, blocks, err);
    }
done:
    free(used);
    free(t.largest);
    free(t.sums);
    free(t.live);
    free(t.status);
    return status;
}
