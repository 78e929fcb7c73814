/* SPDX-License-Identifier: Apache-2.0 */
#include "read/source.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "read/format.h"
#include "read/input_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PIECE_BYTES = 1 << 20,
    PIECE_BYTES_MOST = 64 << 20,
    PIECE_ROWS = 4096,
    PIECES = 8,
    PIECE_ROWS_LEAST = 1024,
    LABEL_MOST = 300, /* of the 1024 bytes of a message */
};

/* ---- pieces and blocks ---- */

size_t ur_piece_rows(size_t n, size_t d)
{
    size_t row = d * sizeof(double), rows = PIECE_BYTES / row;
    if (rows < PIECE_ROWS)
        rows = PIECE_ROWS;
    if (rows > PIECE_BYTES_MOST / row)
        rows = PIECE_BYTES_MOST / row;
    size_t share = n / PIECES + (n % PIECES != 0);
    if (share < PIECE_ROWS_LEAST)
        share = PIECE_ROWS_LEAST;
    if (rows > share)
        rows = share;
    return rows ? rows : 1;
}

unrelu_status ur_piece_reserve(ur_piece *piece, size_t size, unrelu_error *err)
{
    if (size <= piece->capacity)
        return UNRELU_OK;
    unsigned char *grown = ur_resize(piece->bytes, size);
    if (!grown)
        return ur_fail_memory(err, size, "bytes of a piece");
    piece->bytes = grown;
    piece->capacity = size;
    return UNRELU_OK;
}

unrelu_status ur_block_reserve(ur_block *block, size_t rows, size_t d, unrelu_error *err)
{
    int overflow = 0;
    size_t count = ur_product(rows, d, &overflow);
    if (overflow || count > block->capacity) {
        if (overflow)
            return ur_fail_shortage(err, (ur_shortage){.wanted = SIZE_MAX});
        double *grown = ur_alloc_aligned(count, sizeof *grown);
        if (!grown)
            return ur_fail_memory(err, count, "numbers of a block");
        ur_free(block->own);
        block->own = grown;
        block->capacity = count;
    }
    block->x = block->own;
    block->mark = NULL;
    block->upper = NULL;
    block->rows = rows;
    block->d = block->stride = d;
    return UNRELU_OK;
}

unrelu_status ur_block_scratch(ur_block *block, size_t size, unrelu_error *err)
{
    if (size <= block->bytes_capacity)
        return UNRELU_OK;
    unsigned char *grown = ur_resize(NULL, size);
    if (!grown)
        return ur_fail_memory(err, size, "bytes of a block");
    ur_free(block->bytes);
    block->bytes = grown;
    block->bytes_capacity = size;
    return UNRELU_OK;
}

unrelu_status ur_block_mark(ur_block *block, size_t cell, unsigned char mark, unrelu_error *err)
{
    size_t count = block->rows * block->d;
    if (!block->mark) {
        if (count > block->mark_capacity) {
            ur_free(block->own_mark);
            block->mark_capacity = 0;
            block->own_mark = ur_resize(NULL, count);
            if (!block->own_mark)
                return ur_fail_memory(err, count, "bytes of a block");
            block->mark_capacity = count;
        }
        memset(block->own_mark, 0, count);
        block->mark = block->own_mark;
    }
    block->own_mark[cell] = mark;
    return UNRELU_OK;
}

unrelu_status ur_block_upper(ur_block *block, size_t cell, double upper, unrelu_error *err)
{
    size_t count = block->rows * block->d;
    if (!block->upper) {
        if (count > block->upper_capacity) {
            ur_free(block->own_upper);
            block->upper_capacity = 0;
            block->own_upper = ur_resize(NULL, count * sizeof *block->own_upper);
            if (!block->own_upper)
                return ur_fail_memory(err, count, "ends of intervals");
            block->upper_capacity = count;
        }
        for (size_t i = 0; i < count; i++)
            block->own_upper[i] = NAN;
        block->upper = block->own_upper;
    }
    block->own_upper[cell] = upper;
    return UNRELU_OK;
}

