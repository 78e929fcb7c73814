/* SPDX-License-Identifier: Apache-2.0 */
#include "network/newton/newton_sums.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, CHUNKS = 32, WORTH_THREADS = 4000000 };

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

static int state_alloc(const ur_newton_work *w, ur_newton_state *s)
{
    *s = (ur_newton_state){.V = ur_alloc(w->k, w->p * sizeof(double)),
                           .F = ur_alloc(w->n, w->q * sizeof(double)),
                           .D = ur_alloc(w->n, w->q * sizeof(double)),
                           .K = ur_alloc(w->q, w->q * sizeof(double)),
                           .B = ur_alloc(w->q, w->m * sizeof(double)),
                           .g = ur_alloc(w->k, w->p * sizeof(double)),
                           .rss = INFINITY};
    return s->V && s->F && s->D && s->K && s->B && s->g;
}

static void state_free(ur_newton_state *s)
{
    free(s->V);
    free(s->F);
    free(s->D);
    free(s->K);
    free(s->B);
    free(s->g);
}

static unrelu_status weigh_labels(ur_newton_work *w, unrelu_error *err)
{
    size_t n = w->n, m = w->m;
    const double *weight = w->problem->weight;
    w->a = w->problem->a;
    if (weight) {
        w->own_a = ur_alloc(n, m * sizeof *w->own_a);
        if (!w->own_a)
            return ur_fail_memory(err, n * m, "weighted labels");
        for (size_t i = 0; i < n; i++)
            for (size_t r = 0; r < m; r++)
                w->own_a[i * m + r] = weight[i] * w->a[i * m + r];
        w->a = w->own_a;
    }
    for (size_t i = 0; i < n * m; i++)
        w->norm += w->a[i] * w->a[i];
    return UNRELU_OK;
}

unrelu_status ur_newton_open(const ur_newton *problem, size_t k, ur_newton_work *w,
                             unrelu_error *err)
{
    *w = (ur_newton_work){
        .problem = problem, .n = problem->n, .p = problem->p, .m = problem->m, .k = k};
    assert(w->n > 0 && w->p > 0 && w->m > 0 && k > 0);
    size_t q = w->q = k + (problem->constant != 0), kp = w->kp = k * problem->p;
    if (problem->exec)
        w->exec = *problem->exec;
    w->exec.progress = NULL;
    size_t blocks = (w->n + BLOCK - 1) / BLOCK;
    w->chunks = blocks < CHUNKS ? blocks : CHUNKS;
    w->sums_len = largest(q * (q + w->m), kp + q * w->m + 1);
    w->room_len = largest(w->m + q, 2 * q);
    w->total = ur_doubles(w->sums_len);
    w->small = ur_alloc(q, (w->m + 2) * sizeof(double));
    if (kp <= UR_NEWTON_DENSE) {
        w->sums_len = largest(w->sums_len, (kp + q) * kp);
        w->room_len = largest(w->room_len, kp);
    }
    w->room_len *= w->n < BLOCK ? w->n : BLOCK;
    w->sums = ur_alloc(w->chunks, w->sums_len * sizeof(double));
    w->room = ur_alloc(w->chunks, w->room_len * sizeof(double));
    int states = state_alloc(w, &w->now) & state_alloc(w, &w->next);
    if (!states || !w->sums || !w->room || !w->total || !w->small)
        return ur_fail_memory(err, w->n * q, "features of samples");
    return weigh_labels(w, err);
}

void ur_newton_close(ur_newton_work *w)
{
    state_free(&w->now);
    state_free(&w->next);
    free(w->own_a);
    free(w->sums);
    free(w->room);
    free(w->total);
    free(w->small);
}

typedef struct {
    const ur_newton_work *w;
    ur_newton_block block;
    const void *input;
    size_t len;
} pass;

