/* SPDX-License-Identifier: Apache-2.0 */
/* The tolerances of an unmixing. Two ladders: without noise they are shares of the samples, with
 * noise they are deviations of it. Each says what moves where it is larger, and tests/test_unmix.c,
 * test_unmix_noise.c, test_latent.c and test_ridges.c fail where one moves by 100. */
#ifndef UR_UNMIX_TOLERANCE_H
#define UR_UNMIX_TOLERANCE_H

#include "cone/facet.h"

/* ---- without noise: floor < rank < residual < off < latent < uniform ---- */

/* Noise below this share of the samples is the rounding of doubles, and no attempt of its own.
 * Larger: samples of low rank with noise of 1e-13 are refused, where now they are noisy. */
#define UR_UNMIX_FLOOR 1e-14
/* Of the first singular value; below it they are rounding, which leaves 1e-16 to 1e-13. Larger:
 * weak units are lost. Smaller: rounding counts as units. */
#define UR_UNMIX_RANK 1e-10
/* Residual of a model that is called exact. Rounding leaves 1e-15; larger: what is not quite a
 * mixture passes. */
#define UR_UNMIX_RESIDUAL 1e-9
/* A unit is off where h is below this share of |y|, and no h may be lower than that below 0. The
 * facets that rounding leaves are known to 1e-12; larger: units that are weakly on count as off. */
#define UR_UNMIX_OFF UR_FACET_TOLERANCE
/* Share of a unit's values up to which it is constant in samples of one pattern, and rank of such
 * samples. Larger: strongly correlated units look like W of a rank below p. */
#define UR_UNMIX_LATENT 1e-7
/* Noise below this share of the samples may be rounding of few digits, which grows with them: it is
 * not asked to be as large in short samples as in long ones. */
#define UR_UNMIX_UNIFORM 1e-6

/* ---- with noise, in its deviations: band < on = left < beyond ---- */

#define UR_NOISE_BAND UR_FACET_BAND /* h of a unit that is off */
/* From here on a unit counts as on: at 3, one off in 740 would pass for on. */
#define UR_NOISE_ON 4.0
/* What a model may leave of the samples, root mean square. Noise leaves 1. */
#define UR_NOISE_LEFT   4.0
#define UR_NOISE_BEYOND UR_FACET_BEYOND /* a sample beyond a facet, and one that is not 0 */
/* Rounding is taken for noise of this many times its deviation over all samples, as it is larger
 * where samples are. */
#define UR_NOISE_ROUNDING 2.0

/* ---- noise as a share of the samples' root mean square ---- */

#define UR_NOISE_HIGH 0.03 /* from here on facets may be missed: a warning */
#define UR_NOISE_MOST 0.05 /* from here on they are: no attempt */
/* Noise up to so many deviations of the samples' rounding is that rounding: products of few digits
 * with others make up to twice of it. */
#define UR_NOISE_OF_ROUNDING 4.0
/* Mean square of what is left in the longer half of the samples over that in the shorter. Noise
 * gives 1, units that were not counted the ratio of the samples themselves, 5 and more. */
#define UR_NOISE_GROWTH 3.0

/* Noise above so many deviations of the samples' rounding is asked to be like noise. Rounding alone
 * leaves 0.3 to 1.8 of them, which is larger in large cells and would not pass. */
#define UR_ROUNDING_SURE 2.5
/* -ln of the chance at which what is left of the samples is no noise: true noise reached 5 in 200
 * runs, units that were not counted 12 and more. */
#define UR_REMAINDER_SURPRISE 10.0
/* The same where it has one dimension (d = p + 1), and singular values can say nothing of it */
#define UR_REMAINDER_ALONE 6.0

/* ---- singular values ---- */

#define UR_GAP_DECISIVE 100.0 /* ratio of neighbours that no unevenness of noise explains */
#define UR_GAP_SMALL    2.0   /* of the p-th and the next: below it p may be another, a warning */
#define UR_EXCESS_FLAT  1.1   /* over the largest singular value that noise makes: it is noise */
#define UR_EXCESS_EVEN  1.15  /* above it noise is not the same in every column: a warning */

/* ---- samples that the rules of the verdict ask for ---- */

enum {
    UR_FEWEST_OFF = 4,    /* for each of the p units: off in them, others on; at 3 wrong A passed */
    UR_FEWEST_ON = 3,     /* of a unit: one or two may be outliers */
    UR_FEWEST_RIDGE = 10, /* where two units are off */
    UR_FEWEST_A_UNIT = 2, /* that are not 0; there are fewer than p facets below it */
    UR_USUAL_A_UNIT = 20, /* found every facet where units are off half the time */
};
/* With noise, of two units i and j: samples where i is off and j on, for each one where j is on and
 * i just above the noise, and more than these. A facet of a unit has an atom of samples on it, also
 * among those where j is on. Where i is no unit but i less a part of j (rows of W nearly parallel),
 * the samples thin out towards the facet, and no more are within the noise than just above: 2 a + 3
 * of them have a chance of 1 in 8. Larger: units that are nearly always on or off together are
 * doubted. */
enum { UR_ATOM_A_NEAR = 2, UR_ATOM_FEWEST = 3 };
/* -ln of the chance at which a missing ridge is an alarm: 1 in 150 for each way to have one */
#define UR_RIDGE_SURPRISE 5.0

#endif
