/* SPDX-License-Identifier: Apache-2.0 */
/* The default way: facets of the samples' cone (cone/facet.h), searched among some rows and
 * checked over all of them. Each unit must be off in enough samples: n = 10 p / P(off) found every
 * facet in all of the runs measured, which is 20 p where b = 0; and with all of them certified, A
 * was right to rounding.
 * A cone can have more facets than p (W of rank below p, b = 0). So the search goes on after the
 * p-th, and where more are found, those with most samples on them come first: the others had at
 * most 29 % of the samples on them, true ones at least 42 % (b = 0).
 * A unit that is off only where another one is shows no facet (nearly parallel rows of W), but for
 * the other one's the samples do end there: where half of the facets are certified, such ends stand
 * for the others, and the verdict is `ambiguous`. */
#include "base/arena.h"
#include "base/error.h"
#include "cone/facet.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* rows of the first search, and the growth of their number from one to the next */
enum { FEWEST_ROWS = 4000, ROWS_A_UNIT = 200, GROWTH = 4 };
enum { EXTRA = 10, MANY_EXTRA = 200 }; /* tries after the p-th facet; where it may be a false one */
enum { FEW_OUTLIERS = 20, PARTS = 3 }; /* one in so many samples; where all were searched */
/* A sample of this leverage carries a dimension alone. Asked only from 10 p samples on: among fewer
 * a large leverage is no wonder. */
static const double LONELY = 0.9;
enum { SAMPLES_FOR_LEVERAGE = 10 };
/* A unit that is on in fewer samples is told where facets are missing: in 20 samples one of 20
 * units that are off half the time is off in fewer than two with a chance of 4e-4. */
enum { SELDOM_ON = 20, SELDOM_SHARE = 10 }; /* and in less than one in so many */

ur_side ur_side_of(const ur_cone *cone, double h, double size, double s)
{
    double on = cone->noise ? UR_NOISE_BAND * s : cone->tolerance * size;
    double beyond = cone->noise ? UR_NOISE_BEYOND * s : on;
    return h < -beyond ? UR_BEYOND : h > on ? UR_ABOVE_FACET : UR_ON;
}

size_t ur_most_beyond(const ur_cone *cone)
{
    return cone->noise ? cone->n / UR_FACET_MOST_BEYOND : 0;
}

/* samples beyond a facet of the rows taken */
typedef struct {
    size_t count, row; /* most of them beyond one facet, and the farthest */
    double depth;      /* of that one, relative to its length */
} outliers;

typedef struct {
    const ur_cone *cone;
    uint64_t seed;
    const unrelu_exec *exec;
    unsigned char *beyond; /* cone->n: samples beyond a facet of an earlier round */
    double *rest;          /* p */
    size_t tries;
    /* of a round */
    size_t n;  /* rows taken */
    double *y; /* (n, p) */
    ur_facets found;
    size_t *on; /* found.count: samples on each, of all; 0: some are beyond */
    outliers out;
    outliers blamed; /* of a round that found p facets, before their like were among the rows */
} search;

/* samples on facet u, over all; 0 where more are beyond it than may be */
static size_t check_facet(search *s, const double *u)
{
    const ur_cone *c = s->cone;
    double deviation = ur_cone_noise(c, u), depth = 0;
    size_t on = 0, beyond = 0, worst = 0;
    for (size_t i = 0; i < c->n; i++) {
        const double *y = c->y + i * c->p;
        double h = ur_dot(c->p, y, u), size = ur_norm(c->p, y);
        ur_side side = ur_side_of(c, h, size, deviation);
        on += side == UR_ON;
        if (side != UR_BEYOND)
            continue;
        beyond++;
        s->beyond[i] = 1;
        if (-h > depth * size) {
            depth = -h / size;
            worst = i;
        }
    }
    if (beyond <= ur_most_beyond(c))
        return on;
    if (beyond > s->out.count)
        s->out = (outliers){beyond, worst, depth};
    return 0;
}

