/* SPDX-License-Identifier: Apache-2.0 */
/* The least value of a function of one number: on a grid, and from there by golden sections. */
#ifndef UR_MINIMUM_H
#define UR_MINIMUM_H

#include "unrelu/unrelu.h"

typedef struct {
    unrelu_status (*f)(void *context, double x, double *value, unrelu_error *err);
    void *context;
    double from, step; /* the grid */
    size_t points;
    double width; /* golden sections end where the bracket is no wider, */
    int sections; /* or after so many */
} ur_minimum;

/* *x: the middle of the last bracket */
unrelu_status ur_minimum_find(const ur_minimum *search, double *x, unrelu_error *err);

#endif
