/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of deeper networks are linear in x piece by piece: about a row whose neighbours lie in its
 * own piece they are linear to rounding, which noise never leaves. So each row is held with its
 * p - 1 + SURPLUS nearest ones (p: columns of the inputs and a one) against one linear map: SURPLUS
 * equations more than it has unknowns. Where a column of labels is constant there it says nothing,
 * and rows about which all are do not count: noise in proportion to the labels is 0 where these
 * are. A network with many neurons may come so close to such labels that what it leaves goes along
 * with nothing, and this is seen all the same.
 */
#include "network/noisy/rest.h"

#include "base/error.h"
#include "base/order.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

enum {
    SURPLUS = 4, /* integers with a noise of a few units meet one equation in a few by chance */
    WIDEST = 40, /* columns: beyond, a piece has hardly ever so many of 800 rows */
};
/* Of the floor: what labels without noise leave there is far below it, and noise of the size of the
 * floor leaves so little about one row in 5000. */
static const double CLOSE = 0.1;

typedef struct {
    const ur_data *data;
    const ur_frame *frame;
    size_t n, near;    /* rows in all, and in a neighbourhood */
    double *distance;  /* n: squares, then the same sorted; behind it scratch of the same size */
    double *x, *Q, *a; /* (near, p), (near, p), near: inputs, their basis, a column of labels */
    size_t *row;       /* near: numbers in the frame */
} pieces;

static void find_near(const pieces *t, size_t i)
{
    size_t p = t->frame->p, found = 0;
    const double *x = t->frame->x;
    double *sorted = t->distance + t->n;
    for (size_t j = 0; j < t->n; j++) {
        t->distance[j] = 0;
        for (size_t l = 0; l < p; l++) {
            double step = x[j * p + l] - x[i * p + l];
            t->distance[j] += step * step;
        }
    }
    memcpy(sorted, t->distance, t->n * sizeof *sorted);
    ur_sort(sorted, sorted + t->n, t->n);
    for (size_t j = 0; j < t->n && found < t->near; j++)
        if (t->distance[j] <= sorted[t->near - 1])
            t->row[found++] = j;
    for (size_t j = 0; j < t->near; j++)
        memcpy(t->x + j * p, x + t->row[j] * p, p * sizeof *x);
}

/* 1: column c is linear in x about these rows; 0: constant; -1: neither */
static int is_linear(const pieces *t, size_t rank, size_t c)
{
    const ur_data *data = t->data;
    double size = data->column_rms[c], low = INFINITY, high = -INFINITY, squares = 0;
    for (size_t j = 0; j < t->near; j++) {
        t->a[j] = data->a[t->frame->row[t->row[j]] * data->m + c] / data->column_unit[c];
        low = fmin(low, t->a[j]);
        high = fmax(high, t->a[j]);
        size = fmax(size, fabs(t->a[j]));
    }
    if (!(high > low))
        return 0;
    for (size_t l = 0; l < rank; l++) {
        double along = -ur_dot_steps(t->near, t->Q + l, rank, t->a, 1);
        for (size_t j = 0; j < t->near; j++)
            t->a[j] += along * t->Q[j * rank + l];
    }
    for (size_t j = 0; j < t->near; j++)
        squares += t->a[j] * t->a[j];
    return sqrt(squares / (double)(t->near - rank)) <= CLOSE * data->column_floor[c] * size ? 1
                                                                                            : -1;
}

unrelu_status ur_rest_pieces(const ur_data *data, const ur_frame *frame, size_t n, double *share,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = frame->p, near = p + SURPLUS, linear = 0, vary = 0;
    *share = 0;
    if (p > WIDEST || n < near)
        return UNRELU_OK;
    pieces t = {.data = data,
                .frame = frame,
                .n = n,
                .near = near,
                .distance = ur_take(&arena, 3 * n, sizeof(double)),
                .x = ur_take(&arena, near, p * sizeof(double)),
                .Q = ur_take(&arena, near, p * sizeof(double)),
                .a = ur_take(&arena, near, sizeof(double)),
                .row = ur_take(&arena, near, sizeof(size_t))};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        size_t rank;
        int any = 0, met = 1;
        find_near(&t, i);
        UR_TRY(ur_qr_pivoted(near, p, t.x, UR_ROUNDING, &rank, t.Q, NULL, NULL, err));
        for (size_t c = 0; met && c < data->m; c++) {
            int what = is_linear(&t, rank, c);
            any |= what != 0;
            met = what >= 0;
        }
        vary += any > 0;
        linear += any && met;
    }
    *share = vary > 0 ? (double)linear / (double)vary : 0;
    return UNRELU_OK;
}
