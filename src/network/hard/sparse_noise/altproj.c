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
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 128, MORE = 4, WARM = 4, LOOK = 301 };
static const double CUT_OFF = 0.75, TOO_MANY = 0.5;

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
    size_t b, room; /* directions, and how many there is room for */
    size_t r;       /* of the sweep */
    double zeta, median;
    double *centre, *looked; /* m, LOOK */
    size_t *flagged;         /* blocks */
    uint64_t seed;
    const unrelu_exec *exec;
};

void ur_altproj_free(ur_altproj *p)
{
    if (!p)
        return;
    free(p->D);
    free(p->Y);
    free(p->Q);
    free(p->sums);
    free(p->square);
    free(p->sigma);
    free(p->turn);
    free(p->looked);
    free(p->centre);
    free(p->flagged);
    free(p);
}

/* of the cells that are not 0 */
static double median_size(size_t count, const double *M, double *room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (M[i] != 0)
            room[kept++] = fabs(M[i]);
    return ur_median(kept, room);
}

unrelu_status ur_altproj_new(size_t n, size_t m, const double *M, uint64_t seed,
                             const unrelu_exec *exec, ur_altproj **out, unrelu_error *err)
{
    ur_altproj *p = *out = ur_alloc(1, sizeof *p);
    if (!p)
        return ur_fail_memory(err, n * m, "labels");
    *p = (ur_altproj){
        .n = n, .m = m, .blocks = (n + ROWS - 1) / ROWS, .M = M, .seed = seed, .exec = exec};
    p->D = ur_alloc(n, m * sizeof *p->D);
    p->looked = ur_doubles(LOOK);
    p->centre = ur_doubles(m);
    p->flagged = ur_alloc(p->blocks, sizeof *p->flagged);
    if (!p->D || !p->looked || !p->centre || !p->flagged)
        return ur_fail_memory(err, n * m, "labels");
    p->median = median_size(n * m, M, p->D);
    return UNRELU_OK;
}

/* ---- directions ---- */

static unrelu_status make_room(ur_altproj *p, size_t b, unrelu_error *err)
{
    if (b <= p->room)
        return UNRELU_OK;
    size_t room = b + 8;
    double *Q = ur_alloc(p->m, room * sizeof *Q);
    if (!Q)
        return ur_fail_memory(err, p->m * room, "directions");
    if (p->b > 0)
        memcpy(Q, p->Q, p->m * p->b * sizeof *Q);
    free(p->Q);
    free(p->Y);
    free(p->sums);
    free(p->square);
    free(p->sigma);
    free(p->turn);
    p->Q = Q;
    p->room = 0;
    p->Y = ur_alloc(p->n, room * sizeof *p->Y);
    p->sums = ur_alloc(p->blocks, p->m * room * sizeof *p->sums);
    p->square = ur_alloc(room, room * sizeof *p->square);
    p->turn = ur_alloc(room, room * sizeof *p->turn);
    p->sigma = ur_doubles(room);
    if (!p->Y || !p->sums || !p->square || !p->turn || !p->sigma)
        return ur_fail_memory(err, p->n * room, "directions");
    p->room = room;
    return UNRELU_OK;
}

/* to b directions: new ones are random */
static unrelu_status widen(ur_altproj *p, size_t b, unrelu_error *err)
{
    size_t old = p->b;
    unrelu_status status = make_room(p, b, err);
    if (status != UNRELU_OK || b == old)
        return status;
    if (b < old) { /* the first of them */
        for (size_t i = 0; i < p->m; i++)
            memmove(p->Q + i * b, p->Q + i * old, b * sizeof *p->Q);
        p->b = b;
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
    p->b = b;
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
    unrelu_status status = each_block(p, iterate_block, err);
    if (status != UNRELU_OK)
        return status;
    add_blocks(p, p->m * p->b);
    memcpy(p->Q, p->sums, p->m * p->b * sizeof *p->Q);
    return ur_orthonormalise(p->m, p->b, p->Q, err);
}

/* Q turned to singular directions, singular values, and in sums what makes L of Y = D Q */
static unrelu_status measure(ur_altproj *p, unrelu_error *err)
{
    size_t b = p->b;
    unrelu_status status = each_block(p, square_block, err);
    if (status != UNRELU_OK)
        return status;
    add_blocks(p, b * b);
    memcpy(p->square, p->sums, b * b * sizeof *p->square);
    status = ur_eigen_symmetric(b, p->square, p->sigma, p->turn, err);
    if (status != UNRELU_OK)
        return status;
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

static void cut_off(ur_altproj *p, double most)
{
    for (size_t i = 0; i < p->n * p->m; i++)
        p->D[i] = fmax(-most, fmin(most, p->M[i]));
}

static unrelu_status sweep(ur_altproj *p, double *share, unrelu_error *err)
{
    size_t flagged = 0;
    unrelu_status status = iterate(p, err);
    if (status == UNRELU_OK)
        status = measure(p, err);
    if (status == UNRELU_OK)
        status = each_block(p, project_block, err);
    if (status != UNRELU_OK)
        return status;
    set_centres(p);
    status = each_block(p, threshold_block, err);
    for (size_t block = 0; block < p->blocks; block++)
        flagged += p->flagged[block];
    *share = (double)flagged / (double)(p->n * p->m);
    return status;
}

unrelu_status ur_altproj_run(ur_altproj *p, size_t r, double start, double g, int sweeps,
                             double *share, unrelu_error *err)
{
    size_t full = p->n < p->m ? p->n : p->m, b = r + MORE < full ? r + MORE : full;
    unrelu_status status = widen(p, b, err);
    p->r = r;
    *share = 0;
    cut_off(p, CUT_OFF * start * p->median);
    for (int i = 0; i < WARM && status == UNRELU_OK; i++)
        status = iterate(p, err);
    for (int t = 0; t < sweeps && status == UNRELU_OK && *share <= TOO_MANY; t++) {
        p->zeta = start * p->median * pow(g, t);
        status = sweep(p, share, err);
    }
    return status;
}

const double *ur_altproj_basis(const ur_altproj *p, double *B)
{
    for (size_t i = 0; i < p->m; i++)
        memcpy(B + i * p->r, p->Q + i * p->b, p->r * sizeof *B);
    return p->D;
}
