/* SPDX-License-Identifier: Apache-2.0 */
/* Least weighted squares: u <- (Y' diag(w) Y)^-1 u, |u| = 1, w = 1 / max(|h|, delta), h = Y u,
 * 101 times that where h < 0, delta from the median of |h| down by 0.6 a step: the sum of |h| is
 * driven to a corner, and the corner to the side of the data (without the 100 a corner inside
 * the cone is found). Starts are orthogonal to the facets found, then
 *   min price'u  subject to  Y u >= 0, r'u = +-1  for a random r orthogonal to them,
 * then anywhere. Any facet found leads back to the first way. */
#include "cone/facet.h"

#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/lp.h"
#include "dense/near_rows.h"
#include "pass/parallel.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The descent: delta falls by SHRINK a step, and by LEAP where the zeros stand apart, from the
 * median of |h| to UR_ROUNDING of it. At SHRINK 0.6 60 steps reach 5e-14. */
enum { STEPS = 60 };
static const double SHRINK = 0.6;
/* Zeros stand apart where none is between delta and APART times it. Pace: certify takes nothing but
 * facets, however u got there. */
static const double LEAP = 1e-4, APART = 10;
static const double ASYMMETRY = 100; /* 10 finds fewer at n = 6 p, 0 next to nothing */
/* with noise, least delta of the weights in deviations of h, and the share of that from which on a
 * u that moves less than it has arrived */
static const double NOISE_FLOOR = 2, NOISE_ARRIVED = 0.3;

/* of the tolerance: the zeros of a refined u are those to rounding, with rows that are doubles */
static const double SETTLED = 1e-3;
/* of the tolerance: the rank of the zeros, which are 0 only to the tolerance */
static const double ZEROS_RANK = 10;
/* of the root mean square: a row that is 0 */
static const double SMALL_ROW = 1e-12;

/* with noise: refinements of u; where the gap above the zeros ends, in deviations, and zeros for
 * each sample in it; variance of the samples on a facet over that of the noise; and the leverage
 * from which on a sample is left out to see whether it is a coloop */
enum { NOISE_STEPS = 10, ZEROS_A_NEAR = 3 };
static const double GAP_END = 9, SINGLE = 9, HIGH_LEVERAGE = 0.5;
/* deviations of a chi-square by which a row is more than noise */
static const double LOUD = 6;

enum { ROUND = 4 };     /* ways that take turns */
enum { BLOCK = 128 };   /* rows that stay in the cache */
enum { HOPELESS = 16 }; /* tries without any facet: the first of a cone was found in 5 at most */
enum { TRIES = 40, TRIES_A_FACET = 6 };
static const double MEAN_PRICE = 0.1; /* share of the mean in the price of a later programme */

typedef struct {
    const ur_facet_search *search;
    size_t n, p;   /* n: of the rows kept */
    size_t silent; /* rows that are noise and nothing else: near every facet */
    double tolerance;
    double *Y, *size;      /* n x p rows kept, their lengths */
    double *unit, *mean;   /* the rows at length 1, and their mean */
    double *Z, *Q;         /* n x p */
    double *h, *weight;    /* n */
    double *G, *left, *vt; /* p x p */
    double *values;        /* p */
    ur_basis basis;        /* spans the facets found */
    size_t *first;         /* p: which facets it grew by */
    size_t opposed;        /* for how many of these a start on the other side was tried */
    double *u, *r, *price; /* p */
    uint64_t drawn;
    size_t failures; /* since the last facet */
    int hinged;      /* what was looked at last is a facet of the rows, but with a coloop */
} state;

static void apply(const state *s, const double *u, double *h)
{
    ur_gemv(UR_PLAIN, s->n, s->p, 1, s->Y, s->p, u, 0, h);
}

/* deviation of the noise of h */
static double noise_of(const state *s, const double *u)
{
    const double *N = s->search->noise;
    double sum = 0;
    if (!N)
        return 0;
    for (size_t i = 0; i < s->p; i++)
        sum += u[i] * ur_dot(s->p, N + i * s->p, u);
    return sqrt(fmax(0, sum));
}

