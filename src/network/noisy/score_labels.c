/* SPDX-License-Identifier: Apache-2.0 */
/* Labels fit for a moment: y = (a - mean) W - x B W of covariance I. The leading combinations of
 * the labels hold all of U f(V x), the rest is noise; B x is the labels' linear part. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 };

/* Variance of a combination of the labels, of the largest and of all labels, below which it is
 * rounding: the covariance has half of the digits. Ten times larger: fewer combinations, of labels
 * that nearly depend on each other. */
static const double LABELS_RANK = 1e-10;

typedef struct {
    const ur_sample *s;
    const double *x; /* white */
    double *mean;    /* of a: m */
    double *C, *B;   /* covariance of a (m x m), then B = E[x a'] (d x m) */
    double *W, *BW;  /* m x r, d x r; r <= top */
    size_t top, r;
    double *y;
} labels;

static void add_labels(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const labels *l = context;
    size_t m = l->s->m;
    (void)scratch;
    for (size_t i = first; i < first + rows; i++)
        for (size_t j = 0; j < m; j++)
            sum[j] += l->s->a[i * m + j];
}

static void add_products(const void *context, size_t first, size_t rows, double *scratch,
                         double *sum)
{
    const labels *l = context;
    size_t m = l->s->m, d = l->s->d;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            scratch[i * m + j] = l->s->a[(first + i) * m + j] - l->mean[j];
    ur_gemm(UR_TURNED, UR_PLAIN, m, m, rows, 1, scratch, m, scratch, m, 1, sum, m);
    ur_gemm(UR_TURNED, UR_PLAIN, d, m, rows, 1, l->x + first * d, d, scratch, m, 1, sum + m * m, m);
}

/* W = E Z D^-1/2: E the leading eigenvectors of E[aa'], of the covariance where a constant is
 * fitted too, and Z D Z' the covariance of what is left of these combinations */
static unrelu_status whiten_labels(labels *l, int constant, int residual, unrelu_error *err)
{
    size_t m = l->s->m, d = l->s->d, top = l->top;
    double trace = 0;
    UR_ARENA(arena);
    double *S = ur_take(&arena, m, m * sizeof *S), *values = ur_take(&arena, m, sizeof *values);
    double *vectors = ur_take(&arena, m, m * sizeof *vectors);
    double *E = ur_take(&arena, m, top * sizeof *E), *K = ur_take(&arena, top, m * sizeof *K);
    double *KE = ur_take(&arena, top, top * sizeof *KE), *Z = ur_take(&arena, top, top * sizeof *Z);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            S[i * m + j] = l->C[i * m + j] + (constant ? 0 : l->mean[i] * l->mean[j]);
    UR_TRY(ur_eigen_symmetric(m, S, values, vectors, err));
    for (size_t i = 0; i < m; i++)
        for (size_t t = 0; t < top; t++)
            E[i * top + t] = vectors[i * m + m - 1 - t];
    memset(S, 0, m * m * sizeof *S); /* then C, less what is linear in x */
    if (residual)
        ur_multiply_tn(d, m, m, l->B, l->B, S);
    for (size_t i = 0; i < m * m; i++)
        S[i] = l->C[i] - S[i];
    for (size_t i = 0; i < m; i++)
        trace += l->C[i * m + i];
    ur_multiply_tn(m, top, m, E, S, K);
    ur_multiply(top, m, top, K, E, KE);
    UR_TRY(ur_eigen_symmetric(top, KE, values, Z, err));
    double least = fmax(LABELS_RANK * values[top - 1], UR_ROUNDING * trace);
    for (l->r = 0; l->r < top && values[top - 1 - l->r] > least;)
        l->r++;
    if (l->r == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "of the labels' variance %.3g nothing is left %sover %zu samples of %zu "
                       "inputs: moments see no neuron",
                       trace, residual ? "after the regression on [1, x] " : "", l->s->n, d);
    for (size_t i = 0; i < top; i++)
        for (size_t t = 0; t < l->r; t++)
            KE[i * l->r + t] = Z[i * top + top - 1 - t] / sqrt(values[top - 1 - t]);
    ur_multiply(m, top, l->r, E, KE, l->W);
    if (residual)
        ur_multiply(d, m, l->r, l->B, l->W, l->BW);
    return UNRELU_OK;
}

static void write_labels(void *context, size_t block)
{
    const labels *l = context;
    size_t m = l->s->m, d = l->s->d, r = l->r, first = block * ROWS,
           rows = l->s->n - first < ROWS ? l->s->n - first : ROWS;
    double *y = l->y + first * r;
    for (size_t t = 0; t < r; t++) {
        double shift = 0;
        for (size_t j = 0; j < m; j++)
            shift += l->mean[j] * l->W[j * r + t];
        for (size_t i = 0; i < rows; i++)
            y[i * r + t] = -shift;
    }
    ur_gemm(UR_PLAIN, UR_PLAIN, rows, r, m, 1, l->s->a + first * m, m, l->W, r, 1, y, r);
    ur_gemm(UR_PLAIN, UR_PLAIN, rows, r, d, -1, l->x + first * d, d, l->BW, r, 1, y, r);
}

unrelu_status ur_score_labels(const ur_start *start, const ur_white *white, int residual,
                              ur_arena *arena, size_t *r, double **y, unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    size_t d = s->d, m = s->m, top = start->k < m ? start->k : m;
    UR_ARENA(own);
    labels l = {.s = s,
                .x = white->x,
                .top = top,
                .mean = ur_take(&own, m, sizeof *l.mean),
                .C = ur_take(&own, m + d, m * sizeof *l.C),
                .W = ur_take(&own, m, top * sizeof *l.W),
                .BW = ur_take(&own, d, top * sizeof *l.BW),
                .y = ur_take(arena, s->n, top * sizeof *l.y)};
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    l.B = l.C + m * m;
    ur_blocks mean = {.n = s->n, .len = m, .step = ROWS, .add = add_labels, .context = &l};
    ur_blocks products = {.n = s->n,
                          .len = (m + d) * m,
                          .step = ROWS,
                          .scratch = ROWS * m,
                          .add = add_products,
                          .context = &l};
    UR_TRY(ur_mean_of_rows(mean, d, white->exec, l.mean, err));
    UR_TRY(ur_mean_of_rows(products, d, white->exec, l.C, err));
    UR_TRY(whiten_labels(&l, start->constant, residual, err));
    *r = l.r;
    *y = l.y;
    return ur_parallel_for(start->exec, "labels", (s->n + ROWS - 1) / ROWS, write_labels, &l, err);
}
