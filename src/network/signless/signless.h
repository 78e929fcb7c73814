/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer labels than neurons, without noise: the network without the signs of its rows (fold.h), by
 * students that grow until they meet the labels and are pruned to as few rows as meet them. Any
 * inputs; relu and leaky relu. */
#ifndef UR_SIGNLESS_H
#define UR_SIGNLESS_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"
#include "network/signless/fold.h"

/* --- fold_growth.c --- */
/* a student, on rows of the data */
typedef struct {
    ur_frame frame;
    ur_folds folds;
    ur_fold_state s;
    double best;  /* share of the folded part that the best student left, as s->share */
    size_t tried; /* rows of the largest student */
} ur_student;

/* From few random rows by births until the labels are met, then pruned; with k given from a few
 * more than k. student->s.share <= folds.met where it succeeded. attempt: which random numbers. */
unrelu_status ur_fold_grow(const ur_problem *given, ur_terms terms, size_t attempt, ur_arena *arena,
                           ur_student *student, unrelu_error *err);

/* --- signless.c --- */
unrelu_status ur_signless(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
