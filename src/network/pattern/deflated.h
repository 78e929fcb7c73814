/* SPDX-License-Identifier: Apache-2.0 */
/* Pattern-CCA (pattern.h) that does not find what is known, with signs and without them.
 *
 * Deflation: with G = sum over S = {v x > 0} of x x', C = sum over S of x y', K = C'G^-1 C, what
 * known neurons can add is free,
 *   1 - rho = min w'(I - K) w over w whose part beside the coordinates of what is known has length
 *   1, then v <- G^-1 C w,
 * by inverse iteration with I - K. No neuron is found twice, and the constant, which swallows most
 * starts where biases are fitted, is known from the beginning.
 *
 * Without signs: relu(t) = (t + |t|) / 2. With a free part that is linear in x, a neuron is |v x|,
 * and v and -v are the same: with P the projection off x and y the span of what the labels have
 * outside of x,
 *   |y w - P |x v|| = |y w - 2 P 1_S x v|: as above with G - G^2 / n in the place of G.
 * A random start does not have to guess the sign of its neuron then, and nearly each finds one.
 * Both sides of a kink need p + 1 rows, and n more than 2 p + k (with fewer rho is 1 at a v that is
 * wrong); with signs a neuron needs them only where it is on, and k where it is off.
 *
 * The step is repeated until S repeats, mostly 7 to 9 times. Cost of a step: the rows that joined
 * or left S times p (p + 2 k), 4/3 p^3 (with signs p^3 / 3), p k (p + k), k^3 / 3 flops. */
#ifndef UR_DEFLATED_H
#define UR_DEFLATED_H

#include "base/arena.h"

typedef struct {
    size_t n, p, k;
    const double *x;     /* (n, p), x'x = n I */
    const double *y;     /* (n, k), y'y = I; without signs x'y = 0 */
    int signs;           /* else v and -v are the same */
    const double *known; /* (knowns, k): orthonormal, spans the coordinates in y of what is known */
    size_t knowns;
} ur_deflated;

typedef struct {
    double rho;   /* the squared correlation, not deflated; 0 where the run failed */
    double fresh; /* |w| beside what is known, of |w|: 0 at a known neuron */
    size_t on;    /* rows of S */
} ur_deflated_end;

typedef struct ur_deflated_room ur_deflated_room; /* scratch of one thread */

/* in the arena, whose status says whether it is whole */
ur_deflated_room *ur_deflated_room_in(ur_arena *arena, const ur_deflated *problem);

/* v (p): the start, then the unit vector that it leads to; w (k): a start beside what is known,
 * then the coordinates in y of the neuron (without signs, of |v x| off x), of unit length. */
ur_deflated_end ur_deflated_run(const ur_deflated *problem, ur_deflated_room *room, double *v,
                                double *w);

/* A start where the labels are: v = the eigenvector of the largest eigenvalue, in size, of
 * x'diag(y w) x, roughly, from the v given. */
void ur_deflated_aim(const ur_deflated *problem, ur_deflated_room *room, const double *w,
                     double *v);

#endif
