/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate: one pass over all rows in the data's own coordinates, from the weights alone.
 * Labels are met where every column is met to its own precision (a column of 1e8 must not hide
 * noise in the others) and no single cell is far off (a wrong row must not drown in millions).
 * Samples on a kink to within rounding count on neither of its sides. Cost 2 n k (d + m) flops. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"
#include "pass/blocks.h"
#include "read/format.h"

#include <math.h>

enum { HELD, FAR, HEAD };                          /* counts of rows kept back, of cells far off */
enum { RSS, SIZE, HELD_RSS, HELD_SIZE, A_COLUMN }; /* sums of a column of labels */
enum { ON, OFF, A_NEURON };
enum { ROWS = 256 };
/* of a column, over rows kept back: fewer rows may be off by more */
static const double HELD_FLOORS = 10;

typedef struct {
    const ur_data *data;
    const ur_weights *weights;
    const unsigned char *used; /* NULL: all rows */
    double *length;            /* k: ur_kink_neuron */
    double *largest;           /* m: max_j |U_ij| */
    double *per_unit;          /* m: 1 / column_unit, exact: they are powers of two */
} plan;

/* counts the sides of the kinks, then t = f(V x + c); returns the sum of its sizes */
static double add_sides(const plan *p, const double *x, double *t, double *neuron)
{
    const ur_weights *w = p->weights;
    double row = ur_kink_row(p->data, x), sum = 0;
    for (size_t j = 0; j < w->k; j++, neuron += A_NEURON) {
        double kink = ur_kink(row, p->length[j], w->c[j]);
        t[j] += w->c[j];
        neuron[ON] += t[j] > kink;
        neuron[OFF] += t[j] < -kink;
    }
    ur_activation_apply(w->f, w->k, t, t, NULL);
    for (size_t j = 0; j < w->k; j++)
        sum += fabs(t[j]);
    return sum;
}

/* sum: HEAD, then the columns, then the neurons */
static void add_rows(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const plan *p = context;
    const ur_data *data = p->data;
    const ur_weights *w = p->weights;
    size_t d = w->d, k = w->k, m = w->m;
    const double *x = data->x + first * d;
    double *t = scratch, *y = t + ROWS * k, terms[ROWS]; /* (rows, k): V x + c, then f of it */
    ur_multiply_nt(rows, d, k, x, w->V, t);
    for (size_t i = 0; i < rows; i++)
        terms[i] = add_sides(p, x + i * d, t + i * k, sum + HEAD + A_COLUMN * m);
    ur_multiply_nt(rows, k, m, t, w->U, y);
    for (size_t i = 0; i < rows; i++) {
        int held = p->used && !p->used[first + i];
        double *column = sum + HEAD;
        for (size_t j = 0; j < m; j++, column += A_COLUMN) {
            double per = p->per_unit[j], label = data->a[(first + i) * m + j] * per;
            double miss = label - (y[i * m + j] + w->e[j]) * per;
            double reach = ur_data_reach(data, j, per, p->largest[j], terms[i], w->e[j]);
            column[RSS] += miss * miss;
            column[SIZE] += label * label;
            sum[FAR] += !(fabs(miss) <= reach); /* NaN counts */
            if (held) {
                column[HELD_RSS] += miss * miss;
                column[HELD_SIZE] += label * label;
            }
        }
        sum[HELD] += held;
    }
}

/* a column of zeros has no size of its own: rounding is measured against the others */
static double relative(double rss, double size, double otherwise)
{
    return sqrt(rss / (size > 0 ? size : otherwise));
}

static void read_sums(const plan *p, const double *sum, ur_certificate *c)
{
    const ur_data *data = p->data;
    double rss = 0, size = 0, held_rss = 0, held_size = 0, cells = (double)data->n;
    const double *at = sum + HEAD;
    c->met = sum[FAR] == 0;
    c->roundings = 0;
    for (size_t j = 0; j < data->m; j++, at += A_COLUMN) {
        double unit = data->column_unit[j] / data->unit, square = unit * unit;
        double floor_of_column = data->column_floor[j];
        rss += square * at[RSS];
        size += square * at[SIZE];
        held_rss += square * at[HELD_RSS];
        held_size += square * at[HELD_SIZE];
        double left = relative(at[RSS], at[SIZE], cells), rounding = data->column_rounding[j];
        c->met &= left <= floor_of_column;
        c->roundings = fmax(c->roundings, rounding > 0 ? left / rounding : 0);
        if (sum[HELD] > 0)
            c->met &=
                relative(at[HELD_RSS], at[HELD_SIZE], sum[HELD]) <= HELD_FLOORS * floor_of_column;
    }
    c->residual = sqrt(rss / size);
    c->holdout_residual = sum[HELD] > 0 ? relative(held_rss, held_size, sum[HELD]) : NAN;
    c->precision = c->met && c->residual <= UR_FLOOR_DOUBLE ? "double" : data->precision;
    c->min_active = c->min_inactive = data->n;
    for (size_t j = 0; j < p->weights->k; j++, at += A_NEURON) {
        size_t on = (size_t)at[ON], off = (size_t)at[OFF];
        c->active[j] = at[ON] / cells;
        c->min_active = on < c->min_active ? on : c->min_active;
        c->min_inactive = off < c->min_inactive ? off : c->min_inactive;
    }
}

unrelu_status ur_certify(const ur_problem *given, const ur_weights *w, const ur_frame *seen,
                         ur_arena *kept, ur_certificate *certificate, unrelu_error *err)
{
    const ur_data *data = &given->data;
    UR_ARENA(arena);
    plan p = {.data = data,
              .weights = w,
              .used = ur_frame_mark(seen, data->n, &arena),
              .length = ur_take(&arena, w->k, sizeof *p.length),
              .largest = ur_take(&arena, w->m, sizeof *p.largest),
              .per_unit = ur_take(&arena, w->m, sizeof *p.per_unit)};
    const ur_blocks blocks = {.n = data->n,
                              .step = ROWS,
                              .chunk = ur_piece_rows(data->n, data->d),
                              .len = HEAD + A_COLUMN * w->m + A_NEURON * w->k,
                              .scratch = ROWS * (w->k + w->m),
                              .add = add_rows,
                              .context = &p};
    double *sum = ur_take(&arena, blocks.len, sizeof *sum);
    certificate->active = ur_take(kept, w->k, sizeof *certificate->active);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(kept, err));
    for (size_t j = 0; j < w->k; j++)
        p.length[j] = ur_kink_neuron(data, w->V + j * w->d);
    for (size_t i = 0; i < w->m; i++)
        p.per_unit[i] = 1 / data->column_unit[i];
    for (size_t i = 0; i < w->m * w->k; i++)
        p.largest[i / w->k] = fmax(p.largest[i / w->k], fabs(w->U[i]));
    UR_TRY(ur_blocks_sum(&blocks, given->exec, "certifying", sum, err));
    read_sums(&p, sum, certificate);
    certificate->precision = ur_take_copy(kept, certificate->precision); /* outlives the data */
    return ur_arena_status(kept, err);
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