static unrelu_status find(search *s, size_t round, size_t extra, ur_arena *arena, unrelu_error *err)
{
    const ur_cone *c = s->cone;
    ur_facet_search facets = {.n = s->n,
                              .p = c->p,
                              .Y = s->y,
                              .noise = c->noise,
                              .wanted = c->p,
                              .extra = extra,
                              .tolerance = c->tolerance,
                              .seed = s->seed,
                              .stream = UR_STREAM_UNMIX + round,
                              .exec = s->exec};
    UR_TRY(ur_facets_find(&facets, arena, &s->found, err));
    s->on = ur_take(arena, s->found.count, sizeof *s->on);
    UR_TRY(ur_arena_status(arena, err));
    s->tries += s->found.tries;
    s->out = (outliers){0};
    for (size_t k = 0; k < s->found.count; k++)
        s->on[k] = check_facet(s, s->found.U + k * c->p);
    if (s->found.count >= c->p && s->blamed.count == 0 && s->out.count <= c->n / FEW_OUTLIERS)
        s->blamed = s->out;
    return UNRELU_OK;
}

/* the facet with most samples among those not taken, that is independent of them as long as they do
 * not span everything; SIZE_MAX: none */
static size_t best(const search *s, const unsigned char *taken, const ur_basis *basis)
{
    size_t p = s->cone->p, chosen = SIZE_MAX;
    double *rest = s->rest;
    for (size_t k = 0; k < s->found.count; k++) {
        if (taken[k] || (s->on[k] == 0 && p > 1) ||
            (chosen != SIZE_MAX && s->on[k] <= s->on[chosen]))
            continue;
        memcpy(rest, s->found.U + k * p, p * sizeof *rest);
        ur_basis_sweep(basis, basis->count, rest);
        if (basis->count == p || ur_norm(p, rest) > UR_FACET_SAME)
            chosen = k;
    }
    return chosen;
}

/* ---- the way ---- */

/* Of the units whose facets were found, the one that is on in fewest samples, if that is seldom and
 * no outlier: in how many, and its normal. 0: there is none. */
static size_t find_seldom(const search *s, const double **u)
{
    const ur_cone *c = s->cone;
    size_t fewest = c->n;
    for (size_t k = 0; k < s->found.count; k++)
        if (s->on[k] > 0 && c->n - s->on[k] < fewest) {
            fewest = c->n - s->on[k];
            *u = s->found.U + k * c->p;
        }
    int seldom = fewest >= UR_FEWEST_ON && fewest < SELDOM_ON && fewest * SELDOM_SHARE < c->n;
    return seldom ? fewest : 0;
}

/* the row of largest leverage: with y'y = n I that is |y|^2 / n */
static size_t find_lonely(const ur_cone *c, double *leverage)
{
    size_t row = 0;
    *leverage = 0;
    for (size_t i = 0; i < c->n; i++) {
        double own = ur_dot(c->p, c->y + i * c->p, c->y + i * c->p) / (double)c->n;
        row = own > *leverage ? i : row;
        *leverage = fmax(*leverage, own);
    }
    return row;
}

/* Ends of the samples in place of the facets that are missing: those with most samples on them, and
 * each with as many as a facet needs. They become the last of the p normals, or none does. */
static unrelu_status stand_in(search *s, size_t rank, ur_arena *arena, ur_normals *normals,
                              unrelu_error *err)
{
    size_t p = s->cone->p, least = UR_FEWEST_OFF * p;
    const ur_hinged *ends = &s->found.hinged;
    double *U = ur_take(arena, p, p * sizeof *U), *rest = s->rest;
    size_t *on = ur_take(arena, p, sizeof *on);
    ur_basis basis = {p, 0, ur_take(arena, p, p * sizeof *basis.rows)};
    UR_TRY(ur_arena_status(arena, err));
    memcpy(U, normals->U, rank * p * sizeof *U);
    for (size_t k = 0; k < rank; k++)
        ur_basis_grow(&basis, U + k * p, 0);
    for (size_t k = 0; k < ends->count; k++)
        on[k] = check_facet(s, ends->U + k * p);
    while (basis.count < p) {
        size_t chosen = SIZE_MAX, most = least - 1;
        for (size_t k = 0; k < ends->count; k++) {
            memcpy(rest, ends->U + k * p, p * sizeof *rest);
            ur_basis_sweep(&basis, basis.count, rest);
            if (on[k] > most && ur_norm(p, rest) > UR_FACET_SAME) {
                chosen = k;
                most = on[k];
            }
        }
        if (chosen == SIZE_MAX)
            return UNRELU_OK;
        memcpy(U + basis.count * p, ends->U + chosen * p, p * sizeof *U);
        ur_basis_grow(&basis, ends->U + chosen * p, 0);
    }
    *normals = (ur_normals){.count = p, .U = U, .hinged = p - rank};
    return UNRELU_OK;
}

