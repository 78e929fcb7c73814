/* SPDX-License-Identifier: Apache-2.0 */
/* A test of noise. Noise that is independent from row to row keeps its law if the residuals of any
 * rows change their signs (all labels of a row together), whatever its spread and tails, if it is
 * symmetric; what is a function of the inputs does not: neighbours have residuals alike. So
 *   T = sum_{i != j} W_ij <s_i, s_j>,  s = r in units of the root mean square of its label,
 * for weights W that join neighbours, is held against T for DRAWS draws of signs, the same ones for
 * all W: the largest of T in units of its deviation must be beyond that of all draws, which noise
 * is once in DRAWS + 1. The fit makes residuals of neighbours less alike, which is on the safe
 * side. Neighbours are those in the whitened inputs, in the hidden units and in the labels that the
 * network gives; W is exp(-distance / h), near ones (h small), or of a ridge regression with
 * that kernel, which weighs slow and fast functions alike. Rows that repeat count once: copies of
 * a row have copies of its noise.
 * Beside it: cells that are met to the floor, among others that are far off, are no noise either,
 * and neither is what leaves labels linear in x to rounding about some rows (affine_pieces.c).
 */
#include "network/noisy/rest.h"

#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/data/frame.h"

#include <math.h>
#include <string.h>

enum {
    DRAWS = 499,
    MOST_ROWS = 800, /* 1 s of processor time */
    LEAST_ROWS = 24, /* fewer have too few signs to tell anything */
    KINDS = 2,       /* of weights */
};
static const double NEAR = 0.2;  /* h of near neighbours, in medians of the distances */
static const double RIDGE = 0.1; /* of the diagonal of the kernel */
/* Cells that are met, and how far off the others are on average, in floors: of noise that large the
 * former would be one in a thousand. */
static const double MET = 0.1, FAR = 1000;
/* Rows about which the labels are linear to rounding: noise has none, whole numbers with noise of a
 * few units on a grid of inputs have some. */
static const double LINEAR = 0.05;

typedef struct {
    size_t n, m, wide;
    double *s;     /* (n, m): scores of the residuals */
    double *z;     /* (n, wide): coordinates */
    double *W, *M; /* n x n */
    double *signs; /* (n, DRAWS) */
    double *T;     /* DRAWS: largest so far */
    double *room;  /* (n, DRAWS) */
} test;

/* ---- rows and scores ---- */

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

static double median_of(double *x, double *scratch, size_t n)
{
    ur_sort(x, scratch, n);
    return n > 0 ? x[n / 2] : 0;
}

/* residuals r (n x m) in units of their columns. No bounded score: of noise that is not symmetric
 * it would have a mean, and of noise that differs from place to place it would show the error of
 * the fit where noise is small. */
static void score(test *t, const double *r)
{
    for (size_t j = 0; j < t->m; j++) {
        double squares = 0;
        for (size_t i = 0; i < t->n; i++)
            squares += r[i * t->m + j] * r[i * t->m + j] / (double)t->n;
        for (size_t i = 0; i < t->n; i++)
            t->s[i * t->m + j] = squares > 0 ? r[i * t->m + j] / sqrt(squares) : 0;
    }
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

/* ---- weights ---- */

/* columns of z to unit spread, those of one value (the ones of the frame) to 0; whether there is
 * any other */
static int standardise(size_t n, size_t wide, double *z)
{
    int any = 0;
    for (size_t j = 0; j < wide; j++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < n; i++)
            mean += z[i * wide + j] / (double)n;
        for (size_t i = 0; i < n; i++) {
            z[i * wide + j] -= mean;
            squares += z[i * wide + j] * z[i * wide + j] / (double)n;
        }
        int varies = sqrt(squares) > UR_ROUNDING * fabs(mean);
        any |= varies;
        for (size_t i = 0; i < n; i++)
            z[i * wide + j] = varies ? z[i * wide + j] / sqrt(squares) : 0;
    }
    return any;
}

/* W = distances over their median */
static unrelu_status set_distances(const test *t, unrelu_error *err)
{
    size_t n = t->n, pairs = n * (n - 1) / 2, at = 0;
    UR_ARENA(arena);
    double *all = ur_take(&arena, pairs, sizeof *all),
           *scratch = ur_take(&arena, pairs, sizeof *all);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double square = 0;
            for (size_t l = 0; l < t->wide; l++) {
                double step = t->z[i * t->wide + l] - t->z[j * t->wide + l];
                square += step * step;
            }
            t->W[i * n + j] = t->W[j * n + i] = all[at++] = sqrt(square);
        }
    double middle = median_of(all, scratch, pairs);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            t->W[i * n + j] = i == j ? 0 : middle > 0 ? t->W[i * n + j] / middle : 1;
    return UNRELU_OK;
}

/* M = W of the kind, from the distances in t->W; no weight on the diagonal */
static unrelu_status set_weights(const test *t, int kind, unrelu_error *err)
{
    size_t n = t->n;
    double h = kind == 0 ? NEAR : 1;
    int positive = 1;
    for (size_t i = 0; i < n * n; i++)
        t->M[i] = exp(-t->W[i] / h);
    if (kind > 0) { /* K (K + ridge)^-1 = I - ridge (K + ridge)^-1 */
        UR_ARENA(arena);
        double *K = ur_take(&arena, n, n * sizeof *K);
        UR_TRY(ur_arena_status(&arena, err));
        memcpy(K, t->M, n * n * sizeof *K);
        memset(t->M, 0, n * n * sizeof *t->M);
        for (size_t i = 0; i < n; i++) {
            K[i * (n + 1)] += RIDGE;
            t->M[i * (n + 1)] = -RIDGE;
        }
        UR_TRY(ur_solve_positive(n, n, K, t->M, &positive, err));
    }
    for (size_t i = 0; i < n; i++)
        t->M[i * (n + 1)] = 0;
    if (!positive)
        memset(t->M, 0, n * n * sizeof *t->M);
    return UNRELU_OK;
}