/* h = Y u with u turned to the side where most of the samples are */
static void turn_to_samples(const state *s, double *u)
{
    double sum = 0;
    apply(s, u, s->h);
    for (size_t i = 0; i < s->n; i++)
        sum += s->h[i];
    if (sum >= 0)
        return;
    ur_scale(s->p, -1, u);
    ur_scale(s->n, -1, s->h);
}

/* G = Y' diag(weight) Y, by blocks that stay in the cache */
static void weighted_gram(state *s)
{
    size_t p = s->p;
    for (size_t first = 0; first < s->n; first += BLOCK) {
        size_t rows = s->n - first < BLOCK ? s->n - first : BLOCK;
        for (size_t i = 0; i < rows; i++) {
            double root = sqrt(s->weight[first + i]);
            for (size_t j = 0; j < p; j++)
                s->Z[i * p + j] = root * s->Y[(first + i) * p + j];
        }
        ur_syrk(UR_LOWER, UR_TURNED, p, rows, 1, s->Z, p, first > 0, s->G, p);
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++)
            s->G[j * p + i] = s->G[i * p + j];
}

/* whether p or more samples are within delta of h = 0, and none between that and 10 delta */
static int stand_apart(const state *s, double delta)
{
    size_t within = 0, near = 0;
    for (size_t i = 0; i < s->n; i++) {
        double size = fabs(s->h[i]);
        within += size <= delta;
        near += size <= APART * delta;
    }
    return within >= s->p && within == near;
}

/* Where the zeros stand apart, delta falls to the rounding at once; with noise, it ends where u
 * only trembles below the least size. */
static unrelu_status descend(state *s, double *u, unrelu_error *err)
{
    double *before = s->price;
    turn_to_samples(s, u);
    for (size_t i = 0; i < s->n; i++)
        s->weight[i] = fabs(s->h[i]);
    ur_sort(s->weight, s->Z, s->n);
    double delta = s->weight[s->n / 2], least = UR_ROUNDING * delta;
    memcpy(before, u, s->p * sizeof *u);
    for (int step = 0; step < STEPS && delta > least; step++) {
        double least_size = fmax(delta, NOISE_FLOOR * noise_of(s, u));
        double below = s->search->noise ? -least_size : 0;
        for (size_t i = 0; i < s->n; i++) {
            double size = fabs(s->h[i]);
            size = size > least_size ? size : least_size;
            s->weight[i] = (s->h[i] < below ? 1 + ASYMMETRY : 1) / size;
        }
        weighted_gram(s);
        int positive;
        UR_TRY(ur_solve_positive(s->p, 1, s->G, u, &positive, err));
        double length = ur_norm(s->p, u);
        if (!positive || !isfinite(length) || length == 0)
            return UNRELU_OK; /* delta has reached the rounding */
        ur_scale(s->p, 1 / length, u);
        apply(s, u, s->h);
        double moved = 0;
        for (size_t j = 0; j < s->p; j++)
            moved = fmax(moved, fabs(u[j] - before[j]));
        memcpy(before, u, s->p * sizeof *u);
        if (s->search->noise && moved < least_size && delta < NOISE_ARRIVED * least_size)
            break;
        delta *= !s->search->noise && stand_apart(s, delta) ? LEAP : SHRINK;
    }
    return UNRELU_OK;
}

/* Z: the rows at length 1 with |h| <= tolerance |y|; their number */
static size_t collect_zeros(state *s, double tolerance)
{
    size_t count = 0;
    for (size_t i = 0; i < s->n; i++)
        if (fabs(s->h[i]) <= tolerance * s->size[i])
            memcpy(s->Z + s->p * count++, s->unit + s->p * i, s->p * sizeof *s->Z);
    return count;
}

/* whether one of the zeros has leverage 1: without it the rank would fall */
static int has_coloop(const state *s, size_t count)
{
    size_t r = s->p - 1;
    for (size_t i = 0; i < count; i++)
        if (ur_norm(r, s->Q + i * r) > 1 - s->tolerance)
            return 1;
    return 0;
}

