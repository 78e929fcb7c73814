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

/* An ordered fold: blocks in order, a window of them at a time, never merged. NULL: not needed. */
enum { UR_FOLD_WINDOW = 8 }; /* blocks at once: bounded memory, work for 8 threads */
typedef struct {
    /* sees every block of a window, on several threads; slot: its place in the window */
    unrelu_status (*turn)(void *state, size_t slot, const ur_block *block, unrelu_error *err);
    /* then sees every block in order, for each column on one thread at a time */
    void (*step)(void *state, size_t column, const ur_block *block);
    /* then sees every block in order, on the calling thread */
    unrelu_status (*drain)(void *state, size_t slot, const ur_block *block, unrelu_error *err);
    ur_marks_wanted wanted; /* of cells that are no value (block->mark) */
} ur_fold;
unrelu_status ur_fold_run(unrelu_source *source, const ur_fold *fold, void *state,
                          const unrelu_exec *exec, const char *stage, unrelu_error *err);

#endif
