/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary to Clp, which is C++ and throws where memory is short: nothing that is thrown goes
 * beyond it. */
#ifndef UR_CLP_H
#define UR_CLP_H

#ifdef __cplusplus
extern "C" {
#endif

/* min cost'l subject to A l = c, l >= lower; A is dense and given by columns */
typedef struct {
    int rows, columns;
    const int *start, *index; /* columns + 1 of them; rows * columns */
    const double *value, *lower, *cost;
} ur_clp;

typedef enum {
    UR_CLP_OPTIMAL,
    UR_CLP_INFEASIBLE,
    UR_CLP_UNBOUNDED,
    UR_CLP_GAVE_UP,
    UR_CLP_NO_MEMORY,
    UR_CLP_THREW, /* something else: a bug, of ours or of Clp */
} ur_clp_end;

/* tolerance: of the reduced costs. price (rows, may be NULL) is written where it is optimal. */
ur_clp_end ur_clp_solve(const ur_clp *problem, const double *c, double tolerance, double *price);

#ifdef __cplusplus
}
#endif

#endif
