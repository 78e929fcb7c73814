/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical decomposition of a stack of symmetric matrices:
 *   T_r ~ sum_j g_jr v_j v_j',  r = 1 .. r, T_r (q x q), j = 1 .. k,
 * by alternating least squares from a given start. k may exceed r and q. */
#ifndef UR_ALS_H
#define UR_ALS_H

#include "unrelu/unrelu.h"

typedef struct {
    size_t r, q, k;
    const double *T; /* (r, q, q), symmetric in the last two */
} ur_als;

/* At most `steps` sweeps over the factors, fewer where the relative gain of five of them falls
 * below 1e-10. V (k x q): any start with no zero row; becomes unit vectors, each up to sign. G (k
 * x r) is set. *fit = |T - sum_j g_j (x) v_j v_j'| / |T| of what is returned (0 for T = 0). */
unrelu_status ur_als_run(const ur_als *problem, int steps, double *V, double *G, double *fit,
                         unrelu_error *err);

#endif
