/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "chart.h"

enum { WIDTH = 480, HEIGHT = 230, MOST_LABELS = 10 };

static const double HALF = 0.36; /* of a bar's width, where the next is 1 away */

void cli_chart_bars(cli_page *page, const cli_bars *b)
{
    double last = (double)b->count;
    cli_plot plot = {.page = page,
                     .frame = {b->frame.title, b->frame.text, b->frame.caption, WIDTH, HEIGHT},
                     .x = {.low = 0.5,
                           .high = last + 0.5,
                           .title = b->one,
                           .is_whole = 1,
                           .count = MOST_LABELS,
                           .has_labels = 1},
                     .y = {.high = b->is_share,
                           .title = b->y_title,
                           .is_nice = 1,
                           .is_share = b->is_share,
                           .has_grid = 1,
                           .has_labels = 1}};
    for (size_t i = 0; i < b->count; i++)
        plot.y.high = isfinite(b->values[i]) ? fmax(plot.y.high, b->values[i]) : plot.y.high;
    cli_plot_open(&plot);
    cli_page_html(page, "<g class=\"bars %s\">\n", b->colour);
    for (size_t i = 0; i < b->count; i++) {
        double at = (double)i + 1, value = b->values[i];
        if (b->is_share)
            cli_mark_bar(&plot, at - HALF, 0, at + HALF, value, "%s %zu: %.4g %%", b->one, i + 1,
                         100 * value);
        else
            cli_mark_bar(&plot, at - HALF, 0, at + HALF, value, "%s %zu: %.4g", b->one, i + 1,
                         value);
    }
    cli_page_html(page, "</g>");
    cli_plot_close(&plot);
}
