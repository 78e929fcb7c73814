/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's way: samples are separable where each unit is alone in one of them, which then
 * lies on an edge of their cone. Scaled to h'y = 1 the samples are convex mixtures of the edges,
 * for any h with h'y > 0 on all: (Y'Y)^-1 Y'1, else that of the largest margin by a linear
 * programme. The longest of them is an edge; with that projected out, the longest of the rest is
 * the next. With the p edges as the rows of E, the columns of E^-1 are the normals. Exact to
 * rounding, O(n p^2).
 * With noise the longest is the one that is so by six deviations of its noise, for scaling blows
 * up the noise of short samples: errors are about twice the relative noise (p = 3, 5), a fiftieth
 * of those without that rule at noise of 1e-4.
 * Refused are samples on both sides of every hyperplane, and those beyond the cone of the p edges:
 * then some unit is never alone. It is with probability P_i in a sample, and (ln p + .37) / P
 * samples suffice half of the time; P = Phi(b) Phi(-b)^(p-1) for independent units. At b = 0 each
 * had been alone after 11, 63, 144, 653 samples (median) for p = 3, 5, 6, 8; facets need 20 p.
 * No sample beyond the cone is not yet each unit alone: chance makes cones of p edges too where p
 * and n are small (8 of 100 runs at p = 3, n = 12; none at p = 5, n = 20). Such an edge is the only
 * sample of a facet off the other edges. With noise three are asked for here; without, the
 * certificate of facets tells. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/lp.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"
#include "pass/parallel.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of the root mean square: without noise, a sample of 0 */
static const double SMALL_ROW = 1e-12;
/* Least h'y / |h| |y| over the samples. Of least squares: below it scaling to h'y = 1 costs digits,
 * and a programme looks for more. Of the programme: below it is its own rounding. */
static const double LS_MARGIN = 1e-2, LP_MARGIN = 1e-9;
static const double HALF = 0.37; /* -ln ln 2: of the time, all p units have been alone */

enum {
    LEAST_PAIRS = 3
}; /* with noise, samples of a facet with part in an edge; chance makes one */

typedef struct {
    const ur_cone *cone;
    size_t n, p;   /* n: samples that are not 0 */
    double *unit;  /* n x p, at length 1 */
    double *size;  /* n */
    double *h;     /* p + 1 */
    double *level; /* n: h'y / |y| */
    double *R;     /* n x p: y / h'y less the edges found; n x (p + 1) in the programme */
    double *part;  /* n */
    double *E, *inverse, *identity; /* p x p; rows of E are unit vectors */
    double *reach;     /* p: |u| / |y| of an edge's column u of the inverse and its sample y */
    double *direction; /* p */
    size_t *pairs;     /* p x p: samples that have unit i off and unit j on */
    ur_side *side;     /* p */
} state;

typedef struct {
    size_t beyond; /* samples */
    double worst;  /* least y u / |y|, or y u over the deviation of its noise */
    size_t pairs;  /* with noise: the least */
} verdict;

/* the length up to which a sample is 0 */
static double least_size(const ur_cone *cone)
{
    size_t p = cone->p;
    double trace = 0;
    for (size_t j = 0; j < p && cone->noise; j++)
        trace += cone->noise[j * p + j];
    if (cone->noise)
        return UR_NOISE_BEYOND * sqrt(trace);
    return SMALL_ROW * ur_norm(cone->n * p, cone->y) / sqrt((double)cone->n);
}

/* ---- a hyperplane with all samples on one side ---- */

/* level for h; the least relative to |h|, or no more than 0 */
static double margin(state *s)
{
    double least = INFINITY, length = ur_norm(s->p, s->h);
    ur_gemv(UR_PLAIN, s->n, s->p, 1, s->unit, s->p, s->h, 0, s->level);
    for (size_t i = 0; i < s->n; i++)
        least = fmin(least, s->level[i]);
    return length > 0 && isfinite(length) ? least / length : 0;
}

static unrelu_status find_side(state *s, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = s->n, p = s->p, q = p + 1, other = 0;
    int positive;
    ur_lp_outcome outcome;
    double *price = ur_take(&arena, q, sizeof *price), *mean = ur_take(&arena, q, sizeof *mean);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) /* least squares */
        for (size_t j = 0; j < p; j++)
            s->R[i * p + j] = s->size[i] * s->unit[i * p + j];
    for (size_t i = 0; i < n; i++)
        ur_add(p, 1, s->R + i * p, s->h);
    ur_multiply_tn(n, p, p, s->R, s->R, s->E);
    UR_TRY(ur_solve_positive(p, 1, s->E, s->h, &positive, err));
    if (margin(s) > LS_MARGIN)
        return UNRELU_OK;
    for (size_t i = 0; i < n; i++) { /* max t subject to unit h >= t, mean unit h = 1 */
        memcpy(s->R + i * q, s->unit + i * p, p * sizeof *s->R);
        s->R[i * q + p] = -1;
        ur_add(p, 1 / (double)n, s->unit + i * p, mean);
    }
    price[p] = -1;
    UR_TRY(ur_lp_ray(n, q, s->R, price, mean, s->h, &outcome, err));
    if (margin(s) > LP_MARGIN)
        return UNRELU_OK;
    for (size_t i = 0; i < s->n; i++)
        other += s->level[i] <= LP_MARGIN * ur_norm(s->p, s->h);
    return ur_fail(err, UNRELU_EDATA,
                   "no hyperplane through 0 has the %zu samples%s on one side (the best leaves "
                   "%zu on the other), and mixtures of units that are 0 or positive have one: are "
                   "the samples centred, or is a constant added to them?",
                   s->n, s->cone->noise ? " longer than 6 deviations of their noise" : "", other);
}

