/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file as a matrix that belongs to the caller. Every cell must be finite. */
#include "base/error.h"
#include "base/memory.h"
#include "model/samples.h"
#include "pass/parallel.h"

#include <stdlib.h>
#include <string.h>

unrelu_status unrelu_source_load(unrelu_source *source, const unrelu_exec *exec, double **x,
                                 size_t *n, unrelu_error *err)
{
    ur_table table;
    unrelu_exec here;
    *x = NULL;
    *n = 0;
    UR_TRY(ur_exec_read(&exec, &here, err));
    unrelu_status status =
        ur_table_load(source, exec, "every cell must be a number here", &table, err);
    if (status == UNRELU_OK && !table.own) {
        size_t cells = table.rows * table.columns;
        table.own = ur_doubles(cells);
        if (!table.own)
            status = ur_fail_memory(err, cells, "cells");
        else if (cells)
            memcpy(table.own, table.cells, cells * sizeof *table.own);
    }
    if (status == UNRELU_OK) {
        *x = table.own;
        *n = table.rows;
        table.own = NULL;
    }
    ur_table_free(&table);
    return status;
}
