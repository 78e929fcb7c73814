/* SPDX-License-Identifier: Apache-2.0 */
#include "network/newton/newton_work.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 256,
    CHUNKS = 32,
    WORTH_THREADS = 4000000 /* flops of a pass; with fewer a thread costs more than it saves */
};

/* Squares of pivots of F'F at unit diagonal above which its Cholesky factor serves: 5 digits are
 * left then; with a smaller one the eigenvectors are taken, those above UR_ROUNDING. Pace: both
 * span the same features as long as none is left out, and the eigenvectors cost ten times as much.
 */
static const double SAFE_PIVOT = 100 * UR_ROUNDING;
/* rss / |A|^2 below which B is refined: an error of 1e-16 cond(F) in F B adds its square to rss.
 * Pace: ten times larger costs one more pass, in more steps. Above 1e-20 that square does not show
 * in what is left, which the certificate judges. */
static const double REFINED = 1e-6;

static void state_take(ur_arena *arena, const ur_newton_work *w, ur_newton_state *s)
{
    *s = (ur_newton_state){.V = ur_take(arena, w->k, w->p * sizeof(double)),
                           .F = ur_take(arena, w->n, w->q * sizeof(double)),
                           .D = ur_take(arena, w->n, w->q * sizeof(double)),
                           .K = ur_take(arena, w->q, w->q * sizeof(double)),
                           .B = ur_take(arena, w->q, w->m * sizeof(double)),
                           .g = ur_take(arena, w->k, w->p * sizeof(double)),
                           .rss = INFINITY};
}

unrelu_status ur_newton_open(const ur_newton *problem, size_t k, ur_arena *arena, ur_newton_work *w,
                             unrelu_error *err)
{
    size_t n = problem->n, m = problem->m, q = k + (problem->constant != 0), kp = k * problem->p;
    *w = (ur_newton_work){.problem = problem, .n = n, .p = problem->p, .m = m, .k = k};
    assert(n > 0 && w->p > 0 && m > 0 && k > 0);
    w->q = q;
    w->kp = kp;
    if (problem->exec)
        w->exec = *problem->exec;
    w->exec.progress = NULL;
    size_t features = q * (q + m), residual = kp + q * m + 1;
    w->total = ur_take(arena, features > residual ? features : residual, sizeof(double));
    w->small = ur_take(arena, q, (m + 2) * sizeof(double));
    state_take(arena, w, &w->now);
    state_take(arena, w, &w->next);
    double *weighted = problem->weight ? ur_take(arena, n, m * sizeof *weighted) : NULL;
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; weighted && i < n * m; i++)
        weighted[i] = problem->weight[i / m] * problem->a[i];
    w->a = weighted ? weighted : problem->a;
    for (size_t i = 0; i < n * m; i++)
        w->norm += w->a[i] * w->a[i];
    return UNRELU_OK;
}

unrelu_status ur_newton_sum(ur_blocks pass, size_t cost, ur_newton_input input, double *total,
                            unrelu_error *err)
{
    const ur_newton_work *w = input.w;
    const unrelu_exec alone = {.threads = 1};
    pass.n = w->n;
    pass.step = BLOCK;
    pass.chunks = CHUNKS;
    pass.scratch *= w->n < BLOCK ? w->n : BLOCK;
    pass.context = &input;
    return ur_blocks_sum(&pass, cost < WORTH_THREADS / w->n ? &alone : &w->exec, "gauss-newton",
                         total, err);
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
static void add_features(const void *context, size_t first, size_t rows, double *scratch,
                         double *sum)
{
    (void)scratch;
    const ur_newton_input *in = context;
    const ur_newton_work *w = in->w;
    const ur_newton_state *s = in->s;
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
 * it overflowed */
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
    UR_TRY(ur_cholesky(q, G, K, &positive, err));
    for (size_t j = 0; j < q && positive; j++)
        positive = K[j * q + j] * K[j * q + j] > SAFE_PIVOT;
    if (positive) {
        memset(G, 0, q * q * sizeof *G);
        for (size_t j = 0; j < q; j++)
            G[j * q + j] = 1;
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, q, K, q, G, q);
    } else {
        double *values = w->small + q;
        UR_TRY(ur_eigen_symmetric(q, G, values, K, err));
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < q; j++)
                G[i * q + j] =
                    values[i] > UR_ROUNDING * values[q - 1] ? K[j * q + i] / sqrt(values[i]) : 0;
    }
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++)
            K[i * q + j] = G[i * q + j] * scale[j];
    return UNRELU_OK;
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
    const ur_blocks pass = {.add = add_features, .len = q * (q + m)};
    size_t cost = 2 * w->kp + q * (q + 2 * m + 10);
    s->rss = INFINITY;
    UR_TRY(ur_newton_sum(pass, cost, (ur_newton_input){.w = w, .s = s}, w->total, err));
    UR_TRY(invert_gram(w, w->total, s->K, &finite, err));
    if (!finite)
        return UNRELU_OK;
    solve_outer(w, s->K, w->total + q * q, 0, s->B);
    s->rss = 0;
    return UNRELU_OK;
}

