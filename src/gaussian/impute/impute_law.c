/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in which the same cells are seen: these are eliminated by a Cholesky factor with the largest
 * remaining variance first; where that falls below UR_NO_VARIANCE the cells that are left follow
 * from those before and say nothing new. R may so be singular. d^3 / 3 flops for a pattern, d^2 for
 * a row.
 *
 * The limits of a row cut the normal of the hidden cells down to an orthant. In t = mu + L z the
 * rows that L, lower triangular, takes first are those least likely to stay below their limit. Rows
 * that follow from others (singular covariance) become further limits of the last column that moves
 * them. Missing cells come last and have no limits: their means are linear in those of the others.
 * h^2 rank flops for a row of h hidden cells. */
#include "gaussian/impute/impute.h"

#include "law/cell_margin.h"
#include "law/truncated.h"

#include <math.h>
#include <string.h>

/* ---- a pattern ---- */

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

static void swap(double *a, double *b)
{
    double value = *a;
    *a = *b;
    *b = value;
}

static void swap_indices(size_t *index, size_t i, size_t j)
{
    size_t at = index[i];
    index[i] = index[j];
    index[j] = at;
}

/* the first seen cells of index, in an order such that G exists; the others are dropped */
static void factor_seen(ur_impute_pattern *p, const double *R)
{
    size_t d = p->d, count = p->seen;
    for (size_t k = 0; k < count; k++) {
        size_t best = k;
        double most = 0;
        for (size_t i = k; i < count; i++) {
            const double *row = p->G + i * d;
            double left = less_products(row, row, k, R[p->index[i] * (d + 1)]);
            if (left > most) {
                most = left;
                best = i;
            }
        }
        if (most < UR_NO_VARIANCE) {
            p->seen = k;
            return;
        }
        double *row = p->G + k * d;
        swap_indices(p->index, k, best);
        for (size_t l = 0; l < k; l++)
            swap(&row[l], &p->G[best * d + l]);
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

/* ---- a row ---- */

static void swap_rows(ur_law *law, size_t i, size_t j, size_t columns)
{
    for (size_t k = 0; k < columns; k++)
        swap(&law->L[i * law->stride + k], &law->L[j * law->stride + k]);
    swap(&law->rest[i], &law->rest[j]);
    swap(&law->shift[i], &law->shift[j]);
    if (j < law->below)
        swap(&law->u[i], &law->u[j]);
    swap_indices(law->order, i, j);
}

/* of rows first .. end - 1 the one to be next, end: none has variance left */
static size_t choose(const ur_law *law, size_t first, size_t end)
{
    size_t best = end;
    double least = INFINITY;
    for (size_t i = first; i < end; i++) {
        if (!(law->rest[i] > UR_NO_VARIANCE))
            continue;
        double likely =
            end == law->below ? (law->u[i] - law->shift[i]) / sqrt(law->rest[i]) : -law->rest[i];
        if (best == end || likely < least) {
            least = likely;
            best = i;
        }
    }
    return best;
}

/* column k, with row i as its first, in all rows from `first` on */
static void add_column(ur_law *law, const ur_impute_pattern *p, size_t i, size_t k, size_t first)
{
    const double *row = law->L + i * law->stride, *c = p->C + law->order[i] * p->d;
    double root = sqrt(law->rest[i]), mean = 0;
    if (i < law->below)
        mean = ur_truncated_mean(-INFINITY, (law->u[i] - law->shift[i]) / root);
    for (size_t j = first; j < law->hidden; j++) {
        double *other = law->L + j * law->stride;
        double value = less_products(row, other, k, c[law->order[j]]);
        other[k] = j == i ? root : value / root;
        law->rest[j] -= other[k] * other[k];
        law->shift[j] += other[k] * mean;
    }
}

void ur_law_set(ur_law *law, const ur_impute_pattern *p, const double *mu, const double *limit)
{
    size_t k = 0, next;
    law->below = p->below;
    law->hidden = p->below + p->missing;
    law->stride = p->d;
    law->directed = 0;
    for (size_t i = 0; i < law->hidden; i++) {
        law->order[i] = i;
        law->rest[i] = p->C[i * p->d + i];
        law->shift[i] = 0;
        memset(law->L + i * law->stride, 0, law->hidden * sizeof *law->L);
        if (i < law->below)
            law->u[i] = limit[i] - mu[i];
    }
    for (; (next = choose(law, k, law->below)) < law->below; k++) {
        swap_rows(law, k, next, k);
        add_column(law, p, k, k, k);
    }
    law->rank = k;
    for (size_t i = law->below; (next = choose(law, i, law->hidden)) < law->hidden; i++, k++) {
        swap_rows(law, i, next, k);
        add_column(law, p, i, k, i);
    }
    law->columns = k;
    for (size_t i = 0; i < law->below; i++) { /* from the rank on rows follow from others */
        double *row = law->L + i * law->stride;
        law->last[i] = i < law->rank ? i : law->rank;
        for (k = 0; i >= law->rank && k < law->rank; k++) {
            if (fabs(row[k]) > UR_NO_DEVIATION)
                law->last[i] = k;
            else
                row[k] = 0;
        }
    }
}
