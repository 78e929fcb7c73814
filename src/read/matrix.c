/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix in the caller's memory, in whatever order it lies there. Doubles whose rows are
 * consecutive are lent to the blocks; all others are converted block by block, so that nothing is
 * ever copied as a whole. A second matrix makes intervals of the cells. */
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "read/format.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Tiles of conversion: 64 rows by 8 columns touch 64 to 128 cache lines, whatever the order. */
enum { TILE_ROWS = 64, TILE_COLUMNS = 8 };

typedef struct {
    unrelu_matrix x, upper; /* upper.data NULL: cells are numbers */
    size_t n, piece_rows;
    size_t first_row, end; /* the rows that are handed out */
    size_t next_row, next_index;
    atomic_int met_limit;
} matrix_state;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static unrelu_status rewind_matrix(unrelu_source *source, unrelu_error *err)
{
    matrix_state *m = source->state;
    (void)err;
    m->next_row = m->first_row;
    m->next_index = 0;
    return UNRELU_OK;
}

static unrelu_status take_rows(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err)
{
    matrix_state *m = source->state;
    (void)err;
    *more = m->next_row < m->end;
    if (!*more)
        return UNRELU_OK;
    piece->index = m->next_index++;
    piece->first_row = m->next_row;
    piece->rows = smaller(m->piece_rows, m->end - m->next_row);
    piece->first_line = piece->lines = piece->size = 0;
    piece->offset = 0;
    m->next_row += piece->rows;
    return UNRELU_OK;
}

static double matrix_fraction(const unrelu_source *source)
{
    const matrix_state *m = source->state;
    size_t rows = m->end - m->first_row;
    return rows ? (double)(m->next_row - m->first_row) / (double)rows : 1;
}

static int matrix_met_limit(const unrelu_source *source)
{
    return atomic_load(&((matrix_state *)source->state)->met_limit);
}

/* ---- numbers ---- */

static const char *row_at(const unrelu_matrix *x, size_t row)
{
    return (const char *)x->data + (ptrdiff_t)row * x->row_step;
}

