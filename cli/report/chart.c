/* SPDX-License-Identifier: Apache-2.0 */
#include "chart.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "page.h"

enum { LABELLED = 40 }; /* rows of a heat map up to which they have labels */

json_t *cli_chart_load(const char *name)
{
    cli_asset spec = cli_chart_spec(name);
    json_t *chart = json_loadb(spec.text, spec.size, 0, NULL);
    cli_chart_set(chart, "$schema", json_string("https://vega.github.io/schema/vega-lite/v6.json"));
    cli_chart_set(chart, "width", json_string("container"));
    cli_chart_set(chart, "autosize.type", json_string("fit"));
    cli_chart_set(chart, "autosize.contains", json_string("padding"));
    return chart;
}

static json_t *child_of(json_t *parent, const char *key)
{
    if (json_is_array(parent))
        return json_array_get(parent, strtoul(key, NULL, 10));
    json_t *child = json_object_get(parent, key);
    if (!child && json_object_set_new(parent, key, json_object()) == 0)
        child = json_object_get(parent, key);
    return child;
}

void cli_chart_set(json_t *chart, const char *path, json_t *value)
{
    char key[64];
    json_t *at = chart;
    for (const char *dot; at && (dot = strchr(path, '.')); path = dot + 1) {
        snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        at = child_of(at, key);
    }
    if (!at)
        json_decref(value);
    if (!at || json_object_set_new(at, path, value) != 0)
        json_object_clear(chart);
}

void cli_chart_data(json_t *chart, const char *name, json_t *rows)
{
    char path[64];
    snprintf(path, sizeof path, "datasets.%s", name);
    cli_chart_set(chart, path, rows);
}

void cli_chart_drop(json_t *chart, size_t layer)
{
    json_array_remove(json_object_get(chart, "layer"), layer);
}

void cli_chart_param(json_t *chart, const char *name, json_t *value)
{
    json_t *params = json_object_get(chart, "params"), *param;
    size_t i;
    json_array_foreach(
        params, i, param) if (strcmp(json_string_value(json_object_get(param, "name")), name) == 0)
    {
        if (json_object_set_new(param, "value", value) != 0)
            json_object_clear(chart);
        return;
    }
    json_decref(value);
}

json_t *cli_chart_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* takes both; NULL where that fails, or failed before */
static json_t *append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

json_t *cli_chart_rows(size_t count, const cli_chart_column *columns)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < count; i++) {
        json_t *row = json_object();
        int failed = 0;
        for (const cli_chart_column *c = columns; c->key; c++)
            failed |= json_object_set_new(row, c->key, cli_chart_real(c->values[i])) != 0;
        if (failed) {
            json_decref(row);
            row = NULL;
        }
        rows = append(rows, row);
    }
    return rows;
}

json_t *cli_chart_names(char *const *names, char letter, const size_t *which, size_t count)
{
    json_t *array = json_array();
    char number[32];
    for (size_t i = 0; array && i < count; i++) {
        size_t at = which ? which[i] : i;
        snprintf(number, sizeof number, "%c%zu", letter, at + 1);
        array = append(array, cli_page_string(names ? names[at] : number));
    }
    return array;
}

/* ---- heat maps ---- */

/* A cell is a few pixels: three decimals of the largest are more than a colour can say, and a
 * third of the bytes. */
static json_t *rounded(const double *values, size_t count, double unit)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++)
        array = append(array, cli_chart_real(rint(values[i] / unit) * unit));
    return array;
}

static json_t *short_errors(const double *se, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++) {
        char text[32] = "nan";
        if (se)
            snprintf(text, sizeof text, "%.2g", se[i]);
        double value = strtod(text, NULL);
        array = append(array, value == 0 ? json_null() : cli_chart_real(value));
    }
    return array;
}

/* up to three letters stand side by side */
static int are_short(const json_t *names)
{
    size_t i;
    json_t *name;
    json_array_foreach((json_t *)names, i, name) if (json_string_length(name) > 3) return 0;
    return json_array_size(names) <= 16;
}

static void label_axis(json_t *chart, const char *axis, size_t count, const char *title)
{
    char path[64];
    if (count > LABELLED) {
        snprintf(path, sizeof path, "encoding.%s.axis.labels", axis);
        cli_chart_set(chart, path, json_false());
    }
    if (title) {
        snprintf(path, sizeof path, "encoding.%s.title", axis);
        cli_chart_set(chart, path, cli_page_string(title));
    }
}

static void add_tooltip(json_t *chart, const cli_heatmap *map)
{
    json_t *tooltip = json_pack("[{s:s, s:s}, {s:s, s:s}, {s:s, s:s, s:s}]", "field", "row",
                                "title", "row", "field", "column", "title", "column", "field",
                                "value", "title", map->label, "format", ".3~r");
    if (map->se)
        tooltip = append(tooltip, json_pack("{s:s, s:s, s:s}", "field", "se", "title",
                                            "standard error", "format", ".2~g"));
    cli_chart_set(chart, "encoding.tooltip", tooltip);
}

json_t *cli_chart_heatmap(const cli_heatmap *map)
{
    json_t *chart = cli_chart_load("heatmap");
    size_t cells = map->rows * map->columns;
    double largest = map->largest > 0 ? map->largest : 1;
    double unit = pow(10, floor(log10(largest)) - 3);
    json_t *cell = json_pack("{s:o, s:o}", "value", rounded(map->values, cells, unit), "se",
                             short_errors(map->se, cells));
    cli_chart_data(chart, "cells", append(json_array(), cell));
    if (are_short(map->column_names))
        cli_chart_set(chart, "encoding.x.axis.labelAngle", json_integer(0));
    cli_chart_param(chart, "across", json_integer((json_int_t)map->columns));
    cli_chart_param(chart, "rowNames", map->row_names);
    cli_chart_param(chart, "columnNames", map->column_names);
    cli_chart_set(chart, "encoding.color.scale.domain",
                  json_pack("[f, i, f]", -largest, 0, largest));
    cli_chart_set(chart, "usermeta.aspect",
                  json_real(fmin(1, fmax(0.2, (double)map->rows / (double)map->columns))));
    label_axis(chart, "x", map->columns, map->column_title);
    label_axis(chart, "y", map->rows, map->row_title);
    add_tooltip(chart, map);
    return chart;
}
