/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in which the same cells are seen: these are eliminated by a Cholesky factor with the largest
 * remaining variance first; where that falls below UR_NO_VARIANCE the cells that are left follow
 * from those before and say nothing new. R may so be singular. d^3 / 3 flops for a pattern, d^2 for
 * a row.
 *
 * The limits of a row cut the normal of the hidden cells down to a box. In t = mu + L z the rows
 * that L, lower triangular, takes first are those least likely to stay within their limits. Rows
 * that follow from others (singular covariance) become further limits of the last column that moves
 * them. Missing cells come last and have no limits: their means are linear in those of the others.
 * h^2 rank flops for a row of h hidden cells. */
#include "gaussian/impute/impute.h"

#include "law/cell_margin.h"
#include "law/normal.h"
#include "law/truncated.h"

#include <math.h>
#include <string.h>

/* ---- a pattern ---- */

static int is_limited(unsigned char state)
{
    return state == UR_BELOW || state == UR_ABOVE || state == UR_BETWEEN;
}

/* columns of cells that are limited, or whose state is the wanted one, appended */
static size_t collect(ur_impute_pattern *p, size_t at, const unsigned char *state,
                      const unsigned char *varies, int limited, unsigned char wanted)
{
    size_t count = 0;
    for (size_t j = 0; j < p->d; j++)
        if ((limited ? is_limited(state[j]) : state[j] == wanted) && varies[j])
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
    p->seen = collect(p, 0, state, varies, 0, UR_SEEN);
    factor_seen(p, R);
    p->limited = collect(p, p->seen, state, varies, 1, 0);
    p->missing = collect(p, p->seen + p->limited, state, varies, 0, UR_MISSING);
    const size_t *hidden = p->index + p->seen;
    for (size_t i = 0; i < p->limited + p->missing; i++) {
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
    for (size_t i = 0; i < p->limited + p->missing; i++)
        mu[i] = -less_products(p->V + i * d, w, p->seen, 0);
}

/* ---- a row ---- */

double ur_cut_mean(double lower, double upper)
{
    return lower < upper ? ur_truncated_mean(lower, upper) : lower;
}

static void swap_rows(ur_law *law, size_t i, size_t j, size_t columns)
{
    for (size_t k = 0; k < columns; k++)
        swap(&law->L[i * law->stride + k], &law->L[j * law->stride + k]);
    swap(&law->rest[i], &law->rest[j]);
    swap(&law->shift[i], &law->shift[j]);
    if (j < law->limited) {
        swap(&law->l[i], &law->l[j]);
        swap(&law->u[i], &law->u[j]);
    }
    swap_indices(law->order, i, j);
}

/* How likely row i is to stay within its limits, as the quantile of a normal */
static double likelihood(const ur_law *law, size_t i)
{
    double root = sqrt(law->rest[i]);
    double lower = (law->l[i] - law->shift[i]) / root, upper = (law->u[i] - law->shift[i]) / root;
    if (lower == -INFINITY)
        return upper;
    if (upper == INFINITY)
        return -lower;
    return lower < upper ? ur_normal_quantile(exp(ur_truncated_log_mass(lower, upper))) : -INFINITY;
}

/* of rows first .. end - 1 the one to be next, end: none has variance left */
static size_t choose(const ur_law *law, size_t first, size_t end)
{
    size_t best = end;
    double least = INFINITY;
    for (size_t i = first; i < end; i++) {
        if (!(law->rest[i] > UR_NO_VARIANCE))
            continue;
        double likely = end == law->limited ? likelihood(law, i) : -law->rest[i];
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
    if (i < law->limited)
        mean = ur_cut_mean((law->l[i] - law->shift[i]) / root, (law->u[i] - law->shift[i]) / root);
    for (size_t j = first; j < law->hidden; j++) {
        double *other = law->L + j * law->stride;
        double value = less_products(row, other, k, c[law->order[j]]);
        other[k] = j == i ? root : value / root;
        law->rest[j] -= other[k] * other[k];
        law->shift[j] += other[k] * mean;
    }
}

void ur_law_set(ur_law *law, const ur_impute_pattern *p, const double *mu, const double *lower,
                const double *upper)
{
    size_t k = 0, next;
    law->limited = p->limited;
    law->hidden = p->limited + p->missing;
    law->stride = p->d;
    law->directed = 0;
    for (size_t i = 0; i < law->hidden; i++) {
        law->order[i] = i;
        law->rest[i] = p->C[i * p->d + i];
        law->shift[i] = 0;
        memset(law->L + i * law->stride, 0, law->hidden * sizeof *law->L);
        if (i < law->limited) {
            law->l[i] = lower[i] - mu[i];
            law->u[i] = upper[i] - mu[i];
        }
    }
    for (; (next = choose(law, k, law->limited)) < law->limited; k++) {
        swap_rows(law, k, next, k);
        add_column(law, p, k, k, k);
    }
    law->rank = k;
    for (size_t i = law->limited; (next = choose(law, i, law->hidden)) < law->hidden; i++, k++) {
        swap_rows(law, i, next, k);
        add_column(law, p, i, k, i);
    }
    law->columns = k;
    for (size_t i = 0; i < law->limited; i++) { /* from the rank on rows follow from others */
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
