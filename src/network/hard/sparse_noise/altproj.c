/* SPDX-License-Identifier: Apache-2.0 */
/* Alternating projections for M = L + S, L of rank r, S sparse:
 *   L = P_r(M - S),  S = M - L where |M - L - its column's median| > zeta,  zeta = start g^t,
 * from M with its cells cut off at 3/4 of start, in medians of |M|. Centring by medians is what
 * finds wrong cells of one sign: L takes their mean until they are in S. Where the thresholds
 * start low (4 medians) L is found with up to 40 % of the cells wrong, 35 % with one sign (50
 * columns, 1000 rows, r = 3; the thresholds of the robust PCA literature, beta (sigma_r+1 + g^t
 * sigma_r), end at 30 % of one sign); labels with few wrong cells and long tails want a higher
 * start (12, 30). A wrong rank shows in the share of S, which passes one half: then it ends.
 * P_r by subspace iteration, warm from the sweep before, on four more directions than r:
 * 6 n m (r + 4) flops a sweep. Blocks of rows are fixed: the same bits at any thread count. */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/blocks.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 128, /* of a block */
    MORE = 4,   /* directions than the rank: the iteration gains sigma_r+5 / sigma_r a sweep */
    WARM = 4,   /* iterations before the first threshold */
    LOOK = 301  /* rows of which a column's median is taken */
};
static const double CUT_OFF = 0.75;

struct ur_altproj {
    size_t n, m;
    const double *M;
    double *D;      /* (n, m): M - S */
    double *Y;      /* (n, b): D Q */
    double *Q;      /* (m, b): orthonormal */
    double *sum;    /* (m, b): over rows, and what makes L of Y */
    double *square; /* b x b */
    double *turn;   /* b x b */
    double *values; /* b */
    size_t b;       /* directions */
    size_t r;       /* of the sweep */
    int squares;    /* are summed, and not products */
    double zeta, median;
    double *centre, *looked; /* m, LOOK */
    uint64_t seed;
    const unrelu_exec *exec;
};

static size_t directions_for(size_t n, size_t m, size_t r)
{
    size_t full = n < m ? n : m;
    return r + MORE < full ? r + MORE : full;
}

unrelu_status ur_altproj_new(size_t n, size_t m, const double *M, size_t r_most, uint64_t seed,
                             const unrelu_exec *exec, ur_arena *arena, ur_altproj **out,
                             unrelu_error *err)
{
    size_t most = directions_for(n, m, r_most), kept = 0;
    ur_altproj *p = *out = ur_take(arena, 1, sizeof *p);
    UR_TRY(ur_arena_status(arena, err));
    *p = (ur_altproj){.n = n,
                      .m = m,
                      .M = M,
                      .seed = seed,
                      .exec = exec,
                      .D = ur_take(arena, n, m * sizeof *p->D),
                      .Y = ur_take(arena, n, most * sizeof *p->Y),
                      .Q = ur_take(arena, m, most * sizeof *p->Q),
                      .sum = ur_take(arena, m, most * sizeof *p->sum),
                      .square = ur_take(arena, most, most * sizeof *p->square),
                      .turn = ur_take(arena, most, most * sizeof *p->turn),
                      .values = ur_take(arena, most, sizeof *p->values),
                      .looked = ur_take(arena, LOOK, sizeof *p->looked),
                      .centre = ur_take(arena, m, sizeof *p->centre)};
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n * m; i++)
        if (M[i] != 0)
            p->D[kept++] = fabs(M[i]);
    p->median = ur_median(kept, p->D);
    return UNRELU_OK;
}

/* to b directions: the first of them, new ones are random */
static unrelu_status widen(ur_altproj *p, size_t b, unrelu_error *err)
{
    size_t old = p->b, m = p->m;
    p->b = b;
    memcpy(p->sum, p->Q, m * old * sizeof *p->Q);
    for (size_t i = 0; i < m; i++)
        memcpy(p->Q + i * b, p->sum + i * old, (b < old ? b : old) * sizeof *p->Q);
    for (size_t j = old; j < b; j++) {
        ur_random_normals(p->seed, UR_STREAM_SPARSE_START, j * m, m, p->sum);
        for (size_t i = 0; i < m; i++)
            p->Q[i * b + j] = p->sum[i];
    }
    return b > old ? ur_orthonormalise(m, b, p->Q, err) : UNRELU_OK;
}

/* ---- a sweep ---- */

typedef void (*addition)(const void *context, size_t first, size_t rows, double *scratch,
                         double *sum);