/* where u leads to a certified facet, u becomes it and *accepted is set */
static unrelu_status certify(state *s, double *u, size_t *zeros, int *accepted, unrelu_error *err)
{
    const double near[] = {s->tolerance, s->tolerance * SETTLED};
    size_t p = s->p, rank;
    turn_to_samples(s, u);
    for (int i = 0; i < 2 && p > 1; i++) {
        *zeros = collect_zeros(s, near[i]);
        if (*zeros < p)
            return UNRELU_OK;
        memset(s->G, 0, p * p * sizeof *s->G); /* rows beyond the rank stay 0 */
        UR_TRY(ur_qr_pivoted(*zeros, p, s->Z, ZEROS_RANK * s->tolerance, &rank, s->Q, s->G, NULL,
                             err));
        if (rank != p - 1)
            return UNRELU_OK;
        UR_TRY(ur_svd(p, p, s->G, s->left, s->values, s->vt, err)); /* the null space */
        memcpy(u, s->vt + (p - 1) * p, p * sizeof *u);
        turn_to_samples(s, u);
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->h[i] < -s->tolerance * s->size[i])
            return UNRELU_OK;
    s->hinged = p > 1 && has_coloop(s, *zeros);
    *accepted = !s->hinged;
    return UNRELU_OK;
}

/* Whether samples with these eigenvalues and eigenvectors (values, vt) leave but one direction to
 * the noise: two where u is a sum of two facets, and they are those on both. */
static int is_single(const state *s, size_t within)
{
    size_t p = s->p;
    for (size_t j = 0; j < p; j++)
        s->r[j] = s->vt[j * p + 1];
    double sigma = noise_of(s, s->r);
    return s->values[1] > SINGLE * sigma * sigma * (double)within;
}

/* No coloop: also without any one of the samples only one direction is left. Asked of the samples
 * of the band with a leverage above 1/2, of which there are fewer than 2 p. */
static unrelu_status check_coloops(state *s, size_t within, int *accepted, unrelu_error *err)
{
    size_t p = s->p, count = 0;
    for (size_t i = 0; i < s->n; i++) {
        double leverage = 0;
        if (s->weight[i] == 0)
            continue;
        for (size_t k = 1; k < p; k++) {
            double along = ur_dot_steps(p, s->Y + i * p, 1, s->vt + k, p);
            leverage += along * along / s->values[k];
        }
        if (leverage > HIGH_LEVERAGE && count < 2 * p)
            memcpy(s->Z + p * count++, s->Y + i * p, p * sizeof *s->Z);
    }
    for (size_t c = 0; c < count && *accepted; c++) {
        const double *y = s->Z + c * p;
        for (size_t i = 0; i < p * p; i++)
            s->left[i] = s->G[i] - y[i / p] * y[i % p];
        UR_TRY(ur_eigen_symmetric(p, s->left, s->values, s->vt, err));
        *accepted = is_single(s, within);
    }
    return UNRELU_OK;
}

/* the same with noise: u is the least eigenvector of the samples within 3 s of h = 0 */
static unrelu_status certify_noisy(state *s, double *u, size_t *zeros, int *accepted,
                                   unrelu_error *err)
{
    size_t p = s->p;
    turn_to_samples(s, u);
    for (int step = 0; step < NOISE_STEPS; step++) {
        double band = UR_FACET_BAND * noise_of(s, u);
        size_t changed = 0;
        for (size_t i = 0; i < s->n; i++) {
            double within = fabs(s->h[i]) <= band;
            changed += within != s->weight[i];
            s->weight[i] = within;
        }
        if (step > 0 && changed == 0)
            break;
        weighted_gram(s);
        UR_TRY(ur_eigen_symmetric(p, s->G, s->values, s->vt, err));
        for (size_t j = 0; j < p; j++)
            u[j] = s->vt[j * p];
        turn_to_samples(s, u);
    }
    double sigma = noise_of(s, u);
    size_t below = 0, within = 0, above = 0;
    for (size_t i = 0; i < s->n; i++) {
        below += s->h[i] < -UR_FACET_BEYOND * sigma;
        within += fabs(s->h[i]) <= UR_FACET_BAND * sigma;
        above += s->h[i] > UR_FACET_BAND * sigma && s->h[i] < GAP_END * sigma;
    }
    *zeros = within;
    *accepted = UR_FACET_MOST_BEYOND * below <= s->n &&
                (p == 1 || (within >= p && within + s->silent >= ZEROS_A_NEAR * above + p &&
                            is_single(s, within)));
    return *accepted && p > 1 ? check_coloops(s, within, accepted, err) : UNRELU_OK;
}

