/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a source: the blocks of the file are summarised on several threads and their
 * sums added in the order of the blocks, so that the bits do not depend on the thread count. */
#ifndef UR_PASS_H
#define UR_PASS_H

#include "summary/summary.h"

/* Rewinds nothing: a source is passed from where it stands (at its start once opened; call
 * ur_source_rewind before a second pass). s: summary->len(plan) zeroed doubles. Of several
 * errors the one of the earliest block is reported. */
unrelu_status ur_pass(unrelu_source *source, const ur_summary *summary, void *plan,
                      const unrelu_exec *exec, const char *stage, double *s, unrelu_error *err);

/* An ordered fold: blocks in order, parallel over columns, never merged. step sees every
 * block, for each column on one thread at a time. */
typedef struct {
    void (*step)(void *state, size_t column, const ur_block *block);
    int limits; /* cells below detection limits are read too (block->below) */
} ur_fold;
unrelu_status ur_fold_run(unrelu_source *source, const ur_fold *fold, void *state,
                          const unrelu_exec *exec, const char *stage, unrelu_error *err);

#endif