void ur_piece_free(ur_piece *piece)
{
    ur_free(piece->bytes);
    memset(piece, 0, sizeof *piece);
}

void ur_block_free(ur_block *block)
{
    ur_free(block->own);
    ur_free(block->bytes);
    ur_free(block->own_mark);
    ur_free(block->own_upper);
    memset(block, 0, sizeof *block);
}

/* ---- parts ---- */

size_t ur_source_cut(size_t total, size_t part, size_t parts)
{
    /* rounded up, so that the first has something wherever any has; total * part may overflow */
    return total / parts * part + (total % parts * part + parts - 1) / parts;
}

unrelu_status ur_source_refuse_parts(const unrelu_source *source, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s cannot be read from its middle on, as each of %zu parts needs: unpack it, "
                   "or save it as a file",
                   source->label, source->reading.asked.parts);
}

static unrelu_status add_up(unrelu_source *source, ur_piece *piece, unrelu_extent *out,
                            unrelu_error *err)
{
    int more = 1;
    for (*out = (unrelu_extent){0}; more;) {
        UR_TRY(ur_source_take(source, piece, &more, err));
        out->rows += more ? piece->rows : 0;
        out->lines += piece->lines; /* also those behind the last row */
    }
    return UNRELU_OK;
}

unrelu_status unrelu_source_extent(unrelu_source *source, unrelu_extent *out, unrelu_error *err)
{
    ur_piece piece = {0};
    UR_TRY(ur_source_rewind(source, err));
    unrelu_status status = add_up(source, &piece, out, err);
    ur_piece_free(&piece);
    return status ? status : ur_source_rewind(source, err);
}

void unrelu_source_begin_at(unrelu_source *source, const unrelu_extent *before)
{
    if (source->format->begin_at && source->reading.asked.parts > 1)
        source->format->begin_at(source, before);
}

void ur_source_column_label(const unrelu_source *source, size_t place, char *out, size_t size)
{
    char number[32];
    size_t column = (source->pick ? source->pick[place] : place) + 1;
    snprintf(number, sizeof number, "x%zu", column);
    if (!strcmp(source->names[place], number))
        snprintf(out, size, "column %zu", column);
    else
        snprintf(out, size, "column %zu (%.60s)", column, source->names[place]);
}

/* ---- which format ---- */

typedef struct {
    const char *file;   /* path without :NAME */
    const char *member; /* NAME, or NULL */
    int tsv, text, npy, npz;
} named;

static named split_name(ur_arena *arena, const char *path)
{
    struct stat info;
    const char *colon = NULL;
    for (const char *s = path; (s = strchr(s, ':')); s++)
        if (ur_text_ends(path, (size_t)(s - path), ".npz"))
            colon = s;
    if (colon && stat(path, &info) == 0)
        colon = NULL; /* a file that is really called so */
    size_t size = colon ? (size_t)(colon - path) : strlen(path);
    named out = {.file = ur_take_text(arena, "%.*s", (int)size, path),
                 .member = colon ? colon + 1 : NULL,
                 .npy = ur_text_ends(path, size, ".npy"),
                 .npz = ur_text_ends(path, size, ".npz")};
    if (ur_text_ends(path, size, ".gz"))
        size -= 3;
    out.tsv = ur_text_ends(path, size, ".tsv") || ur_text_ends(path, size, ".tab");
    out.text = out.tsv || ur_text_ends(path, size, ".csv");
    return out;
}

