/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate: one pass over all rows in the data's own coordinates, from the weights alone.
 * Labels are met where every column is met to its own precision (a column of 1e8 must not hide
 * noise in the others) and no single cell is far off (a wrong row must not drown in millions).
 * Samples on a kink to within rounding count on neither of its sides. Cost 2 n k (d + m) flops. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"
#include "pass/pass.h"

#include <math.h>
#include <string.h>

enum { HELD, FAR, HEAD };                          /* counts of rows kept back, of cells far off */
enum { RSS, SIZE, HELD_RSS, HELD_SIZE, A_COLUMN }; /* sums of a column of labels */
enum { ON, OFF, A_NEURON };
enum { ROWS = 256 };
/* floors of the size of the terms of a cell. Smaller, and the largest rounding error of millions of
 * cells is taken for a wrong one; larger, and a wrong row hides among cells with few digits */
static const double FAR_OFF = 30;
/* of a column, over rows kept back: fewer rows may be off by more */
static const double HELD_FLOORS = 10;

typedef struct {
    const ur_data *data;
    const ur_weights *model;
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
    const ur_weights *model = ((const plan *)p)->model;
    return HEAD + A_COLUMN * model->m + A_NEURON * model->k;
}

static void *new_scratch(const void *context, ur_arena *arena)
{
    const ur_weights *model = ((const plan *)context)->model;
    scratch *w = ur_take(arena, 1, sizeof *w);
    if (w)
        *w = (scratch){.t = ur_take(arena, ROWS, model->k * sizeof *w->t),
                       .y = ur_take(arena, ROWS, model->m * sizeof *w->y)};
    return w;
}

/* counts the sides of the kinks, then t = f(V x + c); returns the sum of its sizes */
static double add_sides(const plan *p, const double *x, double *t, double *s)
{
    const ur_weights *model = p->model;
    double row = ur_kink_row(p->data, x), sum = 0;
    for (size_t j = 0; j < model->k; j++) {
        double *neuron = neuron_of(p, s, j);
        double kink = ur_kink(row, p->length[j], model->c[j]);
        t[j] += model->c[j];
        neuron[ON] += t[j] > kink;
        neuron[OFF] += t[j] < -kink;
    }
    ur_activation_apply(model->f, model->k, t, t, NULL);
    for (size_t j = 0; j < model->k; j++)
        sum += fabs(t[j]);
    return sum;
}

double ur_certify_reach(const ur_data *data, size_t j, double per_unit, double largest,
                        double terms, double e)
{
    double about = (largest * terms + fabs(e)) * per_unit + data->column_rms[j];
    return FAR_OFF * data->column_floor[j] * about;
}

