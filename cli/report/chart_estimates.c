/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "chart.h"

enum {
    ROW = 30, /* pixels of a row */
    WIDTH = 480,
    BELOW = 54, /* pixels of the axis and above the rows */
    CUT = 12,   /* characters of each name beside a row */
    WIDE = 640,
    HEIGHT = 260,
    MOST_LABELS = 12,
};

static double half_of(const cli_estimates *e, size_t i)
{
    return e->half && isfinite(e->half[i]) ? e->half[i] : 0;
}

/* intervals first, points above them */
static void draw(const cli_plot *plot, const cli_estimates *e, int by_row)
{
    for (int is_point = 0; is_point < 2; is_point++) {
        cli_page_html(plot->page, "<g class=\"%s first\" style=\"--size:7px\">\n",
                      is_point ? "dots" : "rules");
        for (size_t i = 0; i < e->count; i++) {
            char label[CLI_NAME], interval[64] = "";
            double at = by_row ? -(double)i : (double)i + 1, v = e->values[i], h = half_of(e, i);
            e->label(e->context, i, 0, label);
            if (h > 0)
                snprintf(interval, sizeof interval, " ± %.2g", h);
            if (is_point)
                cli_mark_dot(plot, by_row ? v : at, by_row ? at : v, "%s: %.4g%s", label, v,
                             interval);
            else if (h > 0)
                cli_mark_rule(plot, by_row ? v - h : at, by_row ? at : v - h, by_row ? v + h : at,
                              by_row ? at : v + h, "%s: %.4g%s", label, v, interval);
        }
        cli_page_html(plot->page, "</g>");
    }
}

static void write_labels(const cli_plot *plot, const cli_estimates *e)
{
    cli_page_html(plot->page, "<g class=\"end\">");
    for (size_t i = 0; i < e->count; i++) {
        char label[CLI_NAME];
        e->label(e->context, i, CUT, label);
        cli_page_html(plot->page, "<text x=\"%g\" y=\"%g\">", plot->left,
                      cli_px(cli_plot_y(plot, -(double)i) + 0.35 * CLI_FONT));
        cli_page_text(plot->page, label);
        cli_page_html(plot->page, "</text>");
    }
    cli_page_html(plot->page, "</g>\n");
}

void cli_chart_estimates_by_row(cli_page *page, const cli_estimates *e)
{
    double rows = (double)e->count;
    cli_plot plot = {
        .page = page,
        .frame = {e->frame.title, e->frame.text, e->frame.caption, WIDTH, ROW * rows + BELOW},
        .x = {.low = e->low,
              .high = e->high,
              .title = e->axis_title,
              .has_grid = 1,
              .has_labels = 1},
        .y = {.low = 0.5 - rows, .high = 0.5}};
    for (size_t i = 0; i < e->count; i++) {
        char label[CLI_NAME];
        e->label(e->context, i, CUT, label);
        plot.left = fmax(plot.left, cli_svg_text_width(label, cli_svg_narrow(WIDTH)));
    }
    cli_plot_open(&plot);
    write_labels(&plot, e);
    if (e->low < 0 && e->high > 0)
        cli_page_html(page, "<path class=\"axis\" d=\"M%g %gV%g\"/>", cli_plot_x(&plot, 0),
                      plot.y.from, plot.y.to);
    draw(&plot, e, 1);
    cli_plot_close(&plot);
}

void cli_chart_estimates_by_number(cli_page *page, const cli_estimates *e)
{
    cli_plot plot = {.page = page,
                     .frame = {e->frame.title, e->frame.text, e->frame.caption, WIDE, HEIGHT},
                     .x = {.low = 0.5,
                           .high = (double)e->count + 0.5,
                           .title = "number of the eigenvalue",
                           .is_whole = 1,
                           .count = MOST_LABELS,
                           .has_labels = 1},
                     .y = {.low = e->low,
                           .high = e->high,
                           .title = e->axis_title,
                           .is_nice = 1,
                           .has_grid = 1,
                           .has_labels = 1}};
    cli_plot_open(&plot);
    draw(&plot, e, 0);
    cli_plot_close(&plot);
}
