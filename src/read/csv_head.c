/* SPDX-License-Identifier: Apache-2.0 */
/* What the first line tells: encoding, separator, how many columns, and whether it is a header
 * (some cell is neither a number nor missing). The decisions go into the note for the user. */
#include "base/error.h"
#include "base/memory.h"
#include "read/columns.h"
#include "read/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
        unrelu_status status = ur_csv_fill(csv, &csv->ahead, goal, err);
        if (status)
            return status;
        const unsigned char *bytes = csv->ahead.bytes;
        if (start == 0) {
            status = refuse_encoding(csv, err);
            if (status)
                return status;
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

/* numpy.savetxt writes the header as a comment: "# a,b" */
static void drop_comment_mark(char *name)
{
    if (name[0] == '#' && name[1] == ' ')
        memmove(name, name + 2, strlen(name + 2) + 1);
}

static unrelu_status read_names(const ur_csv *csv, const unsigned char *line, size_t width,
                                char ***out, unrelu_error *err)
{
    char **names = ur_alloc(width, sizeof *names);
    unrelu_status status = names ? UNRELU_OK : ur_fail_memory(err, width, "column names");
    for (size_t j = 0; j < width && !status; j++) {
        char number[32];
        ur_cell cell = ur_cell_find(line, csv->separator);
        snprintf(number, sizeof number, "x%zu", j + 1);
        if (cell.open)
            status = ur_fail(err, UNRELU_EFORMAT,
                             "%s: line %zu, column %zu: a quoted column name does not end on its "
                             "line; line breaks inside cells are not read",
                             csv->in.label, csv->data_line, j + 1);
        else if (!(names[j] = cell.start < cell.end ? ur_cell_name(&cell) : ur_string_copy(number)))
            status = ur_fail_memory(err, width, "column names");
        line = cell.next + 1;
    }
    if (!status)
        drop_comment_mark(names[0]);
    if (status)
        ur_strings_free(names, width);
    else
        *out = names;
    return status;
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

/* Takes what lies before the first row out of `ahead`. */
static void pass_over(ur_csv *csv, size_t size)
{
    csv->ahead.size -= size;
    memmove(csv->ahead.bytes, csv->ahead.bytes + size, csv->ahead.size);
    csv->data_at = size;
}

static unrelu_status check_rows(const unrelu_source *source, const ur_csv *csv, unrelu_error *err)
{
    size_t lines;
    if (!csv->ended || ur_csv_rows(csv->ahead.bytes, csv->ahead.size, csv->separator, &lines))
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA, "%s has a header but no rows; nothing can be learned",
                   source->label);
}

unrelu_status ur_csv_head(unrelu_source *source, ur_csv *csv, const ur_csv_options *options,
                          unrelu_error *err)
{
    size_t at = 0, skip;
    char **names = NULL;
    csv->separator = options->tabs ? '\t' : '\0'; /* none yet: all blanks are blank */
    unrelu_status status = find_first_line(csv, &at, err);
    if (status)
        return status;
    const unsigned char *line = csv->ahead.bytes + at;
    status = check_line_end(csv, line, err);
    if (status)
        return status;
    if (!options->tabs)
        csv->separator = find_separator(line);
    size_t width = ur_cell_count(line, csv->separator);
    csv->header = is_header(csv, line, width);
    if (csv->header)
        status = read_names(csv, line, width, &names, err);
    if (status)
        return status;
    write_note(source, csv, options, line, width);
    skip = at;
    if (csv->header) {
        const unsigned char *end = csv->ahead.bytes + csv->ahead.size;
        line = (const unsigned char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        skip = (size_t)(line - csv->ahead.bytes);
        csv->data_line++;
    }
    pass_over(csv, skip);
    status = ur_columns_choose(source, options->columns, width, names, err);
    ur_strings_free(names, width);
    return status ? status : check_rows(source, csv, err);
}
