/* SPDX-License-Identifier: Apache-2.0 */
/* One cell of a text table that is not a plain number: quoted, padded, missing, or wrong. */
#ifndef UR_CSV_CELL_H
#define UR_CSV_CELL_H

#include "base/arena.h"
#include "base/c_locale.h"

typedef enum {
    UR_CELL_NUMBER,
    UR_CELL_MISSING,   /* empty, NA, NaN, ... in any case */
    UR_CELL_BELOW,     /* <0.25, ND: below a detection limit */
    UR_CELL_ABOVE,     /* >900: above a limit */
    UR_CELL_BETWEEN,   /* 0.2..0.5 */
    UR_CELL_BACKWARDS, /* 0.5..0.2 */
    UR_CELL_INFINITE,  /* Inf, or a number too large for a double */
    UR_CELL_TEXT,
    UR_CELL_OPEN, /* a quote that is not closed on its line */
    UR_CELL_LONG, /* longer than UR_CELL_MOST; ur_cell_read does not say so */
} ur_cell_kind;

typedef struct {
    const unsigned char *start, *end; /* without quotes and blanks around */
    const unsigned char *next;        /* the separator or line feed behind the cell */
    int open;                         /* its quote is not closed, or text follows the quote */
} ur_cell;

/* The cell that starts at s, in a text that ends with a line feed. */
ur_cell ur_cell_find(const unsigned char *s, unsigned char separator);
/* what blanks around a cell are, besides the separator */
static inline int ur_is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}
/* of a line that ends with a line feed */
static inline int ur_is_blank_line(const unsigned char *s, unsigned char separator)
{
    while (ur_is_blank(*s) && *s != separator)
        s++;
    return *s == '\n';
}
/* csv_token.c. *value: the number, the limit, or the lower end; NaN for a missing one and for ND.
 * *upper: the upper end of an interval, else NaN. */
ur_cell_kind ur_cell_read(const ur_cell *cell, locale_t c_locale, double *value, double *upper);
/* its text with "" -> "; NULL where memory ends */
char *ur_cell_name(ur_arena *arena, const ur_cell *cell);
/* cells of the line that starts at s */
size_t ur_cell_count(const unsigned char *s, unsigned char separator);

/* Whether it is a number to whoever wrote it: 0,5 and 1,000, 78 %, $7.30, ="4.99", '4.99, and with
 * a minus or blanks of another alphabet. */
int ur_cell_is_dressed(const ur_cell *cell);

/* The sentence about a cell that is no number; `where` is "file: row 3 (line 4), column 2". */
unrelu_status ur_cell_refuse(const ur_cell *cell, ur_cell_kind kind, unsigned char separator,
                             const char *where, unrelu_error *err);

#endif
