/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples say of V at one network, U and e eliminated: H of newton_work.h, at a scale
 * where rounding is the same for all neurons. Standard errors and leverages are made of it. */
#ifndef UR_NEWTON_INFORMATION_H
#define UR_NEWTON_INFORMATION_H

#include "network/newton/newton_work.h"

typedef struct {
    ur_newton_work work;
    int gauge;     /* f is homogeneous: H has a gauge, in which it is singular otherwise */
    double *G;     /* kp x kp, lower: H in units where its diagonal was 1 with U and e free */
    double *L;     /* kp x kp, lower: G = L L' */
    double *Z;     /* q x kp: (F'F)^-1 F'W; behind it room of the same size */
    double *scale; /* kp: these units, V = scale times what G is for */
    int *empty;    /* k: no information on v_j */
    int regular;   /* there is L; else nothing above need be set */
    /* Smallest square of L's diagonal, and smallest share of a feature that the others do not span:
     * G errs by rounding over the latter, what is solved with it by that over the former. */
    double pivot, share;
} ur_newton_information;

/* at the V, U and e of fit; above k p = 6000 nothing is computed. n (kp)^2 + (kp)^3 / 3 flops; the
 * arrays are the arena's */
unrelu_status ur_newton_inform(const ur_newton *problem, const ur_newton_fit *fit, ur_arena *arena,
                               ur_newton_information *info, unrelu_error *err);

#endif