/* whether Y u differs from the h of one of the rows of U by no more than the accuracy of both */
static int is_among(state *s, size_t count, const double *U)
{
    double allowed = fmax(UR_FACET_SAME * ur_norm(s->n, s->h),
                          UR_FACET_BAND * noise_of(s, s->u) * sqrt((double)s->n));
    for (size_t k = 0; k < count; k++) {
        for (size_t j = 0; j < s->p; j++)
            s->values[j] = s->u[j] - U[k * s->p + j];
        apply(s, s->values, s->weight);
        if (ur_norm(s->n, s->weight) <= allowed)
            return 1;
    }
    return 0;
}

static int is_known(state *s, const ur_facets *facets)
{
    return is_among(s, facets->count, facets->U);
}

/* u as one of the p hinged facets with most zeros */
static void keep_hinged(state *s, ur_hinged *hinged, size_t zeros)
{
    size_t p = s->p, place = hinged->count;
    if (is_among(s, hinged->count, hinged->U))
        return;
    if (place < p) {
        hinged->count++;
    } else {
        for (size_t k = place = 0; k < p; k++)
            place = hinged->zeros[k] < hinged->zeros[place] ? k : place;
        if (zeros <= hinged->zeros[place])
            return;
    }
    memcpy(hinged->U + place * p, s->u, p * sizeof *s->u);
    hinged->zeros[place] = zeros;
}

/* The ways in turn; every other round without deflation, for then the space left may have but one
 * direction, which was tried. The price of u in a programme is mean(y)'u, from the second round on
 * y'u of a random sample and a tenth of the mean: where that sample is one of the zeros, a unit
 * that is seldom off is found too. */
static unrelu_status propose(state *s, ur_facet_way *way, int *proposed, unrelu_error *err)
{
    static const ur_facet_way turn[ROUND] = {UR_FACET_DEFLATED, UR_FACET_RAY, UR_FACET_RAY,
                                             UR_FACET_RANDOM};
    size_t place = s->failures % ROUND;
    int deflated = s->basis.count < s->p && s->failures / ROUND % 2 == 0;
    *way = turn[place];
    if (*way == UR_FACET_RAY && s->search->noise)
        *way = UR_FACET_DEFLATED; /* with noise nothing is on the good side of all samples */
    if (*way == UR_FACET_DEFLATED && !deflated)
        *way = UR_FACET_RANDOM;
    *proposed = 1;
    if (*way == UR_FACET_RAY && place == 2) {
        ur_scale(s->p, -1, s->r);
    } else { /* r: a random direction of length 1, orthogonal to the facets found */
        ur_random_normals(s->search->seed, s->search->stream, s->drawn, s->p, s->r);
        s->drawn += s->p;
        double length = deflated && *way != UR_FACET_RANDOM
                            ? ur_basis_remove(&s->basis, s->basis.count, s->r)
                            : ur_norm(s->p, s->r);
        ur_scale(s->p, 1 / length, s->r);
    }
    memcpy(s->u, s->r, s->p * sizeof *s->u);
    if (*way != UR_FACET_RAY)
        return descend(s, s->u, err);
    ur_lp_outcome outcome;
    memcpy(s->price, s->mean, s->p * sizeof *s->price);
    if (s->failures >= ROUND) {
        double t;
        ur_random_uniforms(s->search->seed, s->search->stream, s->drawn++, 1, &t);
        size_t row = (size_t)(t * (double)(s->n - 1) + 0.5);
        ur_scale(s->p, MEAN_PRICE, s->price);
        ur_add(s->p, 1, s->unit + row * s->p, s->price);
    }
    UR_TRY(ur_lp_ray(s->n, s->p, s->unit, s->price, s->r, s->u, &outcome, err));
    *proposed = outcome == UR_LP_OPTIMAL;
    return UNRELU_OK;
}

/* scales u and, where it leads to a facet not yet known, makes it that */
static unrelu_status check_facet(state *s, const ur_facets *facets, size_t *zeros, int *accepted,
                                 unrelu_error *err)
{
    s->hinged = 0;
    ur_scale(s->p, 1 / ur_norm(s->p, s->u), s->u);
    turn_to_samples(s, s->u);
    if (is_known(s, facets))
        return UNRELU_OK;
    return s->search->noise ? certify_noisy(s, s->u, zeros, accepted, err)
                            : certify(s, s->u, zeros, accepted, err);
}

