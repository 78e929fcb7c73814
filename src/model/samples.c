/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples.h"

#include "base/error.h"
#include "base/memory.h"
#include "pass/parallel.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

/* room for more rows; what was lent so far is copied first */
static unrelu_status grow(ur_table *t, size_t rows, unrelu_error *err)
{
    if (rows <= t->capacity)
        return UNRELU_OK;
    size_t capacity = t->capacity + t->capacity / 2;
    capacity = capacity > rows ? capacity : rows;
    int overflow = 0;
    size_t count = ur_product(capacity, t->columns, &overflow);
    size_t size = ur_product(count, sizeof(double), &overflow);
    double *own = overflow ? NULL : ur_resize(t->own, size ? size : 1);
    if (own && !t->own && t->rows > 0)
        memcpy(own, t->cells, t->rows * t->columns * sizeof *own);
    t->own = own ? own : t->own;
    t->cells = t->own ? t->own : t->cells;
    unsigned char *mark = own && t->mark ? ur_resize(t->mark, count ? count : 1) : NULL;
    t->mark = mark ? mark : t->mark;
    double *upper = own && t->upper ? ur_resize(t->upper, size ? size : 1) : NULL;
    t->upper = upper ? upper : t->upper;
    if (!own || (t->mark && !mark) || (t->upper && !upper))
        return ur_fail_memory(err, capacity * t->columns, "cells");
    for (size_t i = t->rows * t->columns; i < count && mark; i++)
        mark[i] = 0;
    for (size_t i = t->rows * t->columns; i < count && upper; i++)
        upper[i] = NAN;
    t->capacity = capacity;
    return UNRELU_OK;
}

static unrelu_status refuse_cell(const unrelu_source *source, size_t row, size_t column,
                                 double value, const char *remedy, unrelu_error *err)
{
    char label[160];
    const char *file = ur_source_place(source, &row);
    ur_source_column_label(source, column, label, sizeof label);
    return ur_fail(err, UNRELU_EFORMAT, "%s: row %zu, %s is %s: %s", file, row + 1, label,
                   isnan(value) ? "missing (NaN)" : "infinite", remedy);
}

static unrelu_status check_cells(const unrelu_source *source, const ur_block *block,
                                 const char *remedy, unrelu_error *err)
{
    for (size_t i = 0; i < block->rows; i++) {
        const double *x = block->x + i * block->stride;
        double sum = 0;
        for (size_t j = 0; j < block->d; j++)
            sum += x[j] - x[j]; /* NaN where a cell is not finite */
        for (size_t j = 0; sum != 0 && j < block->d; j++)
            if (!isfinite(x[j]))
                return refuse_cell(source, block->first_row + i, j, x[j], remedy, err);
    }
    return UNRELU_OK;
}

/* whether the block lies behind those before it in memory that the source lends */
static int is_lent(const ur_table *t, const ur_block *block)
{
    const double *next = t->rows > 0 ? t->cells + t->rows * t->columns : block->x;
    return !t->own && !block->mark && block->x != block->own && block->stride == t->columns &&
           block->x == next;
}

static unrelu_status append_marks(const ur_block *block, size_t end, ur_table *t, unrelu_error *err)
{
    size_t room = t->capacity * t->columns, cells = block->rows * t->columns;
    if (block->mark && !t->mark && !(t->mark = ur_alloc(room, 1)))
        return ur_fail_memory(err, room, "cells");
    if (block->upper && !t->upper) {
        if (!(t->upper = ur_alloc(room, sizeof *t->upper)))
            return ur_fail_memory(err, room, "cells");
        for (size_t i = 0; i < room; i++)
            t->upper[i] = NAN;
    }
    if (block->mark)
        memcpy(t->mark + end, block->mark, cells);
    if (block->upper)
        memcpy(t->upper + end, block->upper, cells * sizeof *t->upper);
    return UNRELU_OK;
}

static unrelu_status append(const unrelu_source *source, const ur_block *block, const char *remedy,
                            ur_table *t, unrelu_error *err)
{
    size_t end = t->rows * t->columns;
    if (remedy)
        UR_TRY(check_cells(source, block, remedy, err));
    if (is_lent(t, block)) {
        t->cells = t->rows > 0 ? t->cells : block->x;
    } else {
        UR_TRY(grow(t, t->rows + block->rows, err));
        for (size_t i = 0; i < block->rows; i++)
            memcpy(t->own + end + i * t->columns, block->x + i * block->stride,
                   t->columns * sizeof *t->own);
        UR_TRY(append_marks(block, end, t, err));
    }
    t->rows += block->rows;
    return UNRELU_OK;
}

/* own, mark and upper are the caller's, also where it fails */
static unrelu_status read_all(unrelu_source *source, const unrelu_exec *exec, const char *remedy,
                              ur_table *t, unrelu_error *err)
{
    ur_piece piece = {0};
    ur_block block = {.wanted = remedy ? UR_VALUES_ONLY : UR_ALL_MARKS};
    int more = 0;
    *t = (ur_table){.columns = unrelu_source_columns(source)};
    unrelu_status status = ur_source_rewind(source, err);
    while (status == UNRELU_OK &&
           (status = ur_source_take(source, &piece, &more, err)) == UNRELU_OK && more) {
        ur_progress(exec, "reading", ur_source_fraction(source));
        status = ur_cancelled(exec) ? ur_fail_cancelled(err)
                                    : ur_source_decode(source, &piece, &block, err);
        if (status == UNRELU_OK)
            status = append(source, &block, remedy, t, err);
    }
    ur_piece_free(&piece);
    ur_block_free(&block);
    return status;
}

unrelu_status ur_table_load(unrelu_source *source, const unrelu_exec *exec, const char *remedy,
                            ur_arena *arena, ur_table *t, unrelu_error *err)
{
    unrelu_status status = read_all(source, exec, remedy, t, err);
    if (t->own)
        ur_arena_adopt(arena, t->own, ur_free);
    if (t->mark)
        ur_arena_adopt(arena, t->mark, ur_free);
    if (t->upper)
        ur_arena_adopt(arena, t->upper, ur_free);
    return status == UNRELU_OK ? ur_arena_status(arena, err) : status;
}

unrelu_status unrelu_source_load(unrelu_source *source, const unrelu_exec *exec, double **x,
                                 size_t *n, unrelu_error *err)
{
    ur_table t;
    unrelu_exec here;
    *x = NULL;
    *n = 0;
    UR_TRY(ur_exec_read(&exec, &here, err));
    unrelu_status status = read_all(source, exec, "every cell must be a number here", &t, err);
    if (status == UNRELU_OK && !t.own)
        status = grow(&t, t.rows ? t.rows : 1, err);
    if (status != UNRELU_OK) {
        ur_free(t.own);
        return status;
    }
    *x = t.own;
    *n = t.rows;
    return UNRELU_OK;
}
