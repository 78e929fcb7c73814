/* SPDX-License-Identifier: Apache-2.0 */
/* Two columns against each other: what was seen as points, a cell that was not as a line from what
 * is known of it to where it lies, and the ellipses that hold a half and 95 % of the fitted normal.
 */
#include <math.h>

#include "chart.h"

enum { ELLIPSE = 73 };              /* points of it */
static const double FARTHEST = 2.8; /* deviations on either side that are drawn at least */
static const double TAIL = 0.28;    /* deviations: how long the line of a hidden cell is */

static void draw_ellipse(const cli_plot *plot, const cli_pair_chart *p, double share)
{
    double x[ELLIPSE], y[ELLIPSE], radius = sqrt(-2 * log(1 - share));
    double rho = fmax(-1, fmin(1, p->rho)), o = sqrt((1 - rho) * (1 + rho));
    for (size_t k = 0; k < ELLIPSE; k++) {
        double turn = 2 * M_PI * (double)k / (ELLIPSE - 1), u = cos(turn), v = sin(turn);
        x[k] = p->mean[0] + radius * p->sd[0] * u;
        y[k] = p->mean[1] + radius * p->sd[1] * (rho * u + o * v);
    }
    cli_mark_line(plot, share > 0.5 ? "dash second" : "line second", ELLIPSE, x, y, NULL,
                  cli_text(plot->page, "%.3g %% of the fitted normal lie within", 100 * share));
}

static const char *word_of(cli_page *page, const cli_pair_chart *p, size_t i)
{
    int between = p->states[2 * i] == CLI_BETWEEN || p->states[2 * i + 1] == CLI_BETWEEN;
    return cli_text(page, "%s%.3g, %.3g", between ? "about " : "", p->cells[2 * i],
                    p->cells[2 * i + 1]);
}

static double end_of(const cli_pair_chart *p, size_t i, int k)
{
    int side = p->states[2 * i + (size_t)k] == CLI_BELOW   ? -1
               : p->states[2 * i + (size_t)k] == CLI_ABOVE ? 1
                                                           : 0;
    return p->cells[2 * i + (size_t)k] + side * TAIL * p->sd[k];
}

static void widen(cli_axis *axis, const cli_pair_chart *p, int k)
{
    axis->low = p->mean[k] - FARTHEST * p->sd[k];
    axis->high = p->mean[k] + FARTHEST * p->sd[k];
    for (size_t i = 0; i < p->rows; i++)
        if (isfinite(p->cells[2 * i + (size_t)k])) {
            axis->low = fmin(axis->low, end_of(p, i, k));
            axis->high = fmax(axis->high, end_of(p, i, k));
        }
    cli_axis_pad(axis);
}

/* Points, above the lines of hidden cells, which are one mark. */
static void draw_rows(const cli_plot *plot, const cli_pair_chart *p)
{
    for (int is_point = 0; is_point < 2; is_point++) {
        size_t drawn = 0;
        cli_html(plot->page, "<g class=\"%s first\" style=\"--size:4px\">\n",
                 is_point ? "dots" : "rules faint");
        for (size_t i = 0; i < p->rows; i++) {
            double x = p->cells[2 * i], y = p->cells[2 * i + 1];
            double to[2] = {end_of(p, i, 0), end_of(p, i, 1)};
            int hidden = to[0] != x || to[1] != y;
            if (!isfinite(x) || !isfinite(y) || hidden == is_point)
                continue;
            if (is_point)
                cli_mark_dot(plot, x, y, word_of(plot->page, p, i));
            else
                cli_html(plot->page, "%sM%g %gL%g %g", drawn++ ? "" : "<path d=\"",
                         cli_pixel(&plot->x, x), cli_pixel(&plot->y, y), cli_pixel(&plot->x, to[0]),
                         cli_pixel(&plot->y, to[1]));
        }
        if (drawn)
            cli_html(plot->page, "\"><title>from what is known of a hidden value to where it lies"
                                 "</title></path>");
        cli_html(plot->page, "</g>\n");
    }
}

void cli_chart_pair(cli_page *page, const cli_pair_chart *p)
{
    cli_plot plot = {.page = page,
                     .frame = p->frame,
                     .x = {.title = p->title[0], .count = 4, .has_labels = 1},
                     .y = {.title = p->title[1], .count = 4, .has_grid = 1, .has_labels = 1}};
    widen(&plot.x, p, 0);
    widen(&plot.y, p, 1);
    cli_plot_open(&plot);
    cli_mark_line(&plot, "cut", 2, (double[]){p->cut[0], p->cut[0]},
                  (double[]){plot.y.low, plot.y.high}, NULL, "parts the rows");
    cli_mark_line(&plot, "cut", 2, (double[]){plot.x.low, plot.x.high},
                  (double[]){p->cut[1], p->cut[1]}, NULL, "parts the rows");
    draw_rows(&plot, p);
    draw_ellipse(&plot, p, 0.95);
    draw_ellipse(&plot, p, 0.5);
    cli_plot_close(&plot);
}
