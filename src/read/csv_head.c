/* SPDX-License-Identifier: Apache-2.0 */
/* What the first line tells: encoding, separator, how many columns, and whether it is a header
 * (some cell is neither a number nor missing). The decisions go into the note for the user. */
#include "base/error.h"
#include "read/columns.h"
#include "read/csv.h"

#include <stdio.h>
#include <string.h>

static int is_blank_line(const unsigned char *s, unsigned char separator)
{
    while ((*s == ' ' || *s == '\t' || *s == '\r') && *s != separator)
        s++;
    return *s == '\n';
}

size_t ur_csv_rows(const unsigned char *s, size_t size, unsigned char separator, size_t *lines)
{
    const unsigned char *end = s + size;
    size_t rows = 0;
    for (*lines = 0; s < end; ++*lines) {
        rows += *s > ' ' || !is_blank_line(s, separator);
        s = (const unsigned char *)memchr(s, '\n', (size_t)(end - s)) + 1;
    }
    return rows;
}

static unrelu_status refuse_encoding(const ur_csv *csv, unrelu_error *err)
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

/* Makes sure that `ahead` holds the first line that is not blank, whole; *at is its offset. */
static unrelu_status find_first_line(ur_csv *csv, size_t *at, unrelu_error *err)
{
    size_t start = 0, line = 1;
    for (size_t goal = csv->goal;; goal *= 2) {
        UR_TRY(ur_csv_fill(csv, &csv->ahead, goal, err));
        const unsigned char *bytes = csv->ahead.bytes;
        if (start == 0) {
            UR_TRY(refuse_encoding(csv, err));
            if (csv->ahead.size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3))
                start = 3;
        }
        while (start < csv->ahead.size) {
            const unsigned char *feed = memchr(bytes + start, '\n', csv->ahead.size - start);
            if (!feed)
                break;
            if (!is_blank_line(bytes + start, csv->separator)) {
                csv->data_line = line;
                *at = start;
                return UNRELU_OK;
            }
            start = (size_t)(feed - bytes) + 1;
            line++;
        }
        if (csv->ended)
            return ur_fail(err, UNRELU_EFORMAT, "%s %s; expected a table of numbers", csv->in.label,
                           csv->ahead.size ? "holds only blank lines" : "is empty (0 bytes)");
        if (csv->ahead.size - start >= UR_CSV_LINE_MOST)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu is longer than %d MiB; this is no table of numbers",
                           csv->in.label, line, UR_CSV_LINE_MOST >> 20);
    }
}

/* Lines that end in CR alone would be one long line. */
static unrelu_status check_line_end(const ur_csv *csv, const unsigned char *line, unrelu_error *err)
{
    for (; *line != '\n'; line++)
        if (*line == '\r' && line[1] != '\n')
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu holds a carriage return inside; lines must end in LF or "
                           "CR LF, not in CR alone",
                           csv->in.label, csv->data_line);
    return UNRELU_OK;
}

/* A comma unless the line has none but semicolons, or else tabs. */
static unsigned char find_separator(const unsigned char *line)
{
    int semicolons = 0, tabs = 0;
    for (int quoted = 0; *line != '\n'; line++) {
        quoted ^= *line == '"';
        if (quoted)
            continue;
        if (*line == ',')
            return ',';
        semicolons |= *line == ';';
        tabs |= *line == '\t';
    }
    return semicolons ? ';' : tabs ? '\t' : ',';
}

static int is_header(const ur_csv *csv, const unsigned char *line, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double value;
        ur_cell cell = ur_cell_find(line, csv->separator);
        if (ur_cell_read(&cell, csv->c_locale, &value) == UR_CELL_TEXT)
            return 1;
        line = cell.next + 1;
    }
    return 0;
}

static unrelu_status read_names(const ur_csv *csv, const unsigned char *line, size_t width,
                                ur_arena *arena, char ***out, unrelu_error *err)
{
    char **names = *out = ur_take(arena, width, sizeof *names);
    for (size_t j = 0; j < width; j++) {
        ur_cell cell = ur_cell_find(line, csv->separator);
        if (cell.open)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: line %zu, column %zu: a quoted column name does not end on its "
                           "line; line breaks inside cells are not read",
                           csv->in.label, csv->data_line, j + 1);
        char *name = cell.start < cell.end ? ur_cell_name(arena, &cell)
                                           : (char *)ur_take_text(arena, "x%zu", j + 1);
        UR_TRY(ur_arena_status(arena, err));
        names[j] = name;
        line = cell.next + 1;
    }
    if (names[0][0] == '#' && names[0][1] == ' ') /* numpy.savetxt writes it so: "# a,b" */
        names[0] += 2;
    return UNRELU_OK;
}

static void write_note(unrelu_source *source, const ur_csv *csv, const ur_csv_options *options,
                       const unsigned char *line, size_t width)
{
    ur_cell first = ur_cell_find(line, csv->separator);
    const char *separator = csv->separator == ';'                      ? "; the separator is ';'"
                            : csv->separator == '\t' && !options->tabs ? "; the separator is a tab"
                                                                       : "";
    if (!csv->header)
        snprintf(source->note, sizeof source->note, "no header row%s", separator);
    else
        snprintf(source->note, sizeof source->note, "header row found, %zu column name%s kept%s%s",
                 width, width == 1 ? "" : "s", separator,
                 first.start < first.end ? ""
                                         : "; column 1 has no name: if it numbers the rows, leave "
                                           "it out with `columns`");
}

unrelu_status ur_csv_head(unrelu_source *source, ur_csv *csv, const ur_csv_options *options,
                          unrelu_error *err)
{
    UR_ARENA(arena);
    size_t at = 0, lines;
    char **names = NULL;
    csv->separator = options->tabs ? '\t' : '\0'; /* none yet: all blanks are blank */
    UR_TRY(find_first_line(csv, &at, err));
    const unsigned char *line = csv->ahead.bytes + at;
    UR_TRY(check_line_end(csv, line, err));
    if (!options->tabs)
        csv->separator = find_separator(line);
    size_t width = ur_cell_count(line, csv->separator);
    csv->header = is_header(csv, line, width);
    if (csv->header)
        UR_TRY(read_names(csv, line, width, &arena, &names, err));
    write_note(source, csv, options, line, width);
    if (csv->header) {
        const unsigned char *feed = memchr(line, '\n', csv->ahead.size - at);
        at = (size_t)(feed - csv->ahead.bytes) + 1;
        csv->data_line++;
    }
    csv->data_at = at; /* what lies before goes out of `ahead` */
    csv->ahead.size -= at;
    memmove(csv->ahead.bytes, csv->ahead.bytes + at, csv->ahead.size);
    UR_TRY(ur_columns_choose(source, options->columns, width, names, err));
    if (csv->ended && !ur_csv_rows(csv->ahead.bytes, csv->ahead.size, csv->separator, &lines))
        return ur_fail(err, UNRELU_EDATA, "%s has a header but no rows; nothing can be learned",
                       source->label);
    return UNRELU_OK;
}
