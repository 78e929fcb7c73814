/* SPDX-License-Identifier: Apache-2.0 */
/* Principal component pursuit, min |L|_* + lambda |S|_1 over L + S = A, lambda = 1 / sqrt(max(n,
 * m)), by the inexact augmented Lagrangian method: L = shrink of singular values (from the Gram
 * matrix of the shorter side), S = shrink of cells, Y += mu (A - L - S), mu growing by a tenth: 100
 * to 200 steps, the objective within 1e-4 of the minimum. It is what Theorem 14 stands on, and kept
 * for comparison: rows of high leverage cost less in S than in L, so that its L is 1e-2 to 1e-1 off
 * at 50 columns with 20 to 30 % wrong cells, and its network is called noisy. n m^2 flops a step.
 */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1000 };
static const double CLOSE = 1e-9, GROWTH = 1.1;

typedef struct {
    size_t n, m;                      /* n >= m */
    double *W, *G, *vectors, *values; /* (n, m), m x m, m x m, m */
    double *P, *room;                 /* m x m, n x m */
} svt;

/* singular values (decreasing, in t->values) and right vectors of W */
static unrelu_status decompose(svt *t, const double *W, unrelu_error *err)
{
    size_t m = t->m;
    ur_multiply_tn(t->n, m, m, W, W, t->G);
    unrelu_status status = ur_eigen_symmetric(m, t->G, t->values, t->vectors, err);
    for (size_t j = 0; j < m && status == UNRELU_OK; j++)
        t->values[j] = sqrt(fmax(0, t->values[j]));
    return status;
}

/* L = W with its singular values lowered by `by` */
static unrelu_status shrink_values(svt *t, double by, double *L, unrelu_error *err)
{
    size_t m = t->m, kept = 0;
    unrelu_status status = decompose(t, t->W, err);
    if (status != UNRELU_OK)
        return status;
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
    ur_multiply(t->n, m, kept, t->W, t->P, t->room);
    ur_multiply_nt(t->n, kept, m, t->room, t->G, L);
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
        double free = A[i] - L[i] + Y[i] / mu, s = free > by    ? free - by
                                                   : free < -by ? free + by
                                                                : 0;
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
    unrelu_status status = decompose(t, A, err);
    double spectral = t->values[t->m - 1], mu = 1.25 / spectral;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(A[i]));
    for (size_t i = 0; i < count; i++) {
        Y[i] = A[i] / fmax(spectral, largest / lambda);
        L[i] = S[i] = 0;
    }
    for (*steps = 0; *steps < STEPS && gap > CLOSE * size && status == UNRELU_OK; ++*steps) {
        for (size_t i = 0; i < count; i++)
            t->W[i] = A[i] - S[i] + Y[i] / mu;
        status = shrink_values(t, 1 / mu, L, err);
        step_cells(count, A, L, lambda / mu, mu, S, Y, &gap);
        mu *= GROWTH;
        ur_progress(exec, "principal component pursuit", (double)*steps / STEPS);
        if (status == UNRELU_OK && ur_cancelled(exec))
            status = ur_fail_cancelled(err);
    }
    return status;
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
    svt t = {.n = n, .m = m};
    unrelu_status status = UNRELU_OK;
    t.W = ur_alloc(n, m * sizeof *t.W);
    t.room = ur_alloc(n, m * sizeof *t.room);
    t.G = ur_alloc(m, m * sizeof *t.G);
    t.P = ur_alloc(m, m * sizeof *t.P);
    t.vectors = ur_alloc(m, m * sizeof *t.vectors);
    t.values = ur_doubles(m);
    double *own = Y ? NULL : ur_alloc(n, m * sizeof *own);
    if (!t.W || !t.room || !t.G || !t.P || !t.vectors || !t.values || (!Y && !own))
        status = ur_fail_memory(err, n * m, "cells");
    else
        status = pursue(&t, A, lambda, exec, L, S, Y ? Y : own, steps, err);
    free(t.W);
    free(t.room);
    free(t.G);
    free(t.P);
    free(t.vectors);
    free(t.values);
    free(own);
    return status;
}

unrelu_status ur_pcp(size_t n, size_t m, const double *A, double lambda, const unrelu_exec *exec,
                     double *L, double *S, double *Y, int *steps, unrelu_error *err)
{
    if (n >= m)
        return tall(n, m, A, lambda, exec, L, S, Y, steps, err);
    double *T = ur_alloc(n, m * sizeof *T), *l = ur_alloc(n, m * sizeof *l);
    double *s = ur_alloc(n, m * sizeof *s), *y = ur_alloc(n, m * sizeof *y);
    unrelu_status status = T && l && s && y ? UNRELU_OK : ur_fail_memory(err, n * m, "cells");
    if (status == UNRELU_OK) {
        transpose(n, m, A, T);
        status = tall(m, n, T, lambda, exec, l, s, y, steps, err);
    }
    if (status == UNRELU_OK) {
        transpose(m, n, l, L);
        transpose(m, n, s, S);
        if (Y)
            transpose(m, n, y, Y);
    }
    free(T);
    free(l);
    free(s);
    free(y);
    return status;
}
