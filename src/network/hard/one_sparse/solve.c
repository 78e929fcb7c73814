/* SPDX-License-Identifier: Apache-2.0 */
/* One neuron from its equations w x_i = c_i: least squares, accepted where there is at least one
 * equation more than inputs, these span the inputs, all are met to 100 tolerances, and w x <= 0 in
 * the rows whose neurons are known not to be this one (one in 50 of them may be a row decoded by
 * chance). As many equations as inputs are met by any w: then 24 such rows are needed, and all of
 * them. Of many equations some determine w and all must agree. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH_OFF = 24 };

static double row_times(size_t p, const double *w, const double *x)
{
    double t = 0;
    for (size_t i = 0; i < p; i++)
        t += w[i] * x[i];
    return t;
}

static int is_on(const ur_decoded *d, size_t i, size_t j, unsigned char top)
{
    return d->t[i] != UR_UNDECODED && d->t[i] <= top && d->C[i * d->r + j] > 0;
}

static unrelu_status solve(const ur_peel *q, const ur_decoded *d, size_t j, unsigned char top,
                           size_t rows, double *w, int *full, unrelu_error *err)
{
    size_t p = q->frame->p, most = 20 * p + 100, step = rows > most ? (rows + most - 1) / most : 1;
    size_t used = 0, seen = 0, rank = 0;
    double *X = ur_alloc(rows / step + 1, p * sizeof *X), *c = ur_doubles(rows / step + 1);
    unrelu_status status = X && c ? UNRELU_OK : ur_fail_memory(err, rows * p, "equations");
    for (size_t i = 0; i < d->count && status == UNRELU_OK; i++)
        if (is_on(d, i, j, top) && seen++ % step == 0) {
            memcpy(X + used * p, q->frame->x + d->row[i] * p, p * sizeof *X);
            c[used++] = d->C[i * d->r + j];
        }
    if (status == UNRELU_OK)
        status = ur_least_squares(used, p, 1, X, c, 1e-9, w, &rank, err);
    *full = rank == p;
    free(X);
    free(c);
    return status;
}

static int agrees(const ur_peel *q, const ur_decoded *d, size_t j, unsigned char top,
                  const double *w)
{
    size_t p = q->frame->p, rows = 0, off = 0, wrong = 0;
    double size = 0;
    for (size_t i = 0; i < d->count; i++)
        if (is_on(d, i, j, top)) {
            size += pow(d->C[i * d->r + j], 2);
            rows++;
        }
    double close = 100 * q->tolerance * sqrt(size / (double)rows);
    for (size_t i = 0; i < d->count; i++) {
        if (d->t[i] == UR_UNDECODED || d->t[i] > top)
            continue;
        double c = d->C[i * d->r + j], t = row_times(p, w, q->frame->x + d->row[i] * p);
        if (c > 0 && !(fabs(t - c) <= close))
            return 0;
        off += c > 0 ? 0 : 1;
        wrong += c <= 0 && t > close;
    }
    return rows > p ? 50 * wrong <= off : off >= ENOUGH_OFF && wrong == 0;
}

unrelu_status ur_solve_direction(const ur_peel *q, const ur_decoded *d, size_t j, unsigned char top,
                                 double *w, ur_solved *solved, unrelu_error *err)
{
    int full = 0;
    unrelu_status status = UNRELU_OK;
    *solved = (ur_solved){0};
    for (size_t i = 0; i < d->count; i++)
        solved->rows += (size_t)is_on(d, i, j, top);
    if (solved->rows < q->frame->p)
        return UNRELU_OK;
    status = solve(q, d, j, top, solved->rows, w, &full, err);
    if (status == UNRELU_OK && full)
        solved->agree = agrees(q, d, j, top, w);
    return status;
}