static void sum_chunk(void *context, size_t i)
{
    const pass *p = context;
    const ur_newton_work *w = p->w;
    size_t blocks = (w->n + BLOCK - 1) / BLOCK;
    size_t first = i * blocks / w->chunks * BLOCK, end = (i + 1) * blocks / w->chunks * BLOCK;
    double *sum = w->sums + i * w->sums_len;
    memset(sum, 0, p->len * sizeof *sum);
    for (end = end < w->n ? end : w->n; first < end; first += BLOCK) {
        size_t rows = end - first < BLOCK ? end - first : BLOCK;
        p->block(w, p->input, first, rows, sum, w->room + i * w->room_len);
    }
}

unrelu_status ur_newton_pass(const ur_newton_work *w, ur_newton_block block, const void *input,
                             size_t len, size_t cost, double *total, unrelu_error *err)
{
    pass p = {w, block, input, len};
    unrelu_status status = UNRELU_OK;
    if (w->chunks > 1 && cost >= WORTH_THREADS / w->n)
        status = ur_parallel_for(&w->exec, "gauss-newton", w->chunks, sum_chunk, &p, err);
    else
        for (size_t i = 0; i < w->chunks; i++)
            sum_chunk(&p, i);
    memset(total, 0, len * sizeof *total);
    for (size_t i = 0; i < w->chunks && status == UNRELU_OK; i++)
        ur_add(len, 1, w->sums + i * w->sums_len, total);
    return status;
}

/* C (columns of A x columns of B) += A'B */
static void add_product(size_t rows, size_t a, const double *A, size_t lda, size_t b,
                        const double *B, size_t ldb, double *C, size_t ldc)
{
    ur_gemm(UR_TURNED, UR_PLAIN, a, b, rows, 1, A, lda, B, ldb, 1, C, ldc);
}

/* lower triangle of C += A'A */
static void add_gram(size_t rows, size_t a, const double *A, size_t lda, double *C, size_t ldc)
{
    ur_syrk(UR_LOWER, UR_TURNED, a, rows, 1, A, lda, 1, C, ldc);
}

/* sum: F'F (lower), F'A */
static void features_block(const ur_newton_work *w, const void *input, size_t first, size_t rows,
                           double *sum, double *room)
{
    (void)room;
    const ur_newton_state *s = input;
    size_t k = w->k, q = w->q, p = w->p, m = w->m;
    double *F = s->F + first * q, *D = s->D + first * q;
    const double *weight = w->problem->weight;
    ur_gemm(UR_PLAIN, UR_TURNED, rows, k, p, 1, w->problem->x + first * p, p, s->V, p, 0, F, q);
    ur_activation_apply(w->problem->f, rows * q, F, F, D);
    for (size_t i = 0; i < rows && (weight || q > k); i++) {
        double factor = weight ? weight[first + i] : 1;
        for (size_t j = 0; j < k; j++) {
            F[i * q + j] *= factor;
            D[i * q + j] *= factor;
        }
        if (q > k) {
            F[i * q + k] = factor;
            D[i * q + k] = 0;
        }
    }
    add_gram(rows, q, F, q, sum, q);
    add_product(rows, q, F, q, m, w->a + first * m, m, sum + q * q, m);
}

/* K from the Gram matrix G (lower), which is scaled to unit diagonal in place; *finite = 0 where
 * it overflowed. Half of the digits of F are lost in G: of its eigenvalues, those below 1e-13
 * are rounding. */