/* The content decides, the extension only where the content has no mark of its own. */
static unrelu_status open_named(unrelu_source *source, const named *name, unrelu_error *err)
{
    ur_file_start start;
    const char *guess = NULL;
    UR_TRY(ur_file_look(name->file, &start, err));
    if (start == UR_FILE_TENSORS)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is a .safetensors file: weights of a network, not samples",
                       source->label);
    int unmarked = start == UR_FILE_TEXT || start == UR_FILE_BINARY;
    if (start == UR_FILE_PIPE && (name->npy || name->npz))
        return ur_fail(err, UNRELU_EIO,
                       "%s is not a regular file, and arrays are read at offsets; save it as "
                       "a file first",
                       source->label);
    if (start == UR_FILE_PIPE) {
        UR_TRY(ur_csv_open(source, name->file, name->tsv, 0, err));
    } else if (name->member || start == UR_FILE_ZIP || (name->npz && unmarked)) {
        UR_TRY(ur_npz_member_open(source, name->file, name->member, err));
        guess = name->npz ? NULL : "a .npz archive";
    } else if (start == UR_FILE_NPY || (name->npy && unmarked)) {
        UR_TRY(ur_npy_open(source, name->file, err));
        guess = name->npy ? NULL : "a .npy array";
    } else if (start == UR_FILE_BINARY && !name->text) {
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is neither text nor a .npy or .npz file; samples are read from .npy, "
                       ".npz, .csv, .tsv, and .csv.gz or .tsv.gz",
                       source->label);
    } else {
        int gzip = start == UR_FILE_GZIP;
        UR_TRY(ur_csv_open(source, name->file, name->tsv, gzip, err));
        guess = name->text ? NULL : "read as CSV";
    }
    char told[sizeof source->note];
    snprintf(told, sizeof told, "%s", source->note);
    if (guess)
        snprintf(source->note, sizeof source->note, "the content is %s%s%.560s", guess,
                 *told ? "; " : "", told);
    return UNRELU_OK;
}

static unrelu_status open_source(unrelu_source *source, const char *path, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t size = strlen(path), cut = size > LABEL_MOST ? size - LABEL_MOST : 0;
    if (!strcmp(path, "-")) {
        source->label = "standard input";
        return ur_csv_open(source, NULL, 0, 0, err);
    }
    /* long paths keep their end, which is what tells files apart */
    source->label = ur_take_text(&source->arena, "%s%s", cut ? "..." : "", path + cut);
    named name = split_name(&arena, path);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(&source->arena, err));
    return open_named(source, &name, err);
}

