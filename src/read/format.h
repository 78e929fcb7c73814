/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind unrelu_source: one ur_format for each way to hold samples (an array in a
 * file, text, a matrix in memory), and what all of them need. */
#ifndef UR_FORMAT_H
#define UR_FORMAT_H

#include "base/arena.h"
#include "read/reading.h"

typedef struct {
    unrelu_status (*rewind)(unrelu_source *source, unrelu_error *err);
    unrelu_status (*take)(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err);
    unrelu_status (*decode)(const unrelu_source *source, const ur_piece *piece, ur_block *block,
                            unrelu_error *err);
    double (*fraction)(const unrelu_source *source);
    int (*met_limit)(const unrelu_source *source); /* NULL: there are none in this format */
    /* rows and lines before those of this part; NULL: the format knows */
    void (*begin_at)(unrelu_source *source, const unrelu_extent *before);
    /* which of several sources has the row *row, which becomes that of this one; NULL: it does */
    const unrelu_source *(*place)(const unrelu_source *source, size_t *row);
    /* appends the texts of the rows of a piece; NULL: numbers are no text in this format */
    unrelu_status (*add_texts)(const unrelu_source *source, const ur_piece *piece, ur_texts *texts,
                               unrelu_error *err);
} ur_format;

struct unrelu_source {
    ur_arena arena; /* of all that follows, and of what is to be closed with the source */
    const ur_format *format;
    void *state;
    const char *label;
    char note[640];
    int moved;          /* take was called since open or the last rewind */
    size_t width;       /* columns of the file */
    size_t d;           /* columns handed out */
    size_t *pick;       /* d: their 0-based places in the file; NULL: all, in order */
    const char **names; /* d */
    size_t *place;      /* width: of a column of the file among those handed out, or SIZE_MAX;
                           NULL where pick is, or where the format needs none */
    const char *const *all_names; /* width; NULL: the format has no texts */
    const ur_undo *undo;          /* NULL: values as they stand */
    /* sees every block once it is decoded, of any thread; NULL: nobody */
    void (*watch)(void *watching, const ur_block *block);
    void *watching;
    ur_reading reading;
    /* names that are asked for in place of reading.asked.columns, of a model; NULL: none */
    const char *const *wanted;
    size_t wanted_count;
};

/* Each sets format, state, columns and note of a source that has its label. */
unrelu_status ur_npy_open(unrelu_source *source, const char *path, unrelu_error *err);
unrelu_status ur_npz_member_open(unrelu_source *source, const char *path, const char *member,
                                 unrelu_error *err);
/* path NULL: standard input; tabs: the name says .tsv; gzip: the content is compressed */
unrelu_status ur_csv_open(unrelu_source *source, const char *path, int tabs, int gzip,
                          unrelu_error *err);

/* Which columns of a file are handed out, "lead,3,5-9,rain*,^rain_total", as was asked: sets width,
 * d, pick, names and what is read how of the source. names (width of them) may be NULL: then
 * columns are called x1, x2, ... Nothing was asked: all columns. An entry that equals a name means
 * that column (in quotes where it holds a comma), else it is a 1-based number, a range (2-5, 2-,
 * lead:zinc) or a pattern with *; the order of the entries is kept, and what an entry behind ^
 * means is left out. unasked (width, or NULL): columns that are left out where no entry asks for
 * them; set to 0 where it is spec that decides about them. */
unrelu_status ur_columns_choose(unrelu_source *source, size_t width, const char *const *names,
                                unsigned char *unasked, unrelu_error *err);

/* where part `part` of `parts` begins among `total` things: 0 for the first */
size_t ur_source_cut(size_t total, size_t part, size_t parts);
/* of what cannot be read from its middle on */
unrelu_status ur_source_refuse_parts(const unrelu_source *source, unrelu_error *err);

/* place from pick, of a source that has its columns */
unrelu_status ur_source_set_places(unrelu_source *source, ur_arena *arena, unrelu_error *err);

/* Rows of one piece of an n-by-d array: about 1 MiB of doubles where rows are short, at least
 * 4096 rows where they are long (the pair kernels want tall blocks) but never above 64 MiB,
 * and at least 8 pieces once n >= 8192, so that threads have work. */
size_t ur_piece_rows(size_t n, size_t d);

/* room for size bytes in a piece, for rows * d doubles in a block, for size bytes of scratch */
unrelu_status ur_piece_reserve(ur_piece *piece, size_t size, unrelu_error *err);
unrelu_status ur_block_reserve(ur_block *block, size_t rows, size_t d, unrelu_error *err);
unrelu_status ur_block_scratch(ur_block *block, size_t size, unrelu_error *err);
/* Marks a cell (row * d + column) of a block whose rows are reserved, and an interval's upper end.
 */
unrelu_status ur_block_mark(ur_block *block, size_t cell, unsigned char mark, unrelu_error *err);
unrelu_status ur_block_upper(ur_block *block, size_t cell, double upper, unrelu_error *err);

#endif
