/* SPDX-License-Identifier: Apache-2.0 */
/* Text is cut at line ends into pieces of up to 1 MiB (take: one memchr a line), and a piece is
 * parsed by whoever decodes it. A line is a row: line breaks inside quotes are refused. */
#include "base/error.h"
#include "base/limits.h"
#include "read/bytes.h"
#include "read/csv_cell.h"
#include "read/csv_long.h"
#include "read/csv_look.h"
#include "read/csv_preamble.h"
#include "read/csv_said.h"
#include "read/csv_texts.h"
#include "read/csv_total.h"
#include "read/format.h"
#include "read/number.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { PAD = 16 }; /* readable bytes behind the text: numbers are read by eights */
enum { GOAL_LEAST = 64 << 10, GOAL_MOST = 1 << 20, GOAL_PIPE = 256 << 10, GOAL_SHARE = 16 };

typedef struct {
    ur_bytes in;
    locale_t c_locale;
    unsigned char separator;
    size_t goal;      /* bytes of text in a piece, but for its last line */
    uint64_t data_at; /* where the first row starts */
    size_t data_line; /* and its 1-based line */
    size_t data_row;  /* 0-based; 0 but in a part of a file whose rows before were counted */
    int header;       /* the line before it holds names */
    ur_piece ahead;   /* bytes that were read but not yet handed out */
    int ended;        /* nothing is left to read behind them */
    size_t next_row, next_line, next_index;
    atomic_int met_limit; /* a cell whose value lies below, above or between limits was refused */
} csv_state;

/* ---- take ---- */

/* Rows (lines that are not blank) and lines in whole lines of text. A blank line is no row, also
 * where the table has one column: a missing value there is written NA. */
static size_t count_rows(const unsigned char *s, size_t size, unsigned char separator,
                         size_t *lines)
{
    const unsigned char *end = s + size;
    size_t rows = 0;
    for (*lines = 0; s < end; ++*lines) {
        rows += *s > ' ' || !ur_is_blank_line(s, separator);
        s = (const unsigned char *)memchr(s, '\n', (size_t)(end - s)) + 1;
    }
    return rows;
}

/* Moves bytes of the file to the end of `piece` until it has `goal` of them or the file ends;
 * behind the end of a file a line feed is added where it is missing. */
static unrelu_status fill(csv_state *csv, ur_piece *piece, size_t goal, unrelu_error *err)
{
    size_t got = 0;
    UR_TRY(ur_piece_reserve(piece, goal + PAD, err));
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
           piece->capacity - piece->size < PAD ? piece->capacity - piece->size : PAD);
    return UNRELU_OK;
}

static unrelu_status refuse_length(const csv_state *csv, size_t line, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: line %zu is longer than %d MiB; this is no table of numbers", csv->in.label,
                   line, UR_LINE_MOST >> 20);
}

static unrelu_status refuse_blanks(const csv_state *csv, size_t line, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: line %zu ends more than %d MiB of blank lines; this is no table of numbers",
                   csv->in.label, line, UR_BLANK_MOST >> 20);
}

/* how much to read next where no line ends in `goal` bytes */
static size_t larger_goal(size_t goal)
{
    return goal <= UR_LINE_MOST / 2 ? 2 * goal : UR_LINE_MOST + 1;
}

/* The next whole lines, none at the end of the file; what lies behind the last line feed goes back
 * to `ahead`. */
static unrelu_status next_lines(csv_state *csv, ur_piece *piece, unrelu_error *err)
{
    size_t keep = 0;
    piece->size = 0;
    for (size_t goal = csv->goal; keep == 0; goal = larger_goal(goal)) {
        UR_TRY(fill(csv, piece, goal, err));
        if (piece->size == 0)
            return UNRELU_OK;
        for (keep = piece->size; keep > 0 && piece->bytes[keep - 1] != '\n';)
            keep--;
        if (keep == 0 && piece->size > UR_LINE_MOST)
            return refuse_length(csv, csv->next_line, err);
    }
    size_t rest = piece->size - keep, size = csv->ahead.size;
    UR_TRY(ur_piece_reserve(&csv->ahead, size + rest + PAD, err));
    memmove(csv->ahead.bytes + rest, csv->ahead.bytes, size);
    memcpy(csv->ahead.bytes, piece->bytes + keep, rest);
    csv->ahead.size += rest;
    piece->size = keep;
    return UNRELU_OK;
}

