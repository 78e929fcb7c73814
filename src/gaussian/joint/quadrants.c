/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/joint/quadrants.h"

#include "law/bivariate.h"
#include "law/normal.h"

#include <math.h>

/* deviations, beyond which a normal has nothing: Phi(-38) is the smallest number of a double */
static const double FAR = 38;
/* Four probabilities of 1e-14 each are subtracted: a row whose cells have less together than this
 * is split as if the columns were independent, which a report does not show. */
static const double LEAST = 1e-9;

/* where a cell lies, in deviations; seen: low = high */
typedef struct {
    double low, high;
} span;

static span span_of(const ur_quadrant_column *c, size_t i)
{
    ur_cell cell = ur_cell_at(c->x, c->upper, c->state, i);
    double at = (cell.at - c->b) / c->s, half = cell.width / 2 / c->s;
    span out = {fmax(at - half, -FAR), fmin(at + half, FAR)};
    if (cell.state == UR_BELOW)
        out.low = -FAR;
    if (cell.state == UR_ABOVE)
        out.high = FAR;
    return out;
}

static int is_missing(const ur_quadrant_column *c, size_t i)
{
    return ur_cell_at(c->x, c->upper, c->state, i).state == UR_MISSING;
}

double ur_quadrant_cut(const ur_quadrant_column *c, double share)
{
    double known = 0, below = 0, above = 0;
    for (size_t i = 0; i < c->n; i++) {
        unsigned char state = ur_cell_at(c->x, c->upper, c->state, i).state;
        known += state != UR_MISSING;
        below += state == UR_BELOW;
        above += state == UR_ABOVE;
    }
    if (!(known > 0) || !(c->s > 0))
        return NAN;
    double low = below / known, high = 1 - above / known, least = 0.5 / known;
    if (share <= low || share >= high)
        share = fmin(fmax(low + share * (high - low), least), 1 - least);
    return c->b + ur_normal_quantile(share) * c->s;
}

static span part_of(span s, double cut, int above)
{
    return above ? (span){fmax(s.low, cut), s.high} : (span){s.low, fmin(s.high, cut)};
}

static double between(span s)
{
    return s.high > s.low ? ur_normal_cdf(s.high) - ur_normal_cdf(s.low) : 0;
}

/* P of a rectangle; of a seen first cell that of the second, given it */
static double probability(span one, span two, double rho)
{
    if (!(one.high > one.low) || !(two.high > two.low))
        return 0;
    return ur_bivariate_normal(one.high, two.high, rho) -
           ur_bivariate_normal(one.low, two.high, rho) -
           ur_bivariate_normal(one.high, two.low, rho) + ur_bivariate_normal(one.low, two.low, rho);
}

static span given(span s, double u, double rho)
{
    double o = sqrt((1 - rho) * (1 + rho));
    return (span){(s.low - rho * u) / o, (s.high - rho * u) / o};
}

static int is_above(span s, double cut)
{
    return s.low > cut || (s.low == s.high && s.low >= cut);
}

/* where one lies, or neither: how likely each quadrant is */
static void weigh(span one, span two, const double cut[2], double rho, double w[UR_QUADRANTS])
{
    double sum = 0;
    for (int q = 0; q < UR_QUADRANTS; q++) {
        span a = part_of(one, cut[0], q < 2), b = part_of(two, cut[1], q % 2 == 0);
        if (one.low == one.high)
            w[q] = is_above(one, cut[0]) == (q < 2) ? between(given(b, one.low, rho)) : 0;
        else if (two.low == two.high)
            w[q] = is_above(two, cut[1]) == (q % 2 == 0) ? between(given(a, two.low, rho)) : 0;
        else
            w[q] = probability(a, b, rho);
        sum += w[q] = fmax(w[q], 0);
    }
    int apart = !(sum > LEAST);
    for (int q = 0; q < UR_QUADRANTS; q++) {
        double one_part = one.low == one.high ? is_above(one, cut[0]) == (q < 2)
                                              : between(part_of(one, cut[0], q < 2)) / between(one);
        double two_part = two.low == two.high
                              ? is_above(two, cut[1]) == (q % 2 == 0)
                              : between(part_of(two, cut[1], q % 2 == 0)) / between(two);
        w[q] = apart ? one_part * two_part : w[q] / sum;
    }
}

