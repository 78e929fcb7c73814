/* SPDX-License-Identifier: Apache-2.0 */
#include "read/array.h"

#include "base/error.h"
#include "read/input_file.h"

#include <unistd.h>

/* Tiles of conversion with a stride: 64 rows by 8 columns touch 64 to 128 cache lines. */
enum { TILE_ROWS = 64, TILE_COLUMNS = 8 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int is_streamed(const ur_array *a)
{
    return a->fd < 0;
}

static unrelu_status rewind_array(unrelu_source *source, unrelu_error *err)
{
    ur_array *a = source->state;
    ur_npy again;
    a->next_row = a->first_row;
    a->next_index = 0;
    if (!is_streamed(a))
        return UNRELU_OK;
    ur_member_close(&a->member); /* and open again, up to its first element */
    UR_TRY(ur_member_open(&a->archive, a->index, source->label, &a->member, err));
    return ur_npy_read(ur_member_next, &a->member, a->member.size, source->label, &again, err);
}

static unrelu_status take_array(unrelu_source *source, ur_piece *piece, int *more,
                                unrelu_error *err)
{
    ur_array *a = source->state;
    *more = a->next_row < a->end;
    if (!*more)
        return is_streamed(a) ? ur_member_finish(&a->member, err) : UNRELU_OK;
    piece->index = a->next_index++;
    piece->first_row = a->next_row;
    piece->rows = smaller(a->piece_rows, a->end - a->next_row);
    piece->first_line = piece->lines = 0;
    piece->size = 0;
    piece->offset =
        a->base + (uint64_t)a->next_row * (a->npy.fortran ? 1 : source->width) * a->npy.item;
    a->next_row += piece->rows;
    if (!is_streamed(a))
        return UNRELU_OK;
    piece->size = piece->rows * source->width * a->npy.item;
    UR_TRY(ur_piece_reserve(piece, piece->size, err));
    return ur_member_next(&a->member, piece->bytes, piece->size, err);
}

/* rows of raw elements, all columns side by side -> the chosen columns in block->own */
static void convert_rows(const unrelu_source *source, const unsigned char *raw, ur_block *block)
{
    const ur_npy *npy = &((const ur_array *)source->state)->npy;
    size_t width = source->width, d = source->d;
    if (!source->pick) {
        ur_npy_convert(npy->dtype, raw, 1, block->own, 1, block->rows * d);
        return;
    }
    for (size_t row = 0; row < block->rows; row += TILE_ROWS) {
        size_t rows = smaller(TILE_ROWS, block->rows - row);
        for (size_t j = 0; j < d; j++)
            ur_npy_convert(npy->dtype, raw + (row * width + source->pick[j]) * npy->item, width,
                           block->own + row * d + j, d, rows);
    }
}

/* Fortran order: the rows of a piece lie in d runs, n elements apart */
static unrelu_status decode_columns(const unrelu_source *source, const ur_piece *piece,
                                    ur_block *block, unrelu_error *err)
{
    const ur_array *a = source->state;
    size_t d = source->d, run = piece->rows * a->npy.item;
    UR_TRY(ur_block_scratch(block, TILE_COLUMNS * run, err));
    for (size_t j = 0; j < d; j += TILE_COLUMNS) {
        size_t columns = smaller(TILE_COLUMNS, d - j);
        for (size_t t = 0; t < columns; t++) {
            size_t column = source->pick ? source->pick[j + t] : j + t;
            UR_TRY(ur_file_read_at(a->fd, source->label, block->bytes + t * run, run,
                                   piece->offset + (uint64_t)column * a->n * a->npy.item, err));
        }
        for (size_t row = 0; row < piece->rows; row += TILE_ROWS)
            for (size_t t = 0; t < columns; t++)
                ur_npy_convert(a->npy.dtype, block->bytes + t * run + row * a->npy.item, 1,
                               block->own + row * d + j + t, d,
                               smaller(TILE_ROWS, piece->rows - row));
    }
    return UNRELU_OK;
}

static unrelu_status decode_array(const unrelu_source *source, const ur_piece *piece,
                                  ur_block *block, unrelu_error *err)
{
    const ur_array *a = source->state;
    block->first_row = piece->first_row;
    UR_TRY(ur_block_reserve(block, piece->rows, source->d, err));
    if (a->npy.fortran)
        return decode_columns(source, piece, block, err);
    size_t size = piece->rows * source->width * a->npy.item;
    if (a->fd >= 0 && a->npy.dtype == UR_F8 && !source->pick)
        return ur_file_read_at(a->fd, source->label, block->own, size, piece->offset, err);
    if (a->fd >= 0) {
        UR_TRY(ur_block_scratch(block, size, err));
        UR_TRY(ur_file_read_at(a->fd, source->label, block->bytes, size, piece->offset, err));
    }
    convert_rows(source, a->fd >= 0 ? block->bytes : piece->bytes, block);
    return UNRELU_OK;
}

static double array_fraction(const unrelu_source *source)
{
    const ur_array *a = source->state;
    size_t rows = a->end - a->first_row;
    return rows ? (double)(a->next_row - a->first_row) / (double)rows : 1;
}

static const ur_format array_format = {
    .rewind = rewind_array,
    .take = take_array,
    .decode = decode_array,
    .fraction = array_fraction,
};

static void end_array(void *thing)
{
    ur_array *a = thing;
    ur_member_close(&a->member);
    ur_archive_close(&a->archive);
    if (a->fd >= 0)
        close(a->fd);
}

unrelu_status ur_array_new(unrelu_source *source, ur_array **out, unrelu_error *err)
{
    ur_array *a = ur_take(&source->arena, 1, sizeof *a);
    if (a)
        a->fd = -1;
    source->format = &array_format;
    source->state = *out = ur_arena_adopt(&source->arena, a, end_array);
    return ur_arena_status(&source->arena, err);
}

unrelu_status ur_array_start(unrelu_source *source, unrelu_error *err)
{
    ur_array *a = source->state;
    ur_npy *npy = &a->npy;
    if (npy->dtype == UR_TEXT)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: dtype '%s' holds text, not samples; save the numbers as float64",
                       source->label, npy->descr);
    if (npy->ndim != 1 && npy->ndim != 2)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: the array has %zu dimensions, expected 2 (rows are samples, columns "
                       "are coordinates) or 1; reshape it",
                       source->label, npy->ndim);
    a->n = npy->shape[0];
    size_t width = npy->ndim == 2 ? npy->shape[1] : 1;
    if (width == 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: the array has shape (%zu, 0): no columns; rows must be samples, "
                       "columns coordinates",
                       source->label, a->n);
    if (a->n == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows (shape (0, %zu)); nothing can be learned",
                       source->label, width);
    if (width == 1 || a->n == 1)
        npy->fortran = 0; /* both orders are one */
    a->piece_rows = ur_piece_rows(a->n, width);
    return ur_columns_choose(source, width, NULL, NULL, err);
}