static unrelu_status each_block(ur_altproj *p, addition add, size_t len, double *total,
                                unrelu_error *err)
{
    ur_blocks blocks = {
        .n = p->n, .step = ROWS, .chunk = ROWS, .len = len, .add = add, .context = p};
    return ur_blocks_sum(&blocks, p->exec, "separating", total, err);
}

/* Y = D Q, and D'Y, or Y'Y */
static void add_products(const void *context, size_t first, size_t rows, double *scratch,
                         double *sum)
{
    const ur_altproj *p = context;
    double *D = p->D + first * p->m, *Y = p->Y + first * p->b;
    (void)scratch;
    ur_multiply(rows, p->m, p->b, D, p->Q, Y);
    ur_multiply_tn(rows, p->squares ? p->b : p->m, p->b, p->squares ? Y : D, Y, sum);
}

/* D = L = Y (turn Q'), which is in p->sum */
static void project(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const ur_altproj *p = context;
    (void)scratch;
    (void)sum;
    ur_multiply(rows, p->b, p->m, p->Y + first * p->b, p->sum, p->D + first * p->m);
}

/* D = M where |M - L - centre| <= zeta, L being in D; counts the other cells */
static void add_threshold(const void *context, size_t first, size_t rows, double *scratch,
                          double *sum)
{
    const ur_altproj *p = context;
    (void)scratch;
    for (size_t i = first; i < first + rows; i++) {
        const double *M = p->M + i * p->m;
        double *D = p->D + i * p->m;
        for (size_t j = 0; j < p->m; j++) {
            int far = fabs(M[j] - D[j] - p->centre[j]) > p->zeta;
            D[j] = far ? D[j] : M[j];
            *sum += far;
        }
    }
}

static unrelu_status iterate(ur_altproj *p, unrelu_error *err)
{
    p->squares = 0;
    UR_TRY(each_block(p, add_products, p->m * p->b, p->sum, err));
    memcpy(p->Q, p->sum, p->m * p->b * sizeof *p->Q);
    return ur_orthonormalise(p->m, p->b, p->Q, err);
}

static unrelu_status sweep(ur_altproj *p, double *share, unrelu_error *err)
{
    size_t b = p->b, m = p->m, step = p->n / LOOK + 1;
    UR_TRY(iterate(p, err));
    p->squares = 1;
    UR_TRY(each_block(p, add_products, b * b, p->square, err));
    UR_TRY(ur_eigen_symmetric(b, p->square, p->values, p->turn, err));
    for (size_t i = 0; i < b; i++) /* Q turned to singular directions, decreasing */
        for (size_t j = 0; j < b; j++)
            p->square[i * b + j] = p->turn[i * b + b - 1 - j];
    ur_multiply(m, b, b, p->Q, p->square, p->sum);
    memcpy(p->Q, p->sum, m * b * sizeof *p->Q);
    /* what makes L of Y: the first r of Y turn, times the first r of Q' */
    ur_gemm(UR_PLAIN, UR_TURNED, b, m, p->r, 1, p->square, b, p->Q, b, 0, p->sum, m);
    UR_TRY(each_block(p, project, 0, p->values, err));
    for (size_t j = 0; j < m; j++) { /* medians of M - L by column */
        size_t kept = 0;
        for (size_t i = 0; i < p->n; i += step)
            p->looked[kept++] = p->M[i * m + j] - p->D[i * m + j];
        p->centre[j] = ur_median(kept, p->looked);
    }
    UR_TRY(each_block(p, add_threshold, 1, share, err));
    *share /= (double)(p->n * m);
    return UNRELU_OK;
}

unrelu_status ur_altproj_run(ur_altproj *p, size_t r, double start, double g, int sweeps, double *B,
                             const double **D, double *share, unrelu_error *err)
{
    double most = CUT_OFF * start * p->median;
    p->r = r;
    *share = 0;
    UR_TRY(widen(p, directions_for(p->n, p->m, r), err));
    for (size_t i = 0; i < p->n * p->m; i++)
        p->D[i] = fmax(-most, fmin(most, p->M[i]));
    for (int i = 0; i < WARM; i++)
        UR_TRY(iterate(p, err));
    for (int t = 0; t < sweeps && *share <= UR_MAJORITY; t++) {
        p->zeta = start * p->median * pow(g, t);
        UR_TRY(sweep(p, share, err));
    }
    for (size_t i = 0; i < p->m; i++)
        memcpy(B + i * r, p->Q + i * p->b, r * sizeof *B);
    *D = p->D;
    return UNRELU_OK;
}
