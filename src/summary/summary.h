/* SPDX-License-Identifier: Apache-2.0 */
/* A summary is a flat array of doubles, all zero for no data, that grows block by block and
 * merges by addition. That one rule is what lets pass.c add over threads and over ranks and
 * the file format store a half-finished run, knowing no estimator. */
#ifndef UR_SUMMARY_H
#define UR_SUMMARY_H

#include "base/arena.h"
#include "read/source.h"

/* adds `len` doubles over all ranks, in place */
typedef struct {
    unrelu_status (*sum)(void *context, double *s, size_t len, unrelu_error *err);
    void *context;
} ur_ranks;

typedef struct {
    /* doubles in a summary; the first `head` of them are not sums (units, shifts) */
    size_t (*len)(const void *plan);
    size_t (*head)(const void *plan); /* NULL: no head */
    /* sees the first block once, before any update; may fix units in the plan. NULL: nothing */
    unrelu_status (*begin)(void *plan, const ur_block *block, unrelu_error *err);
    /* scratch of one thread, from an arena that ends with it; NULL: none needed */
    void *(*scratch)(const void *plan, ur_arena *arena);
    unrelu_status (*update)(const void *plan, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err);
    /* doubles of scratch for absorb and align; NULL: none needed */
    size_t (*room)(const void *plan);
    /* into += from, from = 0; NULL: element by element */
    void (*absorb)(const void *plan, double *into, double *from, double *room);
    /* gives every rank's summary the same head. NULL where there is none */
    unrelu_status (*align)(const void *plan, double *s, const ur_ranks *ranks, double *room,
                           unrelu_error *err);
} ur_summary;

#endif
