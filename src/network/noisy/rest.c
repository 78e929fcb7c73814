/* SPDX-License-Identifier: Apache-2.0 */
/* A test of noise. What is a function of the inputs has residuals alike at neighbours, noise that
 * is independent from row to row has not: T = sum_i sum_{j near i} <s_i, s_j>,  s = r in units of
 * the root mean square of its label, over the NEAR nearest rows of each one. T is held against
 * draws of noise like what is left, each put through the same fit (tangent.h), which makes
 * residuals of neighbours less alike; so is what is left, as the network was fitted to other rows
 * too, and one huge cell there moves all that it gives. The draws are residuals with random signs
 * (all labels of a row together), which have the law of noise that is symmetric, whatever its
 * spread from place to place, and residuals of the rows in random order, which have that of noise
 * alike everywhere, whatever its shape. What is called a function is beyond all DRAWS draws of
 * both. Neighbours are those in the whitened inputs, in the inputs as the network weighs them, in
 * its hidden units and in the labels that it gives. The largest of these T counts, each in units of
 * what one draw in ONE_IN exceeds. Rows that repeat count once: copies of a row have copies of its
 * noise. Beside it: cells that are met to the floor, among others that are far off, are no noise
 * either, and neither is what leaves labels linear in x to rounding about some rows
 * (affine_pieces.c).
 */
#include "network/noisy/rest.h"

#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/data/frame.h"
#include "network/noisy/tangent.h"

#include <math.h>
#include <string.h>

enum {
    DRAWS = 499,
    BATCH = 50, /* draws at a time: memory */
    ONE_IN = 100,
    MOST_ROWS = 800, /* with one label, as many cells with more: 1/4 s of processor time, but */
    MOST_CELLS = 6400,
    FEWEST_ROWS = 200, /* whatever the cells: neighbours are to be near */
    LEAST_ROWS = 24,   /* fewer have too few signs to tell anything */
    SYSTEMS = 4,       /* of coordinates */
    KINDS = 2,         /* numbers of neighbours */
    MOST_NEAR = 12,
};
/* Few neighbours see functions that vary fast, many those that vary slowly, with less noise. */
static const size_t NEAR[KINDS] = {4, MOST_NEAR};
/* 1 - leverage, at least: residuals are divided by its root, so that draws are as large as noise */
static const double LEAST_FREE = 0.05;
/* Cells that are met, and how far off the others are on average, in floors: of noise that large the
 * former would be one in a thousand. */
static const double MET = 0.1, FAR = 1000;
/* Rows about which the labels are linear to rounding: noise has none, whole numbers with noise of a
 * few units on a grid of inputs have some. */
static const double LINEAR = 0.05;

typedef enum { SIGNS, ORDER } scheme;

typedef struct {
    const char *with; /* what neighbours are near in */
    size_t *near;     /* (n, MOST_NEAR), nearest first */
} neighbours;

typedef struct {
    size_t n, m, systems;
    double *r;    /* (n, m): residuals, all labels in one unit */
    double *free; /* (n, m): the same, as large as the noise that the fit has reduced */
    double *unit; /* m: root mean squares of r */
    neighbours system[SYSTEMS];
    ur_tangent tangent;
    uint64_t seed;
    double *E;                                         /* (n m, BATCH) */
    double *room;                                      /* of ur_tangent_leave */
    double *T[SYSTEMS * KINDS];                        /* DRAWS */
    double seen[SYSTEMS * KINDS], sums[KINDS * BATCH]; /* of r; of one system */
} test;

/* ---- rows ---- */

/* rows of the frame, each value of x once */
static size_t drop_copies(const ur_data *data, ur_frame *f)
{
    size_t kept = 0, d = data->d;
    for (size_t i = 0; i < f->n; i++) {
        const double *x = data->x + f->row[i] * d;
        int copy = 0;
        for (size_t j = 0; j < kept && !copy; j++)
            copy = memcmp(x, data->x + f->row[j] * d, d * sizeof *x) == 0;
        if (copy)
            continue;
        f->row[kept] = f->row[i];
        memmove(f->x + kept * f->p, f->x + i * f->p, f->p * sizeof *f->x);
        kept++;
    }
    return kept;
}

