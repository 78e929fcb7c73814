/* SPDX-License-Identifier: Apache-2.0 */
/* Text is cut at line ends into pieces of up to 1 MiB (take: one memchr a line), and a piece is
 * parsed by whoever decodes it. A line is a row: line breaks inside quotes are refused. */
#include "read/csv.h"

#include "base/error.h"
#include "read/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GOAL_LEAST = 64 << 10, GOAL_MOST = 1 << 20, GOAL_PIPE = 256 << 10, GOAL_SHARE = 16 };

#define SKIPPED SIZE_MAX

/* ---- take ---- */

unrelu_status ur_csv_fill(ur_csv *csv, ur_piece *piece, size_t goal, unrelu_error *err)
{
    size_t got = 0;
    UR_TRY(ur_piece_reserve(piece, goal + UR_CSV_PAD, err));
    if (piece != &csv->ahead && piece->size < goal && csv->ahead.size) {
        size_t room = goal - piece->size;
        size_t moved = csv->ahead.size < room ? csv->ahead.size : room;
        memcpy(piece->bytes + piece->size, csv->ahead.bytes, moved);
        piece->size += moved;
        csv->ahead.size -= moved;
        memmove(csv->ahead.bytes, csv->ahead.bytes + moved, csv->ahead.size);
    }
    if (piece->size < goal && !csv->ended) {
        size_t want = goal - piece->size;
        UR_TRY(ur_bytes_read(&csv->in, piece->bytes + piece->size, want, &got, err));
        piece->size += got;
        csv->ended = got < want;
        if (csv->ended && piece->size && piece->bytes[piece->size - 1] != '\n')
            piece->bytes[piece->size++] = '\n';
    }
    memset(piece->bytes + piece->size, 0,
           piece->capacity - piece->size < UR_CSV_PAD ? piece->capacity - piece->size : UR_CSV_PAD);
    return UNRELU_OK;
}

/* What lies behind the last line feed goes back to `ahead`; *whole = 0 where there is none. */
static unrelu_status cut_lines(ur_csv *csv, ur_piece *piece, int *whole, unrelu_error *err)
{
    size_t keep = piece->size;
    while (keep > 0 && piece->bytes[keep - 1] != '\n')
        keep--;
    size_t rest = piece->size - keep;
    *whole = keep > 0;
    if (!*whole || rest == 0)
        return UNRELU_OK;
    size_t size = csv->ahead.size;
    UR_TRY(ur_piece_reserve(&csv->ahead, size + rest + UR_CSV_PAD, err));
    memmove(csv->ahead.bytes + rest, csv->ahead.bytes, size);
    memcpy(csv->ahead.bytes, piece->bytes + keep, rest);
    csv->ahead.size += rest;
    piece->size = keep;
    return UNRELU_OK;
}

/* The next whole lines, none at the end of the file */
static unrelu_status next_lines(ur_csv *csv, ur_piece *piece, unrelu_error *err)
{
    int whole = 0;
    piece->size = 0;
    for (size_t goal = csv->goal; !whole; goal *= 2) {
        UR_TRY(ur_csv_fill(csv, piece, goal, err));
        if (piece->size == 0)
            return UNRELU_OK;
        UR_TRY(cut_lines(csv, piece, &whole, err));
        if (!whole && goal >= UR_CSV_LINE_MOST)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu is longer than %d MiB; this is no table of numbers",
                           csv->in.label, csv->next_line, UR_CSV_LINE_MOST >> 20);
    }
    return UNRELU_OK;
}

