/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor of labels with products of white inputs, n w d (d + 1) operations by blocks of rows,
 * without a list of products over all samples; its reduction to the k-dimensional space where it
 * lives, and its decomposition from several starts. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/als.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"
#include "pass/parallel.h"

#include <limits.h>
#include <stdlib.h>

enum {
    ROWS = 256,
    RANDOM_STARTS = 5, /* the best of 3 was the best of all in 12 of 12 instances */
    STARTS = RANDOM_STARTS + 1,
    STEPS = 200,   /* of each start */
    FINISH = 1000, /* of the best one */
};

static size_t packed_size(size_t d)
{
    return d * (d + 1) / 2;
}

typedef struct {
    size_t d, r;
    const double *y;
    int outer;
} tensor;

/* P_i = x_a x_b, a <= b; T += Y'P */
static void add_tensor(const void *context, const double *x, size_t first, size_t rows,
                       double *scratch, double *sum)
{
    const tensor *t = context;
    size_t d = t->d, r = t->r, p = packed_size(d), w = t->outer ? r * d : r;
    const double *y = t->y + first * r;
    double *P = scratch, *outer = scratch + rows * p;
    for (size_t i = 0; i < rows; i++) {
        double *out = P + i * p;
        const double *xi = x + i * d;
        for (size_t a = 0; a < d; a++)
            for (size_t b = a; b < d; b++)
                *out++ = xi[a] * xi[b];
        for (size_t s = 0; s < r && t->outer; s++)
            for (size_t a = 0; a < d; a++)
                outer[i * w + s * d + a] = y[i * r + s] * xi[a];
    }
    ur_gemm(UR_TURNED, UR_PLAIN, w, p, rows, 1, t->outer ? outer : y, w, P, p, 1, sum, p);
}

unrelu_status ur_score_tensor(const ur_white *white, size_t r, const double *y, int outer,
                              double *T, unrelu_error *err)
{
    size_t d = white->d, p = packed_size(d), w = outer ? r * d : r;
    if (p > INT_MAX || w > INT_MAX)
        return ur_fail_memory(err, p, "products of inputs");
    size_t step = ((size_t)1 << 19) / (p + w); /* 4 MiB of scratch */
    step = step < 8 ? 8 : step < ROWS ? step : ROWS;
    const tensor t = {.d = d, .r = r, .y = y, .outer = outer};
    const ur_row_mean mean = {.len = w * p,
                              .step = step,
                              .scratch = step * (p + (outer ? w : 0)),
                              .add = add_tensor,
                              .context = &t};
    return ur_row_mean_run(&mean, white->x, white->n, d, white->exec, T, err);
}

void ur_score_unpack(size_t d, const double *packed, double *full)
{
    for (size_t a = 0; a < d; a++)
        for (size_t b = a; b < d; b++)
            full[a * d + b] = full[b * d + a] = *packed++;
}

unrelu_status ur_score_reduce(size_t w, size_t d, size_t k, const double *T, double *Q,
                              double *core, unrelu_error *err)
{
    size_t p = packed_size(d);
    double *full = ur_alloc(d, d * sizeof *full), *sum = ur_alloc(d, d * sizeof *sum),
           *vectors = ur_alloc(d, d * sizeof *vectors), *values = ur_doubles(d);
    unrelu_status status = UNRELU_OK;
    if (!full || !sum || !vectors || !values) {
        status = ur_fail_memory(err, d * d, "numbers of a tensor");
        goto done;
    }
    for (size_t s = 0; s < w; s++) {
        ur_score_unpack(d, T + s * p, full);
        ur_syrk(UR_UPPER, UR_PLAIN, d, d, 1, full, d, 1, sum, d);
    }
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < a; b++)
            sum[a * d + b] = sum[b * d + a];
    status = ur_eigen_symmetric(d, sum, values, vectors, err);
    if (status != UNRELU_OK)
        goto done;
    for (size_t a = 0; a < d; a++)
        for (size_t j = 0; j < k; j++)
            Q[a * k + j] = vectors[a * d + d - 1 - j];
    for (size_t s = 0; s < w; s++) {
        ur_score_unpack(d, T + s * p, full);
        ur_multiply(d, d, k, full, Q, sum);
        ur_multiply_tn(d, k, k, Q, sum, core + s * k * k);
    }
done:
    free(full);
    free(sum);
    free(vectors);
    free(values);
    return status;
}

/* ---- decomposition ---- */