static void place(span one, span two, const double cut[2], double rho, double w[UR_QUADRANTS])
{
    int known1 = one.low == one.high || one.high <= cut[0] || one.low >= cut[0];
    int known2 = two.low == two.high || two.high <= cut[1] || two.low >= cut[1];
    if (!known1 || !known2) {
        weigh(one, two, cut, rho, w);
        return;
    }
    int first = one.low >= cut[0], second = two.low >= cut[1];
    for (int q = 0; q < UR_QUADRANTS; q++)
        w[q] = (q < 2) == first && (q % 2 == 0) == second;
}

void ur_quadrants_find(const ur_quadrant_column c[2], double rho, const double cut[2],
                       ur_quadrants *out)
{
    const double at[2] = {(cut[0] - c[0].b) / c[0].s, (cut[1] - c[1].b) / c[1].s};
    const span all = {-FAR, FAR};
    double square[UR_QUADRANTS] = {0};
    rho = fmax(-1, fmin(1, rho));
    *out = (ur_quadrants){.cut = {cut[0], cut[1]}, .misfit = NAN};
    weigh(all, all, at, rho, out->fitted);
    for (size_t i = 0; i < c[0].n; i++) {
        double w[UR_QUADRANTS];
        if (is_missing(&c[0], i) || is_missing(&c[1], i))
            continue;
        place(span_of(&c[0], i), span_of(&c[1], i), at, rho, w);
        out->rows++;
        for (int q = 0; q < UR_QUADRANTS; q++) {
            out->share[q] += w[q];
            square[q] += w[q] * w[q];
        }
    }
    for (int q = 0; q < UR_QUADRANTS; q++) {
        double n = out->rows;
        out->share[q] /= n; /* NaN: no row */
        double variance = fmax(square[q] / n - out->share[q] * out->share[q],
                               out->fitted[q] * (1 - out->fitted[q])); /* of few rows */
        double z = fabs(out->share[q] - out->fitted[q]) / sqrt(variance / n);
        if (n > 0 && variance > 0)
            out->misfit = isnan(out->misfit) ? z : fmax(out->misfit, z);
    }
}

void ur_quadrants_worst(const ur_quadrant_column c[2], double rho, ur_quadrants *out)
{
    static const double shares[] = {0.5, 0.25, 0.75};
    *out = (ur_quadrants){.cut = {NAN, NAN},
                          .share = {NAN, NAN, NAN, NAN},
                          .fitted = {NAN, NAN, NAN, NAN},
                          .misfit = NAN};
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        const double cut[2] = {ur_quadrant_cut(&c[0], shares[k]),
                               ur_quadrant_cut(&c[1], shares[k])};
        ur_quadrants at;
        if (!isfinite(cut[0]) || !isfinite(cut[1]) || !isfinite(rho))
            return;
        ur_quadrants_find(c, rho, cut, &at);
        if (k == 0 || at.misfit > out->misfit)
            *out = at;
    }
}

void ur_quadrant_rows(const ur_quadrant_column c[2], size_t most, double *cells,
                      unsigned char *states)
{
    size_t known = 0, taken = 0;
    for (size_t i = 0; i < 2 * most; i++) {
        cells[i] = NAN;
        states[i] = UR_MISSING;
    }
    for (size_t i = 0; i < c[0].n; i++)
        known += !is_missing(&c[0], i) && !is_missing(&c[1], i);
    size_t step = known > most ? (known + most - 1) / most : 1, at = 0;
    for (size_t i = 0; i < c[0].n && taken < most; i++) {
        if (is_missing(&c[0], i) || is_missing(&c[1], i) || at++ % step != 0)
            continue;
        for (size_t k = 0; k < 2; k++) {
            ur_cell cell = ur_cell_at(c[k].x, c[k].upper, c[k].state, i);
            cells[2 * taken + k] = cell.at;
            states[2 * taken + k] = cell.state;
        }
        taken++;
    }
}
