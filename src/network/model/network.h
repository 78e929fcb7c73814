/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Rows are samples; a network is a = U f(V x + c) + e with
 * V (k x d), U (m x k). */
#ifndef UR_NETWORK_H
#define UR_NETWORK_H

#include "dense/activation.h"
#include "model/kind.h"

/* rows of inputs and labels, borrowed; finite */
typedef struct {
    size_t n, d, m;
    const double *x; /* (n, d) */
    const double *a; /* (n, m) */
} ur_sample;

/* a network without what is known of it; also a view of a model's weights */
typedef struct {
    size_t d, k, m;
    unrelu_activation f;
    double *U, *V, *c, *e; /* m x k, k x d, k, m; of a view c and e may be NULL */
} ur_weights;

/* streams of the random numbers of one seed */
enum {
    UR_STREAM_PLANT_V = 10,
    UR_STREAM_PLANT_U,
    UR_STREAM_PLANT_BIAS,
    UR_STREAM_INPUTS, /* and the two after it, for laws that need more than one number */
    UR_STREAM_NOISE = 16,
    UR_STREAM_EXACT, /* starts of the exact search */
    UR_STREAM_FILL,  /* starts of joint Gauss-Newton */
    UR_STREAM_ALS,
    UR_STREAM_ICA,
    UR_STREAM_SPAN,
    UR_STREAM_FACETS,
    UR_STREAM_TENSOR,
    UR_STREAM_REST,   /* signs of residuals */
    UR_STREAM_FOLDS,  /* rows of folds without signs: first ones */
    UR_STREAM_BIRTHS, /* and further ones */
    UR_STREAM_HUNT,   /* starts of the deflated search */
    UR_STREAM_PROBE,  /* draws that look for the sample of largest leverage */
};

/* --- network_model.c --- */
extern const ur_kind ur_network_kind; /* network_file.c */
/* an empty one, with NaN for what was not measured; NULL and a sentence where memory ended */
unrelu_network *ur_network_new(unrelu_error *err);
void ur_network_set_activation(unrelu_network *model, unrelu_activation f); /* and its name */
/* U, V, c, e, active (zeroed) and names x1.., a1.. where they are NULL; d, k, m are set */
unrelu_status ur_network_alloc(unrelu_network *model, unrelu_error *err);
/* Brings to the form the header promises: unit rows of V where f is homogeneous, decreasing
 * column norms of U. active, V_se, U_se, c_se follow where they are not NULL (errors are not
 * rescaled: they must be of the final scale already). */
unrelu_status ur_network_normalise(unrelu_network *model, unrelu_error *err);
ur_weights ur_network_weights(const unrelu_network *model);
/* the same form, of weights; order (k): which neuron became the j-th */
unrelu_status ur_weights_normalise(ur_weights *weights, size_t *order, unrelu_error *err);

/* --- predict.c --- */
/* y (rows, m) = U f(V x + c) + e; t (rows x k) is scratch and keeps f(V x + c) */
void ur_network_forward(const ur_weights *weights, const double *x, size_t rows, double *t,
                        double *y);
/* all rows, in blocks of fixed size; x (n, d) is finite */
unrelu_status ur_network_outputs(const ur_weights *weights, const double *x, size_t n,
                                 const unrelu_exec *exec, double *y, unrelu_error *err);

#endif