/* share of the cells that are met, of those where a neuron is on, among others that are far off */
static double share_met(const ur_data *data, const ur_weights *w, size_t n, const double *hidden,
                        const double *r)
{
    size_t k = w->k, m = w->m, cells = 0, met = 0, others = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double terms = 0;
            for (size_t l = 0; l < k; l++)
                terms += fabs(w->U[j * k + l] * hidden[i * k + l]);
            if (!(terms > 0)) /* noise in proportion to the labels is 0 there */
                continue;
            double about = terms / data->column_unit[j] + data->column_rms[j];
            double floors = fabs(r[i * m + j]) / (about * data->column_floor[j]);
            cells++;
            met += floors <= 1;
            others += floors > 1;
            squares += floors > 1 ? floors * floors : 0;
        }
    return others > 0 && squares > FAR * FAR * (double)others ? (double)met / (double)cells : 0;
}

/* ---- neighbours ---- */

/* the rows of z (n x wide) nearest to each; fewer than MOST_NEAR + 1 rows are never looked at */
static void find_neighbours(size_t n, size_t wide, const double *z, size_t *near)
{
    for (size_t i = 0; i < n; i++) {
        size_t *best = near + i * MOST_NEAR, count = 0;
        double distance[MOST_NEAR];
        for (size_t j = 0; j < n; j++) {
            double square = 0;
            for (size_t l = 0; l < wide; l++) {
                double step = z[i * wide + l] - z[j * wide + l];
                square += step * step;
            }
            if (j == i || (count == MOST_NEAR && !(square < distance[count - 1])))
                continue;
            size_t at = count < MOST_NEAR ? count++ : count - 1;
            for (; at > 0 && square < distance[at - 1]; at--) {
                distance[at] = distance[at - 1];
                best[at] = best[at - 1];
            }
            distance[at] = square;
            best[at] = j;
        }
    }
}

static unrelu_status add_system(test *t, const char *with, size_t wide, const double *z,
                                ur_arena *arena, unrelu_error *err)
{
    neighbours *system = &t->system[t->systems];
    *system = (neighbours){with, ur_take(arena, t->n, MOST_NEAR * sizeof(size_t))};
    UR_TRY(ur_arena_status(arena, err));
    find_neighbours(t->n, wide, z, system->near);
    t->systems++;
    return UNRELU_OK;
}

/* x (n x d) in its own unit, y (n x m) as the residuals in `unit`, hidden (n x k) */
static unrelu_status set_systems(test *t, const ur_frame *frame, const ur_weights *w, double unit,
                                 const double *x, const double *hidden, const double *y,
                                 ur_arena *arena, unrelu_error *err)
{
    size_t n = t->n, m = t->m, k = w->k, wide = k > m ? k : m;
    UR_ARENA(own);
    double *z = ur_take(&own, n, wide * sizeof *z), *size = ur_take(&own, k, sizeof *size);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t j = 0; j < k; j++) /* of the labels, in their noise */
        for (size_t r = 0; r < m; r++)
            size[j] = hypot(size[j], w->U[r * k + j] / unit / t->unit[r]);
    UR_TRY(add_system(t, "the inputs", frame->p, frame->x, arena, err));
    ur_gemm(UR_PLAIN, UR_TURNED, n, k, w->d, 1, x, w->d, w->V, w->d, 0, z, k);
    for (size_t i = 0; i < n * k; i++)
        z[i] *= size[i % k];
    UR_TRY(add_system(t, "the inputs as the network weighs them", k, z, arena, err));
    for (size_t i = 0; i < n * k; i++)
        z[i] = hidden[i] * size[i % k];
    UR_TRY(add_system(t, "the hidden units", k, z, arena, err));
    for (size_t i = 0; i < n * m; i++)
        z[i] = y[i] / t->unit[i % m];
    return add_system(t, "the labels that the network gives", m, z, arena, err);
}

/* ---- the statistic ---- */

/* T of the columns of E (n m x columns), KINDS numbers of neighbours, into t->sums */
static void sum_products(test *t, const neighbours *system, size_t columns, const double *E)
{
    size_t m = t->m, wide = m * columns;
    double *few = t->sums, *many = t->sums + BATCH;
    memset(t->sums, 0, sizeof t->sums);
    for (size_t i = 0; i < t->n; i++)
        for (size_t l = 0; l < MOST_NEAR; l++) {
            const double *one = E + i * wide, *other = E + system->near[i * MOST_NEAR + l] * wide;
            double *sums = l < NEAR[0] ? few : many;
            for (size_t r = 0; r < m; r++)
                for (size_t b = 0; b < columns; b++)
                    sums[b] += one[r * columns + b] * other[r * columns + b];
        }
    for (size_t b = 0; b < columns; b++)
        many[b] += few[b];
}