static unrelu_status take_csv(unrelu_source *source, ur_piece *piece, int *more, unrelu_error *err)
{
    csv_state *csv = source->state;
    size_t lines = 0, blank = 0;
    piece->lines = 0;
    for (piece->rows = 0; piece->rows == 0; csv->next_line += lines) {
        UR_TRY(next_lines(csv, piece, err));
        if (piece->size == 0)
            break;
        piece->rows = count_rows(piece->bytes, piece->size, csv->separator, &lines);
        piece->lines += lines;
        piece->first_line = csv->next_line;
        blank += piece->rows ? 0 : piece->size;
        if (blank > UR_BLANK_MOST)
            return refuse_blanks(csv, csv->next_line + lines - 1, err);
    }
    *more = piece->rows > 0;
    if (!*more && csv->next_index == 0 && source->reading.asked.parts <= 1)
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
    csv_state *csv = source->state;
    UR_TRY(ur_bytes_seek(&csv->in, csv->data_at, err));
    csv->ahead.size = 0;
    csv->ended = 0;
    csv->next_row = csv->data_row;
    csv->next_index = 0;
    csv->next_line = csv->data_line;
    return UNRELU_OK;
}

/* ---- a part of the file: lines that start in its share of the bytes ---- */

static unrelu_status line_from(csv_state *csv, uint64_t share, uint64_t *at, unrelu_error *err)
{
    *at = csv->data_at + share;
    return share ? ur_bytes_next_line(&csv->in, at, err) : UNRELU_OK;
}

static unrelu_status cut_lines(unrelu_source *source, unrelu_error *err)
{
    csv_state *csv = source->state;
    const unrelu_source_options *asked = &source->reading.asked;
    uint64_t start, end, size = csv->in.size - csv->data_at;
    if (asked->parts <= 1)
        return UNRELU_OK;
    if (!csv->in.regular || csv->in.gz || csv->in.spool >= 0)
        return ur_source_refuse_parts(source, err);
    UR_TRY(line_from(csv, ur_source_cut(size, asked->part, asked->parts), &start, err));
    UR_TRY(line_from(csv, ur_source_cut(size, asked->part + 1, asked->parts), &end, err));
    csv->data_at = start;
    csv->in.size = end;
    source->label = csv->in.label = ur_take_text(&source->arena, "%s, part %zu of %zu",
                                                 source->label, asked->part + 1, asked->parts);
    UR_TRY(ur_arena_status(&source->arena, err));
    return rewind_csv(source, err);
}

static void begin_at(unrelu_source *source, const unrelu_extent *before)
{
    csv_state *csv = source->state;
    csv->data_row = csv->next_row = before->rows;
    csv->data_line += before->lines;
    csv->next_line = csv->data_line;
}

/* ---- decode ---- */

typedef struct {
    const unrelu_source *source;
    csv_state *csv;
    ur_block *block;
    unsigned char *said; /* of each column, in this row; NULL: no column tells of others */
    size_t first_row;    /* of the piece */
    size_t row, line;    /* 0-based in the file, 1-based */
    unrelu_error *err;
} place;

static unrelu_status mark_cell(const place *at, size_t column, ur_cell_kind kind, double value,
                               double upper)
{
    size_t cell = (at->row - at->first_row) * at->source->d + column;
    unsigned char mark = kind == UR_CELL_ABOVE     ? UR_ABOVE_GIVEN
                         : kind == UR_CELL_BETWEEN ? UR_BETWEEN_GIVEN
                         : isnan(value)            ? UR_BELOW_UNKNOWN
                                                   : UR_BELOW_GIVEN;
    if (kind == UR_CELL_BETWEEN)
        UR_TRY(ur_block_upper(at->block, cell, upper, at->err));
    return ur_block_mark(at->block, cell, mark, at->err);
}