typedef struct {
    ur_als als;
    uint64_t seed;
    double *V, *G; /* STARTS of them */
    double fit[STARTS];
    unrelu_status status[STARTS];
    unrelu_error error[STARTS];
} decomposition;

/* M (k x k) = sum_s theta_s T_s, theta normal, number i of its stream */
static void contract(const ur_als *p, uint64_t seed, size_t i, double *theta, double *M)
{
    size_t size = p->q * p->q;
    ur_random_normals(seed, UR_STREAM_TENSOR, i * p->r, p->r, theta);
    ur_multiply(1, p->r, size, theta, p->T, M);
}

/* Jennrich's start: with M_i = sum_j (theta_i g_j) v_j v_j' the v_j are the eigenvectors of
 * M_1 M_2^-1. Exact where the tensor is, also for two labels, where random starts crawl. */
static unrelu_status pencil(const ur_als *p, uint64_t seed, double *V, unrelu_error *err)
{
    size_t k = p->k, size = k * k;
    double *M = ur_alloc(4 * k, k * sizeof *M), *theta = ur_doubles(p->r),
           *values = ur_doubles(2 * k);
    unrelu_status status = UNRELU_OK;
    if (!M || !theta || !values) {
        status = ur_fail_memory(err, 4 * size, "numbers of a tensor decomposition");
        goto done;
    }
    double *other = M + size, *X = other + size, *vectors = X + size;
    contract(p, seed, 0, theta, M);
    contract(p, seed, 1, theta, other);
    status = ur_least_squares(k, k, k, other, M, 1e-14, X, NULL, err);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            M[j * k + i] = X[i * k + j];
    if (status == UNRELU_OK)
        status = ur_eigen_general(k, M, values, values + k, vectors, err);
    for (size_t i = 0; i < k && status == UNRELU_OK; i++)
        for (size_t j = 0; j < k; j++)
            V[j * k + i] = vectors[i * k + j];
done:
    free(M);
    free(theta);
    free(values);
    return status;
}

static void decompose_once(void *context, size_t i)
{
    decomposition *c = context;
    size_t size = c->als.k * c->als.q;
    double *V = c->V + i * size;
    if (i < RANDOM_STARTS)
        ur_random_normals(c->seed, UR_STREAM_ALS, i * size, size, V);
    else
        c->status[i] = pencil(&c->als, c->seed, V, &c->error[i]);
    if (c->status[i] == UNRELU_OK)
        c->status[i] =
            ur_als_run(&c->als, STEPS, V, c->G + i * c->als.k * c->als.r, &c->fit[i], &c->error[i]);
}

static unrelu_status best_start(decomposition *c, const unrelu_exec *exec, size_t *best,
                                unrelu_error *err)
{
    unrelu_status status = ur_parallel_for(exec, "decomposition", STARTS, decompose_once, c, err);
    for (size_t i = 0; i < STARTS && status == UNRELU_OK; i++) {
        status = c->status[i];
        if (status != UNRELU_OK && err)
            *err = c->error[i];
        if (c->fit[i] < c->fit[*best])
            *best = i;
    }
    return status;
}

unrelu_status ur_score_decompose(const ur_start *start, const ur_white *white, size_t w,
                                 const double *core, const double *Q, double *V, double *fit,
                                 unrelu_error *err)
{
    size_t k = start->k, d = white->d, best = 0;
    decomposition *c = ur_alloc(1, sizeof *c);
    if (!c)
        return ur_fail_memory(err, 1, "tensor decomposition");
    c->als = (ur_als){.r = w, .q = k, .k = k, .T = core};
    c->seed = start->seed;
    c->V = ur_alloc(STARTS * k, k * sizeof *c->V);
    c->G = ur_alloc(STARTS * k, w * sizeof *c->G);
    unrelu_status status = UNRELU_OK;
    if (!c->V || !c->G)
        status = ur_fail_memory(err, STARTS * k * w, "numbers of a tensor decomposition");
    if (status == UNRELU_OK)
        status = best_start(c, start->exec, &best, err);
    double *v = status == UNRELU_OK ? c->V + best * k * k : NULL;
    if (status == UNRELU_OK)
        status = ur_als_run(&c->als, FINISH, v, c->G, &c->fit[best], err);
    if (status == UNRELU_OK) {
        ur_multiply_nt(k, k, d, v, Q, V);
        ur_white_back(white, k, V);
        if (fit)
            *fit = c->fit[best];
    }
    free(c->V);
    free(c->G);
    free(c);
    return status;
}