/* E (n m x columns) = draws first .. first + columns - 1 of noise, fitted, in units of the labels
 */
static unrelu_status draw(const test *t, scheme how, size_t first, size_t columns,
                          unrelu_error *err)
{
    size_t n = t->n, m = t->m;
    UR_ARENA(arena);
    double *uniform = ur_take(&arena, n, sizeof *uniform);
    size_t *order = ur_take(&arena, n, sizeof *order);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t b = 0; b < columns; b++) {
        size_t number = first + b + (how == SIGNS ? 0 : DRAWS);
        ur_random_uniforms(t->seed, UR_STREAM_REST, number * n, n, uniform);
        if (how == ORDER)
            ur_shuffle(n, uniform, order);
        for (size_t i = 0; i < n; i++) {
            const double *from = t->free + (how == SIGNS ? i : order[i]) * m;
            double sign = how == SIGNS && uniform[i] < .5 ? -1 : 1;
            for (size_t r = 0; r < m; r++)
                t->E[(i * m + r) * columns + b] = sign * from[r];
        }
    }
    ur_tangent_leave(&t->tangent, columns, t->E, t->room);
    for (size_t i = 0; i < n * m; i++)
        ur_scale(columns, 1 / t->unit[i % m], t->E + i * columns);
    return UNRELU_OK;
}

/* the middle of the draws, and what one in ONE_IN is above it */
static unrelu_status scale_of(const double *T, double *middle, double *step, unrelu_error *err)
{
    UR_ARENA(arena);
    double *sorted = ur_take_doubles(&arena, T, DRAWS);
    double *scratch = ur_take(&arena, DRAWS, sizeof *scratch);
    UR_TRY(ur_arena_status(&arena, err));
    ur_sort(sorted, scratch, DRAWS);
    *middle = sorted[DRAWS / 2];
    *step = sorted[DRAWS - 1 - DRAWS / ONE_IN] - *middle;
    return UNRELU_OK;
}

/* the largest T of the residuals, and of all draws of one kind */
static unrelu_status compare(test *t, scheme how, ur_rest *rest, unrelu_error *err)
{
    double largest[DRAWS] = {0};
    rest->deviates = rest->limit = 0;
    for (size_t first = 0; first < DRAWS; first += BATCH) {
        size_t columns = DRAWS - first < BATCH ? DRAWS - first : BATCH;
        UR_TRY(draw(t, how, first, columns, err));
        for (size_t s = 0; s < t->systems; s++) {
            sum_products(t, &t->system[s], columns, t->E);
            for (size_t kind = 0; kind < KINDS; kind++)
                memcpy(t->T[s * KINDS + kind] + first, t->sums + kind * BATCH,
                       columns * sizeof(double));
        }
    }
    for (size_t s = 0; s < t->systems * KINDS; s++) {
        double middle, step;
        UR_TRY(scale_of(t->T[s], &middle, &step, err));
        if (!(step > 0))
            continue;
        for (size_t b = 0; b < DRAWS; b++)
            largest[b] = fmax(largest[b], (t->T[s][b] - middle) / step);
        if ((t->seen[s] - middle) / step > rest->deviates) {
            rest->deviates = (t->seen[s] - middle) / step;
            rest->with = t->system[s / KINDS].with;
        }
    }
    for (size_t b = 0; b < DRAWS; b++)
        rest->limit = fmax(rest->limit, largest[b]);
    return UNRELU_OK;
}

/* signs first; the order of rows only where these find something. The smaller of the two counts. */
static unrelu_status compare_both(test *t, ur_rest *rest, unrelu_error *err)
{
    ur_rest other = *rest;
    for (size_t i = 0; i < t->n * t->m; i++)
        t->E[i] = t->r[i] / t->unit[i % t->m];
    for (size_t s = 0; s < t->systems; s++) {
        sum_products(t, &t->system[s], 1, t->E);
        for (size_t kind = 0; kind < KINDS; kind++)
            t->seen[s * KINDS + kind] = t->sums[kind * BATCH];
    }
    UR_TRY(compare(t, SIGNS, rest, err));
    if (!(rest->deviates > rest->limit))
        return UNRELU_OK;
    UR_TRY(compare(t, ORDER, &other, err));
    if (other.deviates * rest->limit < rest->deviates * other.limit)
        *rest = other;
    return UNRELU_OK;
}

