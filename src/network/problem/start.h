/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that start from an approximation. Each gives V (k x d), unit rows in the data's own
 * coordinates, close to the truth but not exact, and c (k) where it can (else zeros). What the
 * paper promises and what could be checked is written into `note`. A method that cannot work on
 * these data fails with UNRELU_EDATA and a sentence with numbers. */
#ifndef UR_START_H
#define UR_START_H

#include "network/model/network.h"

typedef struct {
    char guarantee[320], assumption[320];
} ur_start_note;

typedef struct {
    ur_sample sample;
    size_t k;
    unrelu_activation f;
    int hidden;         /* c is fitted too */
    int constant;       /* e is fitted too */
    int order;          /* of a tensor's score */
    int literal;        /* a tensor by the steps that are printed */
    unrelu_signs signs; /* how those of a tensor are found */
    uint64_t seed;
    const unrelu_exec *exec;
    const unrelu_network *network; /* options.start */
} ur_start;

/* --- moments.c --- */
typedef enum {
    UR_MOMENTS_PLAIN,     /* E[a (xx' - I)], whitened x: the letter of Algorithm 4 at order 2 */
    UR_MOMENTS_LINEAR,    /* the same of the residual of a on [1, x] */
    UR_MOMENTS_REDUCED,   /* then least squares on [1, z, zz'] in the k-dimensional row space */
    UR_MOMENTS_QUADRATIC, /* least squares on [1, x, xx'] in all d dimensions */
} ur_moments_kind;
/* rows up to sign; k <= d. `fit` (may be NULL): relative residual of the decomposition */
unrelu_status ur_start_moments(const ur_start *start, ur_moments_kind kind, double *V, double *fit,
                               unrelu_error *err);
/* Algorithm 4 with the order-2, 3 or 4 score; rows up to sign */
unrelu_status ur_start_tensor(const ur_start *start, int order, double *V, ur_start_note *note,
                              unrelu_error *err);

/* the same by the steps that are printed, order 3, or 4 in its place */
unrelu_status ur_start_algorithm_4(const ur_start *start, int order, double *V, ur_start_note *note,
                                   unrelu_error *err);
/* of a Hermite coefficient: quadrature leaves 1e-15 of one that is 0 */
#define UR_NO_SIGNAL 1e-6
/* fails with EDATA where the Hermite coefficient of the order is 0 or infinite */
unrelu_status ur_tensor_signal(unrelu_activation f, int order, unrelu_error *err);

/* --- row_signs.c --- */
/* flips rows of V to the signs of the network */
unrelu_status ur_start_signs(const ur_start *start, unrelu_signs method, double *V,
                             unrelu_error *err);
/* Gaussian x, f relu: signs and hidden biases together from E[a x'] and E[a (xx' - I)]; rows of V
 * up to sign become signed, c is set. *weak counts neurons with |c| beyond 2.5, which hardly
 * switch. */
unrelu_status ur_start_biases(const ur_start *start, double *V, double *c, size_t *weak,
                              unrelu_error *err);

/* --- ica.c: Algorithm 3, steps 1 to 3 --- */
/* c is not looked at: there are no biases */
unrelu_status ur_start_ica(const ur_start *start, double *V, double *c, ur_start_note *note,
                           unrelu_error *err);
/* --- symmetric.c --- */
unrelu_status ur_start_symmetric(const ur_start *start, double *V, double *c, ur_start_note *note,
                                 unrelu_error *err);
/* --- lifted.c --- */
unrelu_status ur_start_lifted(const ur_start *start, double *V, double *c, ur_start_note *note,
                              unrelu_error *err);
/* --- label_facets.c --- */
unrelu_status ur_start_facets(const ur_start *start, double *V, double *c, ur_start_note *note,
                              unrelu_error *err);

/* --- as_given.c --- */
/* the rows of the network that was given */
unrelu_status ur_start_network(const ur_start *start, double *V, double *c, ur_start_note *note,
                               unrelu_error *err);

/* --- systems.c: Algorithm 5 and steps 4 to 8 of Algorithm 3 --- */
/* From rows of V with unknown signs (or signed) to exact ones by one linear system each;
 * exact[j] = 0 where no system of neuron j had a solution (V_j is then as given). */
unrelu_status ur_exactify_systems(const ur_start *start, double *V, double *c, int *exact,
                                  unrelu_error *err);

#endif
