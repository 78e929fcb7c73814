/* SPDX-License-Identifier: Apache-2.0 */
#include "write/sink.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "write/decimal.h"
#include "write/npz_write.h"
#include "write/output_file.h"

#include <stdlib.h>
#include <string.h>

struct unrelu_sink {
    ur_file *file;
    char *path;
    char separator; /* 0: .npy */
    size_t n, d, rows;
    locale_t c_locale; /* not for .npy */
    int safe;          /* for spreadsheets */
};

int ur_sink_is_array(const char *path)
{
    return ur_text_ends(path, strlen(path), ".npy");
}

/* What a spreadsheet would run as a formula. A tab or a carriage return before it changes nothing
 * for some of them. Numbers are none. */
static int runs(const unrelu_sink *sink, const char *text)
{
    char *end;
    if (!*text || !strchr("=+-@\t\r", *text))
        return 0;
    strtod_l(text, &end, sink->c_locale);
    return end == text || *end;
}

static unrelu_status write_text(unrelu_sink *sink, const char *text, unrelu_error *err)
{
    char special[] = {'"', '\n', '\r', sink->separator, '\0'};
    int quoted = strpbrk(text, special) || !*text || *text == ' ';
    UR_TRY(ur_file_write(sink->file, "\"", (size_t)quoted, err));
    UR_TRY(ur_file_write(sink->file, "'", (size_t)(sink->safe && runs(sink, text)), err));
    if (!quoted)
        return ur_file_write(sink->file, text, strlen(text), err);
    for (; *text; text++) {
        char c = *text == '\n' || *text == '\r' ? ' ' : *text; /* a line is a row */
        UR_TRY(ur_file_write(sink->file, c == '"' ? "\"\"" : &c, c == '"' ? 2 : 1, err));
    }
    return ur_file_write(sink->file, "\"", 1, err);
}

static unrelu_status open_sink(unrelu_sink *sink, const char *path, const char *const *names,
                               unrelu_error *err)
{
    int overflow = 0;
    size_t bytes = ur_product(ur_product(sink->n, sink->d, &overflow), sizeof(double), &overflow);
    char header[UR_NPY_HEADER_MOST];
    size_t shape[2] = {sink->n, sink->d};
    if (overflow || sink->d == 0)
        return ur_fail(err, UNRELU_EUSAGE, "cannot write %s: %zu rows of %zu columns", path,
                       sink->n, sink->d);
    int npy = ur_sink_is_array(path), tsv = ur_text_ends(path, strlen(path), ".tsv");
    if (!npy && !tsv && !ur_text_ends(path, strlen(path), ".csv") && !ur_file_is_direct(path))
        return ur_fail(err, UNRELU_EUSAGE,
                       "cannot tell the format of %s; samples are written as .npy, .csv or .tsv, "
                       "or as CSV to - (standard output)",
                       path);
    sink->separator = npy ? '\0' : tsv ? '\t' : ',';
    if (npy) {
        size_t size = ur_npy_header(header, "<f8", 2, shape);
        UR_TRY(ur_file_open(path, bytes + size, &sink->file, err));
        return ur_file_write(sink->file, header, size, err);
    }
    if (!(sink->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
        return ur_fail_memory(err, 1, "locale");
    UR_TRY(ur_file_open(path, 0, &sink->file, err));
    for (size_t j = 0; names && j < sink->d; j++) {
        UR_TRY(write_text(sink, names[j], err));
        UR_TRY(ur_file_write(sink->file, j + 1 < sink->d ? &sink->separator : "\n", 1, err));
    }
    return UNRELU_OK;
}

unrelu_status ur_sink_open(const char *path, size_t n, size_t d, const char *const *names, int safe,
                           unrelu_sink **out, unrelu_error *err)
{
    *out = NULL;
    if (!path || !*path)
        return ur_fail(err, UNRELU_EUSAGE, "the name of the output file is empty");
    unrelu_sink *sink = ur_alloc(1, sizeof *sink);
    if (!sink || !(sink->path = ur_string_copy(path))) {
        unrelu_sink_abort(sink);
        return ur_fail_memory(err, 1, "output");
    }
    sink->n = n;
    sink->d = d;
    sink->safe = safe;
    unrelu_status status = open_sink(sink, path, names, err);
    if (status)
        unrelu_sink_abort(sink);
    else
        *out = sink;
    return status;
}

unrelu_status unrelu_sink_open(const char *path, size_t n, size_t d, const char *const *names,
                               unrelu_sink **out, unrelu_error *err)
{
    return ur_sink_open(path, n, d, names, 0, out, err);
}

static unrelu_status write_number(unrelu_sink *sink, double x, unrelu_error *err)
{
    char
        cell[UR_DECIMAL_MOST]; /* NaN: NA, as an empty cell would make a blank line of one column */
    return ur_file_write(sink->file, cell, ur_decimal_write(sink->c_locale, x, cell), err);
}

unrelu_status ur_sink_write_mixed(unrelu_sink *sink, const double *x, const char *const *texts,
                                  unrelu_error *err)
{
    if (sink->rows++ == sink->n)
        return ur_fail(err, UNRELU_EUSAGE, "%s was opened for %zu rows", sink->path, sink->n);
    for (size_t j = 0; j < sink->d; j++) {
        if (!texts[j])
            UR_TRY(write_number(sink, x[j], err));
        else if (*texts[j])
            UR_TRY(write_text(sink, texts[j], err));
        UR_TRY(ur_file_write(sink->file, j + 1 < sink->d ? &sink->separator : "\n", 1, err));
    }
    return UNRELU_OK;
}

unrelu_status unrelu_sink_write(unrelu_sink *sink, const double *x, size_t rows, unrelu_error *err)
{
    if (rows > sink->n - sink->rows)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s was opened for %zu rows; %zu more do not fit after %zu", sink->path,
                       sink->n, rows, sink->rows);
    sink->rows += rows;
    if (!sink->separator)
        return ur_file_write(sink->file, x, rows * sink->d * sizeof *x, err);
    /* missing values as NA: an empty cell would make a blank line of a single column */
    for (; rows > 0; rows--)
        for (size_t j = 0; j < sink->d; j++) {
            char cell[UR_DECIMAL_MOST + 1];
            size_t size = ur_decimal_write(sink->c_locale, *x++, cell);
            cell[size++] = j + 1 < sink->d ? sink->separator : '\n';
            UR_TRY(ur_file_write(sink->file, cell, size, err));
        }
    return UNRELU_OK;
}

unrelu_status unrelu_sink_commit(unrelu_sink *sink, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    if (sink->rows != sink->n) {
        status = ur_fail(err, UNRELU_EUSAGE, "%s was opened for %zu rows, but %zu were written",
                         sink->path, sink->n, sink->rows);
    } else {
        status = ur_file_commit(sink->file, err);
        sink->file = NULL;
    }
    unrelu_sink_abort(sink);
    return status;
}

void unrelu_sink_abort(unrelu_sink *sink)
{
    if (!sink)
        return;
    ur_file_abort(sink->file);
    if (sink->c_locale)
        freelocale(sink->c_locale);
    ur_free(sink->path);
    ur_free(sink);
}
