/* SPDX-License-Identifier: Apache-2.0 */
/* An array of numbers as a source: rows at an offset of a file (a .npy, a stored member of a
 * .npz), or inflated in order from a compressed member. */
#ifndef UR_ARRAY_H
#define UR_ARRAY_H

#include "read/archive.h"
#include "read/format.h"
#include "read/npy_header.h"

typedef struct {
    ur_npy npy;
    size_t n, piece_rows;  /* rows of the array, of a piece */
    size_t first_row, end; /* the rows that are handed out */
    size_t next_row, next_index;
    int fd;        /* where rows are read at an offset, or -1 */
    uint64_t base; /* where the array's first element lies in fd */
    ur_archive archive;
    zip_int64_t index; /* of the member in the archive */
    ur_member member;  /* open where rows are streamed */
} ur_array;

/* A zeroed ur_array with fd -1, already set as the source's state with the array format; the
 * caller fills fd and base, or archive, index and member, which the source closes. */
unrelu_status ur_array_new(unrelu_source *source, ur_array **out, unrelu_error *err);
/* Shape and dtype fit for samples? Then columns and pieces are set. */
unrelu_status ur_array_start(unrelu_source *source, unrelu_error *err);
/* Which rows are handed out: once it is known where they are read. */
unrelu_status ur_array_cut(unrelu_source *source, unrelu_error *err);

#endif
