/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file in memory, for methods that look at its rows many times. */
#ifndef UR_SAMPLES_H
#define UR_SAMPLES_H

#include "base/arena.h"

typedef struct {
    const double
        *cells; /* own, of the arena, or a matrix in memory that the source lends as a whole */
    double *own;
    unsigned char *below; /* of each cell: UR_BELOW_... of source.h, 0: a value; NULL: all are */
    size_t rows, columns, capacity; /* capacity in rows, of own */
} ur_table;

/* Every cell is finite; remedy: what the message about one that is not ends with. NULL: any number
 * will do, and cells that are below limits. */
unrelu_status ur_table_load(unrelu_source *source, const unrelu_exec *exec, const char *remedy,
                            ur_arena *arena, ur_table *table, unrelu_error *err);

#endif
