/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 1 as a page: a row of charts a panel, a chart a metric. A bar of one standard deviation
 * that would reach below a tenth of its mean ends there, for the axis is a logarithm. */
#include "figure1.h"

#include <math.h>

#include "report/html.h"
#include "report/svg.h"

#define SIGMA "\u03a3"
#define KAPPA "\u03ba"

static const char *const titles[FIGURE1_METRICS] = {"error of b", "error of \u03a3",
                                                    "\u221a(KL / 2)"};
static const char *const axes[FIGURE1_PANELS] = {"samples n", "columns d",
                                                 "condition number \u03ba"};
static const char *const headings[FIGURE1_PANELS] = {"More samples", "More columns",
                                                     "A larger condition number"};
static const char *const names[FIGURE1_ROWS] = {"paper\u2019s algorithm", "unrelu",
                                                "Cram\u00e9r\u2013Rao limit"};
static const char *const lines[FIGURE1_ROWS] = {"line second", "line first", "dash soft"};
static const char *const marks[FIGURE1_METHODS] = {"squares second", "dots first"};

/* ---- charts ---------------------------------------------------------------------------- */

/* the points of one panel where a method, or the limit, has a value */
typedef struct {
    size_t count, point[FIGURE1_MOST_POINTS];
    double x[FIGURE1_MOST_POINTS], y[FIGURE1_MOST_POINTS], sd[FIGURE1_MOST_POINTS];
} series;

static series series_of(const figure1 *f, int panel, int metric, int which)
{
    series s = {0};
    for (size_t p = 0; p < f->count; p++) {
        double y = f->rows[p][which].mean[metric], sd = f->rows[p][which].sd[metric];
        if (f->points[p].panel != panel || !isfinite(y))
            continue;
        s.point[s.count] = p;
        s.x[s.count] = (double)f->points[p].x;
        s.y[s.count] = y;
        s.sd[s.count++] = isfinite(sd) ? sd : 0;
    }
    return s;
}

/* a logarithm has no room for 0 */
static double low_end(const series *s, size_t i)
{
    return fmax(s->y[i] - s->sd[i], s->y[i] / 10);
}

static void draw_method(const cli_plot *plot, const figure1 *f, const series *s, int method)
{
    cli_html(plot->page, "<g class=\"rules %s\" opacity=\".55\">",
             method == FIGURE1_PAPER ? "second" : "first");
    for (size_t i = 0; i < s->count; i++)
        if (s->sd[i] > 0)
            cli_mark_rule(
                plot, s->x[i], low_end(s, i), s->x[i], s->y[i] + s->sd[i],
                cli_text(plot->page, "%s: %.3g ± %.2g", names[method], s->y[i], s->sd[i]));
    cli_html(plot->page, "</g>");
    cli_mark_line(plot, lines[method], s->count, s->x, s->y, NULL, names[method]);
    cli_html(plot->page, "<g class=\"%s\" style=\"--size:7px\">", marks[method]);
    for (size_t i = 0; i < s->count; i++) {
        const figure1_point *p = &f->points[s->point[i]];
        cli_mark_dot(plot, s->x[i], s->y[i],
                     cli_text(plot->page,
                              "%s, n = %zu, d = %zu, " KAPPA
                              " = %zu: mean %.3g, deviation %.2g, not PSD %zu of %zu",
                              names[method], p->n, p->d, p->kappa, s->y[i], s->sd[i],
                              f->rows[s->point[i]][method].not_psd, f->runs));
    }
    cli_html(plot->page, "</g>");
}

static void draw_chart(cli_page *page, const figure1 *f, int panel, int metric)
{
    series all[FIGURE1_ROWS];
    double ticks[FIGURE1_MOST_POINTS];
    size_t count = 0;
    for (size_t p = 0; p < f->count; p++)
        if (f->points[p].panel == panel)
            ticks[count++] = (double)f->points[p].x;
    const char *title = cli_text(page, "%s against %s", titles[metric], axes[panel]);
    const char *text =
        cli_text(page, "%s of %s and of %s at %zu points, with the %s.", titles[metric],
                 names[FIGURE1_PAPER], names[FIGURE1_EFFICIENT], count, names[FIGURE1_LIMIT]);
    cli_plot plot = {
        .page = page,
        .frame = {title, text, NULL, 320, 240},
        .x = {ticks[0], ticks[count - 1], axes[panel], panel == 0, .at = ticks, .has_labels = 1},
        .y = {INFINITY, -INFINITY, .is_log = 1, .has_grid = 1, .has_labels = 1}};
    plot.x.count = count;
    for (int m = 0; m < FIGURE1_ROWS; m++) {
        all[m] = series_of(f, panel, metric, m);
        for (size_t i = 0; i < all[m].count; i++) {
            plot.y.low = fmin(plot.y.low, low_end(&all[m], i));
            plot.y.high = fmax(plot.y.high, all[m].y[i] + all[m].sd[i]);
        }
    }
    cli_axis_pad(&plot.x);
    cli_axis_pad(&plot.y);
    cli_plot_open(&plot);
    cli_mark_line(&plot, lines[FIGURE1_LIMIT], all[FIGURE1_LIMIT].count, all[FIGURE1_LIMIT].x,
                  all[FIGURE1_LIMIT].y, NULL, names[FIGURE1_LIMIT]);
    for (int m = 0; m < FIGURE1_METHODS; m++)
        draw_method(&plot, f, &all[m], m);
    cli_plot_close(&plot);
}

