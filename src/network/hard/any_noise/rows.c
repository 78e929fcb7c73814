/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that starts see. Moments of labels with heavy tails are those of a few cells; cut at
 * the 1 % and 99 % points of every column they are not, and E g(A) x' still has the rows of V as
 * its row space for any g where x is normal (Stein), so that spaces, half-spaces and fits of cut
 * labels lead close to the network. The labels themselves decide in the end. */
#include "base/error.h"
#include "base/memory.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sum of squares about the mean */
static double spread(size_t n, size_t m, const double *a, size_t j)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += a[i * m + j] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (a[i * m + j] - mean) * (a[i * m + j] - mean);
    return sum;
}

static void cut(ur_any_rows *q, size_t j, double *sorted)
{
    size_t n = q->n, m = q->m, tail = n / 100;
    for (size_t i = 0; i < n; i++)
        sorted[i] = q->a[i * m + j];
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < n; i++)
        q->b[i * m + j] = fmin(fmax(q->a[i * m + j], sorted[tail]), sorted[n - 1 - tail]);
}

unrelu_status ur_any_rows_make(const ur_data *data, const ur_frame *frame, size_t rows,
                               ur_any_rows *q, unrelu_error *err)
{
    size_t n = rows < frame->n ? rows : frame->n, p = frame->p, d = frame->d, m = frame->m;
    double before = 0, after = 0;
    *q = (ur_any_rows){.n = n, .p = p, .d = d, .m = m, .frame = frame};
    double *sorted = ur_doubles(n);
    q->x = ur_alloc(n, p * sizeof *q->x);
    q->a = ur_alloc(n, m * sizeof *q->a);
    q->b = ur_alloc(n, m * sizeof *q->b);
    q->raw = frame->terms.hidden ? ur_alloc(n, d * sizeof *q->raw) : NULL;
    if (!sorted || !q->x || !q->a || !q->b || (frame->terms.hidden && !q->raw)) {
        free(sorted);
        return ur_fail_memory(err, n * (p + d + 2 * m), "cells");
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = (size_t)((double)i * ((double)frame->n / (double)n));
        memcpy(q->x + i * p, frame->x + from * p, p * sizeof *q->x);
        memcpy(q->a + i * m, frame->a + from * m, m * sizeof *q->a);
        if (q->raw)
            memcpy(q->raw + i * d, data->x + frame->row[from] * d, d * sizeof *q->raw);
    }
    for (size_t j = 0; j < m; j++) {
        cut(q, j, sorted);
        before += spread(n, m, q->a, j);
        after += spread(n, m, q->b, j);
    }
    q->heavy = after < before / 1.5;
    if (!q->heavy)
        memcpy(q->b, q->a, n * m * sizeof *q->b);
    free(sorted);
    return UNRELU_OK;
}

void ur_any_rows_free(ur_any_rows *q)
{
    free(q->x);
    free(q->raw);
    free(q->a);
    free(q->b);
    memset(q, 0, sizeof *q);
}