/* sum: g (k x p), F'R (q x m), |R|^2 */
static void add_residuals(const void *context, size_t first, size_t rows, double *scratch,
                          double *sum)
{
    const ur_newton_input *in = context;
    const ur_newton_work *w = in->w;
    const ur_newton_state *s = in->s;
    size_t k = w->k, q = w->q, p = w->p, m = w->m;
    const double *F = s->F + first * q, *D = s->D + first * q;
    double *R = scratch, *E = scratch + rows * m, squares = 0;
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
    const ur_blocks pass = {.add = add_residuals, .len = end + 1, .scratch = w->m + w->q};
    size_t cost = 2 * w->kp + 6 * w->q * w->m;
    UR_TRY(ur_newton_sum(pass, cost, (ur_newton_input){.w = w, .s = s}, w->total, err));
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
    UR_TRY(ur_newton_features(w, s, err));
    if (!isfinite(s->rss))
        return UNRELU_OK;
    UR_TRY(ur_newton_residual(w, s, err));
    if (!(s->rss < REFINED * w->norm))
        return UNRELU_OK;
    ur_newton_refine(w, s);
    return ur_newton_residual(w, s, err);
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

static void add_slopes(const void *context, size_t first, size_t rows, double *W, double *sum)
{
    const ur_newton_input *in = context;
    const ur_newton_work *w = in->w;
    size_t kp = w->kp, q = w->q;
    slopes_times_inputs(w, in->s, first, rows, 0, w->k, W);
    add_gram(rows, kp, W, kp, sum, kp);
    add_product(rows, q, in->s->F + first * q, q, kp, W, kp, sum + kp * kp, kp);
}

unrelu_status ur_newton_gram(const ur_newton_work *w, const ur_newton_state *s, double *GZ,
                             unrelu_error *err)
{
    const ur_blocks pass = {.add = add_slopes, .len = w->kp * (w->kp + w->q), .scratch = w->kp};
    size_t cost = w->kp * (w->kp + 2 * w->q);
    return ur_newton_sum(pass, cost, (ur_newton_input){.w = w, .s = s}, GZ, err);
}

typedef struct {
    const ur_newton_work *w;
    const ur_newton_state *s;
    int full;
    double *G, *Z;
} by_neuron;

/* W_l = D_l x of neurons l = from .. j side by side, and F, of the next rows where D_j is not 0 */
static size_t gather_active(const by_neuron *b, size_t from, size_t j, size_t *row, double *W,
                            double *F)
{
    const ur_newton_work *w = b->w;
    size_t p = w->p, q = w->q, width = (j + 1 - from) * p, rows = 0;
    for (; *row < w->n && rows < BLOCK; ++*row) {
        if (b->s->D[*row * q + j] == 0)
            continue;
        slopes_times_inputs(w, b->s, *row, 1, from, j + 1, W + rows * width);
        memcpy(F + rows * q, b->s->F + *row * q, q * sizeof *F);
        rows++;
    }
    return rows;
}

/* Only of the rows where neuron j is on: with relu that is half of the sums. */
static unrelu_status gram_of_neuron(void *context, size_t j, unrelu_error *err)
{
    const by_neuron *b = context;
    const ur_newton_work *w = b->w;
    size_t p = w->p, q = w->q, kp = w->kp, from = b->full ? 0 : j;
    size_t width = (j + 1 - from) * p, before = (j - from) * p;
    size_t ldg = b->full ? kp : p;
    UR_ARENA(arena);
    double *G = b->G + j * p * ldg;
    double *W = ur_take(&arena, BLOCK, width * sizeof *W);
    double *F = ur_take(&arena, BLOCK, q * sizeof *F);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t row = 0, rows; (rows = gather_active(b, from, j, &row, W, F)) > 0;) {
        if (before > 0)
            add_product(rows, p, W + before, width, before, W, width, G, ldg);
        add_gram(rows, p, W + before, width, G + before, ldg);
        add_product(rows, q, F, q, p, W + before, width, b->Z + j * p, kp);
    }
    return UNRELU_OK;
}

unrelu_status ur_newton_gram_large(const ur_newton_work *w, const ur_newton_state *s, int full,
                                   double *G, double *Z, unrelu_error *err)
{
    by_neuron b = {.w = w, .s = s, .full = full, .G = G, .Z = Z};
    memset(G, 0, w->kp * (full ? w->kp : w->p) * sizeof *G);
    memset(Z, 0, w->q * w->kp * sizeof *Z);
    return ur_each(&w->exec, "gauss-newton", w->k, gram_of_neuron, &b, err);
}
