/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of charts but the heat map. */
#include "chart.h"

#include <math.h>

#include "width.h"

const char *cli_name_of(cli_page *page, const cli_names *names, size_t i)
{
    enum { MOST = 60 };
    size_t at = names->which ? names->which[i] : i;
    const char *name = names->names ? names->names[at] : NULL;
    return name ? cli_text(page, "%.*s", (int)cli_text_cut(name, MOST), name)
                : cli_text(page, "%s%zu", names->letter, at + 1);
}

double cli_largest(const double *values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = isfinite(values[i]) ? fmax(largest, fabs(values[i])) : largest;
    return largest;
}

/* 1, 2, ... of what it is called */
static cli_axis numbers(const char *title, size_t count, size_t labels)
{
    return (cli_axis){0.5,           (double)count + 0.5, title,
                      .is_whole = 1, .count = labels,     .has_labels = 1};
}

/* ---- histogram ------------------------------------------------------------------------- */

enum { CURVE = 81, PIECE = 5 }; /* points of it, at most; pixels between them, about */

static double density(const cli_histogram *h, double x)
{
    double z = (x - h->curve.mean) / h->curve.sd;
    return h->curve.area * exp(-0.5 * z * z) / (h->curve.sd * sqrt(2 * M_PI));
}

static void draw_curve(const cli_plot *plot, const cli_histogram *h, double from, double to,
                       int hidden)
{
    double x[CURVE], y[CURVE], foot[CURVE] = {0};
    double pixels = cli_pixel(&plot->x, to) - cli_pixel(&plot->x, from);
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
                  cli_text(plot->page, "%s normal, mean %.4g, deviation %.4g",
                           hidden ? "hidden part of the" : "fitted", h->curve.mean, h->curve.sd));
}

void cli_chart_histogram(cli_page *page, const cli_histogram *h)
{
    double top = h->curve.sd > 0 ? density(h, fmin(h->high, fmax(h->low, h->curve.mean))) : 0;
    for (size_t k = 0; k < h->bins; k++)
        if (h->edges[k] < h->high && h->edges[k + 1] > h->low)
            top = fmax(top, h->heights[k]);
    cli_plot plot = {
        .page = page,
        .frame = h->frame,
        .x = {h->low, h->high, h->x_title, .has_labels = 1},
        .y = {0, top, h->y_title, .count = 4, .is_nice = 1, .has_grid = 1, .has_labels = 1},
    };
    cli_plot_open(&plot);
    cli_html(page, "<g class=\"bars first\">\n");
    for (size_t k = 0; k < h->bins; k++) {
        double from = h->edges[k], to = h->edges[k + 1];
        if (h->heights[k] > 0)
            cli_mark_bar(
                &plot, from, 0, to, h->heights[k],
                cli_text(page, "%.3g to %.3g: %.0f%s", from, to, h->counts[k],
                         h->expected ? cli_text(page, ", expected %.1f", h->expected[k]) : ""));
    }
    cli_html(page, "</g>");
    if (h->curve.sd > 0 && isfinite(h->curve.mean)) {
        draw_curve(&plot, h, h->low, fmin(h->curve.limit, h->high), 1);
        draw_curve(&plot, h, fmax(h->curve.limit, h->low), h->high, 0);
    }
    cli_plot_close(&plot);
}

/* ---- points ---------------------------------------------------------------------------- */

static void widen(cli_axis *axis, size_t count, const double *values)
{
    for (size_t i = 0; values && i < count; i++)
        if (isfinite(values[i])) {
            axis->low = fmin(axis->low, values[i]);
            axis->high = fmax(axis->high, values[i]);
        }
}

void cli_chart_points(cli_page *page, const cli_points *p)
{
    cli_plot plot = {
        .page = page,
        .frame = p->frame,
        .x = {INFINITY, -INFINITY, p->x_title, .count = 4, .has_labels = 1},
        .y = {INFINITY, -INFINITY, p->y_title, .count = 4, .has_grid = 1, .has_labels = 1}};
    const double *all[] = {p->x, p->y, p->low, p->high};
    widen(&plot.x, p->count, p->x);
    for (int k = 0; k < 4; k++)
        widen(&plot.y, p->count, all[k]);
    double ends[2] = {plot.x.low, plot.x.high};
    cli_axis_pad(&plot.x);
    cli_axis_pad(&plot.y);
    cli_plot_open(&plot);
    if (p->low) {
        enum { BAND = 16 }; /* it is smooth: some of its points will do */
        double x[BAND], low[BAND], high[BAND];
        for (size_t k = 0; k < BAND; k++) {
            size_t i = k * (p->count - 1) / (BAND - 1);
            x[k] = p->x[i];
            low[k] = p->low[i];
            high[k] = p->high[i];
        }
        cli_mark_line(&plot, "area second", BAND, x, high, low,
                      "where 95 % of the points lie if the model is right");
    }
    cli_mark_line(&plot, "line second", 2, ends, ends, NULL,
                  cli_text(page, "%s = %s", p->y_word, p->x_word));
    cli_html(page, "<g class=\"dots first\" style=\"--size:%gpx\">\n", p->size);
    for (size_t i = 0; i < p->count; i++)
        cli_mark_dot(&plot, p->x[i], p->y[i],
                     cli_text(page, "%s: %s %.3g, %s %.3g", p->labels[i], p->x_word, p->x[i],
                              p->y_word, p->y[i]));
    cli_html(page, "</g>");
    cli_plot_close(&plot);
}

