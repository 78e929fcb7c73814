/* SPDX-License-Identifier: Apache-2.0 */
/* Whitening, means over rows and least squares by normal equations. The mean is taken off before
 * products are summed. Normal equations square the condition of the features, which are white or
 * nearly so wherever they are used. */
#include "network/noisy/score.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"
#include "pass/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256 };

/* ---- means over rows ---- */

static size_t mean_len(const void *plan)
{
    return ((const ur_row_mean *)plan)->len;
}

static void *mean_scratch(const void *plan)
{
    return ur_alloc_aligned(((const ur_row_mean *)plan)->scratch + 1, sizeof(double));
}

static unrelu_status mean_update(const void *plan, void *scratch, double *s, const ur_block *block,
                                 unrelu_error *err)
{
    const ur_row_mean *mean = plan;
    (void)err;
    for (size_t i = 0; i < block->rows; i += mean->step) {
        size_t rows = block->rows - i < mean->step ? block->rows - i : mean->step;
        mean->add(mean->context, block->x + i * block->stride, block->first_row + i, rows, scratch,
                  s);
    }
    return UNRELU_OK;
}

unrelu_status ur_row_mean_run(const ur_row_mean *mean, const double *x, size_t n, size_t d,
                              const unrelu_exec *exec, double *out, unrelu_error *err)
{
    const ur_summary summary = {
        .len = mean_len, .scratch_new = mean_scratch, .scratch_free = free, .update = mean_update};
    unrelu_exec alone = exec ? *exec : unrelu_exec_default();
    alone.rank_sum = NULL; /* every rank holds all the rows */
    unrelu_source *source = NULL;
    unrelu_status status = unrelu_source_memory(x, n, d, &source, err);
    memset(out, 0, mean->len * sizeof *out);
    if (status == UNRELU_OK)
        status = ur_pass(source, &summary, (void *)mean, &alone, "moments", out, err);
    for (size_t i = 0; i < mean->len; i++)
        out[i] /= (double)n;
    unrelu_source_close(source);
    return status;
}

/* ---- whitening ---- */

static void add_rows(const void *context, const double *x, size_t first, size_t rows,
                     double *scratch, double *sum)
{
    size_t d = *(const size_t *)context;
    (void)first;
    (void)scratch;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < d; j++)
            sum[j] += x[i * d + j];
}

static void add_gram(const void *context, const double *x, size_t first, size_t rows,
                     double *scratch, double *sum)
{
    size_t d = *(const size_t *)context;
    (void)first;
    (void)scratch;
    ur_gemm(UR_TURNED, UR_PLAIN, d, d, rows, 1, x, d, x, d, 1, sum, d);
}

static unrelu_status centre(const ur_sample *s, ur_white *w, unrelu_error *err)
{
    const ur_row_mean mean = {.len = s->d, .step = ROWS, .add = add_rows, .context = &w->d};
    unrelu_status status = ur_row_mean_run(&mean, s->x, s->n, s->d, w->exec, w->mean, err);
    for (size_t i = 0; i < s->n && status == UNRELU_OK; i++)
        for (size_t j = 0; j < s->d; j++)
            w->x[i * s->d + j] = s->x[i * s->d + j] - w->mean[j];
    return status;
}

/* the rank of Sigma, in units where its diagonal is 1 */
static unrelu_status check_rank(size_t n, size_t d, const double *Sigma, unrelu_error *err)
{
    double *R = ur_alloc(d, d * sizeof *R), *values = ur_doubles(d);
    unrelu_status status = UNRELU_OK;
    size_t rank = 0;
    if (!R || !values)
        status = ur_fail_memory(err, d * d, "numbers of a covariance");
    for (size_t i = 0; i < d && status == UNRELU_OK; i++)
        for (size_t j = 0; j < d; j++) {
            double size = sqrt(Sigma[i * d + i]) * sqrt(Sigma[j * d + j]);
            R[i * d + j] = size > 0 ? Sigma[i * d + j] / size : 0;
        }
    if (status == UNRELU_OK)
        status = ur_eigen_symmetric(d, R, values, NULL, err);
    for (size_t j = 0; j < d && status == UNRELU_OK; j++)
        rank += values[j] > 1e-13 * (double)d;
    if (status == UNRELU_OK && rank < d)
        status = ur_fail(err, UNRELU_EDATA,
                         "the %zu inputs have rank %zu about their mean over %zu samples: moments "
                         "need rank %zu; leave out inputs that follow from others",
                         d, rank, n, d);
    free(R);
    free(values);
    return status;
}

static void whiten_rows(void *context, size_t block)
{
    ur_white *w = context;
    size_t first = block * ROWS, rows = w->n - first < ROWS ? w->n - first : ROWS;
    ur_trsm(UR_RIGHT, UR_LOWER, UR_TURNED, rows, w->d, w->L, w->d, w->x + first * w->d, w->d);
}

