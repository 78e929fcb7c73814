/* SPDX-License-Identifier: Apache-2.0 */
/* What is likely of a cell in the unit of the data. Its law is that of the points of a row: given
 * all other hidden cells it is a cut normal, whose mean under g is known (law/untransformed.c), so
 * that one hidden cell is exact and of several only the others are sampled. g grows, so that the
 * median is that of t: between those of the parts, by Newton's method on their distribution
 * function. */
#include "gaussian/impute/impute.h"

#include "law/normal.h"
#include "law/power.h"
#include "law/truncated.h"
#include "law/untransformed.h"

#include <math.h>

/* of the median, in deviations, where 1e-2 is what points leave open; Newton halves what is left
 * where it would leave the interval, so that 60 steps are always enough */
static const double MEDIAN_STEP = 1e-10;
enum { MEDIAN_STEPS = 60 };

double ur_unit_mean(const ur_unit *unit, const double *weight, const ur_cut_normal *cells,
                    size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const ur_cut_normal *c = &cells[i];
        if (weight[i] > 0)
            sum += weight[i] * ur_untransformed_mean(
                                   unit->transform, unit->lambda, unit->b + unit->scale * c->mean,
                                   unit->scale * c->deviation, c->lower, c->upper);
    }
    return sum;
}

static double part_median(const ur_cut_normal *c)
{
    if (!(c->deviation > 0))
        return c->mean;
    return c->mean + c->deviation * ur_truncated_draw(c->lower, c->upper, 0.5, NULL);
}

/* P(t <= at), and its derivative added to *density */
static double part_below(const ur_cut_normal *c, double at, double *density)
{
    if (!(c->deviation > 0))
        return c->mean <= at;
    double z = (at - c->mean) / c->deviation;
    if (z <= c->lower || z >= c->upper)
        return z >= c->upper;
    double all = ur_truncated_log_mass(c->lower, c->upper);
    *density = ur_normal_pdf(z) / exp(all) / c->deviation;
    return exp(ur_truncated_log_mass(c->lower, z) - all);
}

double ur_unit_median(const ur_unit *unit, const double *weight, const ur_cut_normal *cells,
                      size_t count)
{
    double low = INFINITY, high = -INFINITY, t = 0;
    for (size_t i = 0; i < count; i++)
        if (weight[i] > 0) {
            double median = part_median(&cells[i]);
            low = fmin(low, median);
            high = fmax(high, median);
            t += weight[i] * median;
        }
    t = fmax(low, fmin(high, t));
    for (int step = 0; step < MEDIAN_STEPS && high - low > MEDIAN_STEP; step++) {
        double below = 0, slope = 0;
        for (size_t i = 0; i < count; i++)
            if (weight[i] > 0) {
                double density = 0;
                below += weight[i] * part_below(&cells[i], t, &density);
                slope += weight[i] * density;
            }
        *(below < 0.5 ? &low : &high) = t;
        double next = t - (below - 0.5) / slope, last = t;
        t = next > low && next < high ? next : 0.5 * (low + high);
        if (fabs(t - last) < MEDIAN_STEP)
            break;
    }
    return ur_untransform(unit->transform, unit->lambda, unit->b + unit->scale * t);
}