/* ---- bars ------------------------------------------------------------------------------ */

void cli_chart_bars(cli_page *page, const cli_bars *b)
{
    static const double HALF = 0.36; /* of a bar's width, where the next is 1 away */
    cli_plot plot = {.page = page,
                     .frame = b->frame,
                     .x = numbers(b->one, b->count, 10),
                     .y = {0, b->is_share, b->y_title, .is_nice = 1, .has_grid = 1}};
    plot.y.is_share = b->is_share;
    plot.y.has_labels = 1;
    for (size_t i = 0; i < b->count; i++)
        plot.y.high = isfinite(b->values[i]) ? fmax(plot.y.high, b->values[i]) : plot.y.high;
    cli_plot_open(&plot);
    cli_html(page, "<g class=\"bars %s\">\n", b->colour);
    for (size_t i = 0; i < b->count; i++) {
        double at = (double)i + 1, value = b->values[i];
        cli_mark_bar(&plot, at - HALF, 0, at + HALF, value,
                     cli_text(page, "%s %zu: %.4g%s", b->one, i + 1,
                              b->is_share ? 100 * value : value, b->is_share ? " %" : ""));
    }
    cli_html(page, "</g>");
    cli_plot_close(&plot);
}

/* ---- estimates ------------------------------------------------------------------------- */

enum { ROW = 30, BELOW = 54 }; /* pixels of a row; of the axis and above the rows */

void cli_chart_estimates(cli_page *page, const cli_estimates *e)
{
    const cli_axis axis = {e->low, e->high, e->axis_title, .has_grid = 1, .has_labels = 1};
    cli_plot plot = {.page = page, .frame = e->frame, .x = axis, .y = axis};
    int by_row = !e->one;
    if (by_row) {
        plot.frame.height = ROW * (double)e->count + BELOW;
        plot.y = (cli_axis){.low = 0.5 - (double)e->count, .high = 0.5};
    } else {
        plot.x = numbers(cli_text(page, "number of the %s", e->one), e->count, 12);
        plot.y.is_nice = 1;
    }
    for (size_t i = 0; i < e->count && by_row; i++)
        plot.left =
            fmax(plot.left, cli_svg_text_width(e->beside[i], cli_svg_narrow(plot.frame.width)));
    cli_plot_open(&plot);
    if (by_row) {
        cli_html(page, "<g class=\"end\">");
        for (size_t i = 0; i < e->count; i++)
            cli_html(page, "<text x=\"%g\" y=\"%g\">%s</text>", plot.left,
                     cli_px(cli_pixel(&plot.y, -(double)i) + CLI_MIDDLE * CLI_FONT),
                     cli_escaped(page, e->beside[i]));
        cli_html(page, "</g>\n");
        if (e->low < 0 && e->high > 0)
            cli_html(page, "<path class=\"axis\" d=\"M%g %gV%g\"/>", cli_pixel(&plot.x, 0),
                     plot.y.from, plot.y.to);
    }
    if (e->level_title)
        cli_mark_line(&plot, "dash second", 2, (double[]){plot.x.low, plot.x.high},
                      (double[]){e->level, e->level}, NULL, e->level_title);
    for (int is_point = 0; is_point < 2; is_point++) { /* intervals first, points above them */
        cli_html(page, "<g class=\"%s first\" style=\"--size:7px\">\n",
                 is_point ? "dots" : "rules");
        for (size_t i = 0; i < e->count; i++) {
            double at = by_row ? -(double)i : (double)i + 1, v = e->values[i];
            double from = e->from ? e->from[i] : v, to = e->to ? e->to[i] : v;
            const char *title = cli_text(
                page, "%s: %.4g%s", by_row ? e->labels[i] : cli_text(page, "%s %zu", e->one, i + 1),
                v, from < to ? cli_text(page, ", from %.4g to %.4g", from, to) : "");
            if (is_point)
                cli_mark_dot(&plot, by_row ? v : at, by_row ? at : v, title);
            else if (from < to)
                cli_mark_rule(&plot, by_row ? from : at, by_row ? at : from, by_row ? to : at,
                              by_row ? at : to, title);
        }
        cli_html(page, "</g>");
    }
    cli_plot_close(&plot);
}
