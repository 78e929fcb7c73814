/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "chart.h"

enum { CURVE = 81, PIECE = 5 }; /* points of it, at most; pixels between them, about */

static double density(const cli_histogram *h, double x)
{
    double z = (x - h->mean) / h->sd;
    return h->area * exp(-0.5 * z * z) / (h->sd * sqrt(2 * M_PI));
}

static double highest(const cli_histogram *h)
{
    double top = h->sd > 0 ? density(h, fmin(h->high, fmax(h->low, h->mean))) : 0;
    for (size_t k = 0; k < h->bins; k++)
        if (h->edges[k] < h->high && h->edges[k + 1] > h->low)
            top = fmax(top, h->heights[k]);
    return top;
}

static void draw_bars(const cli_plot *plot, const cli_histogram *h)
{
    cli_page_html(plot->page, "<g class=\"bars first\">\n");
    for (size_t k = 0; k < h->bins; k++) {
        double from = h->edges[k], to = h->edges[k + 1];
        if (!(h->heights[k] > 0))
            continue;
        if (h->expected)
            cli_mark_bar(plot, from, 0, to, h->heights[k], "%.3g to %.3g: %.0f, expected %.1f",
                         from, to, h->counts[k], h->expected[k]);
        else
            cli_mark_bar(plot, from, 0, to, h->heights[k], "%.3g to %.3g: %.0f", from, to,
                         h->counts[k]);
    }
    cli_page_html(plot->page, "</g>");
}

static void draw_curve(const cli_plot *plot, const cli_histogram *h, double from, double to,
                       int hidden)
{
    double x[CURVE], y[CURVE], foot[CURVE] = {0};
    double pixels = cli_plot_x(plot, to) - cli_plot_x(plot, from);
    size_t count = (size_t)fmin(CURVE, fmax(2, pixels / PIECE));
    if (!(to > from))
        return;
    for (size_t k = 0; k < count; k++) {
        x[k] = from + (to - from) * (double)k / (double)(count - 1);
        y[k] = density(h, x[k]);
    }
    if (hidden)
        cli_mark_line(plot, "area second", count, x, y, foot, "hidden part of the fitted normal");
    cli_mark_line(plot, hidden ? "dash second" : "line second", count, x, y, NULL,
                  "%s normal, mean %.4g, deviation %.4g", hidden ? "hidden part of the" : "fitted",
                  h->mean, h->sd);
}

void cli_chart_histogram(cli_page *page, const cli_histogram *h)
{
    cli_plot plot = {
        .page = page,
        .frame = h->frame,
        .x = {.low = h->low, .high = h->high, .title = h->x_title, .has_labels = 1},
        .y = {.high = highest(h),
              .title = h->y_title,
              .count = 4,
              .is_nice = 1,
              .has_grid = 1,
              .has_labels = 1},
    };
    cli_plot_open(&plot);
    draw_bars(&plot, h);
    if (h->sd > 0 && isfinite(h->mean)) {
        draw_curve(&plot, h, h->low, fmin(h->limit, h->high), 1);
        draw_curve(&plot, h, fmax(h->limit, h->low), h->high, 0);
    }
    cli_plot_close(&plot);
}
