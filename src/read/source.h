/* SPDX-License-Identifier: Apache-2.0 */
/* A source hands out a sample file in pieces, in two halves: `take` moves through the file in
 * order (one thread at a time: read bytes, inflate, find line ends), `decode` turns a piece
 * into rows of doubles (any number of threads: read at an offset, convert, parse). Pieces
 * depend on the file alone, so that a sum over pieces has the same bits at any thread count. */
#ifndef UR_SOURCE_H
#define UR_SOURCE_H

#include "base/arena.h"
#include "unrelu/unrelu.h"

typedef struct {
    size_t index;     /* 0, 1, 2, ... */
    size_t first_row; /* 0-based row in the file of the piece's first row */
    size_t rows;
    size_t first_line; /* text files: 1-based line of the first row */
    size_t lines;      /* text files: blank ones too */
    uint64_t offset;   /* binary files: where the piece lies */
    unsigned char *bytes;
    size_t size, capacity; /* bytes in use, bytes allocated */
    size_t source;         /* which of several sources (several.c) it is of */
} ur_piece;

enum {
    UR_BELOW_GIVEN = 1, /* '<0.25': x is the limit that the value lies below */
    UR_BELOW_UNKNOWN,   /* 'ND': the file does not give the limit, x is NaN */
    UR_ABOVE_GIVEN,     /* '>900': x is the limit that the value lies above */
    UR_BETWEEN_GIVEN,   /* '0.2..0.5': x is the lower end */
};

typedef enum { UR_VALUES_ONLY, UR_BELOW_TOO, UR_ALL_MARKS } ur_marks_wanted;

typedef struct {
    const double
        *x; /* (rows, d) with `stride` doubles from row to row; NaN: missing. Infinities pass: a
               sweep of their own would cost 5 % of a fit; summaries find them by the way */
    size_t rows, d, stride, first_row;
    /* What is known of cells that are no value (rows x d, row by row without a stride):
     * UR_..._GIVEN or UR_BELOW_UNKNOWN; 0: a value, or missing. NULL: the block has none. A cell
     * whose kind is not wanted is refused. */
    const unsigned char *mark;
    const double
        *upper; /* the upper ends of UR_BETWEEN_GIVEN, NaN elsewhere; NULL: there is none */
    ur_marks_wanted wanted;
    double *own; /* x points here unless the source could lend its memory */
    size_t capacity;
    unsigned char *own_mark;
    double *own_upper;
    size_t mark_capacity, upper_capacity;
    unsigned char *bytes; /* scratch of decode */
    size_t bytes_capacity;
} ur_block;

/* What is done to every value that is read, before anyone sees it. */
typedef struct {
    double (*of)(double parameter, double x);
    double parameter, low, high; /* x lies between, ends left out; -inf: anywhere */
    const char *activation;      /* whose inverse it is: for messages */
} ur_undo;
/* undo is borrowed; NULL: values as they stand */
void ur_source_undo(unrelu_source *source, const ur_undo *undo);

unrelu_status ur_source_rewind(unrelu_source *source, unrelu_error *err);
/* *more = 0 and no piece at the end */
unrelu_status ur_source_take(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err);
unrelu_status ur_source_decode(const unrelu_source *source, const ur_piece *piece, ur_block *block,
                               unrelu_error *err);
/* how much of the file take has passed, in [0, 1]; negative where not known */
double ur_source_fraction(const unrelu_source *source);
/* whether a cell was refused because of its mark, which could be read */
int ur_source_met_limit(const unrelu_source *source);
/* Opens a file for the columns of these names, whatever others it has, in the order of the file;
 * by place where the names, or those of the file, are x1, x2, ... wanted NULL: for the columns that
 * the options ask for. */
unrelu_status ur_source_open_wanted(const char *path, const unrelu_source_options *options,
                                    const char *const *wanted, size_t count, unrelu_source **out,
                                    unrelu_error *err);
/* whether values of the column are of any sign, and none is censored for what it is */
int ur_source_is_uncensored(const unrelu_source *source, size_t place);
/* of its columns: whether another one says which of their values were seen (`indicator`) */
void ur_source_told(const unrelu_source *source, unsigned char *told);
/* how it was opened; top codes of its columns, infinite where there is none, or NULL */
const unrelu_source_options *ur_source_asked(const unrelu_source *source);
const double *ur_source_top(const unrelu_source *source);
/* of all its columns */
const char *const *ur_source_names(const unrelu_source *source);
/* the path it was opened by ("standard input", "matrix in memory"): for messages */
const char *ur_source_label(const unrelu_source *source);
/* for messages about *row, 0-based: the label of the file that has it, and its row there */
const char *ur_source_place(const unrelu_source *source, size_t *row);
/* "column 3" or "column 3 (lead)": for messages; place is 0-based among those handed out */
void ur_source_column_label(const unrelu_source *source, size_t place, char *out, size_t size);

/* --- view.c: some columns of a file by themselves, and what is written in the others --- */
/* A source of the columns `which` (d places among those that `of` hands out), of the arena and for
 * as long as `of` lives. It reads the same file: one of the two at a time, from a rewind on. */
unrelu_status ur_source_view(unrelu_source *of, const size_t *which, size_t d, ur_arena *arena,
                             unrelu_source **out, unrelu_error *err);

/* The cells of the columns of a file that a source does not hand out, as they are written: without
 * quotes and blanks around, each with a NUL at its end, row after row. */
typedef struct {
    size_t columns;           /* of the file; 0: it holds no text, or nothing is left out */
    const char *const *names; /* columns, of the source */
    const size_t *place;      /* columns: among those handed out, or SIZE_MAX: its texts are here */
    size_t rows;
    char *bytes;
    size_t size, capacity;
} ur_texts;
/* by one more pass over the file; out is to be freed whatever the status */
unrelu_status ur_source_texts(unrelu_source *source, ur_texts *out, unrelu_error *err);
/* those of columns whose place is SIZE_MAX, handed out or not, of a format that has texts */
unrelu_status ur_source_texts_of(unrelu_source *source, const size_t *place, ur_texts *out,
                                 unrelu_error *err);
void ur_texts_free(ur_texts *texts);

void ur_piece_free(ur_piece *piece);
void ur_block_free(ur_block *block);

#endif
