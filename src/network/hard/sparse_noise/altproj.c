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
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 128, /* of a block */
    MORE = 4,   /* directions than the rank: the iteration gains sigma_r+5 / sigma_r a sweep */
    WARM = 4,   /* iterations before the first threshold */
    LOOK = 301  /* rows of which a column's median is taken */
};
static const double CUT_OFF = 0.75;
/* Share of S above which the sweeps end: most cells are met, or the rank is wrong. */
static const double TOO_MANY = 0.5;

struct ur_altproj {
    size_t n, m, blocks;
    const double *M;
    double *D;      /* (n, m): M - S */
    double *Y;      /* (n, b) */
    double *Q;      /* (m, b): orthonormal */
    double *sums;   /* (blocks, m b) */
    double *square; /* b x b */
    double *sigma;  /* b, decreasing */
    double *turn;   /* b x b */
    size_t b;       /* directions */
    size_t r;       /* of the sweep */
    double zeta, median;
    double *centre, *looked; /* m, LOOK */
    size_t *flagged;         /* blocks */
    uint64_t seed;
    const unrelu_exec *exec;
};

/* of the cells that are not 0 */
static double median_size(size_t count, const double *M, double *scratch)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (M[i] != 0)
            scratch[kept++] = fabs(M[i]);
    return ur_median(kept, scratch);
}

static size_t directions_for(size_t n, size_t m, size_t r)
{
    size_t full = n < m ? n : m;
    return r + MORE < full ? r + MORE : full;
}

unrelu_status ur_altproj_new(size_t n, size_t m, const double *M, size_t r_most, uint64_t seed,
                             const unrelu_exec *exec, ur_arena *arena, ur_altproj **out,
                             unrelu_error *err)
{
    size_t blocks = (n + ROWS - 1) / ROWS, most = directions_for(n, m, r_most);
    ur_altproj *p = *out = ur_take(arena, 1, sizeof *p);
    UR_TRY(ur_arena_status(arena, err));
    *p = (ur_altproj){.n = n,
                      .m = m,
                      .blocks = blocks,
                      .M = M,
                      .seed = seed,
                      .exec = exec,
                      .D = ur_take(arena, n, m * sizeof *p->D),
                      .Y = ur_take(arena, n, most * sizeof *p->Y),
                      .Q = ur_take(arena, m, most * sizeof *p->Q),
                      .sums = ur_take(arena, blocks, m * most * sizeof *p->sums),
                      .square = ur_take(arena, most, most * sizeof *p->square),
                      .turn = ur_take(arena, most, most * sizeof *p->turn),
                      .sigma = ur_take(arena, most, sizeof *p->sigma),
                      .looked = ur_take(arena, LOOK, sizeof *p->looked),
                      .centre = ur_take(arena, m, sizeof *p->centre),
                      .flagged = ur_take(arena, blocks, sizeof *p->flagged)};
    UR_TRY(ur_arena_status(arena, err));
    p->median = median_size(n * m, M, p->D);
    return UNRELU_OK;
}

/* ---- directions ---- */

/* to b directions: new ones are random */
static unrelu_status widen(ur_altproj *p, size_t b, unrelu_error *err)
{
    size_t old = p->b;
    p->b = b;
    if (b == old)
        return UNRELU_OK;
    if (b < old) { /* the first of them */
        for (size_t i = 0; i < p->m; i++)
            memmove(p->Q + i * b, p->Q + i * old, b * sizeof *p->Q);
        return UNRELU_OK;
    }
    for (size_t i = p->m; i-- > 0;)
        for (size_t j = b; j-- > 0;)
            p->Q[i * b + j] = j < old ? p->Q[i * old + j] : 0;
    for (size_t j = old; j < b; j++) {
        ur_random_normals(p->seed, UR_STREAM_SPARSE_START, j * p->m, p->m, p->sums);
        for (size_t i = 0; i < p->m; i++)
            p->Q[i * b + j] = p->sums[i];
    }
    return ur_orthonormalise(p->m, b, p->Q, err);
}

/* ---- a sweep ---- */

static size_t rows_of(const ur_altproj *p, size_t block)
{
    size_t left = p->n - block * ROWS;
    return left < ROWS ? left : ROWS;
}

/* Y = D Q, and D'Y of the block */
static void iterate_block(void *context, size_t block)
{
    ur_altproj *p = context;
    size_t first = block * ROWS, rows = rows_of(p, block), b = p->b, m = p->m;
    double *D = p->D + first * m, *Y = p->Y + first * b;
    ur_multiply(rows, m, b, D, p->Q, Y);
    ur_multiply_tn(rows, m, b, D, Y, p->sums + block * m * b);
}

/* Y = D Q, and Y'Y of the block */
static void square_block(void *context, size_t block)
{
    ur_altproj *p = context;
    size_t first = block * ROWS, rows = rows_of(p, block), b = p->b, m = p->m;
    double *Y = p->Y + first * b;
    ur_multiply(rows, m, b, p->D + first * m, p->Q, Y);
    ur_multiply_tn(rows, b, b, Y, Y, p->sums + block * m * b);
}

