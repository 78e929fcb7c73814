/* SPDX-License-Identifier: Apache-2.0 */
/* A sum over rows in memory, on several threads. Rows are cut into chunks, by their number alone;
 * each chunk is summed by itself, from its first row to its last, and the chunks' sums are added
 * to the total in their order: the bits do not depend on the threads. */
#ifndef UR_BLOCKS_H
#define UR_BLOCKS_H

#include "unrelu/unrelu.h"

typedef struct {
    size_t n;     /* rows */
    size_t step;  /* rows that `add` sees at most at once */
    size_t chunk; /* rows of a chunk. 0: `chunks` of them or fewer, of whole steps */
    size_t chunks;
    size_t len;     /* doubles of a sum */
    size_t scratch; /* doubles of scratch, aligned to 64 bytes, for each thread */
    /* adds rows first .. first + rows - 1 into sum, which is zero where a chunk begins */
    void (*add)(const void *context, size_t first, size_t rows, double *scratch, double *sum);
    const void *context;
} ur_blocks;

/* total (len) = the sum over all rows; spoiled where it fails */
unrelu_status ur_blocks_sum(const ur_blocks *blocks, const unrelu_exec *exec, const char *stage,
                            double *total, unrelu_error *err);

#endif
