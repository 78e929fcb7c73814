/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a page: a row of charts a panel, a chart a metric. A bar of one standard deviation
 * that would reach below a tenth of its mean ends there, for the axis is a logarithm. */
#include "study.h"

#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/svg.h"

/* how the series of a panel are drawn, the first first */
static const struct {
    const char *colour, *line, *marks, *legend;
} looks[STUDY_SERIES] = {
    {"second", "line second", "squares second", "square second"},
    {"first", "line first", "dots first", "dot first"},
    {"third", "line third", "dots third", "dot third"},
    {"soft", "line soft", "squares soft", "square soft"},
};
static const char dashes[] = "dash soft";

/* ---- charts ---------------------------------------------------------------------------- */

/* the points of one panel where a series, or the limit, has a value */
typedef struct {
    size_t count, point[STUDY_POINTS];
    double x[STUDY_POINTS], y[STUDY_POINTS], sd[STUDY_POINTS];
} curve;

static curve curve_of(const study *s, size_t panel, int metric, size_t series)
{
    const study_panel *of = &s->kind->panels[panel];
    curve c = {0};
    if (series == STUDY_LIMIT ? !of->limit : series >= of->count)
        return c;
    for (size_t p = 0; p < s->count; p++) {
        double y = s->rows[p][series].mean[metric], sd = s->rows[p][series].sd[metric];
        int is_share = s->kind->metrics[metric].is_share;
        if (s->points[p].panel != panel || !isfinite(y))
            continue;
        c.point[c.count] = p;
        c.x[c.count] = s->points[p].x;
        c.y[c.count] = y;
        c.sd[c.count++] = isfinite(sd) && !is_share ? sd : 0;
    }
    return c;
}

/* a logarithm has no room for 0 */
static double low_end(const curve *c, size_t i)
{
    return fmax(c->y[i] - c->sd[i], c->y[i] / 10);
}

/* "n = 500, d = 5" */
static const char *keys_of(cli_page *page, const study *s, size_t point, size_t series)
{
    const char *text = "";
    for (size_t i = 0; s->kind->keys[i]; i++) {
        double key = s->points[point].key[series][i];
        if (isfinite(key))
            text =
                cli_text(page, "%s, %s = %.15g", text,
                         strcmp(s->kind->keys[i], "kappa") == 0 ? "\u03ba" : s->kind->keys[i], key);
    }
    return text;
}

static void draw_series(const cli_plot *plot, const study *s, const curve *c, int metric,
                        size_t series)
{
    cli_page *page = plot->page;
    const study_metric *of = &s->kind->metrics[metric];
    const char *title = cli_study_panel(s, c->point[0])->series[series].title;
    cli_html(page, "<g class=\"rules %s\" opacity=\".55\">", looks[series].colour);
    for (size_t i = 0; i < c->count; i++)
        if (c->sd[i] > 0)
            cli_mark_rule(plot, c->x[i], low_end(c, i), c->x[i], c->y[i] + c->sd[i],
                          cli_text(page, "%s: %.3g ± %.2g", title, c->y[i], c->sd[i]));
    cli_html(page, "</g>");
    cli_mark_line(plot, looks[series].line, c->count, c->x, c->y, NULL, title);
    cli_html(page, "<g class=\"%s\" style=\"--size:7px\">", looks[series].marks);
    for (size_t i = 0; i < c->count; i++) {
        const char *value = of->is_share
                                ? cli_text(page, "%.3g %% of the runs", 100 * c->y[i])
                                : cli_text(page, "mean %.3g, deviation %.2g", c->y[i], c->sd[i]);
        cli_mark_dot(plot, c->x[i], c->y[i],
                     cli_text(page, "%s%s: %s, %s %zu of %zu", title,
                              keys_of(page, s, c->point[i], series), value, s->kind->lost_title,
                              s->rows[c->point[i]][series].lost, s->runs));
    }
    cli_html(page, "</g>");
}

/* "paper's algorithm, of unrelu and of others" */
static const char *list_series(cli_page *page, const study_panel *panel)
{
    const char *text = "";
    for (size_t i = 0; i < panel->count; i++)
        text = cli_text(page, "%s%s%s", text,
                        i == 0                 ? ""
                        : i + 1 < panel->count ? ", of "
                                               : " and of ",
                        panel->series[i].title);
    return text;
}

static void draw_chart(cli_page *page, const study *s, size_t which, int metric)
{
    const study_panel *panel = &s->kind->panels[which];
    const study_metric *of = &s->kind->metrics[metric];
    curve all[STUDY_ROWS];
    double ticks[STUDY_POINTS];
    size_t count = 0;
    for (size_t p = 0; p < s->count; p++)
        if (s->points[p].panel == which)
            ticks[count++] = s->points[p].x;
    const char *title = cli_text(page, "%s against %s", of->title, panel->axis);
    const char *text =
        cli_text(page, "%s of %s at %zu points%s%s.", of->title, list_series(page, panel), count,
                 panel->limit ? ", with the " : "", panel->limit ? panel->limit : "");
    cli_plot plot = {
        .page = page,
        .frame = {title, text, NULL, 320, 240},
        .x = {ticks[0], ticks[count - 1], panel->axis, panel->is_log, .at = ticks, .has_labels = 1},
        .y = {INFINITY, -INFINITY, .is_log = !of->is_share, .has_grid = 1, .has_labels = 1}};
    plot.x.count = count;
    plot.y.is_share = of->is_share;
    for (size_t i = 0; i < STUDY_ROWS; i++) {
        all[i] = curve_of(s, which, metric, i);
        for (size_t j = 0; j < all[i].count; j++) {
            plot.y.low = fmin(plot.y.low, low_end(&all[i], j));
            plot.y.high = fmax(plot.y.high, all[i].y[j] + all[i].sd[j]);
        }
    }
    if (of->is_share) {
        plot.y.low = 0;
        plot.y.high = 1;
    }
    cli_axis_pad(&plot.x);
    cli_axis_pad(&plot.y);
    cli_plot_open(&plot);
    cli_mark_line(&plot, dashes, all[STUDY_LIMIT].count, all[STUDY_LIMIT].x, all[STUDY_LIMIT].y,
                  NULL, panel->limit ? panel->limit : "");
    for (size_t i = 0; i < panel->count; i++)
        if (all[i].count > 0)
            draw_series(&plot, s, &all[i], metric, i);
    cli_plot_close(&plot);
}

