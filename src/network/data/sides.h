/* SPDX-License-Identifier: Apache-2.0 */
/* Kinks, and on which side of each neuron's the samples lie that the solver saw. */
#ifndef UR_SIDES_H
#define UR_SIDES_H

#include "network/data/frame.h"

/* The size of the terms of v x + c, in the scales of the inputs' columns, times UR_KINK. */
double ur_kink_row(const ur_data *data, const double *x);    /* size of a row */
double ur_kink_neuron(const ur_data *data, const double *v); /* of a neuron */
static inline double ur_kink(double row, double neuron, double c)
{
    return UR_KINK * (neuron * row + (c < 0 ? -c : c));
}

typedef struct {
    size_t n, k;
    /* (n, k): 1 on, -1 off, 0 where v x + c is so small that a label would be met as well on the
     * other side, on the kink among them */
    signed char *told;
    size_t *on, *off; /* k */
    size_t on_kink;   /* cells of 0, but for rows of zeros */
} ur_sides;

unrelu_status ur_sides_set(const ur_data *data, const ur_weights *weights, const ur_frame *frame,
                           ur_arena *arena, ur_sides *s, unrelu_error *err);
/* 1: one pattern; -1: opposite ones; 0: neither. Samples whose labels do not tell fit both. */
int ur_sides_compare(const ur_sides *s, size_t a, size_t b);

#endif