void unrelu_source_options_init(unrelu_source_options *options, size_t size)
{
    const unrelu_source_options defaults = {0};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status ur_source_open_wanted(const char *path, const unrelu_source_options *options,
                                    const char *const *wanted, size_t count, unrelu_source **out,
                                    unrelu_error *err)
{
    unrelu_source_options given = {0};
    *out = NULL;
    UR_TRY(ur_sized_copy(&given, sizeof given, options, "the options", err));
    if (!path || !*path)
        return ur_fail(err, UNRELU_EUSAGE, "the name of the sample file is empty");
    unrelu_source *source = ur_alloc(1, sizeof *source);
    if (!source)
        return ur_fail_memory(err, 1, "source");
    source->wanted = wanted;
    source->wanted_count = count;
    unrelu_status status = ur_reading_start(&source->arena, &given, &source->reading, err);
    if (status == UNRELU_OK)
        status = open_source(source, path, err);
    source->wanted = NULL; /* it is the caller's */
    if (status)
        unrelu_source_close(source);
    else
        *out = source;
    return status;
}

unrelu_status unrelu_source_open(const char *path, const unrelu_source_options *options,
                                 unrelu_source **out, unrelu_error *err)
{
    return ur_source_open_wanted(path, options, NULL, 0, out, err);
}

/* ---- the rest of the interface ---- */

void unrelu_source_close(unrelu_source *source)
{
    if (source)
        ur_arena_end(&source->arena);
    ur_free(source);
}

size_t unrelu_source_columns(const unrelu_source *source)
{
    return source->d;
}

unrelu_status unrelu_source_rename(unrelu_source *source, const char *const *names,
                                   unrelu_error *err)
{
    UR_ARENA(fresh); /* what fails here does not fail the source */
    for (size_t j = 0; j < source->d; j++)
        if (strlen(names[j]) > UR_NAME_MOST)
            return ur_fail(err, UNRELU_EUSAGE,
                           "column %zu: a name of %zu bytes, where at most %d are read; shorten it",
                           j + 1, strlen(names[j]), UR_NAME_MOST);
    const char **copies = ur_take_copies(&fresh, names, source->d);
    UR_TRY(ur_arena_status(&fresh, err));
    ur_arena_give(&fresh, &source->arena);
    source->names = copies;
    return UNRELU_OK;
}

const char *unrelu_source_name(const unrelu_source *source, size_t column)
{
    return column < source->d ? source->names[column] : "";
}

const char *unrelu_source_note(const unrelu_source *source)
{
    return source->note;
}

const char *ur_source_label(const unrelu_source *source)
{
    return source->label;
}

const char *ur_source_place(const unrelu_source *source, size_t *row)
{
    const unrelu_source *of = source->format->place ? source->format->place(source, row) : source;
    return of->label;
}

double ur_source_fraction(const unrelu_source *source)
{
    return source->format->fraction(source);
}

const char *const *ur_source_names(const unrelu_source *source)
{
    return source->names;
}

int ur_source_met_limit(const unrelu_source *source)
{
    const atomic_int *top = source->reading.met_top;
    return (top && atomic_load(top)) ||
           (source->format->met_limit && source->format->met_limit(source));
}

int ur_source_is_uncensored(const unrelu_source *source, size_t place)
{
    return source->reading.uncensored && source->reading.uncensored[place];
}

void ur_source_told(const unrelu_source *source, unsigned char *told)
{
    const size_t *of = source->reading.indicator_of;
    memset(told, 0, source->d);
    for (size_t k = 0; of && k < source->width; k++)
        if (of[k] != SIZE_MAX)
            told[of[k]] = 1;
}

const unrelu_source_options *ur_source_asked(const unrelu_source *source)
{
    return &source->reading.asked;
}

const double *ur_source_top(const unrelu_source *source)
{
    return source->reading.top;
}

unrelu_status ur_source_rewind(unrelu_source *source, unrelu_error *err)
{
    if (source->moved)
        UR_TRY(source->format->rewind(source, err));
    source->moved = 0;
    return UNRELU_OK;
}

unrelu_status ur_source_take(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err)
{
    source->moved = 1;
    *more = 0;
    unrelu_status status = source->format->take(source, piece, more, err);
    if (status)
        *more = 0;
    return status;
}

void ur_source_undo(unrelu_source *source, const ur_undo *undo)
{
    source->undo = undo;
}

static unrelu_status undo_block(const unrelu_source *source, ur_block *block, unrelu_error *err)
{
    const ur_undo *undo = source->undo;
    const double *x = block->x;
    const unsigned char *mark = block->mark;
    const double *upper = block->upper;
    size_t d = block->d, stride = block->stride;
    if (x != block->own) /* lent memory stays as it is */
        UR_TRY(ur_block_reserve(block, block->rows, d, err));
    block->mark = mark;
    block->upper = upper;
    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < d; j++) {
            double value = x[r * stride + j], *to = block->own + r * block->stride + j;
            if (isfinite(undo->low) && (value <= undo->low || value >= undo->high)) {
                char column[128];
                size_t row = block->first_row + r + 1;
                ur_source_column_label(source, j, column, sizeof column);
                return ur_fail_at(err, UNRELU_EFORMAT, row, j + 1,
                                  "%s: row %zu, %s: the value is %g, which no %s gives: it lies "
                                  "between %g and %g; mend the value, or leave out `activation`",
                                  source->label, row, column, value, undo->activation, undo->low,
                                  undo->high);
            }
            *to = undo->of(undo->parameter, value); /* NaN stays missing */
        }
    return UNRELU_OK;
}

unrelu_status ur_source_decode(const unrelu_source *source, const ur_piece *piece, ur_block *block,
                               unrelu_error *err)
{
    UR_TRY(source->format->decode(source, piece, block, err));
    UR_TRY(ur_reading_apply(source, block, err));
    if (source->undo)
        UR_TRY(undo_block(source, block, err));
    if (source->watch)
        source->watch(source->watching, block);
    return UNRELU_OK;
}