/* What the fast way did not take: quoted, padded, missing, long, or wrong */
static unrelu_status read_odd_cell(const place *at, const unsigned char *s, size_t column,
                                   double *out, const unsigned char **next)
{
    ur_cell cell = ur_cell_find(s, at->csv->separator);
    size_t size = (size_t)(cell.end - cell.start);
    double upper;
    *next = cell.next;
    *out = NAN;
    if (ur_reading_is_missing(&at->source->reading, cell.start, cell.end))
        return UNRELU_OK;
    ur_cell_kind kind =
        size > UR_CELL_MOST ? UR_CELL_LONG : ur_cell_read(&cell, at->csv->c_locale, out, &upper);
    if (kind <= UR_CELL_MISSING)
        return UNRELU_OK;
    int limited = kind == UR_CELL_BELOW || kind == UR_CELL_ABOVE || kind == UR_CELL_BETWEEN;
    if (at->block->wanted >= (kind == UR_CELL_BELOW ? UR_BELOW_TOO : UR_ALL_MARKS) && limited)
        return mark_cell(at, column, kind, *out, upper);
    if (limited)
        atomic_store(&at->csv->met_limit, 1);
    char label[128], where[512];
    ur_source_column_label(at->source, column, label, sizeof label);
    snprintf(where, sizeof where, "%.310s: row %zu (line %zu), %s", at->source->label, at->row + 1,
             at->line, label);
    return ur_cell_refuse(&cell, kind, at->csv->separator, where, at->err);
}

/* ---- columns that tell of others ---- */

static unrelu_status refuse_said(const place *at, const ur_cell *cell, size_t column,
                                 unrelu_error *err)
{
    enum { SHOWN = 40 };
    size_t size = (size_t)(cell->end - cell->start);
    char label[128];
    ur_source_column_label(at->source, column, label, sizeof label);
    return ur_fail_at(err, UNRELU_EFORMAT, at->row + 1, column + 1,
                      "%s: row %zu (line %zu): '%.*s' does not say whether %s was seen: write "
                      "TRUE, 1, < or U where its value is a limit, FALSE, 0 or nothing where not",
                      at->source->label, at->row + 1, at->line, (int)(size < SHOWN ? size : SHOWN),
                      (const char *)cell->start, label);
}

static unrelu_status refuse_total(const place *at, const ur_cell *cell)
{
    return ur_fail(at->err, UNRELU_EFORMAT,
                   "%s: row %zu (line %zu) is called '%.*s', and what sums up other rows is no "
                   "sample: delete that row, or rename it where it is one",
                   at->source->label, at->row + 1, at->line, (int)(cell->end - cell->start),
                   (const char *)cell->start);
}

/* a cell of a column that is not handed out */
static unrelu_status read_other(const place *at, const unsigned char *s, size_t column,
                                const unsigned char **next)
{
    ur_cell cell = ur_cell_find(s, at->csv->separator);
    size_t of = at->said ? at->source->reading.indicator_of[column] : SIZE_MAX;
    *next = cell.next;
    if (column == 0 && ur_csv_is_total(&cell))
        return refuse_total(at, &cell);
    if (of == SIZE_MAX)
        return UNRELU_OK;
    at->said[of] = (unsigned char)ur_csv_said(&at->source->reading, at->csv->c_locale, &cell);
    return at->said[of] != UR_SAYS_NOTHING ? UNRELU_OK : refuse_said(at, &cell, of, at->err);
}

/* what was said of a cell of this row, whose value is *out: one that stands for a missing cell is
 * no limit either */
