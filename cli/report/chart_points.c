/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "chart.h"

enum { BAND = 16 };

static cli_axis axis_of(const char *title)
{
    return (cli_axis){
        .low = INFINITY, .high = -INFINITY, .title = title, .count = 4, .has_labels = 1};
}

static void widen(cli_axis *axis, size_t count, const double *values)
{
    for (size_t i = 0; values && i < count; i++)
        if (isfinite(values[i])) {
            axis->low = fmin(axis->low, values[i]);
            axis->high = fmax(axis->high, values[i]);
        }
}

/* it is smooth: some of its points will do */
static void draw_band(const cli_plot *plot, const cli_points *p)
{
    double x[BAND], low[BAND], high[BAND];
    for (size_t k = 0; k < BAND; k++) {
        size_t i = k * (p->count - 1) / (BAND - 1);
        x[k] = p->x[i];
        low[k] = p->low[i];
        high[k] = p->high[i];
    }
    cli_mark_line(plot, "area second", BAND, x, high, low,
                  "where 95 %% of the points lie if the model is right");
}

void cli_chart_points(cli_page *page, const cli_points *p)
{
    cli_plot plot = {
        .page = page, .frame = p->frame, .x = axis_of(p->x_title), .y = axis_of(p->y_title)};
    widen(&plot.x, p->count, p->x);
    const double *all[] = {p->x, p->y, p->low, p->high};
    for (int k = 0; k < 4; k++)
        widen(&plot.y, p->count, all[k]);
    double ends[2] = {plot.x.low, plot.x.high};
    cli_axis_pad(&plot.x);
    cli_axis_pad(&plot.y);
    plot.y.has_grid = 1;
    cli_plot_open(&plot);
    if (p->low)
        draw_band(&plot, p);
    cli_mark_line(&plot, "line second", 2, ends, ends, NULL, "%s = %s", p->y_word, p->x_word);
    cli_page_html(page, "<g class=\"dots first\" style=\"--size:%gpx\">\n", p->size);
    for (size_t i = 0; i < p->count; i++) {
        char label[CLI_NAME];
        p->label(p->context, i, label);
        cli_mark_dot(&plot, p->x[i], p->y[i], "%s: %s %.3g, %s %.3g", label, p->x_word, p->x[i],
                     p->y_word, p->y[i]);
    }
    cli_page_html(page, "</g>");
    cli_plot_close(&plot);
}