/* Another facet is a combination of p independent ones, with a coefficient below 0: a start where
 * that of the next one is -1, all others being 1. */
static unrelu_status start_opposite(state *s, const ur_facets *facets, unrelu_error *err)
{
    size_t p = s->p, next = s->opposed++;
    memset(s->u, 0, p * sizeof *s->u);
    for (size_t k = 0; k < p; k++)
        ur_add(p, k == next ? -1 : 1, facets->U + s->first[k] * p, s->u);
    return descend(s, s->u, err);
}

static unrelu_status try_once(state *s, ur_facets *facets, int opposite, unrelu_error *err)
{
    ur_facet_way way = UR_FACET_OPPOSITE;
    int proposed = 1, accepted = 0;
    size_t p = s->p, zeros = 0;
    UR_TRY(opposite ? start_opposite(s, facets, err) : propose(s, &way, &proposed, err));
    if (proposed)
        UR_TRY(check_facet(s, facets, &zeros, &accepted, err));
    if (proposed && s->hinged)
        keep_hinged(s, &facets->hinged, zeros);
    int found = accepted && !is_known(s, facets);
    facets->tries++;
    if (!opposite)
        s->failures = found ? 0 : s->failures + 1;
    if (!found)
        return UNRELU_OK;
    memcpy(facets->U + facets->count * p, s->u, p * sizeof *s->u);
    facets->zeros[facets->count] = zeros;
    facets->way[facets->count++] = way;
    if (ur_basis_grow(&s->basis, s->u, UR_FACET_SAME))
        s->first[s->basis.count - 1] = facets->count - 1;
    return UNRELU_OK;
}

/* whether two rows are the same sample, to rounding; multiples of a row are samples of their own */
static int is_double(const void *of, size_t a, size_t b)
{
    const state *s = of;
    double far = fabs(s->size[a] - s->size[b]) / s->size[a];
    for (size_t l = 0; l < s->p; l++)
        far = fmax(far, fabs(s->unit[a * s->p + l] - s->unit[b * s->p + l]));
    return far <= s->tolerance * SETTLED;
}

static unrelu_status mark_silent(state *s, char *skip, unrelu_error *err)
{
    const ur_facet_search *f = s->search;
    size_t p = s->p;
    double most = (double)p + LOUD * sqrt(2 * (double)p); /* of a chi-square with p degrees */
    int positive;
    UR_TRY(ur_cholesky(p, f->noise, s->G, &positive, err));
    for (size_t i = 0; i < f->n && positive; i++) {
        memcpy(s->r, f->Y + i * p, p * sizeof *s->r);
        ur_trsv(UR_LOWER, UR_PLAIN, p, s->G, p, s->r);
        skip[i] = ur_dot(p, s->r, s->r) <= most;
        s->silent += skip[i] != 0;
    }
    return UNRELU_OK;
}

/* the rows that carry something of their own, their lengths and mean */
static unrelu_status take_rows(state *s, unrelu_error *err)
{
    const ur_facet_search *f = s->search;
    size_t p = s->p;
    double least = f->noise ? 0 : SMALL_ROW * ur_norm(f->n * p, f->Y) / sqrt((double)f->n);
    UR_ARENA(arena);
    char *skip = ur_take(&arena, f->n, 1), *seen = ur_take(&arena, f->n, 1); /* of classes */
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < f->n; i++) {
        double length = ur_norm(p, f->Y + i * p);
        s->size[i] = length;
        memcpy(s->unit + i * p, f->Y + i * p, p * sizeof *s->unit);
        if (length > least)
            ur_scale(p, 1 / length, s->unit + i * p);
        else
            skip[i] = 1;
    }
    if (f->noise) {
        UR_TRY(mark_silent(s, skip, err));
    } else if (p > 1) { /* rows that repeat an earlier one: a coloop could hide behind its double */
        ur_near_rows near = {f->n, p, s->unit, s->tolerance * SETTLED, is_double, s};
        ur_row_classes same;
        UR_TRY(ur_near_rows_class(&near, f->seed, f->stream, &arena, &same, err));
        for (size_t i = 0; i < f->n; i++) {
            skip[i] |= seen[same.of[i]];
            seen[same.of[i]] = 1;
        }
    }
    for (size_t i = 0; i < f->n; i++) {
        if (skip[i])
            continue;
        double *unit = s->unit + s->n * p;
        memcpy(s->Y + s->n * p, f->Y + i * p, p * sizeof *unit);
        memmove(unit, s->unit + i * p, p * sizeof *unit);
        s->size[s->n++] = s->size[i];
        ur_add(p, 1, unit, s->mean);
    }
    if (s->n > 0)
        ur_scale(p, 1 / (double)s->n, s->mean);
    return UNRELU_OK;
}

