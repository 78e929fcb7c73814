/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "width.h"

enum { NAME = 20 };

void cli_table_start(cli_table *table, size_t columns)
{
    table->cells = 0;
    table->columns = columns;
    memset(table->least, 0, sizeof table->least);
}

void cli_table_titles(cli_table *table, const char *titles)
{
    cli_table_start(table, 1);
    for (const char *s = titles; *s; s++)
        table->columns += *s == '|';
    for (const char *s = titles; table->cells < table->columns; s += strcspn(s, "|") + 1)
        cli_table_add(table, "%.*s", (int)strcspn(s, "|"), s);
}

void cli_table_add(cli_table *table, const char *format, ...)
{
    if (table->cells == CLI_TABLE_ROWS * table->columns)
        return;
    char *cell = table->cell[table->cells++], text[CLI_TABLE_CELL];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_escape(cell, CLI_TABLE_CELL, text);
}

void cli_table_add_name(cli_table *table, const char *name)
{
    char shown[CLI_TABLE_CELL];
    cli_escape(shown, sizeof shown, name);
    int cut = shown[cli_text_cut(shown, NAME)] != '\0';
    cli_table_add(table, "%.*s%s", (int)cli_text_cut(shown, cut ? NAME - 3 : NAME), shown,
                  cut ? "..." : "");
}

void cli_table_add_real(cli_table *table, const char *format, double value)
{
    char text[CLI_TABLE_CELL] = "-";
    if (!isnan(value))
        snprintf(text, sizeof text, format, value);
    cli_table_add(table, "%s", text);
}

void cli_table_add_estimate(cli_table *table, double value, double half)
{
    char text[CLI_TABLE_CELL];
    cli_format_estimate(text, sizeof text, value, half);
    cli_table_add(table, "%s", text);
}

static int width(const char *s)
{
    return cli_text_width(s, strlen(s));
}

static int column_width(const cli_table *table, size_t column)
{
    int widest = table->least[column];
    for (size_t i = column; i < table->cells; i += table->columns) {
        int w = width(table->cell[i]);
        widest = w > widest ? w : widest;
    }
    return widest;
}

void cli_table_widen(cli_table *table, const cli_table *as)
{
    for (size_t j = 0; j < table->columns; j++) {
        int w = column_width(as, j);
        table->least[j] = w > table->least[j] ? w : table->least[j];
    }
}

int cli_table_width(const cli_table *table)
{
    int total = 0;
    for (size_t j = 0; j < table->columns; j++)
        total += 2 + column_width(table, j);
    return total;
}

void cli_table_print(const cli_table *table, const char *align)
{
    int widths[CLI_TABLE_COLUMNS];
    for (size_t j = 0; j < table->columns; j++)
        widths[j] = column_width(table, j);
    for (size_t row = 0; row < table->cells / table->columns; row++) {
        int at = 0, start = 2; /* where the line stands, and where the cell starts */
        for (size_t j = 0; j < table->columns; j++) {
            const char *text = table->cell[row * table->columns + j];
            int pad = align[j] == 'r' ? widths[j] - width(text) : 0;
            if (j + 1 == table->columns)
                cli_print_wrapped(text, at, start + pad);
            else if (*text)
                at += printf("%*s%s", start + pad - at, "", text) - (int)strlen(text) + width(text);
            start += widths[j] + 2;
        }
    }
}

/* not "-0.00" */
static double not_minus_zero(double value, int decimals)
{
    return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

void cli_format_estimate(char *text, size_t size, double value, double half)
{
    if (!isfinite(value) || !isfinite(half) || half <= 0) {
        snprintf(text, size, half < 0 ? "%.6g" : half == 0 ? "%.6g +- 0" : "%.6g +- ?", value);
        return;
    }
    int decimals = 1 - (int)floor(log10(half)); /* so that half shows two digits */
    if (decimals >= -3 && decimals <= 9 && fabs(value) < 1e9) {
        decimals = decimals > 0 ? decimals : 0;
        snprintf(text, size, "%.*f +- %.*f", decimals, not_minus_zero(value, decimals), decimals,
                 half);
        return;
    }
    double digits = value == 0 ? 0 : floor(log10(fabs(value))) - floor(log10(half)) + 1;
    snprintf(text, size, "%.*e +- %.1e", (int)fmin(fmax(digits, 0), 16), value, half);
}

void cli_format_between(char *text, size_t size, double value, double low, double high)
{
    double half = (high - low) / 2;
    if (!isfinite(value) || !isfinite(half) || half <= 0) {
        cli_format_estimate(text, size, value, half);
        return;
    }
    int most = 15, decimals = (int)fmax(0, 1 - floor(log10(half)));
    decimals = decimals < most ? decimals : most;
    snprintf(text, size, "%.*f [%.*f, %.*f]", decimals, not_minus_zero(value, decimals), decimals,
             not_minus_zero(low, decimals), decimals, not_minus_zero(high, decimals));
}
