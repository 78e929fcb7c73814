/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file in memory, for methods that look at its rows many times. */
#ifndef UR_SAMPLES_H
#define UR_SAMPLES_H

#include "base/arena.h"

typedef struct {
    const double
        *cells; /* own, of the arena, or a matrix in memory that the source lends as a whole */
    double *own;
    unsigned char *mark; /* of each cell, as of ur_block; NULL: all are values or missing */
    double *upper;       /* of each cell, as of ur_block; NULL: there is no interval */
    size_t rows, columns, capacity; /* capacity in rows, of own */
} ur_table;

/* Every cell is finite; remedy: what the message about one that is not ends with. NULL: any number
 * will do, and cells that are marked. */
unrelu_status ur_table_load(unrelu_source *source, const unrelu_exec *exec, const char *remedy,
                            ur_arena *arena, ur_table *table, unrelu_error *err);

#endif