static unrelu_status prepare(const ur_facet_search *search, ur_arena *arena, state *s,
                             unrelu_error *err)
{
    size_t n = search->n, p = search->p;
    *s = (state){.search = search,
                 .p = p,
                 .basis.length = p,
                 .tolerance = search->tolerance > 0 ? search->tolerance : UR_FACET_TOLERANCE,
                 .first = ur_take(arena, p, sizeof *s->first)};
    if (n > INT_MAX / (p + 1))
        return ur_fail(err, UNRELU_EDATA, "%zu samples of %zu mixtures are too many", n, p);
    double **const tables[] = {&s->Y, &s->unit, &s->Z, &s->Q},
                   **const lists[] = {&s->size, &s->h, &s->weight};
    double **const squares[] = {&s->G, &s->left, &s->vt, &s->basis.rows};
    double **const rows[] = {&s->mean, &s->values, &s->u, &s->r, &s->price};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i] = ur_take(arena, n, p * sizeof(double));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = ur_take(arena, n, sizeof(double));
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        *squares[i] = ur_take(arena, p, p * sizeof(double));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = ur_take(arena, p, sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    return take_rows(s, err);
}

unrelu_status ur_facets_find(const ur_facet_search *search, ur_arena *arena, ur_facets *facets,
                             unrelu_error *err)
{
    size_t p = search->p, wanted = search->wanted, most = wanted + search->extra;
    size_t tries = search->tries ? search->tries : TRIES + TRIES_A_FACET * p;
    state s;
    UR_ARENA(own);
    *facets = (ur_facets){0};
    if (p == 0 || search->n == 0)
        return UNRELU_OK;
    if (most < wanted)
        return ur_fail(err, UNRELU_EDATA, "%zu facets are too many", wanted);
    *facets = (ur_facets){.U = ur_take(arena, most, p * sizeof *facets->U),
                          .zeros = ur_take(arena, most, sizeof *facets->zeros),
                          .way = ur_take(arena, most, sizeof *facets->way),
                          .hinged = {.U = ur_take(arena, p, p * sizeof *facets->U),
                                     .zeros = ur_take(arena, p, sizeof *facets->zeros)}};
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(prepare(search, &own, &s, err));
    while (s.n > 0 && facets->count < most) {
        int few = facets->count < wanted || (wanted >= p && s.basis.count < p);
        if (few ? facets->tries >= tries : s.failures >= search->extra)
            break;
        if (facets->count == 0 && facets->tries >= HOPELESS)
            break;
        ur_progress(search->exec, "searching facets",
                    fmin(1, (double)facets->count / (double)wanted));
        if (ur_cancelled(search->exec))
            return ur_fail_cancelled(err);
        int opposite = !few && search->extra > 0 && s.basis.count == p && s.opposed < p;
        UR_TRY(try_once(&s, facets, opposite, err));
    }
    return UNRELU_OK;
}

unrelu_status ur_facets_check(const ur_facet_search *search, size_t count, const double *U,
                              size_t *certified, unrelu_error *err)
{
    state s;
    UR_ARENA(arena);
    *certified = 0;
    UR_TRY(prepare(search, &arena, &s, err));
    for (size_t k = 0; k < count; k++) {
        ur_facets none = {0};
        int accepted = 0;
        size_t zeros;
        memcpy(s.u, U + k * s.p, s.p * sizeof *s.u);
        UR_TRY(check_facet(&s, &none, &zeros, &accepted, err));
        *certified += accepted && ur_dot(s.p, s.u, U + k * s.p) > 1 - UR_FACET_SAME;
    }
    return UNRELU_OK;
}