/* Where p facets cannot be had because of a few rows: which. `rare`: the normal of a unit that is
 * seldom on, or NULL. */
static unrelu_status refuse_outliers(search *s, size_t rank, size_t round, const double *rare,
                                     unrelu_error *err)
{
    const ur_cone *c = s->cone;
    double leverage;
    size_t row = find_lonely(c, &leverage);
    /* where a unit that is seldom on is on in that row, it stands for the unit, and is no outlier
     */
    int explained = rare && ur_dot(c->p, c->y + row * c->p, rare) >
                                c->tolerance * ur_norm(c->p, c->y + row * c->p);
    if (leverage > LONELY && !explained && c->n >= SAMPLES_FOR_LEVERAGE * c->p)
        return ur_fail(err, UNRELU_EDATA,
                       "row %zu alone carries one of the p = %zu dimensions of the samples: an "
                       "outlier; leave it out (found %zu of %zu facets with it)",
                       row + 1, c->p, rank, c->p);
    /* do a few rows stand in the way: are they beyond p facets of a third of the rows? */
    for (size_t part = 0; part < PARTS && s->blamed.count == 0; part++) {
        UR_ARENA(arena);
        s->n = 0;
        for (size_t i = part; i < c->n; i += PARTS)
            memcpy(s->y + c->p * s->n++, c->y + i * c->p, c->p * sizeof *s->y);
        UR_TRY(find(s, round + part, 0, &arena, err));
    }
    if (s->blamed.count > 0)
        return ur_fail(err, UNRELU_EDATA,
                       "the cone of most samples has %zu facets, but %zu of %zu samples%s %s "
                       "beyond one of them, row %zu by %.2g of its length: leave such rows out, or "
                       "these are no mixtures of %zu units",
                       c->p, s->blamed.count, c->n, c->noise ? " with noise" : "",
                       s->blamed.count == 1 ? "lies" : "lie", s->blamed.row + 1, s->blamed.depth,
                       c->p);
    return UNRELU_OK;
}

static unrelu_status refuse(const ur_cone *c, size_t rank, size_t tries, size_t seldom,
                            unrelu_error *err)
{
    char told[160] = "";
    if (seldom)
        snprintf(told, sizeof told,
                 " (a unit is on in %zu samples, and units that are off in fewer than two of these "
                 "show no facet)",
                 seldom);
    return ur_fail(
        err, UNRELU_EDATA,
        "found %zu of %zu facets in %zu tries among %zu samples%s%s: more samples (about "
        "20 p = %zu where units are off half the time, 10 p / P(off) in general), "
        "another `p`, or%s these are no mixtures A ReLU(W z + b)",
        rank, c->p, tries, c->n, c->noise ? " with noise" : "", told, UR_USUAL_A_UNIT * c->p,
        c->noise ? " too much noise, or" : "");
}

/* One round, of evenly spread rows and those that were beyond a facet: normals by decreasing number
 * of samples, p independent ones first, and the rank of these. What it took is in its arena, and
 * ends with the next round. */
