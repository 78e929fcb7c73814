/* SPDX-License-Identifier: Apache-2.0 */
/* One linear programme, tall and dense, by Clp (clp.cpp). lp_none.c stands in for lp.c where the
 * library is built without Clp. */
#ifndef UR_LP_H
#define UR_LP_H

#include "unrelu/unrelu.h"

typedef enum {
    UR_LP_OPTIMAL,
    UR_LP_UNBOUNDED,
    UR_LP_INFEASIBLE,
    UR_LP_STALLED, /* the solver gave up */
} ur_lp_outcome;

/* UNRELU_EUSAGE where there is no Clp. Asked before any work by what cannot do without; user, what
 * needs it, begins the sentence. */
unrelu_status ur_lp_ready(const char *user, unrelu_error *err);

/* u (p) of least c'u with R u >= 0 and r'u = 1, R (n x p); u is a vertex, and is written only
 * where the outcome is optimal. R u >= 0 and r'u = 1 hold to about 1e-11 where rows of R have a
 * length of about 1. */
unrelu_status ur_lp_ray(size_t n, size_t p, const double *R, const double *c, const double *r,
                        double *u, ur_lp_outcome *outcome, unrelu_error *err);

#endif
