/* SPDX-License-Identifier: Apache-2.0 */
/* Pattern-CCA: one neuron from the row space of the labels. For rows x (whitened, p) and y (k
 * orthonormal columns spanning the labels) a neuron v with pattern S = {v x > 0} minimises
 *   sum_i (w y_i - (v x_i) 1{i in S})^2,  |w| = 1:
 * the top canonical pair of y and x restricted to S; its squared correlation rho is 1 where v is
 * a neuron of the network and 0 < rho < 1 elsewhere. The step v -> S -> v is repeated until S
 * repeats, 3 to 9 times; no tuning. For f = t^q the features are (v x)^(q-1) x and the step is
 * damped by 1 / q.
 * Cost of a step: |S| p (p + 2k) + p^3 / 3 flops and smaller terms; from the second step on only
 * the rows that joined or left S are summed. */
#ifndef UR_PATTERN_H
#define UR_PATTERN_H

#include "base/arena.h"

typedef struct {
    size_t n, p, k;
    const double *x; /* (n, p), x'x = n I */
    const double *y; /* (n, k), y'y = I */
    double degree;   /* of f */
} ur_pattern;

typedef struct ur_pattern_room ur_pattern_room; /* scratch of one thread */

typedef struct {
    double rho, second; /* largest and second largest squared correlation; 0 where it failed */
    double spread;      /* smallest pivot of the Gram matrix of x over S, relative to the largest */
    double leverage;    /* largest of any sample in the equations of (w, v): see ur_pattern_look */
    size_t active;      /* |S| */
} ur_pattern_end;

/* in the arena, whose status says whether it is whole */
ur_pattern_room *ur_pattern_room_in(ur_arena *arena, const ur_pattern *problem);

/* v (p): the start, then the unit vector it leads to; w (k): its coordinates in y. stop (may be
 * NULL) holds `stops` unit vectors: a run that comes within cosine 0.95 of one ends at once with
 * rho = 0. */
ur_pattern_end ur_pattern_run(const ur_pattern *problem, ur_pattern_room *room, const double *stop,
                              size_t stops, double *v, double *w);

/* The settled step at v itself, which stays as it is; problem->k may be 0, for spread alone.
 * leverage: of the equations w y_i = (v x_i) 1{i in S}, how much of its own is decided by the one
 * that decides most. At 1 the neuron hinges on one sample, which would fit whatever it is: with it
 * left out there are other neurons. The sample is found by random draws, of which the equations
 * leave nothing there, in passes over the rows; one of leverage near 1 is not missed, and below
 * that another may have a little more. A sample on the kink, |v x| <= kink, counts as off: it could
 * make a row look determined that is free to turn about it. */
ur_pattern_end ur_pattern_look(const ur_pattern *problem, ur_pattern_room *room, const double *v,
                               double kink);

/* Below this spread the inputs of S do not span their space, and v is not determined by them: the
 * Gram matrix has half of the digits. */
#define UR_PATTERN_FLAT 1e-10

#endif