static unrelu_status look(search *s, size_t rows, size_t round, size_t extra, ur_arena *arena,
                          ur_normals *normals, size_t *rank, unrelu_error *err)
{
    const ur_cone *c = s->cone;
    size_t p = c->p, most = rows, k;
    ur_arena_end(arena);
    for (size_t i = 0; i < c->n; i++)
        most += s->beyond[i];
    s->n = 0;
    s->y = ur_take(arena, most, p * sizeof *s->y);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0, taken = 0; i < c->n; i++) {
        int turn = taken < rows && i == (size_t)((double)taken * ((double)c->n / (double)rows));
        taken += (size_t)turn;
        if (turn || s->beyond[i])
            memcpy(s->y + p * s->n++, c->y + i * p, p * sizeof *s->y);
    }
    UR_TRY(find(s, round, extra, arena, err));
    unsigned char *taken = ur_take(arena, s->found.count, 1);
    ur_basis basis = {p, 0, ur_take(arena, p, p * sizeof *basis.rows)};
    *normals = (ur_normals){.U = ur_take(arena, s->found.count, p * sizeof *normals->U)};
    UR_TRY(ur_arena_status(arena, err));
    while ((k = best(s, taken, &basis)) != SIZE_MAX) {
        const double *u = s->found.U + k * p;
        memcpy(normals->U + p * normals->count++, u, p * sizeof *u);
        taken[k] = 1;
        ur_basis_grow(&basis, u, 0);
    }
    *rank = basis.count;
    return UNRELU_OK;
}

/* whether the p normals may not be all, by the samples that were taken */
static unrelu_status suspect(const search *s, const ur_normals *normals, int *suspicious,
                             unrelu_error *err)
{
    const ur_cone *c = s->cone;
    size_t p = c->p;
    ur_patterns patterns;
    UR_ARENA(arena);
    double *h = ur_take(&arena, s->n, p * sizeof *h);
    double *deviation = ur_take(&arena, p, sizeof *deviation);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t k = 0; k < p; k++)
        deviation[k] = ur_cone_noise(c, normals->U + k * p);
    ur_multiply_nt(s->n, p, p, s->y, normals->U, h);
    for (size_t i = 0; i < s->n; i++) {
        double size = ur_norm(p, s->y + i * p);
        for (size_t k = 0; k < p; k++)
            h[i * p + k] = ur_side_of(c, h[i * p + k], size, deviation[k]) == UR_ABOVE_FACET;
    }
    UR_TRY(ur_patterns_make(s->n, p, h, &arena, &patterns, err));
    *suspicious = ur_patterns_ridge(&patterns, NULL).off > 0;
    return UNRELU_OK;
}

unrelu_status ur_unmix_facets(const ur_cone *cone, int ends, uint64_t seed, const unrelu_exec *exec,
                              ur_arena *arena, ur_normals *normals, unrelu_error *err)
{
    size_t n = cone->n, p = cone->p, rank = 0, round = 0;
    size_t rows = ROWS_A_UNIT * p > FEWEST_ROWS ? ROWS_A_UNIT * p : FEWEST_ROWS;
    int suspicious = 0;
    ur_normals found;
    UR_ARENA(own);
    UR_ARENA(latest);
    search s = {.cone = cone,
                .seed = seed,
                .exec = exec,
                .beyond = ur_take(&own, n, 1),
                .rest = ur_take(&own, p, sizeof *s.rest)};
    UR_TRY(ur_arena_status(&own, err));
    for (;; rows *= GROWTH) {
        rows = rows < n ? rows : n;
        UR_TRY(look(&s, rows, round++, EXTRA, &latest, &found, &rank, err));
        if (rank == p || rows == n)
            break;
    }
    if (rank == p && found.count == p)
        UR_TRY(suspect(&s, &found, &suspicious, err));
    if (suspicious)
        UR_TRY(look(&s, rows, round, MANY_EXTRA, &latest, &found, &rank, err));
    if (rank < p) {
        const double *rare = NULL;
        size_t seldom = find_seldom(&s, &rare), tries = s.tries;
        if (ends && seldom == 0 && 2 * rank >= p)
            UR_TRY(stand_in(&s, rank, &latest, &found, err));
        UR_TRY(refuse_outliers(&s, rank, round + 1, seldom ? rare : NULL, err));
        if (found.count < p)
            return refuse(cone, rank, tries, seldom, err);
    }
    *normals = (ur_normals){.count = found.count,
                            .U = ur_take(arena, found.count, p * sizeof *found.U),
                            .tries = s.tries,
                            .hinged = found.hinged};
    UR_TRY(ur_arena_status(arena, err));
    memcpy(normals->U, found.U, found.count * p * sizeof *found.U);
    return UNRELU_OK;
}
