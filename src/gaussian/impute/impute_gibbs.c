/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep draws along lines from the normal cut at the limits that the line meets: along each axis
 * of z, where strong correlations do no harm, and along each direction that moves one limited cell
 * alone, where narrow corners between limits do none. rank (below + rank) flops for each kind. */
#include "gaussian/impute/impute.h"

#include "law/truncated.h"

#include <math.h>
#include <string.h>

/* of a deviation: a line that moves a cell less meets no limit of it */
static const double TINY = 1e-12;
/* of the mode, in deviations: a draw that starts there forgets it in a few sweeps */
static const double MODE_STEP = 1e-10;

enum { MODE_ROUNDS = 1000 };

static void multiply(const ur_law *law, const double *z, double *y)
{
    for (size_t i = 0; i < law->below; i++) {
        y[i] = 0;
        for (size_t k = 0; k < law->rank; k++)
            y[i] += law->L[i * law->stride + k] * z[k];
    }
}

/* along row j: unit vector in the direction of column j of L^-1, of the first rank rows */
static void set_directions(ur_law *law)
{
    size_t r = law->rank;
    for (size_t j = 0; j < r; j++) {
        double *v = law->along + j * law->stride, norm = 0;
        for (size_t i = 0; i < r; i++) {
            double left = i == j;
            for (size_t k = j; k < i; k++)
                left -= law->L[i * law->stride + k] * v[k];
            v[i] = i < j ? 0 : left / law->L[i * law->stride + i];
            norm = hypot(norm, v[i]);
        }
        for (size_t i = 0; i < r; i++)
            v[i] /= norm;
        double *effect = law->effect + j * law->stride;
        multiply(law, v, effect);
        for (size_t i = 0; i < r; i++)
            effect[i] = i == j ? 1 / norm : 0;
    }
    law->directed = 1;
}

static void line_bounds(const ur_law *law, double at, const double *y, const double *effect,
                        size_t stride, double *lower, double *upper)
{
    *lower = -INFINITY;
    *upper = INFINITY;
    for (size_t i = 0; i < law->below; i++) {
        double a = effect[i * stride];
        if (a > TINY)
            *upper = fmin(*upper, at + (law->u[i] - y[i]) / a);
        else if (a < -TINY)
            *lower = fmax(*lower, at + (law->u[i] - y[i]) / a);
    }
}

static void step_axis(const ur_law *law, size_t k, double u, double *z, double *y, double *mean)
{
    double lower, upper;
    line_bounds(law, z[k], y, law->L + k, law->stride, &lower, &upper);
    if (mean)
        for (size_t l = 0; l < law->rank; l++)
            mean[l] += z[l];
    if (!(lower < upper))
        return;
    double next = ur_truncated_draw(lower, upper, u, NULL), move = next - z[k];
    if (mean)
        mean[k] += ur_truncated_mean(lower, upper) - z[k];
    z[k] = next;
    for (size_t i = 0; i < law->below; i++)
        y[i] += move * law->L[i * law->stride + k];
}

static void step_cell(const ur_law *law, size_t j, double u, double *z, double *y, double *mean)
{
    const double *v = law->along + j * law->stride, *effect = law->effect + j * law->stride;
    double at = 0, lower, upper;
    for (size_t l = 0; l < law->rank; l++)
        at += v[l] * z[l];
    line_bounds(law, at, y, effect, 1, &lower, &upper);
    int open = lower < upper;
    double expected = mean && open ? ur_truncated_mean(lower, upper) - at : 0;
    for (size_t l = 0; mean && l < law->rank; l++)
        mean[l] += z[l] + expected * v[l];
    if (!open)
        return;
    double move = ur_truncated_draw(lower, upper, u, NULL) - at;
    for (size_t l = 0; l < law->rank; l++)
        z[l] += move * v[l];
    for (size_t i = 0; i < law->below; i++)
        y[i] += move * effect[i];
}

void ur_law_sweep(ur_law *law, size_t sweeps, ur_uniforms *random, double *z, double *y,
                  double *mean)
{
    size_t r = law->rank;
    if (!law->directed)
        set_directions(law);
    if (mean)
        memset(mean, 0, r * sizeof *mean);
    for (size_t s = 0; s < sweeps; s++) {
        multiply(law, z, y);
        for (size_t k = 0; k < r; k++)
            step_axis(law, k, ur_uniforms_next(random), z, y, mean);
        for (size_t j = 0; j < r; j++)
            step_cell(law, j, ur_uniforms_next(random), z, y, mean);
    }
    for (size_t k = 0; mean && k < r; k++)
        mean[k] /= (double)(2 * r * sweeps);
}

/* the point of L z <= u that is nearest to 0: coordinate ascent of the dual, z = -L' dual */
void ur_law_mode(const ur_law *law, double *dual, double *z)
{
    memset(dual, 0, law->below * sizeof *dual);
    memset(z, 0, law->rank * sizeof *z);
    for (int round = 0; round < MODE_ROUNDS; round++) {
        double moved = 0;
        for (size_t i = 0; i < law->below; i++) {
            const double *row = law->L + i * law->stride;
            double above = -law->u[i], square = 0;
            for (size_t k = 0; k < law->rank; k++) {
                above += row[k] * z[k];
                square += row[k] * row[k];
            }
            if (square == 0)
                continue;
            double step = fmax(above / square, -dual[i]);
            dual[i] += step;
            for (size_t k = 0; k < law->rank; k++)
                z[k] -= step * row[k];
            moved = fmax(moved, fabs(step) * sqrt(square));
        }
        if (moved < MODE_STEP)
            return;
    }
}
