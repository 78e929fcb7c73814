/* SPDX-License-Identifier: Apache-2.0 */
/* W'W of fold_model.c. Its block of rows j and l, sum_i S_ij S_il z_i z_i', is symmetric, and all
 * blocks are one product: of the products of two signs of each sample, k (k + 1) / 2 of them, and
 * the products of two of its inputs, p (p + 1) / 2. That is half of the operations of W'W, of
 * which two thirds of a step consist: (64,64,10), n = 3025: 66 of 103 Gflop with K = 72. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"

/* samples that are summed at once; about so many products of inputs are looked at at once, so that
 * sums and products take some megabytes whatever p is */
enum { ROWS = 256, PRODUCTS = 1024 };

typedef struct {
    size_t signs, inputs;         /* products of a sample: all, of x_first to x_last */
    double *P, *Z, *A;            /* (ROWS, signs), (ROWS, inputs), (signs, inputs): P'Z */
    float *low_P, *low_Z, *low_A; /* the same in single precision */
} squares;

/* x_i x_j with j <= i and first <= i < last, to `to`; returns what is behind them */
static double *multiply_pairs(size_t first, size_t last, const double *x, double *to)
{
    for (size_t i = first; i < last; i++)
        for (size_t j = 0; j <= i; j++)
            *to++ = x[i] * x[j];
    return to;
}

static void round_all(size_t count, const double *x, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)x[i];
}

/* A: over all samples, of the products of inputs first to last */
static void add_products(const ur_folds *folds, const ur_fold_state *s, size_t first, size_t last,
                         squares *o)
{
    size_t n = folds->n, p = folds->p, k = s->k;
    for (size_t begin = 0; begin < n; begin += ROWS) {
        size_t rows = n - begin < ROWS ? n - begin : ROWS;
        double *P = o->P, *Z = o->Z;
        for (size_t i = begin; i < begin + rows; i++) {
            P = multiply_pairs(0, k, s->S + i * k, P);
            Z = multiply_pairs(first, last, folds->z + i * p, Z);
        }
        if (o->low_A) {
            round_all(rows * o->signs, o->P, o->low_P);
            round_all(rows * o->inputs, o->Z, o->low_Z);
            ur_single_gemm_tn(o->signs, o->inputs, rows, o->low_P, o->signs, o->low_Z, o->inputs,
                              begin > 0, o->low_A, o->inputs);
        } else
            ur_gemm(UR_TURNED, UR_PLAIN, o->signs, o->inputs, rows, 1, o->P, o->signs, o->Z,
                    o->inputs, begin > 0, o->A, o->inputs);
    }
}

/* to the lower triangle of H, or low: both halves of a block, but of one on the diagonal */
static void spread(const squares *o, size_t first, size_t last, size_t k, size_t p, double *H,
                   float *low)
{
    size_t kp = k * p, at = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l <= j; l++)
            for (size_t a = first; a < last; a++)
                for (size_t b = 0; b <= a; b++, at++) {
                    size_t here = (j * p + a) * kp + l * p + b;
                    size_t turned = l < j ? (j * p + b) * kp + l * p + a : here;
                    if (low)
                        low[here] = low[turned] = o->low_A[at];
                    else
                        H[here] = H[turned] = o->A[at];
                }
}

unrelu_status ur_fold_squares(const ur_folds *folds, const ur_fold_state *s, double *H, float *low,
                              unrelu_error *err)
{
    size_t p = folds->p, k = s->k, most = PRODUCTS + p;
    UR_ARENA(arena);
    squares o = {.signs = k * (k + 1) / 2};
    o.P = ur_take(&arena, ROWS, o.signs * sizeof *o.P);
    o.Z = ur_take(&arena, ROWS, most * sizeof *o.Z);
    if (low) {
        o.low_P = ur_take(&arena, ROWS, o.signs * sizeof *o.low_P);
        o.low_Z = ur_take(&arena, ROWS, most * sizeof *o.low_Z);
        o.low_A = ur_take(&arena, o.signs, most * sizeof *o.low_A);
    } else
        o.A = ur_take(&arena, o.signs, most * sizeof *o.A);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0, last = 0; first < p; first = last) {
        for (o.inputs = 0; last < p && o.inputs < PRODUCTS; last++)
            o.inputs += last + 1;
        add_products(folds, s, first, last, &o);
        spread(&o, first, last, k, p, H, low);
    }
    return UNRELU_OK;
}
