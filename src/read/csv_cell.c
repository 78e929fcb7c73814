/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_cell.h"

#include "base/error.h"
#include "base/limits.h"
#include <stdio.h>
#include <string.h>

static void trim(ur_cell *cell)
{
    while (cell->start < cell->end && ur_is_blank(*cell->start))
        cell->start++;
    while (cell->end > cell->start && ur_is_blank(cell->end[-1]))
        cell->end--;
}

/* s is behind the opening quote */
static ur_cell find_quoted(const unsigned char *s, unsigned char separator)
{
    ur_cell cell = {.start = s};
    while (*s != '\n' && (*s != '"' || s[1] == '"'))
        s += *s == '"' ? 2 : 1;
    cell.end = s;
    cell.open = *s != '"';
    if (!cell.open)
        for (s++; *s != separator && *s != '\n'; s++)
            cell.open |= !ur_is_blank(*s);
    cell.next = s;
    trim(&cell);
    return cell;
}

ur_cell ur_cell_find(const unsigned char *s, unsigned char separator)
{
    while (ur_is_blank(*s) && *s != separator)
        s++;
    if (*s == '"')
        return find_quoted(s + 1, separator);
    ur_cell cell = {.start = s};
    while (*s != separator && *s != '\n')
        s++;
    cell.end = cell.next = s;
    trim(&cell);
    return cell;
}

char *ur_cell_name(ur_arena *arena, const ur_cell *cell)
{
    char *name = ur_take(arena, (size_t)(cell->end - cell->start) + 1, 1), *to = name;
    for (const unsigned char *s = cell->start; name && s < cell->end; s++) {
        *to++ = *s ? (char)*s : '?';
        if (*s == '"' && s + 1 < cell->end && s[1] == '"')
            s++;
    }
    return name;
}

size_t ur_cell_count(const unsigned char *s, unsigned char separator)
{
    for (size_t count = 1;; count++) {
        ur_cell cell = ur_cell_find(s, separator);
        if (*cell.next == '\n')
            return count;
        s = cell.next + 1;
    }
}

/* at most 40 bytes of the cell, control characters as \xNN */
static void show(const ur_cell *cell, char *out, size_t size)
{
    enum { SHOWN = 40 };
    size_t used = 0;
    const unsigned char *s = cell->start;
    for (; s < cell->end && s < cell->start + SHOWN && used + 8 < size; s++)
        used += (size_t)(*s < 0x20 || *s == 0x7f ? snprintf(out + used, size - used, "\\x%02x", *s)
                                                 : snprintf(out + used, size - used, "%c", *s));
    snprintf(out + used, size - used, "%s", s < cell->end ? "..." : "");
}

static int has(const ur_cell *cell, char wanted)
{
    return memchr(cell->start, wanted, (size_t)(cell->end - cell->start)) != NULL;
}

/* bytes of what people put around and into numbers, at s; 0: it is none of that */
static size_t find_dress(const unsigned char *s, const unsigned char *end)
{
    static const char *const dresses[] = {",",
                                          "%",
                                          "$",
                                          "=\"",
                                          "'",
                                          "\"",
                                          "\xe2\x82\xac" /* euro */,
                                          "\xc2\xa3" /* pound */,
                                          "\xe2\x88\x92" /* minus */,
                                          "\xc2\xa0" /* blanks that do not break */,
                                          "\xe2\x80\xaf"};
    for (size_t i = 0; i < sizeof dresses / sizeof *dresses; i++) {
        size_t size = strlen(dresses[i]);
        if (size <= (size_t)(end - s) && memcmp(s, dresses[i], size) == 0)
            return size;
    }
    return 0;
}

int ur_cell_is_dressed(const ur_cell *cell)
{
    int digits = 0, dressed = 0;
    for (const unsigned char *s = cell->start; s < cell->end;) {
        size_t size = find_dress(s, cell->end);
        dressed |= size > 0;
        digits |= *s >= '0' && *s <= '9';
        if (size == 0 && (!*s || !strchr("0123456789+-.eE ", *s)))
            return 0;
        s += size ? size : 1;
    }
    return digits && dressed;
}

static const char *comma_remedy(unsigned char separator)
{
    return separator == ';'
               ? "write numbers with a decimal point and without thousands separators; decimal "
                 "commas are turned by tr ',;' '.,' < FILE"
           : separator == '\t'
               ? "the separator is a tab; write numbers with a decimal point and without "
                 "thousands separators"
               : "write numbers with a decimal point and without thousands separators";
}

static const char *remedy(const ur_cell *cell, unsigned char separator)
{
    int digit = cell->start < cell->end && strchr("+-.0123456789", *cell->start) && *cell->start;
    if (has(cell, '\0'))
        return "the file holds NUL bytes; save it as plain text (UTF-8)";
    if (digit && has(cell, ','))
        return comma_remedy(separator);
    if (ur_cell_is_dressed(cell))
        return "write plain numbers such as -1234.5, without percent signs, signs of money, quotes "
               "or other minus signs, or leave the column out with `columns`";
    if (digit && has(cell, '|'))
        return "cells are separated by commas, semicolons or tabs, not by '|'";
    if (digit && has(cell, ' ') && separator == ',')
        return "the separator is a comma; where blanks separate cells: tr -s ' ' ',' < FILE";
    if (digit && (has(cell, ' ') || has(cell, ';') || has(cell, '\t')))
        return separator == '\t'  ? "the separator is a tab"
               : separator == ';' ? "the separator is a semicolon"
                                  : "the separator is a comma";
    if (digit && has(cell, '\r'))
        return "lines must end in LF or CR LF, not in CR alone";
    return "correct it, leave the column out with `columns`, or mark a missing value by an empty "
           "cell, NA or NaN";
}

unrelu_status ur_cell_refuse(const ur_cell *cell, ur_cell_kind kind, unsigned char separator,
                             const char *where, unrelu_error *err)
{
    char text[200];
    show(cell, text, sizeof text);
    switch (kind) {
    case UR_CELL_BELOW:
    case UR_CELL_ABOVE:
    case UR_CELL_BETWEEN:
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: '%s' is a value %s; leave the column out with `columns`", where, text,
                       kind == UR_CELL_BELOW ? "below a detection limit, which only 'unrelu fit', "
                                               "'check', 'report' and 'impute' read"
                       : kind == UR_CELL_ABOVE
                           ? "above a limit, which only 'unrelu fit' reads"
                           : "between two limits, which only 'unrelu fit' reads");
    case UR_CELL_BACKWARDS:
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: '%s' starts above its end; write the smaller number first", where,
                       text);
    case UR_CELL_INFINITE:
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: '%s' is infinite or too large for a double; every value must be finite "
                       "(an empty cell, NA or NaN marks a missing one)",
                       where, text);
    case UR_CELL_OPEN:
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s: the quoted cell '%s' does not end on its line, or text follows its "
            "closing quote; line breaks inside cells are not read, nor cells that blanks "
            "separate",
            where, text);
    case UR_CELL_LONG:
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: '%s' has %zu bytes, where a number takes %d at most; correct it, or "
                       "leave the column out with `columns`",
                       where, text, (size_t)(cell->end - cell->start), UR_CELL_MOST);
    default:
        return ur_fail(err, UNRELU_EFORMAT, "%s: '%s' is not a number; %s", where, text,
                       remedy(cell, separator));
    }
}
