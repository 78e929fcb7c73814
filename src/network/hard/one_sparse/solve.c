/* SPDX-License-Identifier: Apache-2.0 */
/* One neuron from its equations w x_i = c_i: least squares, accepted where there is at least one
 * equation more than inputs, these span the inputs, all are met to 100 tolerances, and w x <= 0 in
 * the rows whose neurons are known not to be this one (one in 50 of them may be a row decoded by
 * chance). As many equations as inputs are met by any w: then 24 such rows are needed, and all of
 * them. Of many equations some determine w and all must agree. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <string.h>

enum {
    ENOUGH_OFF = 24,     /* rows that test a w which its equations do not */
    MOST_FOR_EACH = 20,  /* equations that are solved, for each input, */
    MORE_EQUATIONS = 100 /* and more; all others test */
};
/* One row in so many may be decoded by chance. */
enum { ROWS_FOR_A_WRONG_ONE = 50 };
/* Singular values of the inputs, of the largest: below, w is not determined to the tolerance. */
static const double FLAT = 1e-9;
/* Tolerances of an equation: coefficients of nearly dependent directions, and their right-hand
 * sides, have up to a hundred times the error of a row. */
static const double MET = 100;

static int is_on(const ur_decoded *d, size_t i, size_t j, unsigned char top)
{
    return d->t[i] != UR_UNDECODED && d->t[i] <= top && d->C[i * d->r + j] > 0;
}

static unrelu_status solve(const ur_peel *peel, const ur_decoded *d, size_t j, unsigned char top,
                           size_t rows, double *w, int *full, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = peel->frame->p, most = MOST_FOR_EACH * p + MORE_EQUATIONS;
    size_t step = rows > most ? (rows + most - 1) / most : 1, used = 0, seen = 0, rank = 0;
    double *X = ur_take(&arena, rows / step + 1, p * sizeof *X);
    double *c = ur_take(&arena, rows / step + 1, sizeof *c);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d->count; i++)
        if (is_on(d, i, j, top) && seen++ % step == 0) {
            memcpy(X + used * p, peel->frame->x + d->row[i] * p, p * sizeof *X);
            c[used++] = d->C[i * d->r + j];
        }
    UR_TRY(ur_least_squares(used, p, 1, X, c, FLAT, w, &rank, err));
    *full = rank == p;
    return UNRELU_OK;
}

static int agrees(const ur_peel *peel, const ur_decoded *d, size_t j, unsigned char top,
                  const double *w)
{
    size_t p = peel->frame->p, rows = 0, off = 0, wrong = 0;
    double size = 0;
    for (size_t i = 0; i < d->count; i++)
        if (is_on(d, i, j, top)) {
            size += pow(d->C[i * d->r + j], 2);
            rows++;
        }
    double close = MET * peel->tolerance * sqrt(size / (double)rows);
    for (size_t i = 0; i < d->count; i++) {
        if (d->t[i] == UR_UNDECODED || d->t[i] > top)
            continue;
        double c = d->C[i * d->r + j], t = ur_short_dot(p, w, peel->frame->x + d->row[i] * p);
        if (c > 0 && !(fabs(t - c) <= close))
            return 0;
        off += c > 0 ? 0 : 1;
        wrong += c <= 0 && t > close;
    }
    return rows > p ? ROWS_FOR_A_WRONG_ONE * wrong <= off : off >= ENOUGH_OFF && wrong == 0;
}

unrelu_status ur_solve_direction(const ur_peel *peel, const ur_decoded *d, size_t j,
                                 unsigned char top, double *w, ur_solved *solved, unrelu_error *err)
{
    int full = 0;
    *solved = (ur_solved){0};
    for (size_t i = 0; i < d->count; i++)
        solved->rows += (size_t)is_on(d, i, j, top);
    if (solved->rows < peel->frame->p)
        return UNRELU_OK;
    UR_TRY(solve(peel, d, j, top, solved->rows, w, &full, err));
    solved->agree = full && agrees(peel, d, j, top, w);
    return UNRELU_OK;
}