static void add_cells(const plan *p, const double *y, double terms, size_t row, double *s)
{
    const ur_data *data = p->data;
    const ur_weights *model = p->model;
    int held = p->used && !p->used[row];
    for (size_t j = 0; j < model->m; j++) {
        double *column = column_of(p, s, j), per = p->per_unit[j];
        double label = data->a[row * model->m + j] * per;
        double miss = label - (y[j] + model->e[j]) * per;
        column[RSS] += miss * miss;
        column[SIZE] += label * label;
        double reach = ur_certify_reach(data, j, per, p->largest[j], terms, model->e[j]);
        s[FAR] += !(fabs(miss) <= reach); /* NaN counts */
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
    const ur_weights *model = p->model;
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

static const ur_summary certificate_sums = {
    .len = length, .scratch = new_scratch, .update = update};

/* a column of zeros has no size of its own: rounding is measured against the others */
static double relative(double rss, double size, double otherwise)
{
    return sqrt(rss / (size > 0 ? size : otherwise));
}

static void read_columns(const plan *p, double *s, ur_certificate *c)
{
    const ur_data *data = p->data;
    double rss = 0, size = 0, held_rss = 0, held_size = 0, cells = (double)data->n;
    c->met = s[FAR] == 0;
    for (size_t j = 0; j < data->m; j++) {
        const double *column = column_of(p, s, j);
        double unit = data->column_unit[j] / data->unit, square = unit * unit;
        double floor_of_column = data->column_floor[j];
        rss += square * column[RSS];
        size += square * column[SIZE];
        held_rss += square * column[HELD_RSS];
        held_size += square * column[HELD_SIZE];
        c->met &= relative(column[RSS], column[SIZE], cells) <= floor_of_column;
        if (s[HELD] > 0)
            c->met &= relative(column[HELD_RSS], column[HELD_SIZE], s[HELD]) <=
                      HELD_FLOORS * floor_of_column;
    }
    c->residual = sqrt(rss / size);
    c->holdout_residual = s[HELD] > 0 ? relative(held_rss, held_size, s[HELD]) : NAN;
    c->precision = c->met && c->residual <= UR_FLOOR_DOUBLE ? "double" : data->precision;
}

static void read_neurons(const plan *p, double *s, ur_certificate *c)
{
    size_t n = p->data->n;
    c->min_active = c->min_inactive = n;
    for (size_t j = 0; j < p->model->k; j++) {
        const double *neuron = neuron_of(p, s, j);
        size_t on = (size_t)neuron[ON], off = (size_t)neuron[OFF];
        c->active[j] = neuron[ON] / (double)n;
        c->min_active = on < c->min_active ? on : c->min_active;
        c->min_inactive = off < c->min_inactive ? off : c->min_inactive;
    }
}

unrelu_status ur_certify(const ur_problem *given, const ur_weights *w, const ur_frame *seen,
                         ur_arena *kept, ur_certificate *certificate, unrelu_error *err)
{
    const ur_data *data = &given->data;
    UR_ARENA(arena);
    plan p = {.data = data, .model = w};
    unrelu_source *source = NULL;
    p.length = ur_take(&arena, w->k, sizeof *p.length);
    p.largest = ur_take(&arena, w->m, sizeof *p.largest);
    p.per_unit = ur_take(&arena, w->m, sizeof *p.per_unit);
    p.used = ur_frame_mark(seen, data->n, &arena);
    double *s = ur_take(&arena, length(&p), sizeof *s);
    certificate->active = ur_take(kept, w->k, sizeof *certificate->active);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(kept, err));
    for (size_t j = 0; j < w->k; j++)
        p.length[j] = ur_kink_neuron(data, w->V + j * w->d);
    for (size_t i = 0; i < w->m; i++)
        p.per_unit[i] = 1 / data->column_unit[i];
    for (size_t i = 0; i < w->m * w->k; i++)
        p.largest[i / w->k] = fmax(p.largest[i / w->k], fabs(w->U[i]));
    UR_TRY(unrelu_source_memory(data->x, data->n, data->d, &source, err));
    unrelu_status status =
        ur_pass(source, &certificate_sums, &p, given->exec, "certifying", s, err);
    unrelu_source_close(source);
    if (status != UNRELU_OK)
        return status;
    read_columns(&p, s, certificate);
    read_neurons(&p, s, certificate);
    return UNRELU_OK;
}

unrelu_status ur_certify_fit(const ur_problem *given, const ur_frame *frame,
                             const ur_newton_fit *fit, const ur_frame *seen, ur_outcome *out,
                             unrelu_error *err)
{
    out->terms = frame->terms;
    out->inputs = frame->q;
    out->p = frame->p;
    UR_TRY(ur_frame_weights(frame, given->options.activation, fit, out->arena, &out->weights, err));
    return ur_certify(given, &out->weights, seen, out->arena, &out->certificate, err);
}

unrelu_status ur_certify_exact(const ur_problem *given, const ur_frame *frame, const double *y,
                               size_t rank, size_t linear, ur_outcome *out, unrelu_error *err)
{
    ur_data *data = ur_take(out->arena, 1, sizeof *data);
    ur_frame *rows = ur_take(out->arena, 1, sizeof *rows);
    UR_TRY(ur_arena_status(out->arena, err));
    *data = given->data;
    *rows = *frame;
    out->answer = UR_EXACT;
    out->evidence = (ur_evidence){.data = data,
                                  .frame = rows,
                                  .y = y,
                                  .rank = rank,
                                  .linear_rank = linear,
                                  .certificate = out->certificate};
    return UNRELU_OK;
}
