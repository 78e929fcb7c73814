/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate: one pass over all rows in the data's own coordinates, from the weights alone.
 * Labels are met where every column is met to its own precision (a column of 1e8 must not hide
 * noise in the others) and no single cell is far off (a wrong row must not drown in millions).
 * Samples on a kink to within rounding count on neither of its sides. Cost 2 n k (d + m) flops. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/problem/recover.h"
#include "pass/pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD, FAR, HEAD };                          /* counts of rows kept back, of cells far off */
enum { RSS, SIZE, HELD_RSS, HELD_SIZE, A_COLUMN }; /* sums of a column of labels */
enum { ON, OFF, A_NEURON };
enum { ROWS = 256 };
static const double FAR_OFF = 30; /* floors of the size of the terms of a cell */

typedef struct {
    const ur_data *data;
    const unrelu_network *model;
    const unsigned char *used; /* NULL: all rows */
    double *length;            /* k: ur_kink_neuron */
    double *largest;           /* m: max_j |U_ij| */
    double *per_unit;          /* m: 1 / column_unit, exact: they are powers of two */
} plan;

typedef struct {
    double *t, *y; /* (ROWS, k): V x + c, then f of it; (ROWS, m) */
} scratch;

static double *column_of(const plan *p, double *s, size_t j)
{
    (void)p;
    return s + HEAD + A_COLUMN * j;
}

static double *neuron_of(const plan *p, double *s, size_t j)
{
    return s + HEAD + A_COLUMN * p->model->m + A_NEURON * j;
}

static size_t length(const void *p)
{
    const unrelu_network *model = ((const plan *)p)->model;
    return HEAD + A_COLUMN * model->m + A_NEURON * model->k;
}

static void scratch_free(void *room)
{
    scratch *w = room;
    if (!w)
        return;
    free(w->t);
    free(w->y);
    free(w);
}

static void *scratch_new(const void *context)
{
    const unrelu_network *model = ((const plan *)context)->model;
    scratch *w = ur_alloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->t = ur_alloc(ROWS, model->k * sizeof *w->t);
    w->y = ur_alloc(ROWS, model->m * sizeof *w->y);
    if (w->t && w->y)
        return w;
    scratch_free(w);
    return NULL;
}

/* counts the sides of the kinks, then t = f(V x + c); returns the sum of its sizes */
static double add_sides(const plan *p, const double *x, double *t, double *s)
{
    const unrelu_network *model = p->model;
    double row = ur_kink_row(p->data, x), sum = 0;
    for (size_t j = 0; j < model->k; j++) {
        double *neuron = neuron_of(p, s, j);
        double kink = ur_kink(row, p->length[j], model->c[j]);
        t[j] += model->c[j];
        neuron[ON] += t[j] > kink;
        neuron[OFF] += t[j] < -kink;
    }
    ur_activation_apply(model->activation, model->k, t, t, NULL);
    for (size_t j = 0; j < model->k; j++)
        sum += fabs(t[j]);
    return sum;
}

static void add_cells(const plan *p, const double *y, double terms, size_t row, double *s)
{
    const ur_data *data = p->data;
    const unrelu_network *model = p->model;
    int held = p->used && !p->used[row];
    for (size_t j = 0; j < model->m; j++) {
        double *column = column_of(p, s, j), per = p->per_unit[j];
        double label = data->a[row * model->m + j] * per;
        double miss = label - (y[j] + model->e[j]) * per;
        double about = (p->largest[j] * terms + fabs(model->e[j])) * per + data->column_rms[j];
        column[RSS] += miss * miss;
        column[SIZE] += label * label;
        s[FAR] += !(fabs(miss) <= FAR_OFF * data->column_floor[j] * about); /* NaN counts */
        if (held) {
            column[HELD_RSS] += miss * miss;
            column[HELD_SIZE] += label * label;
        }
    }
    s[HELD] += held;
}

