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
/* on the rows of a frame, to be opened */
ur_folds ur_folds_of(const ur_frame *frame, const unrelu_exec *exec);
/* a student, on rows of the data */
typedef struct {
    ur_frame frame;
    ur_folds folds;
    ur_fold_state s;
    int met;      /* s meets the labels of its folds */
    int trimmed;  /* these are some rows of the frame: rare sides were left out */
    size_t tried; /* rows of the largest student */
    int noisy;    /* more rows did not help: what is left looks like noise */
} ur_student;

/* From few random rows by births until the labels are met, then pruned; with k given from a few
 * more than k. attempt: which random numbers. */
unrelu_status ur_fold_grow(const ur_problem *given, ur_terms terms, size_t attempt, ur_arena *arena,
                           ur_student *student, unrelu_error *err);

/* to all rows that may be used, where neurons appear of which the student's rows show too little */
unrelu_status ur_fold_use_all(const ur_problem *given, ur_arena *arena, ur_student *student,
                              unrelu_error *err);

/* --- fold_rare.c --- */
/* Leaves out rows of s on folds (s meets most of them) until the rest is met: then on_some is the
 * pruned student on `some` of the rows, in the arena. s may improve. */
unrelu_status ur_fold_trim(const ur_folds *folds, ur_fold_state *s, ur_arena *arena, ur_folds *some,
                           ur_fold_state *on_some, int *met, unrelu_error *err);
/* From a student that meets some rows to one on so many, spread over the data: neurons are added
 * for those that it does not meet, up to `most` */
unrelu_status ur_fold_widen(const ur_problem *given, size_t rows, size_t most, ur_arena *arena,
                            ur_student *student, unrelu_error *err);

/* --- fold_rest.c --- */
/* rows of the data in a frame: z (count, p) and a (count, m); raw: room for (count, q) */
void ur_fold_enter(const ur_problem *given, const ur_frame *frame, size_t count, const size_t *row,
                   double *raw, double *z, double *a);
/* R (count, m): of these rows of the data, in the units of the frame */
unrelu_status ur_fold_rest(const ur_problem *given, const ur_student *student, size_t count,
                           const size_t *row, double *R, unrelu_error *err);
/* as s->share, of some of the rows that the student was not fitted to; 0 where there are none */
unrelu_status ur_fold_held_share(const ur_problem *given, const ur_student *student, double *share,
                                 unrelu_error *err);

/* --- fold_shelf.c --- */
/* whether the smallest dimensions of what is not linear in the labels (s has no rows) are noise */
unrelu_status ur_fold_shelf(const ur_folds *folds, const ur_fold_state *s, double tolerance,
                            int *shelf, unrelu_error *err);

/* --- signless.c --- */
/* whether the labels may be of more neurons than they have dimensions, without noise */
unrelu_status ur_signless_applies(const ur_problem *given, int *yes, unrelu_error *err);
unrelu_status ur_signless(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
