/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix in the caller's memory: lent to the blocks, never copied. */
#include "base/error.h"
#include "base/memory.h"
#include "read/columns.h"

#include <stdlib.h>

typedef struct {
    const double *x;
    size_t n, piece_rows, next_row, next_index;
} matrix;

static unrelu_status rewind_matrix(unrelu_source *source, unrelu_error *err)
{
    matrix *m = source->state;
    (void)err;
    m->next_row = m->next_index = 0;
    return UNRELU_OK;
}

static unrelu_status take_matrix(unrelu_source *source, ur_piece *piece, int *more,
                                 unrelu_error *err)
{
    matrix *m = source->state;
    size_t left = m->n - m->next_row;
    (void)err;
    *more = left > 0;
    if (!*more)
        return UNRELU_OK;
    piece->index = m->next_index++;
    piece->first_row = m->next_row;
    piece->rows = left < m->piece_rows ? left : m->piece_rows;
    piece->first_line = 0;
    piece->size = 0;
    m->next_row += piece->rows;
    return UNRELU_OK;
}

static unrelu_status decode_matrix(const unrelu_source *source, const ur_piece *piece,
                                   ur_block *block, unrelu_error *err)
{
    const matrix *m = source->state;
    block->x = m->x + piece->first_row * source->d;
    block->rows = piece->rows;
    block->d = block->stride = source->d;
    block->first_row = piece->first_row;
    (void)err;
    return UNRELU_OK;
}

static double matrix_fraction(const unrelu_source *source)
{
    const matrix *m = source->state;
    return (double)m->next_row / (double)m->n;
}

static void close_matrix(unrelu_source *source)
{
    free(source->state);
}

static const ur_format matrix_format = {
    .rewind = rewind_matrix,
    .take = take_matrix,
    .decode = decode_matrix,
    .fraction = matrix_fraction,
    .close = close_matrix,
};

static unrelu_status check_matrix(const double *x, size_t n, size_t d, unrelu_error *err)
{
    int overflow = 0;
    size_t bytes = ur_product(ur_product(n, d, &overflow), sizeof *x, &overflow);
    if (overflow || bytes > PTRDIFF_MAX)
        return ur_fail(err, UNRELU_EUSAGE, "a matrix of %zu x %zu doubles fits no memory", n, d);
    if (d == 0)
        return ur_fail(err, UNRELU_EUSAGE, "the matrix has no columns (%zu x 0)", n);
    if (n == 0)
        return ur_fail(err, UNRELU_EDATA, "the matrix has no rows (0 x %zu)", d);
    if (!x)
        return ur_fail(err, UNRELU_EUSAGE, "the matrix (%zu x %zu) is NULL", n, d);
    return UNRELU_OK;
}

unrelu_status unrelu_source_memory(const double *x, size_t n, size_t d, unrelu_source **out,
                                   unrelu_error *err)
{
    *out = NULL;
    unrelu_status status = check_matrix(x, n, d, err);
    if (status)
        return status;
    unrelu_source *source = ur_alloc(1, sizeof *source);
    matrix *m = ur_alloc(1, sizeof *m);
    if (source && m && (source->label = ur_string_copy("matrix in memory"))) {
        *m = (matrix){.x = x, .n = n, .piece_rows = ur_piece_rows(n, d)};
        source->format = &matrix_format;
        source->state = m;
        status = ur_columns_choose(source, NULL, d, NULL, err);
    } else {
        free(m);
        status = ur_fail_memory(err, 1, "source");
    }
    if (status)
        unrelu_source_close(source);
    else
        *out = source;
    return status;
}
