/* SPDX-License-Identifier: Apache-2.0 */
/* Charts from the specifications in charts/. Where memory runs out a chart is left empty, which
 * cli_page_chart turns into a failure of the page; all functions take values of NULL. */
#ifndef CLI_REPORT_CHART_H
#define CLI_REPORT_CHART_H

#include <jansson.h>
#include <stddef.h>

/* charts/NAME.json, as wide as its place */
json_t *cli_chart_load(const char *name);
/* Puts value (taken) at a path as in "encoding.y.title", "layer.0.mark.style"; what is missing on
 * the way is made. */
void cli_chart_set(json_t *chart, const char *path, json_t *value);
/* takes a layer out: one without rows has no extent, which the library warns about */
void cli_chart_drop(json_t *chart, size_t layer);
/* the rows (taken) that the specification calls name */
void cli_chart_data(json_t *chart, const char *name, json_t *rows);
/* a value that the specification calls name in its params */
void cli_chart_param(json_t *chart, const char *name, json_t *value);

typedef struct {
    const char *key;
    const double *values;
} cli_chart_column;
/* count rows of these columns (a key of NULL ends them); what is not finite becomes null */
json_t *cli_chart_rows(size_t count, const cli_chart_column *columns);
json_t *cli_chart_real(double value);
/* names, or letter1, letter2, ... where they are NULL; which: the places among them, NULL: all */
json_t *cli_chart_names(char *const *names, char letter, const size_t *which, size_t count);

/* A matrix (rows x columns, row by row) as colours between -largest and largest. se may be NULL.
 * label: what a value is. */
typedef struct {
    size_t rows, columns;
    const double *values, *se;
    json_t *row_names, *column_names; /* taken */
    double largest;
    const char *label, *row_title, *column_title;
} cli_heatmap;
json_t *cli_chart_heatmap(const cli_heatmap *map);

#endif
