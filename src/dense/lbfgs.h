/* SPDX-License-Identifier: Apache-2.0 */
/* A minimum of a smooth function of many numbers by its gradient (L-BFGS). */
#ifndef UR_LBFGS_H
#define UR_LBFGS_H

#include "unrelu/unrelu.h"

typedef struct {
    double (*f)(void *context, const double *x, double *gradient);
    void *context;
    size_t len;              /* of x */
    const double *curvature; /* len, above 0: second derivatives up to a common factor, roughly */
    double enough; /* the search ends where f is not above it, or falls by less for long */
    int most;      /* steps */
} ur_lbfgs;

/* From x to where the search ends, never uphill. The gradient is that of a start inside the domain:
 * finite. *evaluations counts calls of f and may be NULL. */
unrelu_status ur_lbfgs_minimise(const ur_lbfgs *search, double *x, double *value, int *evaluations,
                                unrelu_error *err);

#endif
