/* SPDX-License-Identifier: Apache-2.0 */
/* The noiseless network: fixed points of pattern-CCA, joint Gauss-Newton for what they miss. */
#ifndef UR_EXACT_H
#define UR_EXACT_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"

/* --- search.c --- */
typedef struct {
    size_t k, found;
    double *V; /* (k, p) unit rows in the frame */
    double *w; /* (k, rank): their coordinates in y */
    size_t starts;
} ur_found;

/* Neurons of rho > 1 - slack among the fixed points of at most `starts` runs; gives up after
 * `patience` runs without any. y (n x rank) as of ur_frame_labels; wanted: how many exist. */
unrelu_status ur_exact_search(const ur_frame *frame, const double *y, size_t rank, size_t wanted,
                              double degree, double slack, size_t starts, size_t patience,
                              uint64_t seed, const unrelu_exec *exec, ur_arena *arena,
                              ur_found *found, unrelu_error *err);

/* --- exact.c --- */
/* with these terms */
unrelu_status ur_exact(const ur_problem *given, ur_terms terms, ur_outcome *out, unrelu_error *err);
/* with the biases asked for; auto: none, then both */
unrelu_status ur_exact_biases(const ur_problem *given, ur_outcome *out, unrelu_error *err);
/* U for the k rows of V (in the frame), a Gauss-Newton step, the certificate over all rows: where
 * these meet the labels out->answer is UR_EXACT, else out is as it was but for out->closest. frame
 * and y live as long as out. y (n x rank): the labels' basis, or NULL where they have fewer
 * dimensions than neurons; linear: the last 2 * linear rows are pairs v, -v */
unrelu_status ur_exact_finish(const ur_problem *given, const ur_frame *frame, const double *y,
                              size_t rank, size_t k, const double *V, size_t linear,
                              ur_outcome *out, unrelu_error *err);

/* --- linear_part.c --- */
/* Whether the labels are U f(V x) plus a map linear in x (affine where e is fitted), V (k x p) in
 * the frame: its rank (0: they are not, or nothing is left), and rows (rank x p) that span it,
 * room p x p */
unrelu_status ur_linear_part(const ur_frame *frame, size_t k, const double *V, unrelu_activation f,
                             double floor, size_t *rank, double *rows, unrelu_error *err);

#endif
