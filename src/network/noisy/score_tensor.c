/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor of labels with products of white inputs, n w d (d + 1) operations by blocks of rows,
 * without a list of products over all samples; its reduction to the k-dimensional space where it
 * lives, and its decomposition from several starts. */
#include "base/error.h"
#include "base/random.h"
#include "dense/als.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"
#include "pass/parallel.h"

#include <limits.h>

enum {
    ROWS = 256,
    ROWS_LEAST = 8,    /* with fewer a product is slow */
    SCRATCH = 1 << 19, /* doubles of a thread, 4 MiB */
    RANDOM_STARTS = 5, /* the best of 3 was the best of all in 12 of 12 instances */
    STARTS = RANDOM_STARTS + 1,
    STEPS = 200,   /* of each start */
    FINISH = 1000, /* of the best one */
};

typedef struct {
    const ur_white *white;
    size_t r;
    const double *y;
    int outer;
} tensor;

/* P_i = x_a x_b, a <= b; T += Y'P */
static void add_tensor(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const tensor *t = context;
    size_t d = t->white->d, r = t->r, p = ur_packed(d), w = t->outer ? r * d : r;
    const double *y = t->y + first * r;
    double *P = scratch, *outer = scratch + rows * p;
    for (size_t i = 0; i < rows; i++) {
        double *out = P + i * p;
        const double *xi = t->white->x + (first + i) * d;
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
    size_t d = white->d, p = ur_packed(d), w = outer ? r * d : r;
    if (p > INT_MAX || w > INT_MAX)
        return ur_fail_memory(err, p, "products of inputs");
    size_t step = SCRATCH / (p + w);
    step = step < ROWS_LEAST ? ROWS_LEAST : step < ROWS ? step : ROWS;
    const tensor t = {.white = white, .r = r, .y = y, .outer = outer};
    const ur_blocks mean = {.n = white->n,
                            .len = w * p,
                            .step = step,
                            .scratch = step * (p + (outer ? w : 0)),
                            .add = add_tensor,
                            .context = &t};
    return ur_mean_of_rows(mean, d, white->exec, T, err);
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
    size_t p = ur_packed(d);
    UR_ARENA(arena);
    double *full = ur_take(&arena, d, d * sizeof *full), *sum = ur_take(&arena, d, d * sizeof *sum);
    double *vectors = ur_take(&arena, d, d * sizeof *vectors);
    double *values = ur_take(&arena, d, sizeof *values);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t s = 0; s < w; s++) {
        ur_score_unpack(d, T + s * p, full);
        ur_syrk(UR_UPPER, UR_PLAIN, d, d, 1, full, d, 1, sum, d);
    }
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < a; b++)
            sum[a * d + b] = sum[b * d + a];
    UR_TRY(ur_eigen_symmetric(d, sum, values, vectors, err));
    for (size_t a = 0; a < d; a++)
        for (size_t j = 0; j < k; j++)
            Q[a * k + j] = vectors[a * d + d - 1 - j];
    for (size_t s = 0; s < w; s++) {
        ur_score_unpack(d, T + s * p, full);
        ur_multiply(d, d, k, full, Q, sum);
        ur_multiply_tn(d, k, k, Q, sum, core + s * k * k);
    }
    return UNRELU_OK;
}

/* ---- decomposition ---- */

typedef struct {
    ur_als als;
    uint64_t seed;
    double *V, *G; /* STARTS of them */
    double fit[STARTS];
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
    UR_ARENA(arena);
    double *M = ur_take(&arena, k, k * sizeof *M), *other = ur_take(&arena, k, k * sizeof *other);
    double *X = ur_take(&arena, k, k * sizeof *X),
           *vectors = ur_take(&arena, size, sizeof *vectors);
    double *theta = ur_take(&arena, p->r, sizeof *theta);
    double *values = ur_take(&arena, 2 * k, sizeof *values);
    UR_TRY(ur_arena_status(&arena, err));
    contract(p, seed, 0, theta, M);
    contract(p, seed, 1, theta, other);
    UR_TRY(ur_least_squares(k, k, k, other, M, UR_ROUNDING, X, NULL, err));
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            M[j * k + i] = X[i * k + j];
    UR_TRY(ur_eigen_general(k, M, values, values + k, vectors, err));
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            V[j * k + i] = vectors[i * k + j];
    return UNRELU_OK;
}

static unrelu_status decompose_once(void *context, size_t i, unrelu_error *err)
{
    decomposition *c = context;
    size_t size = c->als.k * c->als.q;
    double *V = c->V + i * size;
    if (i < RANDOM_STARTS)
        ur_random_normals(c->seed, UR_STREAM_ALS, i * size, size, V);
    else
        UR_TRY(pencil(&c->als, c->seed, V, err));
    return ur_als_run(&c->als, STEPS, V, c->G + i * c->als.k * c->als.r, &c->fit[i], err);
}

unrelu_status ur_score_decompose(const ur_start *start, const ur_white *white, size_t w,
                                 const double *core, const double *Q, double *V, double *fit,
                                 unrelu_error *err)
{
    size_t k = start->k, best = 0;
    UR_ARENA(arena);
    decomposition c = {.als = {.r = w, .q = k, .k = k, .T = core},
                       .seed = start->seed,
                       .V = ur_take(&arena, STARTS * k, k * sizeof *c.V),
                       .G = ur_take(&arena, STARTS * k, w * sizeof *c.G)};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_each(start->exec, "decomposition", STARTS, decompose_once, &c, err));
    for (size_t i = 0; i < STARTS; i++)
        if (c.fit[i] < c.fit[best])
            best = i;
    double *v = c.V + best * k * k;
    UR_TRY(ur_als_run(&c.als, FINISH, v, c.G, &c.fit[best], err));
    ur_multiply_nt(k, k, white->d, v, Q, V);
    ur_white_back(white, k, V);
    if (fit)
        *fit = c.fit[best];
    return UNRELU_OK;
}
