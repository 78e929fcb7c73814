/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table in memory, in any order and any of them again, as a source. */
#include "read/resample.h"

#include "base/error.h"
#include "read/format.h"

#include <string.h>

typedef struct {
    const ur_rows *rows;
    size_t piece_rows, next_row, next_index;
} state;

static unrelu_status rewind_rows(unrelu_source *source, unrelu_error *err)
{
    (void)err;
    state *s = source->state;
    s->next_row = s->next_index = 0;
    return UNRELU_OK;
}

static unrelu_status take_rows(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err)
{
    (void)err;
    state *s = source->state;
    size_t left = s->rows->n - s->next_row;
    *more = left > 0;
    if (!*more)
        return UNRELU_OK;
    piece->index = s->next_index++;
    piece->first_row = s->next_row;
    piece->rows = left < s->piece_rows ? left : s->piece_rows;
    piece->first_line = piece->size = 0;
    s->next_row += piece->rows;
    return UNRELU_OK;
}

static unrelu_status decode_rows(const unrelu_source *source, const ur_piece *piece,
                                 ur_block *block, unrelu_error *err)
{
    const ur_rows *rows = ((const state *)source->state)->rows;
    size_t d = source->d;
    block->first_row = piece->first_row;
    UR_TRY(ur_block_reserve(block, piece->rows, d, err));
    for (size_t i = 0; i < piece->rows; i++)
        for (size_t j = 0; j < d; j++) {
            size_t from = rows->index[piece->first_row + i] * rows->columns + rows->column[j];
            block->own[i * d + j] = rows->cells[from];
            if (rows->mark && rows->mark[from])
                UR_TRY(ur_block_mark(block, i * d + j, rows->mark[from], err));
            if (rows->upper && rows->mark[from] == UR_BETWEEN_GIVEN)
                UR_TRY(ur_block_upper(block, i * d + j, rows->upper[from], err));
        }
    return UNRELU_OK;
}

static double rows_fraction(const unrelu_source *source)
{
    const state *s = source->state;
    return (double)s->next_row / (double)s->rows->n;
}

static const ur_format rows_format = {
    .rewind = rewind_rows, .take = take_rows, .decode = decode_rows, .fraction = rows_fraction};

unrelu_status ur_source_of_rows(const unrelu_source *like, const ur_rows *rows, ur_arena *arena,
                                unrelu_source **out, unrelu_error *err)
{
    unrelu_source *source = ur_take(arena, 1, sizeof *source);
    state *s = ur_take(arena, 1, sizeof *s);
    size_t d = rows->d;
    const char **names = ur_take(arena, d, sizeof *names);
    unsigned char *uncensored = like->reading.uncensored ? ur_take(arena, d, 1) : NULL;
    UR_TRY(ur_arena_status(arena, err));
    *s = (state){rows, ur_piece_rows(rows->n, d), 0, 0};
    for (size_t j = 0; j < d; j++) {
        names[j] = like->names[rows->column[j]];
        if (uncensored)
            uncensored[j] = like->reading.uncensored[rows->column[j]];
    }
    *source = (unrelu_source){.format = &rows_format,
                              .state = s,
                              .label = like->label,
                              .width = d,
                              .d = d,
                              .names = names,
                              .reading = {.uncensored = uncensored}};
    *out = source;
    return UNRELU_OK;
}
