/* SPDX-License-Identifier: Apache-2.0 */
/* Text in columns. What does not fit is left out: callers show a few dozen rows at most. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

enum { CLI_TABLE_ROWS = 64, CLI_TABLE_COLUMNS = 9, CLI_TABLE_CELL = 160 };

typedef struct {
    size_t cells, columns;
    int least[CLI_TABLE_COLUMNS]; /* widths */
    char cell[CLI_TABLE_ROWS * CLI_TABLE_COLUMNS][CLI_TABLE_CELL];
} cli_table;

void cli_table_start(cli_table *table, size_t columns);
/* with a row of titles, which are split at '|' */
void cli_table_titles(cli_table *table, const char *titles);
void cli_table_add(cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* a name that a file gave, cut at 20 characters */
void cli_table_add_name(cli_table *table, const char *name);
/* "-" where it is NaN */
void cli_table_add_real(cli_table *table, const char *format, double value)
    __attribute__((format(printf, 2, 0)));
/* as cli_format_estimate */
void cli_table_add_estimate(cli_table *table, double value, double half);
/* align: one letter a column, l or r; indented by two, no trailing blanks. A last column that gets
 * too long is broken at blanks. */
void cli_table_print(const cli_table *table, const char *align);
/* makes its columns at least as wide as those of another, of as many */
void cli_table_widen(cli_table *table, const cli_table *as);
/* of its longest line, the indent with it */
int cli_table_width(const cli_table *table);

/* "0.7312 +- 0.0044": two digits of the half-width decide how many the estimate gets. Where that is
 * not known (NaN) six digits and "+- ?"; where it is negative, for there is none, six digits. */
void cli_format_estimate(char *text, size_t size, double value, double half);
/* "0.73 [0.65, 0.79]": an interval that does not lie evenly about its estimate; two digits of half
 * its width. Where low is not below high, as cli_format_estimate of half of what is between. */
void cli_format_between(char *text, size_t size, double value, double low, double high);

#endif
