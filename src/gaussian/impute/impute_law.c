/* SPDX-License-Identifier: Apache-2.0 */
/* The limits cut the normal of the hidden cells down to an orthant. In t = mu + L z the rows that
 * L, lower triangular, takes first are those least likely to stay below their limit. Rows that
 * follow from others (singular covariance) become further limits of the last column that moves
 * them. Missing cells come last and have no limits: their means are linear in those of the others.
 * h^2 rank flops for a row of h hidden cells. */
#include "gaussian/impute/impute.h"

#include "law/truncated.h"

#include <math.h>
#include <string.h>

static void swap_rows(ur_law *law, size_t i, size_t j, size_t columns)
{
    if (i == j)
        return;
    double *a = law->L + i * law->stride, *b = law->L + j * law->stride;
    for (size_t k = 0; k < columns; k++) {
        double value = a[k];
        a[k] = b[k];
        b[k] = value;
    }
    double *const pairs[] = {law->rest, law->shift, law->u};
    for (size_t k = 0; k < (j < law->below ? 3 : 2); k++) {
        double value = pairs[k][i];
        pairs[k][i] = pairs[k][j];
        pairs[k][j] = value;
    }
    size_t cell = law->order[i];
    law->order[i] = law->order[j];
    law->order[j] = cell;
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
        double *other = law->L + j * law->stride, value = c[law->order[j]];
        for (size_t l = 0; l < k; l++)
            value -= row[l] * other[l];
        other[k] = j == i ? root : value / root;
        law->rest[j] -= other[k] * other[k];
        law->shift[j] += other[k] * mean;
    }
}

/* rows that follow from others */
static void set_last(ur_law *law)
{
    for (size_t i = 0; i < law->below; i++) {
        double *row = law->L + i * law->stride;
        law->last[i] = i < law->rank ? i : law->rank;
        for (size_t k = 0; i >= law->rank && k < law->rank; k++) {
            if (fabs(row[k]) > UR_NO_DEVIATION)
                law->last[i] = k;
            else
                row[k] = 0;
        }
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
    set_last(law);
}
