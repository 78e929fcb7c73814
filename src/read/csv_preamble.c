/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_preamble.h"

#include "base/limits.h"
#include "read/csv_cell.h"

#include <string.h>

/* the line from s on, or the first one behind it, that is not blank; NULL: it is not whole */
static const unsigned char *find_line(const ur_csv_lines *text, const unsigned char *s)
{
    const unsigned char *end = text->bytes + text->size, *feed;
    while (s < end && (feed = memchr(s, '\n', (size_t)(end - s)))) {
        if (!ur_is_blank_line(s, text->separator))
            return s;
        s = feed + 1;
    }
    return NULL;
}

static const unsigned char *behind(const ur_csv_lines *text, const unsigned char *line)
{
    size_t left = (size_t)(text->bytes + text->size - line);
    return (const unsigned char *)memchr(line, '\n', left) + 1;
}

int ur_csv_has_two(const ur_csv_lines *text)
{
    const unsigned char *line = find_line(text, text->bytes);
    return line && find_line(text, behind(text, line));
}

unsigned char ur_csv_separator(const unsigned char *line)
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

/* what the cell at s is, and where the next one starts, or the line feed */
static ur_cell_kind kind_of(const ur_csv_lines *text, const unsigned char *s,
                            const unsigned char **next)
{
    double value, upper;
    ur_cell cell = ur_cell_find(s, text->separator);
    *next = cell.next;
    if (ur_reading_is_missing(text->reading, cell.start, cell.end))
        return UR_CELL_MISSING;
    if (cell.end - cell.start > UR_CELL_MOST)
        return UR_CELL_TEXT;
    return ur_cell_read(&cell, text->c_locale, &value, &upper);
}

static int has_text(const ur_csv_lines *text, const unsigned char *line)
{
    const unsigned char *next;
    for (;; line = next + 1) {
        if (kind_of(text, line, &next) == UR_CELL_TEXT)
            return 1;
        if (*next == '\n')
            return 0;
    }
}

/* one text, and nothing in the other cells of the line */
static int is_title(const ur_csv_lines *text, const unsigned char *line)
{
    const unsigned char *next;
    int texts = 0;
    for (;; line = next + 1) {
        ur_cell_kind kind = kind_of(text, line, &next);
        if (kind != UR_CELL_TEXT && kind != UR_CELL_MISSING)
            return 0;
        texts += kind == UR_CELL_TEXT;
        if (*next == '\n')
            return texts == 1;
    }
}

/* two names or more, and no number */
static int is_of_names(const ur_csv_lines *text, const unsigned char *line)
{
    const unsigned char *next;
    for (int texts = 0;; line = next + 1) {
        ur_cell_kind kind = kind_of(text, line, &next);
        if (kind != UR_CELL_TEXT && kind != UR_CELL_MISSING)
            return 0;
        texts += kind == UR_CELL_TEXT;
        if (*next == '\n')
            return texts > 1;
    }
}

/* Whether the line is a title: above a line of names, of as many cells as the line below has, and a
 * single cell itself, or padded to as many. */
static int is_above_names(const ur_csv_lines *text, const unsigned char *line)
{
    enum { TITLES = 32 };
    ur_csv_lines lines = *text;
    const unsigned char *names = line;
    for (int i = 0; i < TITLES && names; i++) {
        if (!text->separator)
            lines.separator = ur_csv_separator(names);
        if (!is_title(&lines, names))
            break;
        names = find_line(text, behind(text, names));
    }
    const unsigned char *below = names ? find_line(text, behind(text, names)) : NULL;
    if (names == line || !below || !is_of_names(&lines, names))
        return 0;
    size_t width = ur_cell_count(names, lines.separator),
           own = ur_cell_count(line, lines.separator);
    return width > 1 && (own == 1 || own == width) &&
           ur_cell_count(below, lines.separator) == width;
}