static unrelu_status invert_gram(const ur_newton_work *w, double *G, double *K, int *finite,
                                 unrelu_error *err)
{
    size_t q = w->q;
    double *scale = w->small;
    for (size_t j = 0; j < q; j++) {
        scale[j] = G[j * q + j] > 0 ? 1 / sqrt(G[j * q + j]) : 0;
        if (!isfinite(G[j * q + j])) {
            *finite = 0;
            return UNRELU_OK;
        }
    }
    *finite = 1;
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j <= i; j++)
            G[j * q + i] = G[i * q + j] = i == j ? 1 : G[i * q + j] * scale[i] * scale[j];
    int positive;
    unrelu_status status = ur_cholesky(q, G, K, &positive, err);
    for (size_t j = 0; j < q && positive; j++)
        positive = K[j * q + j] * K[j * q + j] > 1e-11;
    if (status == UNRELU_OK && positive) {
        memset(G, 0, q * q * sizeof *G);
        for (size_t j = 0; j < q; j++)
            G[j * q + j] = 1;
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, q, K, q, G, q);
        memcpy(K, G, q * q * sizeof *K);
    } else if (status == UNRELU_OK) {
        double *values = w->small + q;
        status = ur_eigen_symmetric(q, G, values, K, err);
        for (size_t i = 0; i < q && status == UNRELU_OK; i++)
            for (size_t j = 0; j < q; j++)
                G[i * q + j] =
                    values[i] > 1e-13 * values[q - 1] ? K[j * q + i] / sqrt(values[i]) : 0;
        memcpy(K, G, q * q * sizeof *K);
    }
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++)
            K[i * q + j] *= scale[j];
    return status;
}

/* B = beta B + K'K right (q x m) */
static void solve_outer(const ur_newton_work *w, const double *K, const double *right, double beta,
                        double *B)
{
    size_t q = w->q, m = w->m;
    ur_gemm(UR_PLAIN, UR_PLAIN, q, m, q, 1, K, q, right, m, 0, w->small, m);
    ur_gemm(UR_TURNED, UR_PLAIN, q, m, q, 1, K, q, w->small, m, beta, B, m);
}

unrelu_status ur_newton_features(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err)
{
    size_t q = w->q, m = w->m;
    int finite = 0;
    s->rss = INFINITY;
    unrelu_status status = ur_newton_pass(w, features_block, s, q * (q + m),
                                          2 * w->kp + q * (q + 2 * m + 10), w->total, err);
    if (status == UNRELU_OK)
        status = invert_gram(w, w->total, s->K, &finite, err);
    if (status == UNRELU_OK && finite) {
        solve_outer(w, s->K, w->total + q * q, 0, s->B);
        s->rss = 0;
    }
    return status;
}

/* sum: g (k x p), F'R (q x m), |R|^2 */
static void residual_block(const ur_newton_work *w, const void *input, size_t first, size_t rows,
                           double *sum, double *room)
{
    const ur_newton_state *s = input;
    size_t k = w->k, q = w->q, p = w->p, m = w->m;
    const double *F = s->F + first * q, *D = s->D + first * q;
    double *R = room, *E = room + rows * m, squares = 0;
    memcpy(R, w->a + first * m, rows * m * sizeof *R);
    ur_gemm(UR_PLAIN, UR_PLAIN, rows, m, q, -1, F, q, s->B, m, 1, R, m);
    for (size_t i = 0; i < rows * m; i++)
        squares += R[i] * R[i];
    add_product(rows, q, F, q, m, R, m, sum + w->kp, m);
    ur_gemm(UR_PLAIN, UR_TURNED, rows, q, m, 1, R, m, s->B, m, 0, E, q);
    for (size_t i = 0; i < rows * q; i++)
        E[i] *= D[i];
    add_product(rows, k, E, q, p, w->problem->x + first * p, p, sum, p);
    sum[w->kp + q * m] += squares;
}

unrelu_status ur_newton_residual(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err)
{
    size_t end = w->kp + w->q * w->m;
    unrelu_status status =
        ur_newton_pass(w, residual_block, s, end + 1, 2 * w->kp + 6 * w->q * w->m, w->total, err);
    if (status != UNRELU_OK)
        return status;
    memcpy(s->g, w->total, w->kp * sizeof *s->g);
    s->rss = isfinite(w->total[end]) ? w->total[end] : INFINITY;
    return UNRELU_OK;
}

void ur_newton_refine(const ur_newton_work *w, ur_newton_state *s)
{
    solve_outer(w, s->K, w->total + w->kp, 1, s->B);
}

