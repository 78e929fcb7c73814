/* SPDX-License-Identifier: Apache-2.0 */
/* The noiseless network: fixed points of pattern-CCA, joint Gauss-Newton for what they miss. */
#ifndef UR_EXACT_H
#define UR_EXACT_H

#include "network/data/frame.h"
#include "network/data/watch.h"
#include "network/problem/outcome.h"

/* --- search.c --- */
typedef struct {
    size_t k, found;
    double *V; /* (k, p) unit rows in the frame */
    double *w; /* (k, rank): their coordinates in y */
    size_t starts;
    /* --- hunt.c --- */
    size_t opposite; /* rows behind these that are the opposite of some, and pass for neurons too */
    int complete;    /* the labels have no more kinks */
} ur_found;

typedef struct {
    const ur_frame *frame;
    const double *y; /* (n, rank), of ur_frame_labels */
    size_t rank;
    size_t wanted;   /* how many neurons exist */
    double degree;   /* of f */
    double slack;    /* neurons are the fixed points of rho > 1 - slack */
    size_t starts;   /* runs at most */
    size_t patience; /* runs without any neuron after which it gives up */
    uint64_t seed;
    const unrelu_exec *exec;
    ur_watch *watch;       /* may be NULL */
    const ur_found *known; /* what is known already, or NULL */
} ur_search;

/* what is found lies in the arena */
unrelu_status ur_exact_search(const ur_search *search, ur_arena *arena, ur_found *found,
                              unrelu_error *err);

/* Entries of unit rows of fixed points that are closer are those of one neuron: runs that end at
 * it differ by rounding (1e-15 to 1e-10), and two neurons so close are told as twins. */
#define UR_SAME_ROW 1e-6
/* whether v (p) is one of the rows of V, but for UR_SAME_ROW */
int ur_is_row_of(size_t rows, size_t p, const double *V, const double *v);

/* --- hunt.c --- */
/* none yet */
unrelu_status ur_found_open(const ur_search *search, ur_arena *arena, ur_found *found,
                            unrelu_error *err);
/* The same by the kinks alone, for f of degree 1 that rectifies; starts and patience are not looked
 * at. tolerance: of the rank of the labels */
unrelu_status ur_exact_kinks(const ur_search *search, double tolerance, ur_arena *arena,
                             ur_found *found, unrelu_error *err);
/* adds what it finds with signs to what is found already */
unrelu_status ur_exact_signed(const ur_search *search, ur_found *found, unrelu_error *err);

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
