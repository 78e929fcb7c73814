/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns of a text table are no numbers. Tables of R, pandas and laboratories have a column
 * of row names, of places, of dates beside the numbers; nobody wants to list the others for that.
 *
 * What is looked at is the start of the file, up to UR_LOOK_MOST bytes of whole lines: the decision
 * depends on the file alone. A column is text where more than half of its cells that are not
 * missing, and at least UR_TEXT_LEAST, are neither numbers nor below, above or between limits:
 * single wrong cells in a column of numbers stay an error, and so do numbers as people
 * write them (0,5 and 78 %), with what to write instead. The first column of a table with a header
 * holds row names where it has no name, or is called rownames or 'Unnamed: 0'; where it is called X
 * and holds whole numbers that increase (R's read.csv calls it so); and where it counts 1, 2, 3,
 * ... over at least UR_COUNTED_LEAST rows. The columns .imp and .id of imputations say which draw a
 * row is of; one without a name, without a cell as well, is what a spreadsheet leaves at the end of
 * lines. Dates are
 * left out where they are written as numbers too: 20200131, or whole numbers in a column called
 * date. Where nothing would be left, nothing is left out.
 */
#ifndef UR_CSV_LOOK_H
#define UR_CSV_LOOK_H

#include "base/arena.h"
#include "read/csv_preamble.h"
#include "read/reading.h"

enum {
    /* a part of what is read anyway; for a larger file the second look is not felt */
    UR_LOOK_MOST = 64 << 10,
    /* a single one may be a number that went wrong */
    UR_TEXT_LEAST = 2,
    /* fewer numbers 1, 2, .. may well be measured */
    UR_COUNTED_LEAST = 3,
};

typedef struct {
    ur_csv_lines lines;
    size_t width;
    const char *const *names;     /* width, or NULL: there is no header */
    const unsigned char *unnamed; /* width: its name is empty in the file */
    unsigned char *unasked;       /* out, as below; NULL: none is to be left out */
    const char *hint; /* out: a column that seems to tell where another one, of, is a limit */
    size_t of;
    const char *ask; /* out: what to ask for; NULL: the end of the hint */
} ur_look;

enum { UR_TEXT_COLUMN = 1, UR_ROW_NAMES, UR_DRAW_NUMBER, UR_EMPTY_COLUMN, UR_DATE_COLUMN };

/* unasked (width, of the arena): one of these for columns to be left out, 0 for others */
unrelu_status ur_csv_look(ur_look *look, ur_arena *arena, unrelu_error *err);
/* Appends "; left out: 'site' (text)" to note, a text of `size` bytes, for columns so marked. */
void ur_csv_tell(const ur_look *look, const unsigned char *unasked, char *note, size_t size);
/* Appends what a column seems to tell of one that is handed out, where nobody said so, to the note.
 * 'CuCen' of 'Cu': all of its cells say that a value was seen, or lies below or above. */
void ur_csv_hint(const ur_look *look, unrelu_source *source);

#endif
