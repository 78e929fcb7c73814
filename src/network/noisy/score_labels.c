/* SPDX-License-Identifier: Apache-2.0 */
/* Labels fit for a moment: y = (a - mean) W - x B W of covariance I. The leading combinations of
 * the labels hold all of U f(V x), the rest is noise; B x is the labels' linear part. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 256 };

typedef struct {
    const ur_sample *s;
    const double *x; /* white */
    double *mean;    /* of a: m */
    double *C, *B;   /* covariance of a (m x m), then B = E[x a'] (d x m) */
    double *E;       /* leading combinations: m x top */
    double *W, *BW;  /* m x r, d x r; r <= top */
    size_t top, r;
    double *y;
} labels;

static void labels_free(labels *l)
{
    free(l->mean);
    free(l->C);
    free(l->E);
    free(l->W);
    free(l->BW);
}

static unrelu_status labels_alloc(labels *l, unrelu_error *err)
{
    size_t d = l->s->d, m = l->s->m;
    l->mean = ur_doubles(m);
    l->C = ur_alloc(m + d, m * sizeof(double));
    l->B = l->C ? l->C + m * m : NULL;
    l->E = ur_alloc(m, l->top * sizeof(double));
    l->W = ur_alloc(m, l->top * sizeof(double));
    l->BW = ur_alloc(d, l->top * sizeof(double));
    l->y = ur_alloc(l->s->n, l->top * sizeof(double));
    if (!l->mean || !l->C || !l->E || !l->W || !l->BW || !l->y)
        return ur_fail_memory(err, l->s->n * l->top, "numbers of labels");
    return UNRELU_OK;
}

static void add_labels(const void *context, const double *x, size_t first, size_t rows,
                       double *scratch, double *sum)
{
    const labels *l = context;
    size_t m = l->s->m;
    (void)x;
    (void)scratch;
    for (size_t i = first; i < first + rows; i++)
        for (size_t j = 0; j < m; j++)
            sum[j] += l->s->a[i * m + j];
}

static void add_products(const void *context, const double *x, size_t first, size_t rows,
                         double *scratch, double *sum)
{
    const labels *l = context;
    size_t m = l->s->m, d = l->s->d;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            scratch[i * m + j] = l->s->a[(first + i) * m + j] - l->mean[j];
    ur_gemm(UR_TURNED, UR_PLAIN, m, m, rows, 1, scratch, m, scratch, m, 1, sum, m);
    ur_gemm(UR_TURNED, UR_PLAIN, d, m, rows, 1, x, d, scratch, m, 1, sum + m * m, m);
}

static unrelu_status label_moments(labels *l, const ur_white *white, unrelu_error *err)
{
    const ur_sample *s = l->s;
    const ur_row_mean mean = {.len = s->m, .step = ROWS, .add = add_labels, .context = l};
    const ur_row_mean products = {.len = (s->m + s->d) * s->m,
                                  .step = ROWS,
                                  .scratch = ROWS * s->m,
                                  .add = add_products,
                                  .context = l};
    unrelu_status status = ur_row_mean_run(&mean, white->x, s->n, s->d, white->exec, l->mean, err);
    if (status == UNRELU_OK)
        status = ur_row_mean_run(&products, white->x, s->n, s->d, white->exec, l->C, err);
    return status;
}

/* E: the leading eigenvectors of E[aa'], of the covariance where a constant is fitted too */
static unrelu_status leading(labels *l, int constant, unrelu_error *err)
{
    size_t m = l->s->m;
    double *S = ur_alloc(m, m * sizeof *S), *values = ur_doubles(m),
           *vectors = ur_alloc(m, m * sizeof *vectors);
    unrelu_status status = UNRELU_OK;
    if (!S || !values || !vectors)
        status = ur_fail_memory(err, m * m, "numbers of a covariance");
    for (size_t i = 0; i < m && status == UNRELU_OK; i++)
        for (size_t j = 0; j < m; j++)
            S[i * m + j] = l->C[i * m + j] + (constant ? 0 : l->mean[i] * l->mean[j]);
    if (status == UNRELU_OK)
        status = ur_eigen_symmetric(m, S, values, vectors, err);
    for (size_t i = 0; i < m && status == UNRELU_OK; i++)
        for (size_t t = 0; t < l->top; t++)
            l->E[i * l->top + t] = vectors[i * m + m - 1 - t];
    free(S);
    free(values);
    free(vectors);
    return status;
}

/* W = E Z D^-1/2 for the covariance Z D Z' of what is left of the leading combinations */
static unrelu_status whiten_labels(labels *l, int residual, unrelu_error *err)
{
    size_t m = l->s->m, d = l->s->d, top = l->top;
    double trace = 0;
    double *left = ur_alloc(m, m * sizeof *left), *K = ur_alloc(top, (m + top) * sizeof *K),
           *values = ur_doubles(top), *Z = ur_alloc(top, top * sizeof *Z);
    unrelu_status status = UNRELU_OK;
    if (!left || !K || !values || !Z) {
        status = ur_fail_memory(err, m * m, "numbers of a covariance");
        goto done;
    }
    if (residual)
        ur_multiply_tn(d, m, m, l->B, l->B, left);
    for (size_t i = 0; i < m * m; i++)
        left[i] = l->C[i] - left[i];
    for (size_t i = 0; i < m; i++)
        trace += l->C[i * m + i];
    double *KE = K + top * m;
    ur_multiply_tn(m, top, m, l->E, left, K);
    ur_multiply(top, m, top, K, l->E, KE);
    status = ur_eigen_symmetric(top, KE, values, Z, err);
    if (status != UNRELU_OK)
        goto done;
    double least = fmax(1e-10 * values[top - 1], 1e-13 * trace);
    for (l->r = 0; l->r < top && values[top - 1 - l->r] > least;)
        l->r++;
    if (l->r == 0)
        status = ur_fail(err, UNRELU_EDATA,
                         "of the labels' variance %.3g nothing is left %sover %zu samples of %zu "
                         "inputs: moments see no neuron",
                         trace, residual ? "after the regression on [1, x] " : "", l->s->n, d);
    for (size_t i = 0; i < top; i++)
        for (size_t t = 0; t < l->r; t++)
            KE[i * l->r + t] = Z[i * top + top - 1 - t] / sqrt(values[top - 1 - t]);
    ur_multiply(m, top, l->r, l->E, KE, l->W);
    if (residual)
        ur_multiply(d, m, l->r, l->B, l->W, l->BW);
done:
    free(left);
    free(K);
    free(values);
    free(Z);
    return status;
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

unrelu_status ur_score_labels(const ur_start *start, const ur_white *white, int residual, size_t *r,
                              double **y, unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    labels l = {.s = s, .x = white->x, .top = start->k < s->m ? start->k : s->m};
    unrelu_status status = labels_alloc(&l, err);
    if (status == UNRELU_OK)
        status = label_moments(&l, white, err);
    if (status == UNRELU_OK)
        status = leading(&l, start->constant, err);
    if (status == UNRELU_OK)
        status = whiten_labels(&l, residual, err);
    if (status == UNRELU_OK)
        status =
            ur_parallel_for(start->exec, "labels", (s->n + ROWS - 1) / ROWS, write_labels, &l, err);
    if (status != UNRELU_OK) {
        free(l.y);
        l.y = NULL;
    }
    *r = l.r;
    *y = l.y;
    labels_free(&l);
    return status;
}
