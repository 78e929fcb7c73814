/* SPDX-License-Identifier: Apache-2.0 */
/* Facets of a cone that samples fill: rows y of Y (n x p) are non-negative mixtures of p
 * unknown vectors, each missing from many of the samples; wanted are u with Y u >= 0 and Y u = 0
 * at those. No sample needs to lie on an edge of the cone: n grows as p, not as 2^p.
 *
 * Without noise a facet counts only with its certificate: h = Y u >= -tolerance |y|; at least p
 * samples with h = 0, of rank p - 1, which determine u; and no coloop, that is none of them
 * without which the others would have rank p - 2. The last is what tells a facet of the law from
 * one that p - 1 samples span by chance: 34 false of 774 without it, none with it.
 * A cone may truly have more than p facets (mixtures whose weights are max(0, W z), W of rank
 * below p): `extra` finds that out.
 * With noise a facet is a u that has samples at h = 0 within the noise, few below, and a gap
 * above: at most 0.5 % of h below -6 s and zeros >= p + 3 #(3 s < h < 9 s), s the deviation of
 * the noise of h; and these samples vary beyond the noise in all other directions, also without any
 * one of them. Samples that are noise alone are passed over. It fails from
 * noise of about 5 % of the samples on. */
#ifndef UR_FACET_H
#define UR_FACET_H

#include "base/arena.h"

/* Without noise: h below this share of |y| is 0, unless the search says otherwise. Facets of exact
 * samples are known to 1e-12; larger: samples next to a facet count as on it. */
#define UR_FACET_TOLERANCE 1e-8
/* of h: two facets that differ less are one. Also the part of a unit normal beside the span of
 * others, from which on it is independent of them. */
#define UR_FACET_SAME 1e-6
/* With noise, in deviations of h: a sample on the facet (one in 370 is outside), and one beyond it
 * (noise alone makes one in 10^9), of which one in so many samples may be. */
#define UR_FACET_BAND   3.0
#define UR_FACET_BEYOND 6.0
enum { UR_FACET_MOST_BEYOND = 200 };

typedef enum {
    UR_FACET_DEFLATED, /* least weighted squares from a start orthogonal to what was found */
    UR_FACET_RAY,      /* a linear programme */
    UR_FACET_OPPOSITE, /* least weighted squares from the other side of one found */
    UR_FACET_RANDOM,   /* least weighted squares from a random start */
} ur_facet_way;

typedef struct {
    size_t n, p;
    /* (n x p), best whitened: Y'Y a multiple of I. Without noise, rows below 1e-12 of the
     * root mean square and rows that repeat earlier ones are passed over. */
    const double *Y;
    const double *noise; /* p x p covariance of the noise of a row; NULL: none */
    size_t wanted;       /* facets after which the search ends (p: independent ones), */
    size_t extra; /* but only after so many tries in a row without another, or so many more */
    size_t tries; /* at most, until `wanted` are found; 0: 40 + 6 p, of which 16 for the first */
    double tolerance; /* 0: UR_FACET_TOLERANCE; the relative accuracy to which h is known, with
                         reserve */
    uint64_t seed, stream;
    const unrelu_exec *exec; /* cancelled; may be NULL */
} ur_facet_search;

/* Facets of the samples' hull that lack only the last part of the certificate: they hinge on one
 * sample. At most p, those with most samples at h = 0; none with noise. */
typedef struct {
    size_t count;
    double *U;     /* count x p */
    size_t *zeros; /* as of facets */
} ur_hinged;

typedef struct {
    size_t count, tries;
    ur_hinged hinged;
    double *U;         /* count x p, unit rows, in the order found */
    size_t *zeros;     /* of the rows of Y that were not passed over, those at h = 0 */
    ur_facet_way *way; /* how each was found */
} ur_facets;

/* Succeeds with however many facets there are: the caller judges count. O(n p^2) a step, 60
 * steps a try. */
unrelu_status ur_facets_find(const ur_facet_search *search, ur_arena *arena, ur_facets *facets,
                             unrelu_error *err);
/* How many of the rows of U (count x p) are facets by the same rules, Y, noise and tolerance alone
 * being looked at. */
unrelu_status ur_facets_check(const ur_facet_search *search, size_t count, const double *U,
                              size_t *certified, unrelu_error *err);

#endif
