/* SPDX-License-Identifier: Apache-2.0 */
/* How closely labels can be met, and what follows from it. From fine to coarse:
 *   floor      relative residual at which a column of labels counts as met: what its digits leave
 *   tolerance  of the rank of the labels: directions below it are rounding
 *   slack      1 - rho of a fixed point that counts as a neuron, and the width of a kink
 *   doubt      fits that are met, and yet not called unique: the rules of verdict/network_rules.c
 * The first three grow with the rounding of the labels; for labels of full precision they are the
 * constants below. Tests: test_recover_data (floor), test_network_tolerances (tolerance, slack),
 * test_network_rules (kink, doubt). */
#ifndef UR_TOLERANCE_H
#define UR_TOLERANCE_H

#include "network/problem/problem.h"

#include <math.h>

/* ---- floor and tolerance ---- */

/* doubles: Gauss-Newton leaves 1e-15 of the labels (newton.h); the rest is for inputs that are
 * nearly dependent and for what was rounded on the way to a file. Noise below it is taken for
 * rounding. */
#define UR_FLOOR_DOUBLE     1e-12
#define UR_TOLERANCE_DOUBLE 1e-10
/* single precision rounds by 3e-8 of a label; a forward pass in it errs by a few times that */
#define UR_FLOOR_SINGLE     5e-7
#define UR_TOLERANCE_SINGLE 3e-6
/* of labels printed with few digits, in their rounding (half a unit of the last one); beyond the
 * largest of them they say too little, whatever they are */
#define UR_FLOOR_ROUNDINGS     4
#define UR_FLOOR_MOST          1e-3
#define UR_TOLERANCE_ROUNDINGS 10
#define UR_TOLERANCE_MOST      1e-2

/* rss / |A|^2 at which Gauss-Newton may end: a tenth of the floor, squared */
static inline double ur_newton_floor(const ur_data *data)
{
    return data->floor * data->floor / 100;
}

/* ---- slack ---- */

/* of labels of full precision: rounding leaves 1e-15 to 1e-12 of rho, what is no neuron mostly
 * 1e-3. Larger, and fixed points of neurons at small angles are taken for neurons. */
#define UR_SLACK_DOUBLE 1e-9
/* rho is a squared correlation, so that labels with an error of the floor leave its square */
static inline double ur_exact_slack(const ur_data *data)
{
    return fmax(UR_SLACK_DOUBLE, data->floor * data->floor);
}

/* Of the size of the terms of v x + c: whether it is above 0, below, or there to within rounding.
 * Larger, and samples count on neither side of a kink that rounding does not reach. */
#define UR_KINK 1e-9
/* Kinks are this many UR_KINK wide: 1 for labels of full precision; with fewer digits v, and with
 * it the kink, is less sure, by a part of the floor, as v is known better than a label. */
#define UR_KINKS_IN_A_FLOOR 50
static inline double ur_kink_width(const ur_data *data)
{
    return fmax(1, data->floor / UR_KINKS_IN_A_FLOOR / UR_KINK);
}

/* ---- doubt ---- */

/* Of labels of few digits, what a network may leave of a column, in its rounding. Fits leave about
 * 1, of 50 rows 1.3 once in a million. Of 92 planted networks of 4 to 8 digits that were called
 * exact without a neuron of the size of the rounding, 34 leave more than 1.5; so do 44 of 925 right
 * ones, whose solver stopped within the floor. */
#define UR_ROUNDINGS_LEFT 1.5

/* rows that the solver did not see, d + k of them and at least so many: of few values two new ones
 * say little */
#define UR_LEAST_HELD 10

/* 1 - rho_2 of a neuron's pattern, a hundred times the slack within which rho of the neuron itself
 * is 1: a second direction this close to it may be one that rounding moved. Larger, and networks
 * with neurons at small angles are doubted. */
#define UR_SECOND_DIRECTION 1e-7
/* 1 - leverage: whatever the label of the sample that decides most, its own equation shows only
 * this share of an error in it. */
#define UR_HINGE 1e-6
/* Of the digits of the labels, the share that is left of V where inputs are nearly dependent, or a
 * neuron makes little of the labels: eight of sixteen, for inputs of condition 3e7; four of eight
 * for labels in single precision. Larger, and inputs with noise of 1e-6 on a few dimensions are
 * doubted, of which V is known to 1e-9. */
#define UR_DIGITS_OF_V 0.5
/* The same where labels carry few digits, in floors: an error of a thousandth must show. */
#define UR_HINGE_FLOORS 1000
static inline double ur_hinge(const ur_data *data)
{
    return fmin(1, fmax(UR_HINGE, UR_HINGE_FLOORS * data->floor));
}
/* of the length of a row: the outputs of closer neurons are known to five digits fewer than their
 * sum, as f(v x) of the two differs by so little */
#define UR_TWINS 1e-5
/* of its length: what a row of V that lies in the span of others has outside of it */
#define UR_SPANNED 1e-8
/* sine of the angle between columns of U that count as parallel: rounding leaves 1e-15 to 1e-10 */
#define UR_PARALLEL 1e-6
/* Chance of the gap at a kink, of a law without gaps, below which neurons are doubted. Of 1.1e6
 * planted neurons on eight such laws (n = 60 to 3000) 7 were below it, as both sides are asked; of
 * kinks among clusters that are 20 apart half, 6 apart 8 %. */
#define UR_GAP_CHANCE 1e-4

#endif
