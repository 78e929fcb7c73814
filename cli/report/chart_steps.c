/* SPDX-License-Identifier: Apache-2.0 */
/* A distribution function that the samples give, in steps, and that of a normal over it, dashed
 * where the values are hidden. Where the steps are not known there is a gap. */
#include <math.h>

#include "chart.h"

enum { CURVE = 41 }; /* points of a part of the normal */

static double normal_cdf(const cli_steps *s, double x)
{
    return 0.5 * erfc((s->curve.mean - x) / (s->curve.sd * sqrt(2)));
}

static void draw_normal(const cli_plot *plot, const cli_steps *s, double from, double to,
                        int hidden)
{
    double x[CURVE], y[CURVE];
    if (!(to > from))
        return;
    for (size_t k = 0; k < CURVE; k++) {
        x[k] = from + (to - from) * (double)k / (CURVE - 1);
        y[k] = normal_cdf(s, x[k]);
    }
    cli_mark_line(plot, hidden ? "dash second" : "line second", CURVE, x, y, NULL,
                  hidden ? "hidden part of the fitted normal" : "fitted normal");
}

/* up at each value, where it is not that of the step before, and on to the next */
static void draw_steps(const cli_plot *plot, const cli_steps *s)
{
    double *x = cli_page_take(plot->page, s->count, 4 * sizeof *x), count = (double)s->count;
    size_t points = 0;
    if (!x)
        return;
    double *y = x + 2 * s->count;
    for (size_t k = 0; k < s->count; k++) {
        double value = s->values[k] <= s->high ? s->values[k] : NAN;
        if (points >= 2 && x[points - 1] == value) {
            y[points - 1] = (double)(k + 1) / count;
            continue;
        }
        x[points] = x[points + 1] = value;
        y[points++] = (double)k / count;
        y[points++] = (double)(k + 1) / count;
    }
    cli_mark_line(plot, "line first", points, x, y, NULL,
                  "share of the samples at or below a value");
}

static void mark_shares(const cli_plot *plot, const cli_steps *s)
{
    static const double shares[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    cli_html(plot->page, "<g class=\"dots first\" style=\"--size:7px\">\n");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t k = (size_t)lround(fmax(1, shares[i] * (double)s->count)) - 1;
        double value = s->values[k], share = (double)(k + 1) / (double)s->count;
        if (!(value >= s->low && value <= s->high))
            continue;
        cli_mark_dot(plot, value, share,
                     cli_text(plot->page,
                              "%.3g %% of the values are at or below %.4g; by the model %.3g %%",
                              100 * share, value, 100 * normal_cdf(s, value)));
    }
    cli_html(plot->page, "</g>");
}

void cli_chart_steps(cli_page *page, const cli_steps *s)
{
    cli_plot plot = {.page = page,
                     .frame = s->frame,
                     .x = {s->low, s->high, s->x_title, .has_labels = 1},
                     .y = {0, 1, "share below", .is_share = 1, .count = 4, .has_grid = 1}};
    plot.y.has_labels = 1;
    cli_plot_open(&plot);
    draw_steps(&plot, s);
    if (s->curve.sd > 0 && isfinite(s->curve.mean)) {
        draw_normal(&plot, s, s->low, fmin(s->curve.limit, s->high), 1);
        draw_normal(&plot, s, fmax(s->curve.limit, s->low), s->high, 0);
    }
    mark_shares(&plot, s);
    cli_plot_close(&plot);
}