unrelu_status ur_white_new(const ur_sample *s, const unrelu_exec *exec, ur_white *w,
                           unrelu_error *err)
{
    size_t d = s->d;
    int positive = 0;
    *w = (ur_white){.n = s->n, .d = d, .exec = exec};
    w->mean = ur_doubles(d);
    w->L = ur_alloc(d, d * sizeof *w->L);
    w->x = ur_alloc(s->n, d * sizeof *w->x);
    double *Sigma = ur_alloc(d, d * sizeof *Sigma);
    unrelu_status status = UNRELU_OK;
    if (!w->mean || !w->L || !w->x || !Sigma)
        status = ur_fail_memory(err, s->n * d, "numbers of whitened inputs");
    const ur_row_mean gram = {.len = d * d, .step = ROWS, .add = add_gram, .context = &w->d};
    if (status == UNRELU_OK)
        status = centre(s, w, err);
    if (status == UNRELU_OK)
        status = ur_row_mean_run(&gram, w->x, s->n, d, exec, Sigma, err);
    if (status == UNRELU_OK)
        status = check_rank(s->n, d, Sigma, err);
    if (status == UNRELU_OK)
        status = ur_cholesky(d, Sigma, w->L, &positive, err);
    if (status == UNRELU_OK && !positive)
        status = ur_fail(err, UNRELU_EDATA,
                         "the covariance of the %zu inputs is not positive definite", d);
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "whitening", (s->n + ROWS - 1) / ROWS, whiten_rows, w, err);
    free(Sigma);
    if (status != UNRELU_OK)
        ur_white_free(w);
    return status;
}

void ur_white_free(ur_white *w)
{
    free(w->mean);
    free(w->L);
    free(w->x);
    *w = (ur_white){0};
}

void ur_white_rows(const ur_white *w, size_t k, const double *V, double *W, double *shift)
{
    ur_multiply(k, w->d, w->d, V, w->L, W);
    for (size_t j = 0; j < k && shift; j++)
        shift[j] = ur_dot(w->d, V + j * w->d, w->mean);
}

void ur_white_back(const ur_white *w, size_t k, double *V)
{
    size_t d = w->d;
    ur_trsm(UR_RIGHT, UR_LOWER, UR_PLAIN, k, d, w->L, d, V, d);
    for (size_t j = 0; j < k; j++) {
        double size = ur_norm(d, V + j * w->d);
        if (size > 0)
            ur_scale(d, 1 / size, V + j * w->d);
    }
}

/* ---- regression ---- */

static void add_features(const void *context, const double *x, size_t first, size_t rows,
                         double *scratch, double *sum)
{
    const ur_regression *r = context;
    size_t p = r->p, q = r->q;
    r->features(r->context, x, rows, scratch, scratch + rows * r->p);
    ur_syrk(UR_UPPER, UR_TURNED, p, rows, 1, scratch, p, 1, sum, p);
    ur_gemm(UR_TURNED, UR_PLAIN, p, q, rows, 1, scratch, p, r->b + first * r->q, q, 1,
            sum + r->p * r->p, q);
}

unrelu_status ur_regression_means(const ur_regression *r, const double *x, size_t n,
                                  const unrelu_exec *exec, double *gram, double *cross,
                                  unrelu_error *err)
{
    size_t p = r->p;
    const ur_row_mean mean = {.len = p * (p + r->q),
                              .step = ROWS,
                              .scratch = ROWS * (p + r->extra),
                              .add = add_features,
                              .context = r};
    double *sum = ur_alloc(p, (p + r->q) * sizeof *sum);
    if (!sum)
        return ur_fail_memory(err, p * (p + r->q), "numbers of normal equations");
    unrelu_status status = ur_row_mean_run(&mean, x, n, r->d, exec, sum, err);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            gram[i * p + j] = j >= i ? sum[i * p + j] : sum[j * p + i];
    memcpy(cross, sum + p * p, p * r->q * sizeof *cross);
    free(sum);
    return status;
}

/* unit diagonal; scale (p) keeps the factors. A feature that is always 0 keeps the factor 0. */
static void equilibrate(size_t p, double *gram, double ridge, double *scale)
{
    for (size_t i = 0; i < p; i++)
        scale[i] = gram[i * p + i] > 0 ? 1 / sqrt(gram[i * p + i]) : 0;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            gram[i * p + j] *= scale[i] * scale[j];
    for (size_t i = 0; i < p; i++)
        gram[i * p + i] += ridge + (ridge > 0 && scale[i] == 0);
}

static void scale_rows(size_t p, size_t q, const double *scale, double *B)
{
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < q; j++)
            B[i * q + j] *= scale[i];
}

unrelu_status ur_regression_solve(size_t p, size_t q, double *gram, double *cross, double ridge,
                                  int *positive, unrelu_error *err)
{
    double *scale = ur_doubles(p);
    *positive = 0;
    if (!scale)
        return ur_fail_memory(err, p, "numbers of normal equations");
    equilibrate(p, gram, ridge, scale);
    scale_rows(p, q, scale, cross);
    unrelu_status status = ur_cholesky(p, gram, gram, positive, err);
    for (size_t i = 0; i < p && ridge == 0 && *positive; i++)
        *positive = gram[i * p + i] * gram[i * p + i] > 1e-8;
    if (status == UNRELU_OK && *positive) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, p, q, gram, p, cross, q);
        ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, p, q, gram, p, cross, q);
        scale_rows(p, q, scale, cross);
    }
    free(scale);
    return status;
}
