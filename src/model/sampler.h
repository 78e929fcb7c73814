/* SPDX-License-Identifier: Apache-2.0 */
/* Draws of rectified normals, mixed or as they are: what the models that are sampled fill in. */
#ifndef UR_SAMPLER_H
#define UR_SAMPLER_H

#include "unrelu/unrelu.h"

/* Borrowed while the sampler is made; all is finite. */
typedef struct {
    size_t d, p;                           /* columns of x and of m */
    const double *b, *scale, *correlation; /* p, p, p x p */
    const double *limit;                   /* p, or NULL: 0 */
    unrelu_transform transform;            /* of the values of m */
    const double *lambda;                  /* p, or NULL */
    const double *A;                       /* d x p, or NULL: x = m */
    double noise;                          /* of x = A m + noise e */
} ur_sampled;

unrelu_status ur_sampler_make(const ur_sampled *law, uint64_t seed, unrelu_sampler **out,
                              unrelu_error *err);

#endif
