/* SPDX-License-Identifier: Apache-2.0 */
/* Text tables: the state of the source, and what its first line tells. */
#ifndef UR_CSV_H
#define UR_CSV_H

#include "read/bytes.h"
#include "read/csv_cell.h"
#include "read/format.h"

#include <stdatomic.h>

typedef struct {
    ur_bytes in;
    locale_t c_locale;
    unsigned char separator;
    size_t goal;      /* bytes of text in a piece, but for its last line */
    uint64_t data_at; /* where the first row starts */
    size_t data_line; /* and its 1-based line */
    int header;       /* the line before it holds names */
    size_t *place;    /* of a column of the file in the block, or SIZE_MAX; NULL: the same */
    ur_piece ahead;   /* bytes that were read but not yet handed out */
    int ended;        /* nothing is left to read behind them */
    size_t next_row, next_line, next_index;
    atomic_int met_limit; /* a cell below a detection limit was refused */
} ur_csv;

/* Rows (lines that are not blank) and lines in whole lines of text. A blank line is no row,
 * also where the table has one column: a missing value there is written NA. */
size_t ur_csv_rows(const unsigned char *s, size_t size, unsigned char separator, size_t *lines);

/* Moves bytes of the file to the end of `piece` until it has `goal` of them or the file ends;
 * behind the end of a file a line feed is added where it is missing. */
unrelu_status ur_csv_fill(ur_csv *csv, ur_piece *piece, size_t goal, unrelu_error *err);

/* Reads to the end of the first line that is not blank; sets separator, header, data_at,
 * data_line, the columns and the note. Leaves what follows in `ahead`. */
unrelu_status ur_csv_head(unrelu_source *source, ur_csv *csv, const ur_csv_options *options,
                          unrelu_error *err);

enum {
    UR_CSV_PAD = 16,            /* readable bytes behind the text: numbers are read by eights */
    UR_CSV_LINE_MOST = 64 << 20 /* a longer line is no table */
};

#endif