/* ---- the statistic ---- */

/* T of the residuals and of all draws, in deviations of the latter */
static void compare(const test *t, const char *with, ur_rest *rest)
{
    size_t n = t->n;
    double seen = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *cell = &t->M[i * n + j];
            *cell *= ur_short_dot(t->m, t->s + i * t->m, t->s + j * t->m);
            seen += *cell;
            squares += *cell * *cell;
        }
    double deviation = sqrt(2 * squares); /* over all signs */
    if (!(deviation > 0))
        return;
    ur_gemm(UR_PLAIN, UR_PLAIN, n, DRAWS, n, 1, t->M, n, t->signs, DRAWS, 0, t->room, DRAWS);
    for (size_t b = 0; b < DRAWS; b++) {
        double drawn = 0;
        for (size_t i = 0; i < n; i++)
            drawn += t->signs[i * DRAWS + b] * t->room[i * DRAWS + b];
        t->T[b] = fmax(t->T[b], drawn / deviation);
    }
    if (seen / deviation > rest->deviates) {
        rest->deviates = seen / deviation;
        rest->with = with;
    }
}

static unrelu_status try_system(test *t, const double *z, size_t wide, const char *with,
                                ur_rest *rest, unrelu_error *err)
{
    t->wide = wide;
    memcpy(t->z, z, t->n * wide * sizeof *z);
    if (!standardise(t->n, wide, t->z))
        return UNRELU_OK;
    for (int kind = 0; kind < KINDS; kind++) {
        UR_TRY(set_distances(t, err));
        UR_TRY(set_weights(t, kind, err));
        compare(t, with, rest);
    }
    return UNRELU_OK;
}

static unrelu_status open_test(const ur_problem *given, size_t n, size_t wide, ur_arena *arena,
                               test *t, unrelu_error *err)
{
    *t = (test){.n = n,
                .m = given->data.m,
                .s = ur_take(arena, n, given->data.m * sizeof(double)),
                .z = ur_take(arena, n, wide * sizeof(double)),
                .W = ur_take(arena, n, n * sizeof(double)),
                .M = ur_take(arena, n, n * sizeof(double)),
                .signs = ur_take(arena, n, DRAWS * sizeof(double)),
                .T = ur_take(arena, DRAWS, sizeof(double)),
                .room = ur_take(arena, n, DRAWS * sizeof(double))};
    UR_TRY(ur_arena_status(arena, err));
    ur_random_uniforms(given->options.seed, UR_STREAM_REST, 0, n * DRAWS, t->signs);
    for (size_t i = 0; i < n * DRAWS; i++)
        t->signs[i] = t->signs[i] < .5 ? -1 : 1;
    return UNRELU_OK;
}

unrelu_status ur_rest_test(const ur_problem *given, const ur_weights *w, ur_rest *rest,
                           unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t d = data->d, m = data->m, k = w->k;
    UR_ARENA(arena);
    ur_frame frame;
    test t;
    UR_TRY(ur_frame_make(data, MOST_ROWS, (ur_terms){1, 0}, 0, &arena, &frame, err));
    size_t n = drop_copies(data, &frame), widest = frame.p > k ? frame.p : k;
    *rest = (ur_rest){.rows = n, .with = "the inputs"};
    if (n < LEAST_ROWS)
        return UNRELU_OK;
    UR_TRY(open_test(given, n, widest > m ? widest : m, &arena, &t, err));
    double *x = ur_take(&arena, n, d * sizeof *x), *hidden = ur_take(&arena, n, k * sizeof *x);
    double *y = ur_take(&arena, n, m * sizeof *y), *r = ur_take(&arena, n, m * sizeof *r);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        memcpy(x + i * d, data->x + frame.row[i] * d, d * sizeof *x);
    ur_network_forward(w, x, n, hidden, y);
    for (size_t i = 0; i < n * m; i++)
        r[i] = (data->a[frame.row[i / m] * m + i % m] - y[i]) / data->column_unit[i % m];
    rest->met = share_met(data, w, n, hidden, r);
    score(&t, r);
    UR_TRY(try_system(&t, frame.x, frame.p, "the inputs", rest, err));
    if (k < frame.p)
        UR_TRY(try_system(&t, hidden, k, "the hidden units", rest, err));
    if (m < frame.p)
        UR_TRY(try_system(&t, y, m, "the labels that the network gives", rest, err));
    for (size_t b = 0; b < DRAWS; b++)
        rest->limit = fmax(rest->limit, t.T[b]);
    UR_TRY(ur_rest_pieces(data, &frame, n, &rest->linear, err));
    rest->met = rest->met > MET ? rest->met : 0;
    rest->linear = rest->linear > LINEAR ? rest->linear : 0;
    rest->is_function = rest->deviates > rest->limit || rest->met > 0 || rest->linear > 0;
    return UNRELU_OK;
}