/* ---- the page ------------------------------------------------------------------------- */

static void put_legend(cli_page *page, const study_panel *panel)
{
    const char *entries = "";
    for (size_t i = 0; i < panel->count; i++)
        entries = cli_text(page, "%s%s%s:%s", entries, i > 0 ? "|" : "", looks[i].legend,
                           panel->series[i].title);
    if (panel->limit)
        entries = cli_text(page, "%s|%s:%s", entries, dashes, panel->limit);
    cli_html_legend(page, entries);
}

static void put_value(cli_page *page, const study_metric *of, double mean, double sd)
{
    if (!isfinite(mean))
        cli_html(page, "<td>\u2013</td>");
    else if (of->is_share)
        cli_html(page, "<td>%.3g %%</td>", 100 * mean);
    else if (isfinite(sd))
        cli_html(page, "<td>%.3g \u00b1 %.2g</td>", mean, sd);
    else
        cli_html(page, "<td>%.3g</td>", mean);
}

static void put_row(cli_page *page, const study *s, size_t point, size_t series)
{
    const study_panel *panel = cli_study_panel(s, point);
    const study_row *row = &s->rows[point][series];
    cli_html(page, "<tr><td>%.15g</td><td class=\"l\">%s</td>", s->points[point].x,
             series == STUDY_LIMIT ? panel->limit : panel->series[series].title);
    for (const int *k = panel->shows; *k >= 0; k++)
        put_value(page, &s->kind->metrics[*k], row->mean[*k], row->sd[*k]);
    if (series == STUDY_LIMIT)
        cli_html(page, "<td></td><td></td></tr>\n");
    else
        cli_html(page, "<td>%zu</td><td>%.2g</td></tr>\n", row->lost, row->seconds);
}

static void put_panel(cli_page *page, const study *s, size_t which)
{
    const study_panel *panel = &s->kind->panels[which];
    cli_html(page, "<section><h2>%s</h2>\n", panel->heading);
    if (panel->says)
        cli_html(page, "<p>%s</p>\n", panel->says);
    cli_html(page, "<p>%s</p>\n", s->fixed[which]);
    put_legend(page, panel);
    /* a chart alone is not as wide as the page */
    cli_html(page,
             "<div class=\"grid\" style=\"grid-template-columns: repeat(auto-fit, "
             "minmax(min(280px, 100%%), %s))\">\n",
             panel->shows[1] < 0 ? "560px" : "1fr");
    for (const int *k = panel->shows; *k >= 0; k++) {
        cli_html(page, "<div class=\"card\"><h3>%s</h3>\n", s->kind->metrics[*k].title);
        draw_chart(page, s, which, *k);
        cli_html(page, "</div>\n");
    }
    cli_html(page,
             "</div>\n<div class=\"card\"><details><summary>The numbers</summary><div "
             "class=\"scroll\"><table><thead><tr><th>%s</th><th class=\"l\">method</th>",
             panel->symbol);
    for (const int *k = panel->shows; *k >= 0; k++)
        cli_html(page, "<th>%s</th>", s->kind->metrics[*k].title);
    cli_html(page, "<th>%s</th><th>seconds a fit</th></tr></thead><tbody>\n", s->kind->lost_title);
    for (size_t p = 0; p < s->count; p++) {
        if (s->points[p].panel != which)
            continue;
        for (size_t i = 0; i < panel->count; i++)
            put_row(page, s, p, i);
        if (panel->limit)
            put_row(page, s, p, STUDY_LIMIT);
    }
    cli_html(page, "</tbody></table></div></details></div>\n</section>\n");
}

int cli_study_page(const study *s, const char *path)
{
    cli_page opened, *page = cli_page_open(&opened, s->kind->title);
    cli_html(page,
             "<header><p class=\"kind\">%s, %zu runs a point, seed %llu</p>\n"
             "<h1>%s</h1></header>\n",
             s->kind->model, s->runs, (unsigned long long)s->seed, s->kind->title);
    s->kind->intro(s, page);
    for (size_t panel = 0; panel < s->kind->panel_count; panel++)
        put_panel(page, s, panel);
    cli_html(page,
             "<footer>unrelu %s, <code>unrelu reproduce %s --runs %zu --seed "
             "%llu%s</code></footer>\n",
             unrelu_version(), s->kind->name, s->runs, (unsigned long long)s->seed,
             s->quick ? " --quick" : "");
    return cli_page_save(page, path, NULL);
}
