/* SPDX-License-Identifier: Apache-2.0 */
/* Neurons whose kinks lie in one gap of the inputs are on for the same samples, and where their
 * columns of U are parallel, as all are of one label, their sum is one neuron: k is too small and V
 * a mixture: 4 of 45 networks on clusters were called exact so. Where several labels show a neuron
 * parallel columns are a coincidence, and no such network was wrong.
 *   The statistic: with n values of density f about 0 the gap g that holds 0 is Gamma(2) / n f, the
 * width L of the r spacings next to it Gamma(r) / n f, so that g / (g + L) is Beta(2, r) and at
 * least u with probability (1 - u)^r (1 + r u), whatever the density. Both sides must be so narrow:
 * a kink in the tail of a law has wide spacings on one of them. Values that repeat count once, as
 * inputs of few values have gaps everywhere. */
#include "base/error.h"
#include "dense/blas.h"
#include "network/data/sides.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

/* Spacings on a side. Fewer see only wide gaps (ten of them half of those that are between clusters
 * 6 apart, of spread 1); more leave the neighbourhood where a law is flat. */
enum { BESIDE = 20 };

/* the values nearest to 0 on one side, by their size */
typedef struct {
    size_t count;
    double at[BESIDE + 1];
} nearest;

static void keep(nearest *side, double size, double rounding)
{
    size_t place = side->count;
    while (place > 0 && side->at[place - 1] > size)
        place--;
    if (place > BESIDE || (place > 0 && size - side->at[place - 1] <= rounding) ||
        (place < side->count && side->at[place] - size <= rounding))
        return;
    size_t last = side->count <= BESIDE ? side->count++ : BESIDE;
    memmove(side->at + place + 1, side->at + place, (last - place) * sizeof *side->at);
    side->at[place] = size;
}

/* how likely a gap is that is so wide beside the spacings of a side; 1: nothing to compare with */
static double chance(double gap, const nearest *side)
{
    if (side->count < 2)
        return 1;
    double r = (double)(side->count - 1), width = side->at[side->count - 1] - side->at[0];
    double u = gap / (gap + width);
    return pow(1 - u, r) * (1 + r * u);
}

/* whether column j of U is parallel to an axis of the labels, or to another column */
static int is_alone(const ur_data *data, const ur_weights *w, size_t j, double *u, double *other)
{
    size_t m = w->m, k = w->k, largest = 0;
    for (size_t i = 0; i < m; i++) {
        u[i] = w->U[i * k + j] / data->column_unit[i];
        largest = fabs(u[i]) > fabs(u[largest]) ? i : largest;
    }
    double size = ur_norm(m, u);
    for (size_t l = 0; l <= k; l++) { /* k: the axis */
        double along = 0, square = 0, off = 0;
        for (size_t i = 0; i < m; i++) {
            other[i] = l < k ? w->U[i * k + l] / data->column_unit[i] : (double)(i == largest);
            along += other[i] * u[i];
            square += other[i] * other[i];
        }
        for (size_t i = 0; i < m && square > 0; i++)
            off = hypot(off, u[i] - along / square * other[i]);
        if (l != j && square > 0 && off <= UR_PARALLEL * size)
            return 1;
    }
    return 0;
}

unrelu_status ur_kink_gap(const ur_data *data, const ur_weights *w, ur_kink_gaps *widest,
                          unrelu_error *err)
{
    UR_ARENA(arena);
    double *u = ur_take(&arena, w->m, sizeof *u), *other = ur_take(&arena, w->m, sizeof *other);
    UR_TRY(ur_arena_status(&arena, err));
    *widest = (ur_kink_gaps){.chance = 1};
    for (size_t j = 0; j < w->k; j++) {
        nearest on = {0}, off = {0};
        double length = ur_kink_neuron(data, w->V + j * w->d), c = w->c[j];
        if (!is_alone(data, w, j, u, other))
            continue;
        for (size_t i = 0; i < data->n; i++) {
            const double *x = data->x + i * w->d;
            double t = c + ur_dot(w->d, w->V + j * w->d, x);
            keep(t > 0 ? &on : &off, fabs(t), ur_kink(ur_kink_row(data, x), length, c));
        }
        if (on.count == 0 || off.count == 0)
            continue;
        double gap = on.at[0] + off.at[0], p = fmax(chance(gap, &on), chance(gap, &off));
        if (p < widest->chance)
            *widest = (ur_kink_gaps){.neuron = j, .gap = gap, .chance = p};
    }
    return UNRELU_OK;
}
