/* SPDX-License-Identifier: Apache-2.0 */
/* Principal component pursuit, min |L|_* + lambda |S|_1 over L + S = A, lambda = 1 / sqrt(max(n,
 * m)), by the inexact augmented Lagrangian method: L = shrink of singular values (from the Gram
 * matrix of the shorter side), S = shrink of cells, Y += mu (A - L - S), mu growing by a tenth: 100
 * to 200 steps, the objective within 1e-4 of the minimum. It is what Theorem 14 stands on, and kept
 * for comparison: rows of high leverage cost less in S than in L, so that its L is 1e-2 to 1e-1 off
 * at 50 columns with 20 to 30 % wrong cells, and its network is called noisy. n m^2 flops a step.
 */
#include "base/error.h"
#include "dense/linear.h"
#include "paper/two_layer/two_layer.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { STEPS = 1000 };
static const double CLOSE = 1e-9;    /* |A - L - S|, of |A|: what ends it */
static const double GROWTH = 1.1;    /* of mu a step: faster is further from the minimum */
static const double FIRST_MU = 1.25; /* over the largest singular value, as is usual */

typedef struct {
    size_t n, m;                      /* n >= m */
    double *W, *G, *vectors, *values; /* (n, m), m x m, m x m, m */
    double *P, *scratch;              /* m x m, n x m */
} svt;

/* singular values (decreasing, in t->values) and right vectors of W */
static unrelu_status decompose(svt *t, const double *W, unrelu_error *err)
{
    size_t m = t->m;
    ur_multiply_tn(t->n, m, m, W, W, t->G);
    UR_TRY(ur_eigen_symmetric(m, t->G, t->values, t->vectors, err));
    for (size_t j = 0; j < m; j++)
        t->values[j] = sqrt(fmax(0, t->values[j]));
    return UNRELU_OK;
}

/* L = W with its singular values lowered by `by` */
static unrelu_status shrink_values(svt *t, double by, double *L, unrelu_error *err)
{
    size_t m = t->m, kept = 0;
    UR_TRY(decompose(t, t->W, err));
    for (size_t j = 0; j < m; j++)
        kept += t->values[j] > by;
    size_t first = m - kept;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < kept; j++) {
            double v = t->vectors[i * m + first + j], s = t->values[first + j];
            t->P[i * kept + j] = v;
            t->G[i * kept + j] = v * (s - by) / s;
        }
    if (kept == 0) {
        memset(L, 0, t->n * m * sizeof *L);
        return UNRELU_OK;
    }
    ur_multiply(t->n, m, kept, t->W, t->P, t->scratch);
    ur_multiply_nt(t->n, kept, m, t->scratch, t->G, L);
    return UNRELU_OK;
}

static double norm(size_t count, const double *A)
{
    double largest = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(A[i]));
    for (size_t i = 0; i < count && largest > 0; i++)
        sum += A[i] / largest * (A[i] / largest);
    return largest * sqrt(sum);
}

/* S, Y from L; the size of A - L - S */
static void step_cells(size_t count, const double *A, const double *L, double by, double mu,
                       double *S, double *Y, double *gap)
{
    double left = 0;
    for (size_t i = 0; i < count; i++) {
        double rest = A[i] - L[i] + Y[i] / mu;
        double s = rest > by ? rest - by : rest < -by ? rest + by : 0;
        double miss = A[i] - L[i] - s;
        left += miss * miss;
        S[i] = s;
        Y[i] += mu * miss;
    }
    *gap = sqrt(left);
}

static unrelu_status pursue(svt *t, const double *A, double lambda, const unrelu_exec *exec,
                            double *L, double *S, double *Y, int *steps, unrelu_error *err)
{
    size_t count = t->n * t->m;
    double size = norm(count, A), largest = 0, gap = size;
    UR_TRY(decompose(t, A, err));
    double spectral = t->values[t->m - 1], mu = FIRST_MU / spectral;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(A[i]));
    for (size_t i = 0; i < count; i++) {
        Y[i] = A[i] / fmax(spectral, largest / lambda);
        L[i] = S[i] = 0;
    }
    for (*steps = 0; *steps < STEPS && gap > CLOSE * size; ++*steps) {
        for (size_t i = 0; i < count; i++)
            t->W[i] = A[i] - S[i] + Y[i] / mu;
        UR_TRY(shrink_values(t, 1 / mu, L, err));
        step_cells(count, A, L, lambda / mu, mu, S, Y, &gap);
        mu *= GROWTH;
        ur_progress(exec, "principal component pursuit", (double)*steps / STEPS);
        if (ur_cancelled(exec))
            return ur_fail_cancelled(err);
    }
    return UNRELU_OK;
}

static void transpose(size_t n, size_t m, const double *A, double *T)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            T[j * n + i] = A[i * m + j];
}

/* n >= m */
static unrelu_status tall(size_t n, size_t m, const double *A, double lambda,
                          const unrelu_exec *exec, double *L, double *S, double *Y, int *steps,
                          unrelu_error *err)
{
    UR_ARENA(arena);
    svt t = {.n = n,
             .m = m,
             .W = ur_take(&arena, n, m * sizeof *t.W),
             .scratch = ur_take(&arena, n, m * sizeof *t.scratch),
             .G = ur_take(&arena, m, m * sizeof *t.G),
             .P = ur_take(&arena, m, m * sizeof *t.P),
             .vectors = ur_take(&arena, m, m * sizeof *t.vectors),
             .values = ur_take(&arena, m, sizeof *t.values)};
    Y = Y ? Y : ur_take(&arena, n, m * sizeof *Y);
    UR_TRY(ur_arena_status(&arena, err));
    return pursue(&t, A, lambda, exec, L, S, Y, steps, err);
}

unrelu_status ur_pcp(size_t n, size_t m, const double *A, double lambda, const unrelu_exec *exec,
                     double *L, double *S, double *Y, int *steps, unrelu_error *err)
{
    if (n >= m)
        return tall(n, m, A, lambda, exec, L, S, Y, steps, err);
    UR_ARENA(arena);
    double *T = ur_take(&arena, n, m * sizeof *T), *l = ur_take(&arena, n, m * sizeof *l);
    double *s = ur_take(&arena, n, m * sizeof *s), *y = ur_take(&arena, n, m * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    transpose(n, m, A, T);
    UR_TRY(tall(m, n, T, lambda, exec, l, s, y, steps, err));
    transpose(m, n, l, L);
    transpose(m, n, s, S);
    if (Y)
        transpose(m, n, y, Y);
    return UNRELU_OK;
}