/* ---- the page ------------------------------------------------------------------------- */

static void put_panel(cli_page *page, const figure1 *f, int panel)
{
    cli_html(page, "<section><h2>%s</h2>\n<p>%s</p>\n", headings[panel], f->fixed[panel]);
    cli_html_legend(page, "square second:paper\u2019s algorithm|dot first:unrelu|"
                          "dash soft:Cram\u00e9r\u2013Rao limit");
    cli_html(page, "<div class=\"grid\" style=\"grid-template-columns: repeat(auto-fit, "
                   "minmax(min(280px, 100%%), 1fr))\">\n");
    for (int k = 0; k < FIGURE1_METRICS; k++) {
        cli_html(page, "<div class=\"card\"><h3>%s</h3>\n", titles[k]);
        draw_chart(page, f, panel, k);
        cli_html(page, "</div>\n");
    }
    cli_html(page,
             "</div>\n<div class=\"card\"><details><summary>The numbers</summary><div "
             "class=\"scroll\"><table><thead><tr><th>%s</th><th class=\"l\">method</th>",
             panel == FIGURE1_PANELS - 1 ? KAPPA : cli_figure1_panels[panel]);
    for (int k = 0; k < FIGURE1_METRICS; k++)
        cli_html(page, "<th>%s</th>", titles[k]);
    cli_html(page, "<th>not PSD</th><th>seconds a fit</th></tr></thead><tbody>\n");
    for (size_t p = 0; p < f->count; p++)
        for (int m = 0; m < FIGURE1_ROWS && f->points[p].panel == panel; m++) {
            const figure1_row *row = &f->rows[p][m];
            cli_html(page, "<tr><td>%zu</td><td class=\"l\">%s</td>", f->points[p].x, names[m]);
            for (int k = 0; k < FIGURE1_METRICS; k++)
                cli_html(page,
                         !isfinite(row->mean[k]) ? "<td>\u2013</td>"
                         : isfinite(row->sd[k])  ? "<td>%.3g \u00b1 %.2g</td>"
                                                 : "<td>%.3g</td>",
                         row->mean[k], row->sd[k]);
            cli_html(page,
                     m == FIGURE1_LIMIT ? "<td></td><td></td></tr>\n"
                                        : "<td>%zu</td><td>%.2g</td></tr>\n",
                     row->not_psd, row->seconds);
        }
    cli_html(page, "</tbody></table></div></details></div>\n</section>\n");
}

int cli_figure1_page(const figure1 *f, const char *path)
{
    cli_page opened, *page = cli_page_open(&opened, "Figure 1, reproduced");
    cli_html(page,
             "<header><p class=\"kind\">x = ReLU(W z + b), %zu runs a point, seed %llu</p>\n"
             "<h1>Figure 1, reproduced</h1></header>\n",
             f->runs, (unsigned long long)f->seed);
    cli_html(page, "<p>The experiments of Figure 1 of the one-layer paper, with <b "
                   "style=\"color: var(--second)\">\u25a0 its algorithm</b> and with <b "
                   "style=\"color: var(--first)\">\u25cf unrelu</b> on the same data. Points are "
                   "means over the runs, bars one standard deviation; every run has a W and b of "
                   "its own. <b style=\"color: var(--soft)\">\u2504 Dashed</b> is the "
                   "Cram\u00e9r\u2013Rao limit: the root mean square error that no unbiased method "
                   "goes below, for one coordinate or one pair at a time. A mean is a little below "
                   "its root mean square, by 5 %% at d = 5.</p>\n");
    cli_html(page,
             "<p class=\"note\">error of b = |b \u2212 b*| / |W*|<sub>F</sub>; error of " SIGMA
             " = |" SIGMA " \u2212 " SIGMA "*|<sub>F</sub> / |W*|<sub>F</sub>\u00b2; KL is the "
             "smaller of the two divergences of the Gaussians before the rectifier. Where a "
             "run of the paper\u2019s algorithm ends with a " SIGMA " that is not positive "
             "definite there is none, and the run is left out of the mean. With " KAPPA
             " &gt; 1 no limit of KL is known here.</p>\n");
    for (int panel = 0; panel < FIGURE1_PANELS; panel++)
        put_panel(page, f, panel);
    cli_html(page,
             "<footer>unrelu %s, <code>unrelu reproduce figure1 --runs %zu --seed "
             "%llu%s</code></footer>\n",
             unrelu_version(), f->runs, (unsigned long long)f->seed, f->quick ? " --quick" : "");
    return cli_page_save(page, path, NULL);
}