static unrelu_status apply_said(const place *at, size_t column, ur_said says, double *out)
{
    size_t cell = (at->row - at->first_row) * at->source->d + column;
    unsigned char mark = at->block->mark ? at->block->mark[cell] : 0;
    if (!mark && ur_reading_is_missing_number(&at->source->reading, *out))
        *out = NAN;
    double x = *out;
    ur_marks_wanted wanted = says == UR_SAYS_BELOW ? UR_BELOW_TOO : UR_ALL_MARKS;
    char label[128];
    ur_source_column_label(at->source, column, label, sizeof label);
    if (says == UR_SAYS_MISSING && !isnan(x))
        return ur_fail_at(
            at->err, UNRELU_EFORMAT, at->row + 1, column + 1,
            "%s: row %zu (line %zu), %s is %g, and whether that is a value or a limit "
            "is missing beside it: say which, or leave the value out too",
            at->source->label, at->row + 1, at->line, label, x);
    if (says <= UR_SAYS_SEEN || says == UR_SAYS_MISSING ||
        (says == UR_SAYS_ABOVE && isnan(x) && !mark))
        return UNRELU_OK;
    if (mark) {
        int below = mark == UR_BELOW_GIVEN || mark == UR_BELOW_UNKNOWN;
        if (says == UR_SAYS_BELOW ? below : mark == UR_ABOVE_GIVEN)
            return UNRELU_OK;
        return ur_fail_at(at->err, UNRELU_EFORMAT, at->row + 1, column + 1,
                          "%s: row %zu (line %zu), %s says itself where it lies, and the column "
                          "beside it says otherwise: correct one of the two",
                          at->source->label, at->row + 1, at->line, label);
    }
    if (at->block->wanted < wanted) {
        atomic_store(&at->csv->met_limit, 1);
        return ur_fail_at(at->err, UNRELU_EFORMAT, at->row + 1, column + 1,
                          "%s: row %zu (line %zu), %s is a limit, which only 'unrelu fit', "
                          "'check', 'report' and 'impute' read",
                          at->source->label, at->row + 1, at->line, label);
    }
    return mark_cell(at, column, says == UR_SAYS_BELOW ? UR_CELL_BELOW : UR_CELL_ABOVE, x, NAN);
}

static unrelu_status apply_row(const place *at, double *out)
{
    for (size_t j = 0; j < at->source->d; j++)
        if (at->said[j])
            UR_TRY(apply_said(at, j, (ur_said)at->said[j], &out[j]));
    memset(at->said, 0, at->source->d);
    return UNRELU_OK;
}

static unrelu_status refuse_width(const place *at, size_t cells)
{
    size_t width = at->source->width;
    unsigned char separator = at->csv->separator;
    int has_header = at->csv->header,
        is_named = has_header && at->row == 0 && width > 1 && cells == width + 1;
    char remedy[160] = "";
    if (is_named)
        snprintf(remedy, sizeof remedy,
                 "; where its first cell is a name, as R's write.table has it, give that column a "
                 "name too, as sed '1s/^/row%s/' FILE does",
                 separator == '\t'  ? "\\t"
                 : separator == ';' ? ";"
                                    : ",");
    return ur_fail(at->err, UNRELU_EFORMAT,
                   "%s: row %zu (line %zu) has %zu cell%s, expected %zu as in the %s%s",
                   at->source->label, at->row + 1, at->line, cells, cells == 1 ? "" : "s", width,
                   has_header ? "header row" : "first row", remedy);
}