/* doubles and floats of any alignment */
static double number_at(const unrelu_matrix *x, const char *at)
{
    double wide;
    float narrow;
    if (x->type == UNRELU_FLOATS) {
        memcpy(&narrow, at, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static size_t column_of(const unrelu_source *source, size_t j)
{
    return source->pick ? source->pick[j] : j;
}

/* rows of a block, the chosen columns side by side */
static void convert(const unrelu_source *source, const unrelu_matrix *x, size_t first, size_t rows,
                    double *out)
{
    size_t d = source->d;
    for (size_t top = 0; top < rows; top += TILE_ROWS)
        for (size_t left = 0; left < d; left += TILE_COLUMNS)
            for (size_t i = top; i < smaller(top + TILE_ROWS, rows); i++) {
                const char *row = row_at(x, first + i);
                for (size_t j = left; j < smaller(left + TILE_COLUMNS, d); j++)
                    out[i * d + j] =
                        number_at(x, row + (ptrdiff_t)column_of(source, j) * x->column_step);
            }
}

static int can_lend(const unrelu_source *source, const unrelu_matrix *x)
{
    enum { WIDTH = sizeof(double) };
    return x->type == UNRELU_DOUBLES && !source->pick && x->column_step == WIDTH &&
           x->row_step >= 0 && x->row_step % WIDTH == 0 &&
           (size_t)x->row_step / WIDTH >= source->width &&
           (uintptr_t)x->data % _Alignof(double) == 0;
}

/* ---- intervals ---- */

static unrelu_status refuse_interval(const unrelu_source *source, size_t row, size_t column,
                                     double low, double high, unrelu_error *err)
{
    char label[160];
    ur_source_column_label(source, column, label, sizeof label);
    return ur_fail_at(err, UNRELU_EFORMAT, row + 1, column + 1,
                      "%s: row %zu, %s lies between %g and %g: the lower end is the larger one; "
                      "exchange them",
                      source->label, row + 1, label, low, high);
}

static unrelu_status refuse_limit(const unrelu_source *source, size_t row, size_t column,
                                  unrelu_error *err)
{
    char label[160];
    ur_source_column_label(source, column, label, sizeof label);
    atomic_store(&((matrix_state *)source->state)->met_limit, 1);
    return ur_fail_at(err, UNRELU_EFORMAT, row + 1, column + 1,
                      "%s: row %zu, %s is no value but a limit, which only fits, checks and "
                      "imputations of a rectified Gaussian read",
                      source->label, row + 1, label);
}

/* cell of block->own, which holds its lower end */
static unrelu_status mark_cell(const unrelu_source *source, ur_block *block, size_t cell,
                               double high, unrelu_error *err)
{
    size_t row = block->first_row + cell / block->d, column = cell % block->d;
    double *low = &block->own[cell];
    if (isnan(*low) || isnan(high) || (*low == -INFINITY && high == INFINITY)) {
        *low = NAN;
        return UNRELU_OK;
    }
    if (*low == high)
        return UNRELU_OK;
    if (*low > high)
        return refuse_interval(source, row, column, *low, high, err);
    unsigned char mark = *low == -INFINITY  ? UR_BELOW_GIVEN
                         : high == INFINITY ? UR_ABOVE_GIVEN
                                            : UR_BETWEEN_GIVEN;
    if (block->wanted < (mark == UR_BELOW_GIVEN ? UR_BELOW_TOO : UR_ALL_MARKS))
        return refuse_limit(source, row, column, err);
    if (mark == UR_BELOW_GIVEN)
        *low = high;
    if (mark == UR_BETWEEN_GIVEN)
        UR_TRY(ur_block_upper(block, cell, high, err));
    return ur_block_mark(block, cell, mark, err);
}

static unrelu_status mark_cells(const unrelu_source *source, ur_block *block, unrelu_error *err)
{
    const unrelu_matrix *upper = &((const matrix_state *)source->state)->upper;
    for (size_t i = 0; i < block->rows; i++) {
        const char *row = row_at(upper, block->first_row + i);
        for (size_t j = 0; j < block->d; j++) {
            const char *at = row + (ptrdiff_t)column_of(source, j) * upper->column_step;
            UR_TRY(mark_cell(source, block, i * block->d + j, number_at(upper, at), err));
        }
    }
    return UNRELU_OK;
}

static unrelu_status decode_rows(const unrelu_source *source, const ur_piece *piece,
                                 ur_block *block, unrelu_error *err)
{
    const matrix_state *m = source->state;
    if (!m->upper.data && can_lend(source, &m->x)) {
        block->x = (const double *)(const void *)row_at(&m->x, piece->first_row);
        block->mark = NULL;
        block->upper = NULL;
        block->first_row = piece->first_row;
        block->rows = piece->rows;
        block->d = source->d;
        block->stride = (size_t)m->x.row_step / sizeof(double);
        return UNRELU_OK;
    }
    UR_TRY(ur_block_reserve(block, piece->rows, source->d, err));
    block->first_row = piece->first_row;
    convert(source, &m->x, piece->first_row, piece->rows, block->own);
    return m->upper.data ? mark_cells(source, block, err) : UNRELU_OK;
}

static const ur_format matrix_format = {
    .rewind = rewind_matrix,
    .take = take_rows,
    .decode = decode_rows,
    .fraction = matrix_fraction,
    .met_limit = matrix_met_limit,
};

/* ---- open ---- */

static unrelu_status check(const unrelu_matrix *x, size_t n, size_t d, unrelu_error *err)
{
    int overflow = 0;
    size_t item = x->type == UNRELU_FLOATS ? sizeof(float) : sizeof(double);
    size_t bytes = ur_product(ur_product(n, d, &overflow), item, &overflow);
    if (x->type != UNRELU_DOUBLES && x->type != UNRELU_FLOATS)
        return ur_fail(err, UNRELU_EUSAGE, "a matrix holds doubles or floats, not type %d",
                       (int)x->type);
    if (overflow || bytes > PTRDIFF_MAX)
        return ur_fail(err, UNRELU_EUSAGE, "a matrix of %zu x %zu %s fits no memory", n, d,
                       x->type == UNRELU_FLOATS ? "floats" : "doubles");
    if (d == 0)
        return ur_fail(err, UNRELU_EUSAGE, "the matrix has no columns (%zu x 0)", n);
    if (n == 0)
        return ur_fail(err, UNRELU_EDATA, "the matrix has no rows (0 x %zu)", d);
    if (!x->data)
        return ur_fail(err, UNRELU_EUSAGE, "the matrix (%zu x %zu) is NULL", n, d);
    return UNRELU_OK;
}

/* whole pieces, so that the blocks of all parts are those of the whole */
static void cut(matrix_state *m, const unrelu_source_options *asked)
{
    size_t pieces = m->n / m->piece_rows + (m->n % m->piece_rows != 0);
    m->end = m->n;
    if (asked->parts <= 1)
        return;
    m->first_row = m->next_row = ur_source_cut(pieces, asked->part, asked->parts) * m->piece_rows;
    m->end = smaller(ur_source_cut(pieces, asked->part + 1, asked->parts) * m->piece_rows, m->n);
}

static unrelu_status open_matrix(unrelu_source *source, const unrelu_matrix *x,
                                 const unrelu_matrix *upper, size_t n, size_t d,
                                 const char *const *names, unrelu_error *err)
{
    matrix_state *m = ur_take(&source->arena, 1, sizeof *m);
    UR_TRY(ur_arena_status(&source->arena, err));
    source->format = &matrix_format;
    source->state = m;
    m->x = *x;
    m->upper = upper ? *upper : (unrelu_matrix){0};
    m->n = n;
    m->piece_rows = ur_piece_rows(n, d);
    cut(m, &source->reading.asked);
    return ur_columns_choose(source, d, names, NULL, err);
}

unrelu_status unrelu_source_matrix(const unrelu_matrix *x, const unrelu_matrix *upper, size_t n,
                                   size_t d, const char *const *names,
                                   const unrelu_source_options *options, unrelu_source **out,
                                   unrelu_error *err)
{
    unrelu_source_options given = {0};
    *out = NULL;
    UR_TRY(ur_sized_copy(&given, sizeof given, options, "the options", err));
    UR_TRY(check(x, n, d, err));
    if (upper)
        UR_TRY(check(upper, n, d, err));
    unrelu_source *source = ur_alloc(1, sizeof *source);
    if (!source)
        return ur_fail_memory(err, 1, "source");
    source->label = "matrix in memory";
    unrelu_status status = ur_reading_start(&source->arena, &given, &source->reading, err);
    if (!status)
        status = open_matrix(source, x, upper, n, d, names, err);
    if (status)
        unrelu_source_close(source);
    else
        *out = source;
    return status;
}

unrelu_status unrelu_source_memory(const double *x, size_t n, size_t d,
                                   const unrelu_source_options *options, unrelu_source **out,
                                   unrelu_error *err)
{
    const unrelu_matrix matrix = {x, UNRELU_DOUBLES, (ptrdiff_t)(d * sizeof *x), sizeof *x};
    return unrelu_source_matrix(&matrix, NULL, n, d, NULL, options, out, err);
}