unrelu_status ur_newton_evaluate(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err)
{
    unrelu_status status = ur_newton_features(w, s, err);
    if (status != UNRELU_OK || !isfinite(s->rss))
        return status;
    status = ur_newton_residual(w, s, err);
    /* an error of 1e-16 cond(F) in F B adds its square to rss */
    if (status == UNRELU_OK && s->rss < 1e-6 * w->norm) {
        ur_newton_refine(w, s);
        status = ur_newton_residual(w, s, err);
    }
    return status;
}

/* W_l = D_l x of neurons l = from .. to - 1, side by side */
static void slopes_times_inputs(const ur_newton_work *w, const ur_newton_state *s, size_t first,
                                size_t rows, size_t from, size_t to, double *W)
{
    size_t p = w->p, q = w->q;
    for (size_t i = 0; i < rows; i++) {
        const double *x = w->problem->x + (first + i) * p, *D = s->D + (first + i) * q;
        for (size_t l = from; l < to; l++, W += p)
            for (size_t j = 0; j < p; j++)
                W[j] = D[l] * x[j];
    }
}

static void gram_block(const ur_newton_work *w, const void *input, size_t first, size_t rows,
                       double *sum, double *room)
{
    const ur_newton_state *s = input;
    size_t kp = w->kp, q = w->q;
    slopes_times_inputs(w, s, first, rows, 0, w->k, room);
    add_gram(rows, kp, room, kp, sum, kp);
    add_product(rows, q, s->F + first * q, q, kp, room, kp, sum + kp * kp, kp);
}

unrelu_status ur_newton_gram(const ur_newton_work *w, const ur_newton_state *s, double *GZ,
                             unrelu_error *err)
{
    size_t len = w->kp * (w->kp + w->q);
    return ur_newton_pass(w, gram_block, s, len, w->kp * (w->kp + 2 * w->q), GZ, err);
}

typedef struct {
    const ur_newton_work *w;
    const ur_newton_state *s;
    int full;
    double *G, *Z;
    atomic_int starved;
} by_neuron;

static void gram_of_neuron(void *context, size_t j)
{
    by_neuron *b = context;
    const ur_newton_work *w = b->w;
    size_t p = w->p, q = w->q, kp = w->kp, from = b->full ? 0 : j;
    size_t width = (j + 1 - from) * p, before = (j - from) * p;
    size_t ldg = b->full ? kp : p;
    double *G = b->G + j * p * ldg, *W = ur_alloc(w->n < BLOCK ? w->n : BLOCK, width * sizeof *W);
    if (!W) {
        atomic_store(&b->starved, 1);
        return;
    }
    for (size_t first = 0; first < w->n; first += BLOCK) {
        size_t rows = w->n - first < BLOCK ? w->n - first : BLOCK;
        slopes_times_inputs(w, b->s, first, rows, from, j + 1, W);
        if (before > 0)
            add_product(rows, p, W + before, width, before, W, width, G, ldg);
        add_gram(rows, p, W + before, width, G + before, ldg);
        add_product(rows, q, b->s->F + first * q, q, p, W + before, width, b->Z + j * p, kp);
    }
    free(W);
}

unrelu_status ur_newton_gram_large(const ur_newton_work *w, const ur_newton_state *s, int full,
                                   double *G, double *Z, unrelu_error *err)
{
    by_neuron b = {.w = w, .s = s, .full = full, .G = G, .Z = Z};
    memset(G, 0, w->kp * (full ? w->kp : w->p) * sizeof *G);
    memset(Z, 0, w->q * w->kp * sizeof *Z);
    unrelu_status status = ur_parallel_for(&w->exec, "gauss-newton", w->k, gram_of_neuron, &b, err);
    if (status == UNRELU_OK && atomic_load(&b.starved))
        status = ur_fail_memory(err, BLOCK * w->kp, "slopes of samples");
    return status;
}
