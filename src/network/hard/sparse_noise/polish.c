/* SPDX-License-Identifier: Apache-2.0 */
/* From a row space that is nearly right to one that is right to rounding: alternating least
 * squares on the cells that are met. What counts as met shrinks to a quarter from sweep to sweep,
 * not below 6 medians of what is left, and not below the tolerance: small wrong cells drop out.
 * (Shrinking with the medians alone goes astray: half of a ReLU's rows lie in a space without that
 * neuron, and columns that lag are given up.) 4 n m r^2 flops a sweep, 20 to 30 sweeps, hundreds
 * where m is near 2 r; errors of the basis: 1e-15. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 32,   /* rows, or columns, of one task */
    SWEEPS = 400, /* at most, */
    LEAST = 4,    /* and before it may give up */
    LAST = 3,     /* after the median is at rounding: before the last column is */
    CELLS = 40000 /* of which the median is taken */
};
static const double MEDIANS = 6, SHRINK = 0.25;
/* What two sweeps must take off the median miss: a fifth; a twentieth where it is below NEAR of a
 * typical cell, as the last digits come slowly where m is near 2 r. */
static const double SLOW = 0.8, NEAR = 1e-2, SLOW_NEAR = 0.95;
/* Of the trace, added to the diagonal: directions that no cell shows stay finite. */
static const double RIDGE = 1e-15;

typedef struct {
    size_t n, m, r;
    const double *M; /* (n, m) */
    double *Mt;      /* (m, n) */
    double *P, *B;   /* (n, r), (m, r) */
    double *miss;    /* (n, m): of the last rows' solve */
    double cut;
    int rows; /* are solved for, else columns */
} task;

/* c (r) by least squares on the cells with |miss| <= cut, of a row or column; kept where they do
 * not determine it. met (count, r + 1) and G (r, r + 1): scratch */
static void solve(size_t r, size_t count, const double *F, const double *y, const double *miss,
                  size_t stride, double cut, double *met, double *G, double *c)
{
    double *x = met + count * r, *b = G + r * r, trace = 0;
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        if (fabs(miss[i * stride]) <= cut) {
            memcpy(met + rows * r, F + i * r, r * sizeof *F);
            x[rows++] = y[i];
        }
    if (rows < r)
        return;
    ur_syrk(UR_LOWER, UR_TURNED, r, rows, 1, met, r, 0, G, r);
    ur_gemv(UR_TURNED, rows, r, 1, met, r, x, 0, b);
    for (size_t a = 0; a < r; a++)
        trace += G[a * r + a];
    for (size_t a = 0; a < r; a++) /* directions that no cell shows */
        G[a * r + a] += RIDGE * trace;
    if (!ur_cholesky_in_place(r, G))
        return;
    ur_trsv(UR_LOWER, UR_PLAIN, r, G, r, b);
    ur_trsv(UR_LOWER, UR_TURNED, r, G, r, b);
    memcpy(c, b, r * sizeof *c);
}

/* some rows and what they miss, or some columns */
static unrelu_status solve_block(void *context, size_t block, unrelu_error *err)
{
    UR_ARENA(arena);
    task *t = context;
    size_t n = t->n, m = t->m, r = t->r, count = t->rows ? n : m, length = t->rows ? m : n;
    size_t last = (block + 1) * BLOCK < count ? (block + 1) * BLOCK : count;
    double *met = ur_take(&arena, length, (r + 1) * sizeof *met);
    double *G = ur_take(&arena, r, (r + 1) * sizeof *G);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = block * BLOCK; i < last; i++) {
        double *miss = t->miss + i * m, *c = t->P + i * r;
        const double *y = t->M + i * m;
        if (!t->rows) {
            solve(r, n, t->P, t->Mt + i * n, t->miss + i, m, t->cut, met, G, t->B + i * r);
            continue;
        }
        solve(r, m, t->B, y, miss, 1, t->cut, met, G, c);
        memcpy(miss, y, m * sizeof *miss);
        ur_gemv(UR_PLAIN, m, r, -1, t->B, r, c, 1, miss);
    }
    return UNRELU_OK;
}

unrelu_status ur_polish(size_t n, size_t m, const double *M, const double *D, size_t r, double cut,
                        double tolerance, const unrelu_exec *exec, double *B, double *miss,
                        unrelu_error *err)
{
    UR_ARENA(arena);
    task t = {.n = n,
              .m = m,
              .r = r,
              .M = M,
              .B = B,
              .cut = cut,
              .Mt = ur_take(&arena, n, m * sizeof *t.Mt),
              .P = ur_take(&arena, n, r * sizeof *t.P),
              .miss = ur_take(&arena, n, m * sizeof *t.miss)};
    double *looked = ur_take(&arena, CELLS, sizeof *looked), before[SWEEPS];
    size_t look = n * m > CELLS ? n * m / CELLS : 1;
    look += look % 2 == 0; /* not the same columns again and again */
    int more = LAST;
    *miss = INFINITY;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            t.Mt[j * n + i] = M[i * m + j];
    for (size_t i = 0; i < n * m; i++) /* 0 where they are the same */
        t.miss[i] = D[i] == M[i] ? 0 : INFINITY;
    for (int s = 0; s < SWEEPS; s++) {
        size_t kept = 0;
        t.rows = 1;
        UR_TRY(ur_each(exec, "separating", (n + BLOCK - 1) / BLOCK, solve_block, &t, err));
        for (size_t i = 0; i < n * m && kept < CELLS; i += look)
            looked[kept++] = fabs(t.miss[i]);
        *miss = before[s] = ur_median(kept, looked);
        t.cut = fmax(fmax(SHRINK * t.cut, MEDIANS * *miss), tolerance);
        UR_TRY(ur_orthonormalise(n, r, t.P, err));
        t.rows = 0;
        UR_TRY(ur_each(exec, "separating", (m + BLOCK - 1) / BLOCK, solve_block, &t, err));
        UR_TRY(ur_orthonormalise(m, r, B, err));
        int rests = s >= LEAST && *miss > SLOW_NEAR * before[s - 2];
        if (*miss <= tolerance && t.cut <= tolerance && rests && more-- == 0)
            break;
        if (s >= LEAST && *miss > tolerance &&
            *miss > (*miss < NEAR ? SLOW_NEAR : SLOW) * before[s - 2])
            break;
    }
    return UNRELU_OK;
}
