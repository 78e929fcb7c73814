/* SPDX-License-Identifier: Apache-2.0 */
/* How closely labels can be met, and what follows from it. From fine to coarse:
 *   floor      relative residual at which a column of labels counts as met: what its digits leave
 *   tolerance  of the rank of the labels: directions below it are rounding
 *   slack      1 - rho of a fixed point that counts as a neuron: the square of the floor
 *   doubt      the values of verdict/rules.c: fits that are met, and yet not called unique
 * All of them grow with the rounding of the labels; for labels of full precision they are the
 * constants below. */
#ifndef UR_TOLERANCE_H
#define UR_TOLERANCE_H

#include "network/problem/problem.h"

#include <math.h>

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

/* 1 - rho of a fixed point of pattern-CCA that is a neuron; rho is a squared correlation, so that
 * labels with an error of the floor leave its square */
static inline double ur_exact_slack(const ur_data *data)
{
    return fmax(1e-9, data->floor * data->floor);
}

/* rss / |A|^2 at which Gauss-Newton may end: a tenth of the floor, squared */
static inline double ur_newton_floor(const ur_data *data)
{
    return data->floor * data->floor / 100;
}

#endif
