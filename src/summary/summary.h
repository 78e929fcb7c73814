/* SPDX-License-Identifier: Apache-2.0 */
/* A summary is a flat array of doubles, all zero for no data, that grows block by block and
 * merges by addition. That one rule is what lets pass.c add over threads and over ranks and
 * the file format store a half-finished run, knowing no estimator. */
#ifndef UR_SUMMARY_H
#define UR_SUMMARY_H

#include "base/arena.h"
#include "read/source.h"

typedef struct {
    /* doubles in a summary; the first `head` of them are not sums (units, shifts) */
    size_t (*len)(const void *plan);
    size_t (*head)(const void *plan); /* NULL: no head */
    /* sees the first block once, before any update; may fix units in the plan. NULL: nothing */
    unrelu_status (*begin)(void *plan, const ur_block *block, unrelu_error *err);
    /* gives every rank's plan the units that rank 0 fixed, which saw the first block of all, so
     * that a block is summed as it would be on one rank. NULL: nothing was fixed */
    unrelu_status (*agree)(void *plan, const unrelu_exec *exec, double *room, unrelu_error *err);
    /* scratch of one thread, from an arena that ends with it; NULL: none needed */
    void *(*scratch)(const void *plan, ur_arena *arena);
    unrelu_status (*update)(const void *plan, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err);
    /* doubles of scratch for agree, absorb and align; NULL: none needed */
    size_t (*room)(const void *plan);
    /* into += from, from = 0; NULL: element by element */
    void (*absorb)(const void *plan, double *into, double *from, double *room);
    /* gives every rank's summary the same head, by exec's rank_sum. NULL where there is none */
    unrelu_status (*align)(const void *plan, double *s, const unrelu_exec *exec, double *room,
                           unrelu_error *err);
} ur_summary;

/* Rows with a cell above its column's cut are left out, in every pass alike. */
/* is no cell of x (d) above its cut? */
int ur_row_kept(const double *x, const double *cut, size_t d);
/* the rows of block that are kept, copied to room (block->rows x d) */
ur_block ur_rows_kept(const ur_block *block, const double *cut, double *room);

#endif
