/* SPDX-License-Identifier: Apache-2.0 */
/* The seen cells are eliminated by a Cholesky factor with the largest remaining variance first;
 * where that falls below UR_NO_VARIANCE the cells that are left follow from those before and say
 * nothing new. R may so be singular. d^3 / 3 flops for a pattern, d^2 for a row. */
#include "gaussian/impute/impute.h"

#include "law/cell_margin.h"

#include <math.h>

static void swap(size_t *a, size_t *b)
{
    size_t c = *a;
    *a = *b;
    *b = c;
}

/* columns of that state, appended */
static size_t collect(ur_impute_pattern *p, size_t at, const unsigned char *state,
                      const unsigned char *varies, unsigned char wanted)
{
    size_t count = 0;
    for (size_t j = 0; j < p->d; j++)
        if (state[j] == wanted && varies[j])
            p->index[at + count++] = j;
    return count;
}

/* row i of V or G, from column k on, against row k of G */
static double less_products(const double *a, const double *g, size_t k, double value)
{
    for (size_t l = 0; l < k; l++)
        value -= a[l] * g[l];
    return value;
}

static double variance_left(const double *R, size_t d, size_t j, const double *row, size_t k)
{
    return less_products(row, row, k, R[j * d + j]);
}

/* the first seen cells of index, in an order such that G exists; the others are dropped */
static void factor_seen(ur_impute_pattern *p, const double *R)
{
    size_t d = p->d, count = p->seen;
    for (size_t k = 0; k < count; k++) {
        size_t best = k;
        double most = 0;
        for (size_t i = k; i < count; i++) {
            double left = variance_left(R, d, p->index[i], p->G + i * d, k);
            if (left > most) {
                most = left;
                best = i;
            }
        }
        if (most < UR_NO_VARIANCE) {
            p->seen = k;
            return;
        }
        swap(&p->index[k], &p->index[best]);
        double *row = p->G + k * d, *other = p->G + best * d;
        for (size_t l = 0; l < k; l++) {
            double value = row[l];
            row[l] = other[l];
            other[l] = value;
        }
        row[k] = sqrt(most);
        for (size_t i = k + 1; i < count; i++)
            p->G[i * d + k] =
                less_products(p->G + i * d, row, k, R[p->index[i] * d + p->index[k]]) / row[k];
    }
}

void ur_impute_pattern_set(ur_impute_pattern *p, const double *R, const unsigned char *state,
                           const unsigned char *varies)
{
    size_t d = p->d;
    p->seen = collect(p, 0, state, varies, UR_SEEN);
    factor_seen(p, R);
    p->below = collect(p, p->seen, state, varies, UR_BELOW);
    p->missing = collect(p, p->seen + p->below, state, varies, UR_MISSING);
    const size_t *hidden = p->index + p->seen;
    for (size_t i = 0; i < p->below + p->missing; i++) {
        double *v = p->V + i * d;
        for (size_t k = 0; k < p->seen; k++)
            v[k] =
                less_products(v, p->G + k * d, k, R[hidden[i] * d + p->index[k]]) / p->G[k * d + k];
        for (size_t j = 0; j <= i; j++)
            p->C[i * d + j] = p->C[j * d + i] =
                less_products(v, p->V + j * d, p->seen, R[hidden[i] * d + hidden[j]]);
    }
}

void ur_impute_pattern_mean(const ur_impute_pattern *p, const double *t, double *w, double *mu)
{
    size_t d = p->d;
    for (size_t k = 0; k < p->seen; k++)
        w[k] = less_products(p->G + k * d, w, k, t[p->index[k]]) / p->G[k * d + k];
    for (size_t i = 0; i < p->below + p->missing; i++)
        mu[i] = -less_products(p->V + i * d, w, p->seen, 0);
}
