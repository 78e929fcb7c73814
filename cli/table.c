/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void cli_table_start(cli_table *table, size_t columns)
{
    table->cells = 0;
    table->columns = columns;
}

void cli_table_add(cli_table *table, const char *format, ...)
{
    if (table->cells == CLI_TABLE_ROWS * table->columns)
        return;
    char *cell = table->cell[table->cells++];
    va_list list;
    va_start(list, format);
    vsnprintf(cell, CLI_TABLE_CELL, format, list);
    va_end(list);
    for (char *s = cell; *s; s++) /* names come from files, and go to a terminal */
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
}

/* of UTF-8: bytes that do not continue a character */
static int width(const char *s)
{
    int count = 0;
    for (; *s; s++)
        count += ((unsigned char)*s & 0xc0) != 0x80;
    return count;
}

static int column_width(const cli_table *table, size_t column)
{
    int widest = 0;
    for (size_t i = column; i < table->cells; i += table->columns) {
        int w = width(table->cell[i]);
        widest = w > widest ? w : widest;
    }
    return widest;
}

void cli_table_print(const cli_table *table, const char *align)
{
    int widths[CLI_TABLE_COLUMNS], blanks = 0;
    for (size_t j = 0; j < table->columns; j++)
        widths[j] = column_width(table, j);
    for (size_t i = 0; i < table->cells; i++) {
        size_t j = i % table->columns;
        int pad = widths[j] - width(table->cell[i]);
        int before = 2 + (align[j] == 'r' ? pad : 0);
        if (table->cell[i][0])
            printf("%*s%s", blanks + before, "", table->cell[i]);
        blanks = table->cell[i][0] ? pad - before + 2 : blanks + 2 + pad;
        if (j + 1 == table->columns) {
            putchar('\n');
            blanks = 0;
        }
    }
}

static void format_fixed(char *text, size_t size, double value, double half)
{
    int decimals = 1 - (int)floor(log10(half)); /* so that half shows two digits */
    if (decimals >= -3 && decimals <= 9 && fabs(value) < 1e9) {
        decimals = decimals > 0 ? decimals : 0;
        if (fabs(value) < 0.5 * pow(10, -decimals)) /* not "-0.00" */
            value = 0;
        snprintf(text, size, "%.*f +- %.*f", decimals, value, decimals, half);
        return;
    }
    double digits = value == 0 ? 0 : floor(log10(fabs(value))) - floor(log10(half)) + 1;
    snprintf(text, size, "%.*e +- %.1e", (int)fmin(fmax(digits, 0), 16), value, half);
}

void cli_format_estimate(char *text, size_t size, double value, double half)
{
    if (isfinite(value) && isfinite(half) && half > 0)
        format_fixed(text, size, value, half);
    else
        snprintf(text, size, half == 0 ? "%.6g +- 0" : "%.6g +- ?", value);
}
