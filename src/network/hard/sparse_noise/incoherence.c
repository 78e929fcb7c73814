/* SPDX-License-Identifier: Apache-2.0 */
/* The incoherence of Definition 13, measured: L = P S Q' (n x m, rank r) has
 *   mu = max((n / r) max_i |P_i|^2, (m / r) max_j |Q_j|^2, (n m / r) max_ij (P Q')_ij^2),
 * r at best, where all are 1. From the network, L = [f(V x + c), 1] [U, e]': with F'F = Z D Z' and
 * D^1/2 Z' [U, e]' = R S Q', P = F Z D^-1/2 R. Squaring F costs half of the digits, and two are
 * wanted. 2 n m r flops. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/blocks.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 }; /* of a block */
/* Singular values of L, of the largest: its factors have half of the digits. */
static const double RANK = 1e-7;

typedef struct {
    const double *x;
    const ur_weights *weights;
    size_t w;      /* columns of F: k, and one for the constant */
    size_t rank;   /* 0: in the pass that sums F'F */
    double *T, *Q; /* (w, rank): P = F T; (m, rank) */
    double *row;   /* blocks: largest |P_i|^2 */
    double *joint; /* blocks: largest |(P Q')_ij| */
} task;

/* F'F over the rows, or their maxima */
static void add_rows(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const task *t = context;
    const ur_weights *model = t->weights;
    size_t k = model->k, m = model->m, w = t->w, block = first / ROWS;
    double *hidden = scratch, *F = hidden + ROWS * w, *y = F + ROWS * w, *P = hidden;
    ur_network_forward(model, t->x + first * model->d, rows, hidden, y);
    for (size_t i = 0; i < rows; i++) {
        memcpy(F + i * w, hidden + i * k, k * sizeof *F);
        if (w > k)
            F[i * w + k] = 1;
    }
    if (t->rank == 0) {
        ur_multiply_tn(rows, w, w, F, F, sum);
        return;
    }
    ur_multiply(rows, w, t->rank, F, t->T, P);
    ur_multiply_nt(rows, t->rank, m, P, t->Q, y);
    for (size_t i = 0; i < rows; i++)
        t->row[block] =
            fmax(t->row[block], ur_short_dot(t->rank, P + i * t->rank, P + i * t->rank));
    for (size_t i = 0; i < rows * m; i++)
        t->joint[block] = fmax(t->joint[block], fabs(y[i]));
}

/* T, Q and the rank from F'F */
static unrelu_status factor(task *t, const double *FF, unrelu_error *err)
{
    const ur_weights *model = t->weights;
    size_t w = t->w, m = model->m, k = model->k, short_side = w < m ? w : m;
    UR_ARENA(arena);
    double *values = ur_take(&arena, w, sizeof *values), *Z = ur_take(&arena, w, w * sizeof *Z);
    double *K = ur_take(&arena, w, m * sizeof *K);
    double *R = ur_take(&arena, w, short_side * sizeof *R);
    double *s = ur_take(&arena, short_side, sizeof *s);
    double *Vt = ur_take(&arena, short_side, m * sizeof *Vt);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_eigen_symmetric(w, FF, values, Z, err));
    for (size_t l = 0; l < w; l++) {
        double root = values[l] > UR_ROUNDING * values[w - 1] ? sqrt(values[l]) : 0;
        for (size_t j = 0; j < m; j++) {
            for (size_t i = 0; i < k; i++)
                K[l * m + j] += root * Z[i * w + l] * model->U[j * k + i];
            if (w > k)
                K[l * m + j] += root * Z[k * w + l] * model->e[j];
        }
        for (size_t i = 0; i < w; i++)
            Z[i * w + l] *= root > 0 ? 1 / root : 0;
    }
    UR_TRY(ur_svd(w, m, K, R, s, Vt, err));
    while (t->rank < short_side && s[t->rank] > RANK * s[0])
        t->rank++;
    for (size_t l = 0; l < t->rank; l++) {
        for (size_t i = 0; i < w; i++)
            for (size_t a = 0; a < w; a++)
                t->T[i * t->rank + l] += Z[i * w + a] * R[a * short_side + l];
        for (size_t j = 0; j < m; j++)
            t->Q[j * t->rank + l] = Vt[l * m + j];
    }
    return UNRELU_OK;
}

unrelu_status ur_incoherence_measure(const ur_problem *given, const ur_weights *model,
                                     ur_incoherence *out, unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t blocks = (data->n + ROWS - 1) / ROWS, constant = 0;
    for (size_t j = 0; j < model->m; j++)
        constant |= model->e[j] != 0;
    UR_ARENA(arena);
    size_t w = model->k + constant;
    double *FF = ur_take(&arena, w, w * sizeof *FF);
    task t = {.x = data->x,
              .weights = model,
              .w = w,
              .T = ur_take(&arena, w, w * sizeof *t.T),
              .Q = ur_take(&arena, model->m, w * sizeof *t.Q),
              .row = ur_take(&arena, blocks, sizeof *t.row),
              .joint = ur_take(&arena, blocks, sizeof *t.joint)};
    const ur_blocks sum = {.n = data->n,
                           .step = ROWS,
                           .chunk = ROWS,
                           .len = w * w,
                           .scratch = ROWS * (2 * w + model->m),
                           .add = add_rows,
                           .context = &t};
    *out = (ur_incoherence){0};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_blocks_sum(&sum, given->exec, "certifying", FF, err));
    UR_TRY(factor(&t, FF, err));
    if (t.rank == 0)
        return UNRELU_OK;
    UR_TRY(ur_blocks_sum(&sum, given->exec, "certifying", FF, err));
    double n = (double)data->n, m = (double)data->m, r = (double)t.rank;
    double row = 0, column = 0, joint = 0;
    for (size_t b = 0; b < blocks; b++) {
        row = fmax(row, t.row[b]);
        joint = fmax(joint, t.joint[b]);
    }
    for (size_t j = 0; j < data->m; j++)
        column = fmax(column, ur_short_dot(t.rank, t.Q + j * t.rank, t.Q + j * t.rank));
    out->r = t.rank;
    out->rows = n / r * row;
    out->columns = m / r * column;
    out->joint = n * m / r * joint * joint;
    out->mu = fmax(fmax(out->rows, out->columns), out->joint);
    out->bound = fmin(n, m) / (out->mu * log(fmax(n, m)) * log(fmax(n, m)));
    return UNRELU_OK;
}
