/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file in memory, for methods that look at its rows many times. */
#ifndef UR_TABLE_H
#define UR_TABLE_H

#include "unrelu/unrelu.h"

typedef struct {
    const double *cells; /* own, or a matrix in memory that the source lends as a whole */
    double *own;
    size_t rows, columns, capacity; /* capacity in rows, of own */
} ur_table;

/* Every cell is finite; remedy: what the message about one that is not ends with */
unrelu_status ur_table_load(unrelu_source *source, const unrelu_exec *exec, const char *remedy,
                            ur_table *table, unrelu_error *err);
void ur_table_free(ur_table *table);

#endif