/* names in some cells behind the first, and nothing in others: of columns that belong together */
static int is_of_groups(const ur_csv_lines *text, const unsigned char *line)
{
    const unsigned char *next;
    size_t texts = 0, gaps = 0;
    for (size_t j = 0;; j++, line = next + 1) {
        ur_cell_kind kind = kind_of(text, line, &next);
        if (kind != UR_CELL_TEXT && kind != UR_CELL_MISSING)
            return 0;
        texts += kind == UR_CELL_TEXT;
        gaps += kind == UR_CELL_MISSING && j > 0;
        if (*next == '\n')
            return texts > 1 && gaps > 0;
    }
}

/* a name in every cell, but for the first; no unit, which mostly have a stroke (mg/l) */
static int is_full_of_names(const ur_csv_lines *text, const unsigned char *line)
{
    const unsigned char *next;
    for (size_t j = 0;; j++, line = next + 1) {
        ur_cell_kind kind = kind_of(text, line, &next);
        if (kind != UR_CELL_TEXT && (j > 0 || kind != UR_CELL_MISSING))
            return 0;
        if (memchr(line, '/', (size_t)(next - line)))
            return 0;
        if (*next == '\n')
            return 1;
    }
}

/* Whether cells of the line were merged over names: "Site A,,Site B," above "lead,zinc,lead,zinc"
 */
static int is_above_groups(const ur_csv_lines *text, const unsigned char *line)
{
    ur_csv_lines lines = *text;
    if (!text->separator)
        lines.separator = ur_csv_separator(line);
    const unsigned char *names = find_line(text, behind(text, line)),
                        *below = names ? find_line(text, behind(text, names)) : NULL;
    if (!below || !is_of_groups(&lines, line) || !is_full_of_names(&lines, names))
        return 0;
    size_t width = ur_cell_count(line, lines.separator);
    return width == ur_cell_count(names, lines.separator) &&
           width == ur_cell_count(below, lines.separator) && !is_of_names(&lines, below);
}

size_t ur_csv_remark(const ur_csv_lines *text)
{
    static const char excel[] = "sep=";
    ur_csv_lines lines = *text;
    const unsigned char *line = find_line(text, text->bytes);
    const unsigned char *next = line ? find_line(text, behind(text, line)) : NULL;
    if (!next)
        return 0;
    size_t size = (size_t)(behind(text, line) - text->bytes);
    if (!strncmp((const char *)line, excel, sizeof excel - 1) &&
        (line[sizeof excel] == '\n' || line[sizeof excel] == '\r'))
        return size;
    if (*line != '#')
        return is_above_names(text, line) || is_above_groups(text, line) ? size : 0;
    if (!lines.separator)
        lines.separator = ur_csv_separator(next);
    int names = ur_cell_count(line, lines.separator) == ur_cell_count(next, lines.separator) &&
                !has_text(&lines, next);
    return names ? 0 : size;
}

size_t ur_csv_units(const ur_csv_lines *text, size_t width)
{
    const unsigned char *line = find_line(text, text->bytes);
    const unsigned char *below = line ? find_line(text, behind(text, line)) : NULL;
    size_t units = 0, others = 0;
    if (!below || ur_cell_count(line, text->separator) != width ||
        ur_cell_count(below, text->separator) != width)
        return 0;
    size_t size = (size_t)(behind(text, line) - text->bytes);
    for (size_t j = 0; j < width; j++) {
        const unsigned char *next, *next_below;
        ur_cell_kind kind = kind_of(text, line, &next);
        ur_cell_kind kind_below = kind_of(text, below, &next_below);
        if (kind != UR_CELL_TEXT && kind != UR_CELL_MISSING)
            return 0;
        int over_number = kind_below != UR_CELL_TEXT && kind_below != UR_CELL_MISSING;
        if (over_number && kind != UR_CELL_TEXT)
            return 0;
        units += (size_t)over_number;
        others += !over_number && kind == UR_CELL_TEXT;
        line = next + 1;
        below = next_below + 1;
    }
    return units >= 2 || (units == 1 && others == 0 && width > 1) ? size : 0;
}
