/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text table that are neither names nor samples: remarks above the table, as the USGS
 * and R write them (a line that starts with #, and Excel's sep=;), titles there, as laboratories do
 * (one text in a line, above a line of names that is as wide as the one below it), names of groups
 * of columns above their names ("Site A,,Site B,"), and a line of units or formats below the names
 * ("ug/L", "5s 12n"). */
#ifndef UR_CSV_PREAMBLE_H
#define UR_CSV_PREAMBLE_H

#include "base/c_locale.h"
#include "read/reading.h"

/* Whole lines of a text, and 16 readable bytes behind them */
typedef struct {
    const unsigned char *bytes;
    size_t size;
    unsigned char separator;
    locale_t c_locale;
    const ur_reading *reading;
} ur_csv_lines;

/* Two lines that are not blank are there, whole: what the next two functions look at. */
int ur_csv_has_two(const ur_csv_lines *text);

/* A comma unless the line has none but semicolons, or else tabs. */
unsigned char ur_csv_separator(const unsigned char *line);

/* Bytes of the first line where it is a remark, else 0. numpy.savetxt writes names behind a #: as
 * many as the next line has cells, none of them text. separator 0: that of the next line. */
size_t ur_csv_remark(const ur_csv_lines *text);

/* Bytes of the first line, and of blank ones before it, where it is of units: all of its cells are
 * text or missing, and text stands above the numbers of the next line, of two at least, or of the
 * only one where all else is missing. A single word above a number is a value that went wrong. */
size_t ur_csv_units(const ur_csv_lines *text, size_t width);

#endif
