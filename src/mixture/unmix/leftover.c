/* SPDX-License-Identifier: Apache-2.0 */
/* What p units leave of the samples, x - y C: noise is as large in long samples as in short ones,
 * while units that were not counted, and mixtures of full rank taken for fewer, grow with them. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "mixture/problem/unmix.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    double size, left; /* squares */
} sample;

static int by_size(const void *a, const void *b)
{
    double x = ((const sample *)a)->size, y = ((const sample *)b)->size;
    return (x > y) - (x < y);
}

unrelu_status ur_cone_growth(const ur_cone *c, double *ratio, unrelu_error *err)
{
    size_t n = c->n, d = c->d, p = c->p;
    double half[2] = {0, 0};
    sample *samples = ur_alloc(n, sizeof *samples);
    double *rest = ur_doubles(d);
    unrelu_status status = UNRELU_OK;
    if (!samples || !rest)
        status = ur_fail_memory(err, n, "samples");
    for (size_t i = 0; i < n && status == UNRELU_OK; i++) {
        const double *y = c->y + i * p;
        for (size_t j = 0; j < d; j++)
            rest[j] = c->x[i * d + j] / c->unit[j];
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < d; j++)
                rest[j] -= y[k] * (c->C[k * d + j] / c->unit[j]);
        samples[i] = (sample){ur_dot(p, y, y), ur_dot(d, rest, rest)};
    }
    if (status == UNRELU_OK) {
        qsort(samples, n, sizeof *samples, by_size);
        for (size_t i = 0; i < n; i++)
            half[2 * i >= n] += samples[i].left;
        *ratio = half[1] / half[0] * (double)(n / 2) / (double)(n - n / 2);
    }
    free(samples);
    free(rest);
    return status;
}
