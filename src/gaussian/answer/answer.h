/* SPDX-License-Identifier: Apache-2.0 */
/* What readers ask of a column, in the data's own unit: numbers of x = f(y), y ~ N(b, s^2), where f
 * undoes the transform. */
#ifndef UR_ANSWER_H
#define UR_ANSWER_H

#include "unrelu/unrelu.h"

typedef struct {
    unrelu_transform transform;
    double lambda; /* of Box-Cox or leaky */
    double b, s;
    double limit; /* on the scale of y; -inf: none */
} ur_column_law;

/* Mean and standard deviation of x before censoring, and the mean of max(limit, x): exact for none
 * and log; else integrals, to a relative 1e-9. NaN where b or s is, and for Box-Cox with a negative
 * power, by which x is infinite with a positive probability. */
typedef struct {
    double mean, sd, rectified;
} ur_moments;
ur_moments ur_answer_moments(const ur_column_law *law);

#endif