/* One line from s into out (d); *end is its line feed */
static unrelu_status read_row(const place *at, const unsigned char *start, double *out,
                              const unsigned char **end)
{
    const unsigned char *s = start, separator = at->csv->separator;
    const size_t *places = at->source->place;
    size_t last = at->source->width - 1;
    for (size_t j = 0;; j++) {
        const unsigned char *next;
        size_t to = places ? places[j] : j;
        if (to == SIZE_MAX) {
            UR_TRY(read_other(at, s, j, &next));
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
            return refuse_width(at, ur_cell_count(start, separator));
        if (j == last) {
            *end = next;
            return at->said ? apply_row(at, out) : UNRELU_OK;
        }
        s = next + 1;
    }
}

static unrelu_status decode_csv(const unrelu_source *source, const ur_piece *piece, ur_block *block,
                                unrelu_error *err)
{
    csv_state *csv = source->state;
    /* A row of this width takes width bytes at least: where the lines are more than that
     * allows, one of them is ragged and ends the loop before the block does. */
    size_t most = piece->size / source->width + 1;
    size_t rows = piece->rows < most ? piece->rows : most;
    block->first_row = piece->first_row;
    UR_TRY(ur_block_reserve(block, rows, source->d, err));
    place at = {.source = source,
                .csv = csv,
                .block = block,
                .first_row = piece->first_row,
                .row = piece->first_row,
                .line = piece->first_line,
                .err = err};
    if (source->reading.indicator_of) {
        UR_TRY(ur_block_scratch(block, source->d, err));
        at.said = memset(block->bytes, 0, source->d);
    }
    const unsigned char *s = piece->bytes, *end = s + piece->size;
    double *out = block->own;
    for (; s < end; s++, at.line++) {
        size_t lines;
        const unsigned char *feed;
        if (*s <= ' ') {
            feed = memchr(s, '\n', (size_t)(end - s));
            if (!count_rows(s, (size_t)(feed - s) + 1, csv->separator, &lines)) {
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

/* ---- the first line tells encoding, separator, how many columns, and whether it is a header (some
 * cell is neither a number nor missing, or all are quoted and not all of the next line); the
 * decisions go into the note for the user ---- */

static unrelu_status refuse_encoding(const csv_state *csv, unrelu_error *err)
{
    static const struct {
        const char *mark;
        size_t size;
        const char *what;
    } marks[] = {
        {"\xff\xfe", 2, "UTF-16 text; save it as UTF-8"},
        {"\xfe\xff", 2, "UTF-16 text; save it as UTF-8"},
        {"\x1f\x8b", 2, "compressed by gzip; unpack it first, as in gunzip -c FILE | unrelu ... -"},
        {"\x93NUMPY", 6, "a .npy array, not text; save it as a file with the ending .npy"},
        {"PK\3\4", 4, "a zip archive, not text; save it as a file with the ending .npz"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (csv->ahead.size >= marks[i].size &&
            !memcmp(csv->ahead.bytes, marks[i].mark, marks[i].size))
            return ur_fail(err, UNRELU_EFORMAT, "%s is %s", csv->in.label, marks[i].what);
    return UNRELU_OK;
}

/* Takes the first bytes of `ahead` away: they lie before the first row. */
static void drop(csv_state *csv, size_t size)
{
    csv->data_at += size;
    csv->ahead.size -= size;
    memmove(csv->ahead.bytes, csv->ahead.bytes + size, csv->ahead.size);
}

/* Drops blank lines from the start of `ahead`; *found: a whole line follows that is not blank. */
static unrelu_status drop_blanks(csv_state *csv, int *found, unrelu_error *err)
{
    const unsigned char *bytes = csv->ahead.bytes, *feed;
    size_t start = 0;
    *found = 0;
    while ((feed = memchr(bytes + start, '\n', csv->ahead.size - start))) {
        *found = !ur_is_blank_line(bytes + start, csv->separator);
        if (*found)
            break;
        start = (size_t)(feed - bytes) + 1;
        if (csv->data_at + start > UR_BLANK_MOST)
            return refuse_blanks(csv, csv->data_line, err);
        csv->data_line++;
    }
    drop(csv, start);
    return UNRELU_OK;
}

/* Makes `ahead` start with the first line that is not blank, whole. */
static unrelu_status find_line(csv_state *csv, unrelu_error *err)
{
    int found = 0;
    for (size_t goal = csv->goal;; goal = larger_goal(goal)) {
        UR_TRY(drop_blanks(csv, &found, err));
        if (found)
            return UNRELU_OK;
        if (csv->ended)
            return ur_fail(err, UNRELU_EFORMAT, "%s %s; expected a table of numbers", csv->in.label,
                           csv->data_at ? "holds only blank lines" : "is empty (0 bytes)");
        if (csv->ahead.size > UR_LINE_MOST)
            return refuse_length(csv, csv->data_line, err);
        if (csv->ahead.size < csv->goal)
            goal = csv->goal; /* what there was is gone */
        UR_TRY(fill(csv, &csv->ahead, goal, err));
    }
}

/* Makes `ahead` hold a whole row, where the header took all that was read. */
static unrelu_status read_ahead(csv_state *csv, unrelu_error *err)
{
    UR_TRY(fill(csv, &csv->ahead, csv->goal, err));
    for (size_t goal = csv->goal;
         !csv->ended && !memchr(csv->ahead.bytes, '\n', csv->ahead.size) && goal <= UR_LINE_MOST;
         goal = larger_goal(goal))
        UR_TRY(fill(csv, &csv->ahead, larger_goal(goal), err));
    return UNRELU_OK;
}

static ur_csv_lines lines_of(const csv_state *csv, const unrelu_source *source)
{
    ur_csv_lines text = {csv->ahead.bytes, csv->ahead.size, csv->separator, csv->c_locale,
                         &source->reading};
    while (text.size && text.bytes[text.size - 1] != '\n')
        text.size--;
    return text;
}

/* Makes `ahead` hold two whole lines, where the file has as many: the first is judged by the next
 * one, and a line of 20,000 names is longer than what is read at first. */
static unrelu_status hold_two_lines(const unrelu_source *source, csv_state *csv, unrelu_error *err)
{
    for (size_t goal = csv->goal;; goal = larger_goal(goal)) {
        UR_TRY(fill(csv, &csv->ahead, goal, err));
        ur_csv_lines text = lines_of(csv, source);
        if (csv->ended || csv->ahead.size > UR_LINE_MOST || ur_csv_has_two(&text))
            return UNRELU_OK;
    }
}

/* Drops the remarks that `ahead` starts with, and blank lines between them; how many they are. All
 * at once: each by itself would move all that was read. */
static size_t drop_remarks(const unrelu_source *source, csv_state *csv)
{
    ur_csv_lines text = lines_of(csv, source);
    size_t count = 0, size, lines;
    for (; (size = ur_csv_remark(&text)); count++) {
        text.bytes += size;
        text.size -= size;
    }
    size = (size_t)(text.bytes - csv->ahead.bytes);
    count_rows(csv->ahead.bytes, size, csv->separator, &lines);
    csv->data_line += lines;
    drop(csv, size);
    return count;
}

/* Makes `ahead` start with the first line that is neither blank nor a remark, whole; *remarks
 * counts these. */
static unrelu_status find_first_line(const unrelu_source *source, csv_state *csv, size_t *remarks,
                                     unrelu_error *err)
{
    *remarks = 0;
    csv->data_line = 1;
    UR_TRY(fill(csv, &csv->ahead, csv->goal, err));
    UR_TRY(refuse_encoding(csv, err));
    if (csv->ahead.size >= 3 && !memcmp(csv->ahead.bytes, "\xef\xbb\xbf", 3))
        drop(csv, 3);
    for (size_t found = 1; found; *remarks += found) {
        UR_TRY(find_line(csv, err));
        UR_TRY(hold_two_lines(source, csv, err));
        found = drop_remarks(source, csv);
        if (csv->data_at > UR_BLANK_MOST)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu ends more than %d MiB of remarks; this is no table of "
                           "numbers",
                           csv->in.label, csv->data_line - 1, UR_BLANK_MOST >> 20);
    }
    return UNRELU_OK;
}

/* Drops a line of units below the names, and tells of it. */
static unrelu_status drop_units(unrelu_source *source, csv_state *csv, unrelu_error *err)
{
    size_t lines, used = strlen(source->note);
    UR_TRY(hold_two_lines(source, csv, err));
    ur_csv_lines text = lines_of(csv, source);
    size_t size = ur_csv_units(&text, source->width);
    if (size == 0)
        return UNRELU_OK;
    count_rows(text.bytes, size, csv->separator, &lines);
    drop(csv, size);
    csv->data_line += lines;
    snprintf(source->note + used, sizeof source->note - used, "; line %zu (units) left out",
             csv->data_line - 1);
    return UNRELU_OK;
}

static size_t count_quoted(const unsigned char *line, unsigned char separator)
{
    for (size_t quoted = 0;; line++) {
        while (ur_is_blank(*line) && *line != separator)
            line++;
        quoted += *line == '"';
        line = ur_cell_find(line, separator).next;
        if (*line == '\n')
            return quoted;
    }
}

/* "2019","2020" above 3,4: whoever quotes all of the first line, and not all of the next one that
 * is not blank, quotes names. In a table of quoted numbers alone nothing tells. */
static int is_quoted_header(const csv_state *csv, const unsigned char *line, size_t width)
{
    const unsigned char *end = csv->ahead.bytes + csv->ahead.size;
    if (count_quoted(line, csv->separator) < width)
        return 0;
    do
        line = (const unsigned char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    while (memchr(line, '\n', (size_t)(end - line)) && ur_is_blank_line(line, csv->separator));
    return memchr(line, '\n', (size_t)(end - line)) && count_quoted(line, csv->separator) < width;
}

static int is_header(const csv_state *csv, const unsigned char *line, size_t width)
{
    const unsigned char *s = line;
    for (size_t j = 0; j < width; j++) {
        double value, upper;
        ur_cell cell = ur_cell_find(s, csv->separator);
        if (ur_cell_read(&cell, csv->c_locale, &value, &upper) == UR_CELL_TEXT)
            return 1;
        s = cell.next + 1;
    }
    return is_quoted_header(csv, line, width);
}

/* unnamed (width): where the cell is empty */
static unrelu_status read_names(const csv_state *csv, const unsigned char *line, size_t width,
                                ur_arena *arena, const char ***out, unsigned char *unnamed,
                                unrelu_error *err)
{
    const char **names = *out = ur_take(arena, width, sizeof *names);
    for (size_t j = 0; j < width; j++) {
        ur_cell cell = ur_cell_find(line, csv->separator);
        if (cell.open)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu, column %zu: a quoted column name does not end on its "
                           "line; line breaks inside cells are not read",
                           csv->in.label, csv->data_line, j + 1);
        if (cell.end - cell.start > UR_NAME_MOST)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu, column %zu: a column name of %zu bytes, where at most %d "
                           "are read; shorten it",
                           csv->in.label, csv->data_line, j + 1, (size_t)(cell.end - cell.start),
                           UR_NAME_MOST);
        const char *name =
            cell.start < cell.end ? ur_cell_name(arena, &cell) : ur_take_text(arena, "x%zu", j + 1);
        UR_TRY(ur_arena_status(arena, err));
        names[j] = name;
        unnamed[j] = cell.start == cell.end;
        line = cell.next + 1;
    }
    if (names[0][0] == '#' && names[0][1] == ' ') /* numpy.savetxt writes it so: "# a,b" */
        names[0] += 2;
    return UNRELU_OK;
}

/* how many columns tell of others, into the note */
static void tell_indicators(unrelu_source *source)
{
    const size_t *of = source->reading.indicator_of;
    size_t count = 0, used = strlen(source->note);
    for (size_t k = 0; of && k < source->width; k++)
        count += of[k] != SIZE_MAX;
    if (count > 0)
        snprintf(source->note + used, sizeof source->note - used,
                 "; where %zu column%s limits is told by '%s%.40s'", count,
                 count == 1 ? " has" : "s have",
                 strchr(source->reading.asked.indicator, '*') ? "" : "...",
                 source->reading.asked.indicator);
}

/* The line that `ahead` starts with, as names, and a line of units below it. */
static unrelu_status read_header(unrelu_source *source, csv_state *csv, unsigned char *unnamed,
                                 const char ***names, unrelu_error *err)
{
    const unsigned char *line = csv->ahead.bytes, *feed = memchr(line, '\n', csv->ahead.size);
    UR_TRY(read_names(csv, line, source->width, &source->arena, names, unnamed, err));
    drop(csv, (size_t)(feed - line) + 1);
    csv->data_line++;
    return drop_units(source, csv, err);
}

static const char *name_separator(const csv_state *csv, int tabs)
{
    return csv->separator == ';'             ? "; the separator is ';'"
           : csv->separator == '\t' && !tabs ? "; the separator is a tab"
                                             : "";
}

/* what is above the first row, and which columns there are */
static unrelu_status read_first_line(unrelu_source *source, csv_state *csv, int tabs,
                                     unrelu_error *err)
{
    size_t remarks, used;
    csv->separator = tabs ? '\t' : '\0'; /* none yet: all blanks are blank */
    UR_TRY(find_first_line(source, csv, &remarks, err));
    const unsigned char *line = csv->ahead.bytes;
    for (const unsigned char *s = line; *s != '\n'; s++)
        if (*s == '\r' && s[1] != '\n') /* lines that end so would be one long line */
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu holds a carriage return inside; lines must end in LF or "
                           "CR LF, not in CR alone",
                           csv->in.label, csv->data_line);
    if (!tabs)
        csv->separator = ur_csv_separator(line);
    size_t width = source->width = ur_cell_count(line, csv->separator);
    UR_TRY(ur_columns_check(source->label, width, err));
    csv->header = is_header(csv, line, width);
    if (csv->header)
        snprintf(source->note, sizeof source->note, "header row found, %zu column name%s kept%s",
                 width, width == 1 ? "" : "s", name_separator(csv, tabs));
    else
        snprintf(source->note, sizeof source->note, "no header row%s", name_separator(csv, tabs));
    used = strlen(source->note);
    if (remarks > 0)
        snprintf(source->note + used, sizeof source->note - used,
                 "; %zu line%s of remarks above left out", remarks, remarks == 1 ? "" : "s");
    return UNRELU_OK;
}

/* Reads to the end of the header, if there is one; sets separator, header, data_at, data_line, the
 * columns and the note. Leaves what follows in `ahead`. */
static unrelu_status read_head(unrelu_source *source, csv_state *csv, int tabs, unrelu_error *err)
{
    const char *columns = source->reading.asked.columns;
    UR_ARENA(arena);
    size_t lines;
    const char **names = NULL;
    unsigned char *unasked = NULL;
    UR_TRY(read_first_line(source, csv, tabs, err));
    size_t width = source->width;
    unsigned char *unnamed = ur_take(&arena, width, 1);
    UR_TRY(ur_arena_status(&arena, err));
    if (csv->header)
        UR_TRY(read_header(source, csv, unnamed, &names, err));
    if (csv->header && !columns)
        UR_TRY(ur_csv_refuse_long(source->label, names, width, err));
    UR_TRY(read_ahead(csv, err));
    ur_look look = {
        .lines = lines_of(csv, source), .width = width, .names = names, .unnamed = unnamed};
    UR_TRY(ur_csv_look(&look, &arena, err));
    if (!columns || strchr(columns, '^')) /* the others are not asked for one by one */
        unasked = look.unasked;
    UR_TRY(ur_columns_choose(source, width, names, unasked, err));
    source->all_names = names ? names : ur_take_numbered(&source->arena, 'x', width);
    UR_TRY(ur_arena_status(&source->arena, err));
    if (unasked)
        ur_csv_tell(&look, unasked, source->note, sizeof source->note);
    tell_indicators(source);
    ur_csv_hint(&look, source);
    if (csv->ended && !count_rows(csv->ahead.bytes, csv->ahead.size, csv->separator, &lines))
        return ur_fail(err, UNRELU_EDATA, "%s has a header but no rows; nothing can be learned",
                       source->label);
    return UNRELU_OK;
}

/* ---- open and close ---- */

static double csv_fraction(const unrelu_source *source)
{
    const csv_state *csv = source->state;
    return ur_bytes_fraction(&csv->in, csv->data_at);
}

static void end_csv(void *thing)
{
    csv_state *csv = thing;
    ur_bytes_close(&csv->in);
    ur_piece_free(&csv->ahead);
    if (csv->c_locale)
        freelocale(csv->c_locale);
}

static int csv_met_limit(const unrelu_source *source)
{
    return atomic_load(&((csv_state *)source->state)->met_limit);
}

static unrelu_status add_csv_texts(const unrelu_source *source, const ur_piece *piece,
                                   ur_texts *texts, unrelu_error *err)
{
    return ur_csv_add_texts(piece, ((const csv_state *)source->state)->separator, texts, err);
}

static const ur_format csv_format = {
    .rewind = rewind_csv,
    .take = take_csv,
    .decode = decode_csv,
    .fraction = csv_fraction,
    .met_limit = csv_met_limit,
    .begin_at = begin_at,
    .add_texts = add_csv_texts,
};

unrelu_status ur_csv_open(unrelu_source *source, const char *path, int tabs, int gzip,
                          unrelu_error *err)
{
    const unrelu_source_options *options = &source->reading.asked;
    csv_state *csv = ur_take(&source->arena, 1, sizeof *csv);
    if (csv)
        csv->in.fd = csv->in.spool = -1;
    source->format = &csv_format;
    source->state = ur_arena_adopt(&source->arena, csv, end_csv);
    UR_TRY(ur_arena_status(&source->arena, err));
    csv->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!csv->c_locale)
        return ur_fail_memory(err, 1, "locale");
    UR_TRY(ur_bytes_open(&csv->in, path, source->label, gzip, !options->single_pass, err));
    /* by the size of the file alone: threads get work from small files, large ones big pieces */
    uint64_t text = csv->in.gz ? 4 * csv->in.size : csv->in.size; /* packed 4 to 1 at most */
    uint64_t goal = text / GOAL_SHARE;
    csv->goal = !csv->in.regular    ? GOAL_PIPE
                : goal < GOAL_LEAST ? GOAL_LEAST
                : goal > GOAL_MOST  ? GOAL_MOST
                                    : (size_t)goal;
    UR_TRY(read_head(source, csv, tabs, err));
    csv->next_line = csv->data_line;
    UR_TRY(cut_lines(source, err));
    return ur_source_set_places(source, &source->arena, err);
}
