/* SPDX-License-Identifier: Apache-2.0 */
#include "read/source.h"

#include "base/error.h"
#include "base/memory.h"
#include "read/format.h"
#include "read/input_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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
    unsigned char *grown = realloc(piece->bytes, size);
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
        double *grown = overflow ? NULL : ur_alloc_aligned(count, sizeof *grown);
        if (!grown)
            return ur_fail(err, UNRELU_ENOMEM, "not enough memory for a block of %zu x %zu numbers",
                           rows, d);
        free(block->own);
        block->own = grown;
        block->capacity = count;
    }
    block->x = block->own;
    block->below = NULL;
    block->rows = rows;
    block->d = block->stride = d;
    return UNRELU_OK;
}

unrelu_status ur_block_scratch(ur_block *block, size_t size, unrelu_error *err)
{
    if (size <= block->bytes_capacity)
        return UNRELU_OK;
    unsigned char *grown = malloc(size);
    if (!grown)
        return ur_fail_memory(err, size, "bytes of a block");
    free(block->bytes);
    block->bytes = grown;
    block->bytes_capacity = size;
    return UNRELU_OK;
}

void ur_piece_free(ur_piece *piece)
{
    free(piece->bytes);
    memset(piece, 0, sizeof *piece);
}

void ur_block_free(ur_block *block)
{
    free(block->own);
    free(block->bytes);
    memset(block, 0, sizeof *block);
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

typedef enum { NOTHING_KNOWN, NPY, ZIP, GZIP } magic_kind;

typedef struct {
    char *file;   /* path without :NAME */
    char *member; /* NAME, or NULL */
    int tsv, text, npy, npz;
} named;

static int ends_with(const char *s, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size >= length && !strncasecmp(s + size - length, ending, length);
}

static unrelu_status split_name(const char *path, named *out, unrelu_error *err)
{
    struct stat info;
    *out = (named){0};
    const char *colon = NULL;
    for (const char *s = path; (s = strcasestr(s, ".npz:")); s += 5)
        colon = s + 4;
    if (colon && stat(path, &info) == 0)
        colon = NULL; /* a file that is really called so */
    out->file = ur_string_copy(path);
    if (out->file && colon) {
        out->file[colon - path] = '\0';
        out->member = out->file + (colon - path) + 1;
    }
    if (!out->file)
        return ur_fail_memory(err, 1, "file name");
    size_t size = strlen(out->file);
    out->npy = ends_with(out->file, size, ".npy");
    out->npz = ends_with(out->file, size, ".npz");
    if (ends_with(out->file, size, ".gz"))
        size -= 3;
    out->tsv = ends_with(out->file, size, ".tsv") || ends_with(out->file, size, ".tab");
    out->text = out->tsv || ends_with(out->file, size, ".csv");
    return UNRELU_OK;
}

static magic_kind look_at(const char *path, int *printable, unrelu_error *err,
                          unrelu_status *status)
{
    unsigned char start[512];
    uint64_t size;
    int fd, regular;
    *printable = 1;
    *status = ur_file_open_read(path, &fd, &size, &regular, err);
    if (*status)
        return NOTHING_KNOWN;
    size_t have = size < sizeof start ? (size_t)size : sizeof start; /* 0 for a pipe */
    *status = ur_file_read_at(fd, path, start, have, 0, err);
    close(fd);
    if (*status)
        return NOTHING_KNOWN;
    if (have >= 6 && !memcmp(start, "\x93NUMPY", 6))
        return NPY;
    if (have >= 4 && (!memcmp(start, "PK\3\4", 4) || !memcmp(start, "PK\5\6", 4)))
        return ZIP;
    if (have >= 2 && start[0] == 0x1f && start[1] == 0x8b)
        return GZIP;
    *printable = !memchr(start, '\0', have);
    return NOTHING_KNOWN;
}

/* A pipe is not looked at: opening it twice would lose its start. */
static int is_pipe(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static unrelu_status open_text(unrelu_source *source, const named *name, int gzip,
                               const unrelu_source_options *options, unrelu_error *err)
{
    ur_csv_options csv = {
        .columns = options->columns,
        .tabs = name->tsv,
        .gzip = gzip,
        .spool = !options->single_pass,
    };
    return ur_csv_open(source, name->file, &csv, err);
}

static void note_guess(unrelu_source *source, const char *what)
{
    char told[sizeof source->note];
    snprintf(told, sizeof told, "%s", source->note);
    snprintf(source->note, sizeof source->note, "the content is %s%s%.300s", what,
             *told ? "; " : "", told);
}

/* The content decides, the extension only where the content has no mark of its own. */
static unrelu_status open_named(unrelu_source *source, const named *name,
                                const unrelu_source_options *options, unrelu_error *err)
{
    int printable;
    unrelu_status status;
    if (is_pipe(name->file)) {
        if (name->npy || name->npz)
            return ur_fail(err, UNRELU_EIO,
                           "%s is not a regular file, and arrays are read at offsets; save it as "
                           "a file first",
                           source->label);
        return open_text(source, name, 0, options, err);
    }
    magic_kind magic = look_at(name->file, &printable, err, &status);
    if (status)
        return status;
    if (name->member || magic == ZIP || (name->npz && magic == NOTHING_KNOWN)) {
        status = ur_npz_member_open(source, name->file, name->member, options->columns, err);
        if (!status && !name->npz)
            note_guess(source, "a .npz archive");
        return status;
    }
    if (magic == NPY || (name->npy && magic == NOTHING_KNOWN)) {
        status = ur_npy_open(source, name->file, options->columns, err);
        if (!status && !name->npy)
            note_guess(source, "a .npy array");
        return status;
    }
    if (magic == NOTHING_KNOWN && !name->text && !printable)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is neither text nor a .npy or .npz file; samples are read from .npy, "
                       ".npz, .csv, .tsv, and .csv.gz or .tsv.gz",
                       source->label);
    status = open_text(source, name, magic == GZIP, options, err);
    if (!status && !name->text)
        note_guess(source, "read as CSV");
    return status;
}

/* long paths keep their end, which is what tells files apart */
static char *make_label(const char *path)
{
    size_t size = strlen(path);
    if (size <= LABEL_MOST)
        return ur_string_copy(path);
    char *label = ur_alloc(LABEL_MOST + 4, 1);
    if (label)
        snprintf(label, LABEL_MOST + 4, "...%s", path + size - LABEL_MOST);
    return label;
}

void unrelu_source_options_init(unrelu_source_options *options, size_t size)
{
    memset(options, 0, size);
    options->size = size;
}

unrelu_status unrelu_source_open(const char *path, const unrelu_source_options *options,
                                 unrelu_source **out, unrelu_error *err)
{
    static const unrelu_source_options none = {0};
    named name = {0};
    *out = NULL;
    if (!options)
        options = &none;
    if (!path || !*path)
        return ur_fail(err, UNRELU_EUSAGE, "the name of the sample file is empty");
    int standard_input = !strcmp(path, "-");
    unrelu_source *source = ur_alloc(1, sizeof *source);
    if (!source || !(source->label = make_label(standard_input ? "standard input" : path))) {
        unrelu_source_close(source);
        return ur_fail_memory(err, 1, "source");
    }
    unrelu_status status = UNRELU_OK;
    if (!standard_input)
        status = split_name(path, &name, err);
    if (!status)
        status = standard_input ? open_text(source, &name, 0, options, err)
                                : open_named(source, &name, options, err);
    free(name.file);
    if (status)
        unrelu_source_close(source);
    else
        *out = source;
    return status;
}

/* ---- the rest of the interface ---- */

void unrelu_source_close(unrelu_source *source)
{
    if (!source)
        return;
    if (source->state)
        source->format->close(source);
    ur_strings_free(source->names, source->d);
    free(source->pick);
    free(source->label);
    free(source);
}

size_t unrelu_source_columns(const unrelu_source *source)
{
    return source->d;
}

unrelu_status unrelu_source_rename(unrelu_source *source, char *const *names, unrelu_error *err)
{
    char **copies = ur_alloc(source->d, sizeof *copies);
    int failed = !copies;
    for (size_t j = 0; !failed && j < source->d; j++)
        failed = !(copies[j] = ur_string_copy(names[j]));
    ur_strings_free(failed ? copies : source->names, source->d);
    if (failed)
        return ur_fail_memory(err, source->d, "column names");
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

double ur_source_fraction(const unrelu_source *source)
{
    return source->format->fraction(source);
}

char *const *ur_source_names(const unrelu_source *source)
{
    return source->names;
}

int ur_source_met_limit(const unrelu_source *source)
{
    return source->format->met_limit && source->format->met_limit(source);
}

unrelu_status ur_source_rewind(unrelu_source *source, unrelu_error *err)
{
    if (!source->moved)
        return UNRELU_OK;
    unrelu_status status = source->format->rewind(source, err);
    source->moved = status != UNRELU_OK;
    return status;
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

unrelu_status ur_source_decode(const unrelu_source *source, const ur_piece *piece, ur_block *block,
                               unrelu_error *err)
{
    return source->format->decode(source, piece, block, err);
}