static unrelu_status update(const void *context, void *room, double *s, const ur_block *block,
                            unrelu_error *err)
{
    const plan *p = context;
    const unrelu_network *model = p->model;
    scratch *w = room;
    (void)err;
    for (size_t first = 0; first < block->rows; first += ROWS) {
        size_t rows = block->rows - first < ROWS ? block->rows - first : ROWS;
        const double *x = block->x + first * block->stride;
        double terms[ROWS];
        ur_multiply_nt(rows, model->d, model->k, x, model->V, w->t);
        for (size_t i = 0; i < rows; i++)
            terms[i] = add_sides(p, x + i * block->stride, w->t + i * model->k, s);
        ur_multiply_nt(rows, model->k, model->m, w->t, model->U, w->y);
        for (size_t i = 0; i < rows; i++)
            add_cells(p, w->y + i * model->m, terms[i], block->first_row + first + i, s);
    }
    return UNRELU_OK;
}

static const ur_summary certificate = {
    .len = length, .scratch_new = scratch_new, .scratch_free = scratch_free, .update = update};

/* a column of zeros has no size of its own: rounding is measured against the others */
static double relative(double rss, double size, double otherwise)
{
    return sqrt(rss / (size > 0 ? size : otherwise));
}

static void read_columns(ur_recover *r, const plan *p, double *s)
{
    const ur_data *data = &r->data;
    double rss = 0, size = 0, held_rss = 0, held_size = 0, cells = (double)data->n;
    r->met = s[FAR] == 0;
    for (size_t j = 0; j < data->m; j++) {
        const double *column = column_of(p, s, j);
        double unit = data->column_unit[j] / data->unit, square = unit * unit;
        double floor = data->column_floor[j];
        rss += square * column[RSS];
        size += square * column[SIZE];
        held_rss += square * column[HELD_RSS];
        held_size += square * column[HELD_SIZE];
        r->met &= relative(column[RSS], column[SIZE], cells) <= floor;
        if (s[HELD] > 0) /* fewer rows may be off by more */
            r->met &= relative(column[HELD_RSS], column[HELD_SIZE], s[HELD]) <= 10 * floor;
    }
    r->model->residual = sqrt(rss / size);
    r->model->holdout_residual = s[HELD] > 0 ? relative(held_rss, held_size, s[HELD]) : NAN;
    r->model->samples_checked = data->n;
}

static void read_neurons(ur_recover *r, const plan *p, double *s)
{
    unrelu_network *model = r->model;
    model->min_active = model->min_inactive = model->n;
    for (size_t j = 0; j < model->k; j++) {
        const double *neuron = neuron_of(p, s, j);
        size_t on = (size_t)neuron[ON], off = (size_t)neuron[OFF];
        model->active[j] = neuron[ON] / (double)model->n;
        model->min_active = on < model->min_active ? on : model->min_active;
        model->min_inactive = off < model->min_inactive ? off : model->min_inactive;
    }
}

static unrelu_status make_plan(const ur_recover *r, const ur_frame *frame, ur_arena *arena, plan *p,
                               unrelu_error *err)
{
    const unrelu_network *model = r->model;
    *p = (plan){.data = &r->data, .model = model};
    p->length = ur_take(arena, model->k, sizeof *p->length);
    p->largest = ur_take(arena, model->m, sizeof *p->largest);
    p->per_unit = ur_take(arena, model->m, sizeof *p->per_unit);
    p->used = ur_frame_mark(frame, r->data.n, arena);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < model->k; j++)
        p->length[j] = ur_kink_neuron(&r->data, model->V + j * model->d);
    for (size_t i = 0; i < model->m; i++)
        p->per_unit[i] = 1 / r->data.column_unit[i];
    for (size_t i = 0; i < model->m; i++)
        for (size_t j = 0; j < model->k; j++)
            p->largest[i] = fmax(p->largest[i], fabs(model->U[i * model->k + j]));
    return UNRELU_OK;
}

unrelu_status ur_certify(ur_recover *r, const ur_frame *frame, unrelu_error *err)
{
    UR_ARENA(arena);
    plan p;
    unrelu_source *source = NULL;
    UR_TRY(make_plan(r, frame, &arena, &p, err));
    double *s = ur_take(&arena, length(&p), sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    unrelu_status status = unrelu_source_memory(r->data.x, r->data.n, r->data.d, &source, err);
    if (status == UNRELU_OK)
        status = ur_pass(source, &certificate, &p, r->exec, "certifying", s, err);
    if (status == UNRELU_OK) {
        read_columns(r, &p, s);
        read_neurons(r, &p, s);
        snprintf(r->model->precision, sizeof r->model->precision, "%s",
                 r->met && r->model->residual <= 1e-12 ? "double" : r->data.precision);
    }
    unrelu_source_close(source);
    return status;
}