/* ---- the edges ---- */

static unrelu_status find_edges(state *s, const unrelu_exec *exec, unrelu_error *err)
{
    size_t p = s->p, rank;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < p; j++)
            s->R[i * p + j] = s->unit[i * p + j] / s->level[i];
    for (size_t k = 0; k < p; k++) {
        if (ur_cancelled(exec))
            return ur_fail_cancelled(err);
        size_t row = 0;
        double most = -INFINITY;
        for (size_t i = 0; i < s->n; i++) {
            /* |r| less 6 deviations of its noise; r the rest of y / h'y along the unit vector v,
             * which noise e moves by v'(e - r h'e) / h'y */
            const double *r = s->R + i * p;
            double length = ur_norm(p, r), value = length;
            if (s->cone->noise && length > 0) {
                for (size_t j = 0; j < p; j++)
                    s->direction[j] = r[j] / length - length * s->h[j];
                value -= UR_NOISE_BEYOND * ur_cone_noise(s->cone, s->direction) /
                         (s->size[i] * s->level[i]);
            }
            if (value > most) {
                most = value;
                row = i;
            }
        }
        memcpy(s->E + k * p, s->unit + row * p, p * sizeof *s->E);
        s->reach[k] = 1 / s->size[row];
        s->identity[k * p + k] = 1;
        /* R <- R (I - r r' / |r|^2), r its row */
        double length = ur_norm(p, s->R + row * p);
        for (size_t j = 0; j < p; j++)
            s->direction[j] = length > 0 ? s->R[row * p + j] / length : 0;
        ur_gemv(UR_PLAIN, s->n, p, 1, s->R, p, s->direction, 0, s->part);
        ur_ger(s->n, p, -1, s->part, s->direction, s->R, p);
    }
    UR_TRY(ur_least_squares(p, p, p, s->E, s->identity, UR_ROUNDING, s->inverse, &rank, err));
    for (size_t k = 0; k < p; k++)
        s->reach[k] *= ur_norm_steps(p, s->inverse + k, p);
    if (rank == p)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA,
                   "the %zu samples that are not 0 span %zu of the %zu dimensions of p = %zu "
                   "units: a smaller p, or more samples",
                   s->n, rank, p, p);
}

/* ---- verification ---- */

/* With y = sum m_k y_k over the edges' samples y_k, noise e of y and e_k of y_k moves y u by
 * (e - sum m_k e_k) u: the root of 1 + sum m_k^2 */
static verdict verify(state *s, const double *U)
{
    const ur_cone *cone = s->cone;
    size_t p = s->p;
    double least = cone->noise ? 0 : least_size(cone), *noise = s->direction;
    verdict v = {.pairs = SIZE_MAX};
    for (size_t k = 0; k < p; k++)
        noise[k] = ur_cone_noise(cone, U + k * p);
    ur_multiply_nt(cone->n, p, p, cone->y, U, s->R);
    for (size_t i = 0; i < cone->n; i++) {
        const double *h = s->R + i * p;
        double size = ur_norm(p, cone->y + i * p), factor = 0;
        size_t beyond = 0;
        if (size <= least)
            continue;
        if (cone->noise) {
            factor = 1;
            for (size_t k = 0; k < p; k++)
                factor += h[k] * s->reach[k] * h[k] * s->reach[k];
            factor = sqrt(factor);
        }
        for (size_t k = 0; k < p; k++) {
            s->side[k] = ur_side_of(cone, h[k], size, factor * noise[k]);
            v.worst = fmin(v.worst, h[k] / (cone->noise ? factor * noise[k] : size));
            beyond |= s->side[k] == UR_BEYOND;
        }
        v.beyond += beyond;
        for (size_t a = 0; a < p && cone->noise; a++)
            for (size_t b = 0; b < p && s->side[a] == UR_ON; b++)
                s->pairs[a * p + b] += s->side[b] == UR_ABOVE_FACET;
    }
    for (size_t i = 0; i < p * p && cone->noise; i++)
        if (i % (p + 1) != 0 && s->pairs[i] < v.pairs)
            v.pairs = s->pairs[i];
    return v;
}

/* ln of the least P_k = (1 - q_k) prod q_j over j != k, q the shares of samples with a unit off */
static double log_alone(const ur_cone *cone, const double *U)
{
    size_t p = cone->p;
    double sum = 0, least = INFINITY;
    for (size_t k = 0; k < p; k++) {
        const double *u = U + k * p;
        size_t off = 0;
        double noise = ur_cone_noise(cone, u);
        for (size_t i = 0; i < cone->n; i++) {
            const double *y = cone->y + i * p;
            off += ur_side_of(cone, ur_dot(p, y, u), ur_norm(p, y), noise) == UR_ON;
        }
        double q = (double)off / (double)cone->n;
        sum += log(q);
        least = fmin(least, log1p(-q) - log(q));
    }
    return sum + least;
}

