/* SPDX-License-Identifier: Apache-2.0 */
/* Whitening, means over rows and least squares by normal equations. The mean is taken off before
 * products are summed. Normal equations square the condition of the features, which are white or
 * nearly so wherever they are used. */
#include "network/noisy/score.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/blocks.h"
#include "pass/parallel.h"
#include "read/format.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 };

/* Share of a feature's variance that those before it leave, below which the normal equations say
 * too little of its coefficient: they have half of the digits. Ten times larger: regressions on
 * nearly dependent features are given up. */
static const double DEPENDENT = 1e-8;

unrelu_status ur_mean_of_rows(ur_blocks blocks, size_t d, const unrelu_exec *exec, double *out,
                              unrelu_error *err)
{
    blocks.chunk = ur_piece_rows(blocks.n, d);
    UR_TRY(ur_blocks_sum(&blocks, exec, "moments", out, err));
    for (size_t i = 0; i < blocks.len; i++)
        out[i] /= (double)blocks.n;
    return UNRELU_OK;
}

/* ---- whitening ---- */

static void add_rows(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const ur_sample *s = context;
    (void)scratch;
    for (size_t i = first; i < first + rows; i++)
        for (size_t j = 0; j < s->d; j++)
            sum[j] += s->x[i * s->d + j];
}

static void add_gram(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const ur_white *w = context;
    size_t d = w->d;
    const double *x = w->x + first * d;
    (void)scratch;
    ur_gemm(UR_TURNED, UR_PLAIN, d, d, rows, 1, x, d, x, d, 1, sum, d);
}

static void whiten_rows(void *context, size_t block)
{
    ur_white *w = context;
    size_t first = block * ROWS, rows = w->n - first < ROWS ? w->n - first : ROWS;
    ur_trsm(UR_RIGHT, UR_LOWER, UR_TURNED, rows, w->d, w->L, w->d, w->x + first * w->d, w->d);
}

unrelu_status ur_white_new(const ur_sample *s, const unrelu_exec *exec, ur_arena *arena,
                           ur_white *w, unrelu_error *err)
{
    size_t n = s->n, d = s->d;
    int positive = 0;
    size_t rank = 0;
    UR_ARENA(own);
    double *Sigma = ur_take(&own, d, d * sizeof *Sigma), *R = ur_take(&own, d, d * sizeof *R);
    double *values = ur_take(&own, d, sizeof *values);
    UR_TRY(ur_arena_status(&own, err));
    *w = (ur_white){.n = n,
                    .d = d,
                    .exec = exec,
                    .mean = ur_take(arena, d, sizeof *w->mean),
                    .L = ur_take(arena, d, d * sizeof *w->L),
                    .x = ur_take(arena, n, d * sizeof *w->x)};
    UR_TRY(ur_arena_status(arena, err));
    const ur_blocks mean = {.n = n, .len = d, .step = ROWS, .add = add_rows, .context = s};
    const ur_blocks gram = {.n = n, .len = d * d, .step = ROWS, .add = add_gram, .context = w};
    UR_TRY(ur_mean_of_rows(mean, d, exec, w->mean, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            w->x[i * d + j] = s->x[i * d + j] - w->mean[j];
    UR_TRY(ur_mean_of_rows(gram, d, exec, Sigma, err));
    for (size_t i = 0; i < d; i++) /* its rank, in units where its diagonal is 1 */
        for (size_t j = 0; j < d; j++) {
            double size = sqrt(Sigma[i * d + i]) * sqrt(Sigma[j * d + j]);
            R[i * d + j] = size > 0 ? Sigma[i * d + j] / size : 0;
        }
    UR_TRY(ur_eigen_symmetric(d, R, values, NULL, err));
    for (size_t j = 0; j < d; j++)
        rank += values[j] > UR_ROUNDING * (double)d;
    if (rank < d)
        return ur_fail(err, UNRELU_EDATA,
                       "the %zu inputs have rank %zu about their mean over %zu samples: moments "
                       "need rank %zu; leave out inputs that follow from others",
                       d, rank, n, d);
    UR_TRY(ur_cholesky(d, Sigma, w->L, &positive, err));
    if (!positive)
        return ur_fail(err, UNRELU_EDATA,
                       "the covariance of the %zu inputs is not positive definite", d);
    return ur_parallel_for(exec, "whitening", (n + ROWS - 1) / ROWS, whiten_rows, w, err);
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

static void add_features(const void *context, size_t first, size_t rows, double *F, double *sum)
{
    const ur_regression *r = context;
    size_t p = r->p, q = r->q;
    r->features(r->context, r->white->x + first * r->white->d, rows, F, F + rows * p);
    ur_syrk(UR_UPPER, UR_TURNED, p, rows, 1, F, p, 1, sum, p);
    ur_gemm(UR_TURNED, UR_PLAIN, p, q, rows, 1, F, p, r->b + first * q, q, 1, sum + p * p, q);
}

unrelu_status ur_regression_means(const ur_regression *r, size_t n, double *gram, double *cross,
                                  unrelu_error *err)
{
    size_t p = r->p;
    const ur_blocks means = {.n = n,
                             .len = p * (p + r->q),
                             .step = ROWS,
                             .scratch = ROWS * (p + r->extra),
                             .add = add_features,
                             .context = r};
    UR_ARENA(arena);
    double *sum = ur_take(&arena, p, (p + r->q) * sizeof *sum);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_mean_of_rows(means, r->white->d, r->white->exec, sum, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            gram[i * p + j] = j >= i ? sum[i * p + j] : sum[j * p + i];
    memcpy(cross, sum + p * p, p * r->q * sizeof *cross);
    return UNRELU_OK;
}

unrelu_status ur_regression_solve(size_t p, size_t q, double *gram, double *cross, double ridge,
                                  int *positive, unrelu_error *err)
{
    *positive = 0;
    UR_ARENA(arena);
    double *scale = ur_take(&arena, p, sizeof *scale); /* 0 of a feature that is always 0 */
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < p; i++)
        scale[i] = gram[i * p + i] > 0 ? 1 / sqrt(gram[i * p + i]) : 0;
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++)
            gram[i * p + j] *= scale[i] * scale[j];
        gram[i * p + i] += ridge + (ridge > 0 && scale[i] == 0);
        ur_scale(q, scale[i], cross + i * q);
    }
    UR_TRY(ur_cholesky(p, gram, gram, positive, err));
    for (size_t i = 0; i < p && ridge == 0 && *positive; i++)
        *positive = gram[i * p + i] * gram[i * p + i] > DEPENDENT;
    if (!*positive)
        return UNRELU_OK;
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, p, q, gram, p, cross, q);
    ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, p, q, gram, p, cross, q);
    for (size_t i = 0; i < p; i++)
        ur_scale(q, scale[i], cross + i * q);
    return UNRELU_OK;
}

unrelu_status ur_regress(const ur_regression *r, double ridge, double *coefficients, int *positive,
                         unrelu_error *err)
{
    UR_ARENA(arena);
    double *gram = ur_take(&arena, r->p, r->p * sizeof *gram);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_regression_means(r, r->white->n, gram, coefficients, err));
    return ur_regression_solve(r->p, r->q, gram, coefficients, ridge, positive, err);
}
