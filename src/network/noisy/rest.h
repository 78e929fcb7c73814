/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a network leaves of the labels can be noise. */
#ifndef UR_REST_H
#define UR_REST_H

#include "network/problem/outcome.h"

typedef struct {
    size_t rows;     /* different ones that were looked at; too few: nothing is told */
    double deviates; /* the largest of the statistics, in their deviations under noise */
    double limit; /* the largest of all draws of signs: noise is below it but once in DRAWS + 1 */
    double met;   /* share of the cells where a neuron is on that the network meets to the floor */
    int is_function;  /* of the inputs: no noise, or not noise alone */
    const char *with; /* what it goes along with, of the largest: "the inputs" */
} ur_rest;

unrelu_status ur_rest_test(const ur_problem *given, const ur_weights *weights, ur_rest *rest,
                           unrelu_error *err);

#endif
