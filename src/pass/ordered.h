/* SPDX-License-Identifier: Apache-2.0 */
/* The sum over pieces of work, on several threads, with the bits of one: every piece is summed by
 * itself, and the sums are added in the order of the pieces. Memory: a sum for each thread and
 * two more. What pass.h does with a source and blocks.h with rows in memory. */
#ifndef UR_ORDERED_H
#define UR_ORDERED_H

#include "base/arena.h"

typedef struct {
    size_t len;    /* doubles of a sum */
    size_t pieces; /* at most */
    /* what a thread has for itself, from an arena that ends with it */
    void *(*mine)(void *context, ur_arena *arena);
    /* The next piece, numbered from 0; *more = 0 where none is left. This, absorb and fraction are
     * called by one thread at a time. */
    unrelu_status (*take)(void *context, void *mine, size_t *piece, int *more, unrelu_error *err);
    /* adds the piece that was taken into sum, which is zero */
    unrelu_status (*add)(void *context, void *mine, double *sum, unrelu_error *err);
    /* total += sum, sum = 0; NULL: element by element */
    void (*absorb)(void *context, double *total, double *sum);
    double (*fraction)(const void *context); /* for progress */
} ur_ordered;

/* total (len): what is added to. Of several errors that of the earliest piece is reported. */
unrelu_status ur_ordered_sum(const ur_ordered *what, void *context, const unrelu_exec *exec,
                             const char *stage, double *total, unrelu_error *err);

#endif
