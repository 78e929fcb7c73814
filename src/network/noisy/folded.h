/* SPDX-License-Identifier: Apache-2.0 */
/* Starts for noisy labels from rows without signs (signless/fold.h). */
#ifndef UR_FOLDED_H
#define UR_FOLDED_H

#include "network/data/frame.h"
#include "network/problem/problem.h"

/* whether the activation has such a form, and there are labels enough for k neurons */
int ur_folded_applies(const ur_problem *given, ur_terms terms, size_t k);
/* Rows v, c (*k x q, with their signs) of *k neurons, or of as many as BIC finds, up to `most`,
 * where *k is 0. rows: of the data, at most; attempt: which random numbers. *k is 0 where the
 * labels are too few. The rows are the arena's. */
unrelu_status ur_folded_start(const ur_problem *given, ur_terms terms, size_t rows, size_t most,
                              size_t attempt, size_t *k, ur_arena *arena, double **raw,
                              unrelu_error *err);

/* --- folded_signs.c --- */
/* Signs of rows T (k x p) of a frame with which relu(+-x t) leave least of the labels by least
 * squares, of those tried. *rss: what they leave; attempt: which random numbers */
unrelu_status ur_folded_signs(const ur_frame *frame, size_t k, const double *T, uint64_t seed,
                              size_t attempt, int *signs, double *rss, unrelu_error *err);

#endif