static unrelu_status refuse(const state *s, verdict v, uint64_t seed, const unrelu_exec *exec,
                            unrelu_error *err)
{
    ur_normals facets;
    UR_ARENA(arena);
    const ur_cone *cone = s->cone;
    double alone = -(double)s->p * log(2);
    const char *how = "were each on in half of them, an assumption: `method` facets does not find "
                      "just p facets in these samples either";
    unrelu_status status = ur_unmix_facets(s->cone, 0, seed, exec, &arena, &facets, err);
    if (status == UNRELU_OK && facets.count == s->p) {
        alone = log_alone(s->cone, facets.U);
        how = "by the shares of zeros that `method` facets finds: it has A already, use it";
    }
    if (status != UNRELU_OK && status != UNRELU_EDATA)
        return status;
    const char *reason =
        v.beyond > ur_most_beyond(cone)
            ? ur_take_text(
                  &arena,
                  "not separable: some unit is %s in none of the %zu samples, for with the %zu "
                  "likeliest as edges %zu samples lie beyond the cone, by up to %.2g %s",
                  cone->noise ? "clearly alone" : "alone", cone->n, s->p, v.beyond, -v.worst,
                  cone->noise ? "deviations of the noise" : "of their length")
            : ur_take_text(
                  &arena,
                  "the %zu samples fill a cone of p = %zu edges, but on a facet of it only %zu of "
                  "them have part in one of the edges (%d are needed), so that chance may have "
                  "made this edge",
                  cone->n, s->p, v.pairs, LEAST_PAIRS);
    double number = fmin(DBL_MAX, (log((double)s->p) + HALF) * exp(-alone));
    const char *digits = ur_take_text(&arena, "%.2g", number); /* to two digits */
    const char *needed = ur_take_text(&arena, number < 1e6 ? "%.0f" : "%.2g", strtod(digits, NULL));
    UR_TRY(ur_arena_status(&arena, err));
    return ur_fail(err, UNRELU_EDATA,
                   "%s; about %s samples would be needed for independent units, more for others, "
                   "%s",
                   reason, needed, how);
}

/* ---- the method ---- */

static unrelu_status prepare(state *s, ur_arena *arena, unrelu_error *err)
{
    const ur_cone *cone = s->cone;
    size_t n = cone->n, p = s->p, row = p * sizeof(double);
    if (n > INT_MAX / (p + 2))
        return ur_fail(err, UNRELU_EDATA, "%zu samples of %zu mixtures are too many", n, p);
    s->unit = ur_take(arena, n, row);
    s->size = ur_take(arena, n, sizeof *s->size);
    s->h = ur_take(arena, p + 1, sizeof *s->h);
    s->level = ur_take(arena, n, sizeof *s->level);
    s->R = ur_take(arena, n, row + sizeof(double));
    s->part = ur_take(arena, n, sizeof *s->part);
    s->E = ur_take(arena, p, row);
    s->inverse = ur_take(arena, p, row);
    s->identity = ur_take(arena, p, row);
    s->reach = ur_take(arena, p, sizeof *s->reach);
    s->direction = ur_take(arena, p, sizeof *s->direction);
    s->pairs = ur_take(arena, p, p * sizeof *s->pairs);
    s->side = ur_take(arena, p, sizeof *s->side);
    UR_TRY(ur_arena_status(arena, err));
    double least = least_size(cone);
    for (size_t i = 0; i < n; i++) {
        const double *y = cone->y + i * p;
        double size = ur_norm(p, y);
        if (size <= least)
            continue;
        for (size_t j = 0; j < p; j++)
            s->unit[s->n * p + j] = y[j] / size;
        s->size[s->n++] = size;
    }
    if (s->n >= p)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA,
                   "%zu of %zu samples are not 0%s, and p = %zu units alone need %zu: more samples",
                   s->n, n, cone->noise ? " by 6 deviations of their noise" : "", p, p);
}

unrelu_status ur_unmix_separable(const ur_cone *cone, uint64_t seed, const unrelu_exec *exec,
                                 ur_arena *arena, ur_normals *normals, unrelu_error *err)
{
    size_t p = cone->p;
    state s = {.cone = cone, .p = p};
    UR_ARENA(own);
    *normals = (ur_normals){.count = p, .U = ur_take(arena, p, p * sizeof *normals->U), .tries = 1};
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(prepare(&s, &own, err));
    UR_TRY(find_side(&s, err));
    UR_TRY(find_edges(&s, exec, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            normals->U[j * p + i] = s.inverse[i * p + j];
    ur_unit_rows(p, p, normals->U);
    verdict v = verify(&s, normals->U);
    if (v.beyond > ur_most_beyond(cone) || v.pairs < LEAST_PAIRS)
        return refuse(&s, v, seed, exec, err);
    return UNRELU_OK;
}
