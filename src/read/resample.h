/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_RESAMPLE_H
#define UR_RESAMPLE_H

#include "base/arena.h"
#include "read/source.h"

typedef struct {
    size_t columns;      /* of the table */
    const double *cells; /* row by row; mark, upper: as of ur_block, or NULL */
    const unsigned char *mark;
    const double *upper;
    size_t n, d;
    const size_t *index;  /* n: rows of the table */
    const size_t *column; /* d: its columns */
} ur_rows;

/* A source of these rows, of the arena, with the names of the source that the table was read from.
 * Cells are as they were read: nothing is done to them again. */
unrelu_status ur_source_of_rows(const unrelu_source *like, const ur_rows *rows, ur_arena *arena,
                                unrelu_source **out, unrelu_error *err);

#endif
