/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a network leaves of the labels can be noise. */
#ifndef UR_REST_H
#define UR_REST_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"

typedef struct {
    size_t rows;     /* different ones that were looked at; too few: nothing is told */
    double deviates; /* the largest of the statistics, in what one draw of noise in 100 exceeds */
    double limit;    /* of all 499 draws: noise is below it but once in 500 */
    /* shares of cells where a neuron is on that the network meets to the floor, and of rows about
     * which the labels are linear in x to it; 0: no more than noise may have */
    double met, linear;
    int is_function;  /* of the inputs: no noise, or not noise alone */
    const char *with; /* what it goes along with, of the largest: "the inputs" */
} ur_rest;

/* of weights that were fitted with these terms */
unrelu_status ur_rest_test(const ur_problem *given, const ur_weights *weights, ur_terms terms,
                           ur_rest *rest, unrelu_error *err);

/* --- noisy.c --- */
/* A noisy outcome says that what is left is noise, or becomes an approximate one, without standard
 * errors and without sigma, that says why it is none. */
void ur_rest_tell(const ur_rest *rest, ur_outcome *out);

/* --- affine_pieces.c --- */
/* of the first n rows of a frame with ones, those about which labels vary; 0 beyond 40 columns */
unrelu_status ur_rest_pieces(const ur_data *data, const ur_frame *frame, size_t n, double *share,
                             unrelu_error *err);

#endif
