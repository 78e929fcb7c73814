/* SPDX-License-Identifier: Apache-2.0 */
/* Between noisy.c (which k, which biases), starts.c (the best of several starts for given ones)
 * and likelihood.c (the final fit over all rows, with its errors). */
#ifndef UR_NOISY_H
#define UR_NOISY_H

#include "network/problem/recover.h"

/* the best of several starts on the rows of a frame */
typedef struct {
    ur_newton_fit fit; /* in the frame */
    double residual;   /* relative */
    double bic;
    size_t starts, agree;
    int skipped; /* the moment starts could not be had */
} ur_best;

/* Ends as soon as `enough` starts agree on the best. before (may be NULL): rows v, c (smaller x q)
 * of the best fit with fewer neurons, which random ones complete to one more start. */
unrelu_status ur_starts(ur_recover *r, const ur_frame *frame, size_t k, size_t enough,
                        const double *before, size_t smaller, ur_arena *arena, ur_best *best,
                        unrelu_error *err);
/* free parameters of a network with these terms */
double ur_parameters(const ur_recover *r, size_t k, ur_terms terms);

/* The labels are met by a fit of all neurons at once: those that they do without are dropped from
 * it, then the certificate and the rules of the exact branch, on the rows of the frame. */
unrelu_status ur_joint_finish(ur_recover *r, const ur_frame *frame, ur_newton_fit *fit, int *met,
                              unrelu_error *err);

/* From a fit on the rows of a frame to the maximum likelihood over all rows: the model, its
 * noise, its standard errors, verdict "noisy". */
unrelu_status ur_likelihood(ur_recover *r, const ur_frame *frame, const ur_newton_fit *start,
                            unrelu_error *err);

#endif