/* ---- the test ---- */

/* unit and free of the residuals */
static void size_residuals(test *t)
{
    size_t n = t->n, m = t->m;
    for (size_t r = 0; r < m; r++) {
        double squares = 0, mean = 0;
        for (size_t i = 0; i < n; i++) {
            size_t cell = i * m + r;
            squares += t->r[cell] * t->r[cell] / (double)n;
            t->free[cell] = t->r[cell] / sqrt(fmax(LEAST_FREE, 1 - t->tangent.leverage[cell]));
            mean += t->free[cell] / (double)n;
        }
        for (size_t i = 0; i < n; i++)
            t->free[i * m + r] -= mean;
        t->unit[r] = squares > 0 ? sqrt(squares) : 1;
    }
}

static unrelu_status open_test(const ur_problem *given, const ur_weights *w, ur_terms terms,
                               size_t n, const double *x, ur_arena *arena, test *t,
                               unrelu_error *err)
{
    size_t m = given->data.m;
    *t = (test){.n = n,
                .m = m,
                .r = ur_take(arena, n, m * sizeof(double)),
                .free = ur_take(arena, n, m * sizeof(double)),
                .unit = ur_take(arena, m, sizeof(double)),
                .seed = given->options.seed,
                .E = ur_take(arena, n * m, BATCH * sizeof(double))};
    for (size_t s = 0; s < SYSTEMS * KINDS; s++)
        t->T[s] = ur_take(arena, DRAWS, sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_tangent_make(w, terms, n, x, arena, &t->tangent, err));
    t->room = ur_take(arena, t->tangent.outer * m + t->tangent.inner + 1, BATCH * sizeof(double));
    return ur_arena_status(arena, err);
}

static size_t most_rows(size_t m)
{
    size_t rows = MOST_CELLS / m;
    return rows > MOST_ROWS ? MOST_ROWS : rows < FEWEST_ROWS ? FEWEST_ROWS : rows;
}

unrelu_status ur_rest_test(const ur_problem *given, const ur_weights *w, ur_terms terms,
                           ur_rest *rest, unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t d = data->d, m = data->m, k = w->k;
    UR_ARENA(arena);
    ur_frame frame;
    test t;
    UR_TRY(ur_frame_make(data, most_rows(m), (ur_terms){1, 0}, 0, &arena, &frame, err));
    size_t n = drop_copies(data, &frame);
    *rest = (ur_rest){.rows = n, .with = "the inputs"};
    if (n < LEAST_ROWS)
        return UNRELU_OK;
    double *x = ur_take(&arena, n, d * sizeof *x), *hidden = ur_take(&arena, n, k * sizeof *x);
    double *y = ur_take(&arena, n, m * sizeof *y), *cell = ur_take(&arena, n, m * sizeof *cell);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        memcpy(x + i * d, data->x + frame.row[i] * d, d * sizeof *x);
    UR_TRY(open_test(given, w, terms, n, x, &arena, &t, err));
    ur_network_forward(w, x, n, hidden, y);
    for (size_t i = 0; i < n * m; i++) {
        double left = data->a[frame.row[i / m] * m + i % m] - y[i];
        cell[i] = left / data->column_unit[i % m];
        t.r[i] = left / data->unit;
        y[i] /= data->unit;
    }
    rest->met = share_met(data, w, n, hidden, cell);
    ur_tangent_leave(&t.tangent, 1, t.r, t.room);
    size_residuals(&t);
    UR_TRY(set_systems(&t, &frame, w, data->unit, x, hidden, y, &arena, err));
    UR_TRY(compare_both(&t, rest, err));
    UR_TRY(ur_rest_pieces(data, &frame, n, &rest->linear, err));
    rest->met = rest->met > MET ? rest->met : 0;
    rest->linear = rest->linear > LINEAR ? rest->linear : 0;
    rest->is_function = rest->deviates > rest->limit || rest->met > 0 || rest->linear > 0;
    return UNRELU_OK;
}