/* whole pieces, so that the blocks of all parts are those of the whole */
unrelu_status ur_array_cut(unrelu_source *source, unrelu_error *err)
{
    ur_array *a = source->state;
    const unrelu_source_options *asked = &source->reading.asked;
    size_t pieces = a->n / a->piece_rows + (a->n % a->piece_rows != 0);
    a->end = a->n;
    if (asked->parts <= 1)
        return UNRELU_OK;
    if (is_streamed(a))
        return ur_source_refuse_parts(source, err);
    a->first_row = a->next_row = ur_source_cut(pieces, asked->part, asked->parts) * a->piece_rows;
    a->end = smaller(ur_source_cut(pieces, asked->part + 1, asked->parts) * a->piece_rows, a->n);
    return UNRELU_OK;
}

/* ---- a .npy file ---- */

static unrelu_status read_next(void *context, void *bytes, size_t size, unrelu_error *err)
{
    const unrelu_source *source = context;
    ur_array *a = source->state;
    UR_TRY(ur_file_read_at(a->fd, source->label, bytes, size, a->base, err));
    a->base += size; /* where the header ends, at last */
    return UNRELU_OK;
}

unrelu_status ur_npy_open(unrelu_source *source, const char *path, unrelu_error *err)
{
    uint64_t size;
    int regular;
    ur_array *a = NULL;
    UR_TRY(ur_array_new(source, &a, err));
    UR_TRY(ur_file_open_read(path, &a->fd, &size, &regular, err));
    UR_TRY(ur_npy_read(read_next, source, size, source->label, &a->npy, err));
    UR_TRY(ur_array_start(source, err));
    return ur_array_cut(source, err);
}