/* D = L = Y (turn Q'), which is in sums */
static void project_block(void *context, size_t block)
{
    ur_altproj *p = context;
    size_t first = block * ROWS, rows = rows_of(p, block), m = p->m, b = p->b;
    ur_multiply(rows, b, m, p->Y + first * b, p->sums, p->D + first * m);
}

/* D = M where |M - L - centre| <= zeta */
static void threshold_block(void *context, size_t block)
{
    ur_altproj *p = context;
    size_t first = block * ROWS, rows = rows_of(p, block), m = p->m, flagged = 0;
    for (size_t i = first; i < first + rows; i++) {
        const double *M = p->M + i * m;
        double *D = p->D + i * m;
        for (size_t j = 0; j < m; j++) {
            int far = fabs(M[j] - D[j] - p->centre[j]) > p->zeta;
            D[j] = far ? D[j] : M[j];
            flagged += (size_t)far;
        }
    }
    p->flagged[block] = flagged;
}

/* medians of M - L by column, L being in D */
static void set_centres(ur_altproj *p)
{
    size_t step = p->n / LOOK + 1;
    for (size_t j = 0; j < p->m; j++) {
        size_t kept = 0;
        for (size_t i = 0; i < p->n; i += step)
            p->looked[kept++] = p->M[i * p->m + j] - p->D[i * p->m + j];
        p->centre[j] = ur_median(kept, p->looked);
    }
}

/* the blocks' sums, in their order, in the first's place */
static void add_blocks(ur_altproj *p, size_t len)
{
    for (size_t block = 1; block < p->blocks; block++)
        ur_add(len, 1, p->sums + block * p->m * p->b, p->sums);
}

static unrelu_status each_block(ur_altproj *p, void (*body)(void *, size_t), unrelu_error *err)
{
    return ur_parallel_for(p->exec, "separating", p->blocks, body, p, err);
}

static unrelu_status iterate(ur_altproj *p, unrelu_error *err)
{
    UR_TRY(each_block(p, iterate_block, err));
    add_blocks(p, p->m * p->b);
    memcpy(p->Q, p->sums, p->m * p->b * sizeof *p->Q);
    return ur_orthonormalise(p->m, p->b, p->Q, err);
}

/* Q turned to singular directions, singular values, and in sums what makes L of Y = D Q */
static unrelu_status measure(ur_altproj *p, unrelu_error *err)
{
    size_t b = p->b;
    UR_TRY(each_block(p, square_block, err));
    add_blocks(p, b * b);
    memcpy(p->square, p->sums, b * b * sizeof *p->square);
    UR_TRY(ur_eigen_symmetric(b, p->square, p->sigma, p->turn, err));
    for (size_t i = 0; i < b; i++) /* decreasing */
        for (size_t j = 0; j < b; j++)
            p->square[i * b + j] = p->turn[i * b + b - 1 - j];
    for (size_t j = 0; j < b; j++)
        p->turn[j] = sqrt(fmax(0, p->sigma[b - 1 - j]));
    memcpy(p->sigma, p->turn, b * sizeof *p->sigma);
    ur_multiply(p->m, b, b, p->Q, p->square, p->sums);
    memcpy(p->Q, p->sums, p->m * b * sizeof *p->Q);
    /* the first r of Y turn, times the first r of Q' */
    ur_gemm(UR_PLAIN, UR_TURNED, b, p->m, p->r, 1, p->square, b, p->Q, b, 0, p->sums, p->m);
    return UNRELU_OK;
}

static unrelu_status sweep(ur_altproj *p, double *share, unrelu_error *err)
{
    size_t flagged = 0;
    UR_TRY(iterate(p, err));
    UR_TRY(measure(p, err));
    UR_TRY(each_block(p, project_block, err));
    set_centres(p);
    UR_TRY(each_block(p, threshold_block, err));
    for (size_t block = 0; block < p->blocks; block++)
        flagged += p->flagged[block];
    *share = (double)flagged / (double)(p->n * p->m);
    return UNRELU_OK;
}

unrelu_status ur_altproj_run(ur_altproj *p, size_t r, double start, double g, int sweeps,
                             double *share, unrelu_error *err)
{
    double most = CUT_OFF * start * p->median;
    p->r = r;
    *share = 0;
    UR_TRY(widen(p, directions_for(p->n, p->m, r), err));
    for (size_t i = 0; i < p->n * p->m; i++)
        p->D[i] = fmax(-most, fmin(most, p->M[i]));
    for (int i = 0; i < WARM; i++)
        UR_TRY(iterate(p, err));
    for (int t = 0; t < sweeps && *share <= TOO_MANY; t++) {
        p->zeta = start * p->median * pow(g, t);
        UR_TRY(sweep(p, share, err));
    }
    return UNRELU_OK;
}

const double *ur_altproj_basis(const ur_altproj *p, double *B)
{
    for (size_t i = 0; i < p->m; i++)
        memcpy(B + i * p->r, p->Q + i * p->b, p->r * sizeof *B);
    return p->D;
}