static unrelu_status take_csv(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err)
{
    ur_csv *csv = source->state;
    size_t lines = 0;
    for (piece->rows = 0; piece->rows == 0; csv->next_line += lines) {
        UR_TRY(next_lines(csv, piece, err));
        if (piece->size == 0)
            break;
        piece->rows = ur_csv_rows(piece->bytes, piece->size, csv->separator, &lines);
        piece->first_line = csv->next_line;
    }
    *more = piece->rows > 0;
    if (!*more && csv->next_row == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows; nothing can be learned", source->label);
    if (*more) {
        piece->index = csv->next_index++;
        piece->first_row = csv->next_row;
        csv->next_row += piece->rows;
    }
    return UNRELU_OK;
}

static unrelu_status rewind_csv(unrelu_source *source, unrelu_error *err)
{
    ur_csv *csv = source->state;
    UR_TRY(ur_bytes_seek(&csv->in, csv->data_at, err));
    csv->ahead.size = 0;
    csv->ended = 0;
    csv->next_row = csv->next_index = 0;
    csv->next_line = csv->data_line;
    return UNRELU_OK;
}

/* ---- decode ---- */

typedef struct {
    const unrelu_source *source;
    ur_csv *csv;
    ur_block *block;
    unsigned char *below; /* its marks of limits, or NULL: not wanted */
    size_t first_row;     /* of the piece */
    size_t row, line;     /* 0-based in the file, 1-based */
    unrelu_error *err;
} place;

static unrelu_status refuse_width(const place *at, const unsigned char *start)
{
    size_t cells = ur_cell_count(start, at->csv->separator);
    return ur_fail(at->err, UNRELU_EFORMAT,
                   "%s: row %zu (line %zu) has %zu cell%s, expected %zu as in the %s",
                   at->source->label, at->row + 1, at->line, cells, cells == 1 ? "" : "s",
                   at->source->width, at->csv->header ? "header row" : "first row");
}

static unrelu_status refuse_cell(const place *at, const ur_cell *cell, ur_cell_kind kind,
                                 size_t column)
{
    char label[128], where[512];
    ur_source_column_label(at->source, column, label, sizeof label);
    snprintf(where, sizeof where, "%.310s: row %zu (line %zu), %s", at->source->label, at->row + 1,
             at->line, label);
    return ur_cell_refuse(cell, kind, at->csv->separator, where, at->err);
}

/* What the fast way did not take: quoted, padded, missing, long, or wrong */
static unrelu_status read_odd_cell(const place *at, const unsigned char *s, size_t column,
                                   double *out, const unsigned char **next)
{
    ur_cell cell = ur_cell_find(s, at->csv->separator);
    ur_cell_kind kind = ur_cell_read(&cell, at->csv->c_locale, out);
    *next = cell.next;
    if (kind == UR_CELL_LIMIT && at->below) {
        size_t row = at->row - at->first_row;
        at->below[row * at->source->d + column] = isnan(*out) ? UR_BELOW_UNKNOWN : UR_BELOW_GIVEN;
        at->block->below = at->below;
        return UNRELU_OK;
    }
    if (kind == UR_CELL_LIMIT)
        atomic_store(&at->csv->met_limit, 1);
    return kind <= UR_CELL_MISSING ? UNRELU_OK : refuse_cell(at, &cell, kind, column);
}

/* One line from s into out (d); *end is its line feed */
static unrelu_status read_row(const place *at, const unsigned char *start, double *out,
                              const unsigned char **end)
{
    const unsigned char *s = start, separator = at->csv->separator;
    const size_t *places = at->csv->place;
    size_t last = at->source->width - 1;
    for (size_t j = 0;; j++) {
        const unsigned char *next;
        size_t to = places ? places[j] : j;
        if (to == SKIPPED) {
            next = ur_cell_find(s, separator).next;
        } else {
            while (*s == ' ')
                s++;
            next = ur_number_fast(s, &out[to]);
            if (next && *next == '\r')
                next++;
            if (!next || (*next != separator && *next != '\n'))
                UR_TRY(read_odd_cell(at, s, to, &out[to], &next));
        }
        if ((*next == '\n') != (j == last))
            return refuse_width(at, start);
        if (j == last) {
            *end = next;
            return UNRELU_OK;
        }
        s = next + 1;
    }
}

static unrelu_status decode_csv(const unrelu_source *source, const ur_piece *piece, ur_block *block,
                                unrelu_error *err)
{
    ur_csv *csv = source->state;
    /* A row of this width takes width bytes at least: where the lines are more than that
     * allows, one of them is ragged and ends the loop before the block does. */
    size_t most = piece->size / source->width + 1;
    size_t rows = piece->rows < most ? piece->rows : most;
    block->first_row = piece->first_row;
    UR_TRY(ur_block_reserve(block, rows, source->d, err));
    if (block->limits_wanted)
        UR_TRY(ur_block_scratch(block, rows * source->d, err));
    place at = {.source = source,
                .csv = csv,
                .block = block,
                .below = block->limits_wanted ? block->bytes : NULL,
                .first_row = piece->first_row,
                .row = piece->first_row,
                .line = piece->first_line,
                .err = err};
    if (at.below)
        memset(at.below, 0, rows * source->d);
    const unsigned char *s = piece->bytes, *end = s + piece->size;
    double *out = block->own;
    for (; s < end; s++, at.line++) {
        size_t lines;
        const unsigned char *feed;
        if (*s <= ' ') {
            feed = memchr(s, '\n', (size_t)(end - s));
            if (!ur_csv_rows(s, (size_t)(feed - s) + 1, csv->separator, &lines)) {
                s = feed;
                continue;
            }
        }
        UR_TRY(read_row(&at, s, out, &s));
        out += source->d;
        at.row++;
    }
    return UNRELU_OK;
}

/* ---- open and close ---- */

static double csv_fraction(const unrelu_source *source)
{
    return ur_bytes_fraction(&((const ur_csv *)source->state)->in);
}

static void end_csv(void *thing)
{
    ur_csv *csv = thing;
    ur_bytes_close(&csv->in);
    ur_piece_free(&csv->ahead);
    if (csv->c_locale)
        freelocale(csv->c_locale);
}

static int csv_met_limit(const unrelu_source *source)
{
    return atomic_load(&((ur_csv *)source->state)->met_limit);
}

static const ur_format csv_format = {
    .rewind = rewind_csv,
    .take = take_csv,
    .decode = decode_csv,
    .fraction = csv_fraction,
    .met_limit = csv_met_limit,
};

/* By the size of the file alone: threads get work from small files, large ones big pieces. */
static size_t choose_goal(const ur_bytes *in)
{
    if (!in->regular)
        return GOAL_PIPE;
    uint64_t text = in->gz ? 4 * in->size : in->size; /* numbers pack about 4 to 1 at most */
    uint64_t goal = text / GOAL_SHARE;
    return goal < GOAL_LEAST ? GOAL_LEAST : goal > GOAL_MOST ? GOAL_MOST : (size_t)goal;
}

unrelu_status ur_csv_open(unrelu_source *source, const char *path, const ur_csv_options *options,
                          unrelu_error *err)
{
    ur_csv *csv = ur_take(&source->arena, 1, sizeof *csv);
    if (csv)
        csv->in.fd = csv->in.spool = -1;
    source->format = &csv_format;
    source->state = ur_arena_adopt(&source->arena, csv, end_csv);
    UR_TRY(ur_arena_status(&source->arena, err));
    csv->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!csv->c_locale)
        return ur_fail_memory(err, 1, "locale");
    UR_TRY(ur_bytes_open(&csv->in, path, source->label, options->gzip, options->spool, err));
    csv->goal = choose_goal(&csv->in);
    UR_TRY(ur_csv_head(source, csv, options, err));
    csv->next_line = csv->data_line;
    if (!source->pick)
        return UNRELU_OK;
    csv->place = ur_take(&source->arena, source->width, sizeof *csv->place);
    UR_TRY(ur_arena_status(&source->arena, err));
    for (size_t j = 0; j < source->width; j++)
        csv->place[j] = SKIPPED;
    for (size_t j = 0; j < source->d; j++)
        csv->place[source->pick[j]] = j;
    return UNRELU_OK;
}
