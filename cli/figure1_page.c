/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 1 as a page: a row of charts a panel, a chart a metric. A bar of one standard deviation
 * that would reach below a tenth of its mean ends there, for the axis is a logarithm. */
#include "figure1.h"

#include <math.h>
#include <stdio.h>

#include "report/page.h"

#define SIGMA "\u03a3"
#define KAPPA "\u03ba"

static const char *const titles[FIGURE1_METRICS] = {"error of b", "error of \u03a3",
                                                    "\u221a(KL / 2)"};
static const char *const axes[FIGURE1_PANELS] = {"samples n", "columns d",
                                                 "condition number \u03ba"};
static const char *const headings[FIGURE1_PANELS] = {"More samples", "More columns",
                                                     "A larger condition number"};
static const char *const names[FIGURE1_METHODS] = {"paper\u2019s algorithm", "unrelu"};
static const char limit_name[] = "Cram\u00e9r\u2013Rao limit";

/* ---- charts ---------------------------------------------------------------------------- */

#define ERROR_Y                                                                                    \
    "'y': {'field': 'error', 'type': 'quantitative', 'title': null, 'scale': {'type': 'log', "     \
    "'nice': false, 'padding': 12},"                                                               \
    "      'axis': {'format': '~g', 'tickCount': 4}}"
#define TOOLTIP                                                                                    \
    "'tooltip': [{'field': 'name', 'title': 'method'}, {'field': 'at', 'title': 'point'},"         \
    "            {'field': 'error', 'type': 'quantitative', 'title': 'mean', 'format': '.3~g'},"   \
    "            {'field': 'sd', 'type': 'quantitative', 'title': 'deviation', 'format': '.2~g'}," \
    "            {'field': 'lost', 'title': 'not PSD'}]"
#define METHOD(index, colour, shape)                                                               \
    "{'transform': [{'filter': 'datum.method == " index "'}], 'layer': ["                          \
    " {'mark': {'type': 'rule', 'style': '" colour "', 'opacity': 0.55},"                          \
    "  'encoding': {'y': {'field': 'low', 'type': 'quantitative'}, 'y2': {'field': 'high'}}},"     \
    " {'mark': {'type': 'line', 'style': '" colour "', 'strokeWidth': 2},"                         \
    "  'encoding': {" ERROR_Y "}},"                                                                \
    " {'mark': {'type': 'point', 'style': '" colour "', 'shape': '" shape "', 'filled': true,"     \
    "           'opacity': 1, 'size': 55}, 'encoding': {" ERROR_Y ", " TOOLTIP "}}]}"

/* single quotes stand for double ones */
static const char template[] =
    "{'width': 'container', 'height': 230, 'autosize': {'type': 'fit', 'contains': 'padding'}, "
    "'layer': ["
    " {'transform': [{'filter': 'datum.method == 2'}],"
    "  'mark': {'type': 'line', 'style': 'soft', 'strokeDash': [5, 4], 'strokeWidth': 1.5},"
    "  'encoding': {" ERROR_Y "}}," METHOD("0", "second", "square") "," METHOD(
        "1", "first",
        "circle") ","
                  " {'transform': [{'filter': 'datum.method == 2'}],"
                  "  'mark': {'type': 'point', 'filled': true, 'opacity': 0, 'size': 80},"
                  "  'encoding': {" ERROR_Y ", 'tooltip': ["
                  "   {'field': 'name', 'title': 'method'}, {'field': 'at', 'title': 'point'},"
                  "   {'field': 'error', 'type': 'quantitative', 'title': 'root mean square',"
                  "    'format': '.3~g'}]}}]}";

static json_t *read_template(void)
{
    char text[sizeof template];
    for (size_t i = 0; i < sizeof template; i++)
        text[i] = (char)(template[i] == '\'' ? '"' : template[i]);
    return json_loads(text, 0, NULL);
}

static json_t *start_value(const figure1 *f, size_t point, int method, const char *name,
                           double error)
{
    const figure1_point *p = &f->points[point];
    char at[96];
    snprintf(at, sizeof at, "n = %zu, d = %zu, " KAPPA " = %zu", p->n, p->d, p->kappa);
    return json_pack("{s:I, s:i, s:s, s:s, s:f}", "x", (json_int_t)cli_figure1_x(p), "method",
                     method, "name", name, "at", at, "error", error);
}

static json_t *value_of(const figure1 *f, size_t point, int method, int metric)
{
    const figure1_row *row = &f->rows[point][method];
    double mean = row->mean[metric], sd = isfinite(row->sd[metric]) ? row->sd[metric] : 0;
    json_t *value = start_value(f, point, method, names[method], mean);
    json_object_set_new(value, "sd", json_real(sd));
    json_object_set_new(value, "low", json_real(fmax(mean - sd, mean / 10)));
    json_object_set_new(value, "high", json_real(mean + sd));
    json_object_set_new(value, "lost", json_sprintf("%zu of %zu", row->not_psd, f->runs));
    return value;
}

static json_t *values_of(const figure1 *f, int panel, int metric)
{
    json_t *values = json_array();
    for (size_t p = 0; p < f->count; p++) {
        double limit = f->rows[p][0].limit[metric];
        if (f->points[p].panel != panel)
            continue;
        for (int m = 0; m < FIGURE1_METHODS; m++)
            if (isfinite(f->rows[p][m].mean[metric]))
                json_array_append_new(values, value_of(f, p, m, metric));
        if (isfinite(limit))
            json_array_append_new(values, start_value(f, p, FIGURE1_METHODS, limit_name, limit));
    }
    return values;
}

static json_t *x_of(const figure1 *f, int panel)
{
    json_t *ticks = json_array();
    for (size_t p = 0; p < f->count; p++)
        if (f->points[p].panel == panel)
            json_array_append_new(ticks, json_integer((json_int_t)cli_figure1_x(&f->points[p])));
    json_t *axis =
        json_pack("{s:o, s:s, s:b}", "values", ticks, "format", panel == 0 ? "~s" : "d", "grid", 0);
    json_t *scale = json_pack("{s:s, s:b, s:b, s:i}", "type", panel == 0 ? "log" : "linear", "zero",
                              0, "nice", 0, "padding", 8);
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "field", "x", "type", "quantitative", "title",
                     axes[panel], "scale", scale, "axis", axis);
}

/* NULL, or what is not whole, where memory ran out: saving the page tells of the first */
static json_t *chart(const figure1 *f, int panel, int metric)
{
    json_t *spec = read_template();
    json_t *data = json_pack("{s:o}", "values", values_of(f, panel, metric));
    json_t *encoding = json_pack("{s:o}", "x", x_of(f, panel));
    int failed = json_object_set_new(spec, "data", data);
    failed |= json_object_set_new(spec, "encoding", encoding);
    if (failed) {
        json_decref(spec);
        return NULL;
    }
    return spec;
}

/* ---- the page ------------------------------------------------------------------------- */

static void put_head(cli_page *page, const figure1 *f)
{
    cli_page_html(page,
                  "<header><p class=\"kind\">x = ReLU(W z + b), %zu runs a point, seed %llu</p>\n"
                  "<h1>Figure 1, reproduced</h1></header>\n",
                  f->runs, (unsigned long long)f->seed);
    cli_page_html(page,
                  "<p>The experiments of Figure 1 of the one-layer paper, with <b "
                  "style=\"color: var(--second)\">\u25a0 its algorithm</b> and with <b "
                  "style=\"color: var(--first)\">\u25cf unrelu</b> on the same data. Points are "
                  "means over the runs, bars one standard deviation; every run has a W and b of "
                  "its own. <b style=\"color: var(--soft)\">\u2504 Dashed</b> is the "
                  "Cram\u00e9r\u2013Rao limit: the root mean square error that no unbiased method "
                  "goes below, for one coordinate or one pair at a time. A mean is a little below "
                  "its root mean square, by 5 %% at d = 5.</p>\n");
    cli_page_html(
        page, "<p class=\"note\">error of b = |b \u2212 b*| / |W*|<sub>F</sub>; error of " SIGMA
              " = |" SIGMA " \u2212 " SIGMA "*|<sub>F</sub> / |W*|<sub>F</sub>\u00b2; KL is the "
              "smaller of the two divergences of the Gaussians before the rectifier. Where a "
              "run of the paper\u2019s algorithm ends with a " SIGMA " that is not positive "
              "definite there is none, and the run is left out of the mean. With " KAPPA
              " &gt; 1 no limit of KL is known here.</p>\n");
}

static void put_cell(cli_page *page, double mean, double sd)
{
    if (isfinite(mean) && isfinite(sd))
        cli_page_html(page, "<td>%.3g \u00b1 %.2g</td>", mean, sd);
    else if (isfinite(mean))
        cli_page_html(page, "<td>%.3g</td>", mean);
    else
        cli_page_html(page, "<td>\u2013</td>");
}

static void put_point(cli_page *page, const figure1 *f, size_t p)
{
    for (int m = 0; m < FIGURE1_METHODS; m++) {
        const figure1_row *row = &f->rows[p][m];
        cli_page_html(page, "<tr><td>%zu</td><td class=\"l\">%s</td>", cli_figure1_x(&f->points[p]),
                      names[m]);
        for (int k = 0; k < FIGURE1_METRICS; k++)
            put_cell(page, row->mean[k], row->sd[k]);
        cli_page_html(page, "<td>%zu</td><td>%.2g</td></tr>\n", row->not_psd, row->seconds);
    }
    cli_page_html(page, "<tr><td>%zu</td><td class=\"l\">%s</td>", cli_figure1_x(&f->points[p]),
                  limit_name);
    for (int k = 0; k < FIGURE1_METRICS; k++)
        put_cell(page, f->rows[p][0].limit[k], NAN);
    cli_page_html(page, "<td></td><td></td></tr>\n");
}

static void put_table(cli_page *page, const figure1 *f, int panel)
{
    cli_page_html(page,
                  "<div class=\"card\"><details><summary>The numbers</summary><div "
                  "class=\"scroll\"><table><thead><tr><th>%s</th><th class=\"l\">method</th>",
                  panel == FIGURE1_PANELS - 1 ? KAPPA : cli_figure1_panel(panel));
    for (int k = 0; k < FIGURE1_METRICS; k++)
        cli_page_html(page, "<th>%s</th>", titles[k]);
    cli_page_html(page, "<th>not PSD</th><th>seconds a fit</th></tr></thead><tbody>\n");
    for (size_t p = 0; p < f->count; p++)
        if (f->points[p].panel == panel)
            put_point(page, f, p);
    cli_page_html(page, "</tbody></table></div></details></div>\n");
}

static void put_panel(cli_page *page, const figure1 *f, int panel)
{
    char fixed[64];
    cli_page_html(page, "<section><h2>%s</h2>\n<p>%s</p>\n", headings[panel],
                  cli_figure1_fixed(f, panel, fixed, sizeof fixed));
    cli_page_html(page, "<div class=\"grid\" style=\"grid-template-columns: repeat(auto-fit, "
                        "minmax(min(280px, 100%%), 1fr))\">\n");
    for (int k = 0; k < FIGURE1_METRICS; k++) {
        cli_page_html(page, "<div class=\"card\"><h3>%s</h3>\n", titles[k]);
        cli_page_chart(page, chart(f, panel, k), NULL);
        cli_page_html(page, "</div>\n");
    }
    cli_page_html(page, "</div>\n");
    put_table(page, f, panel);
    cli_page_html(page, "</section>\n");
}

int cli_figure1_page(const figure1 *f, const char *path)
{
    cli_page *page = cli_page_open("Figure 1, reproduced");
    put_head(page, f);
    for (int panel = 0; panel < FIGURE1_PANELS; panel++)
        put_panel(page, f, panel);
    cli_page_html(page,
                  "<footer>unrelu %s, <code>unrelu reproduce figure1 --runs %zu --seed "
                  "%llu%s</code></footer>\n",
                  unrelu_version(), f->runs, (unsigned long long)f->seed,
                  f->quick ? " --quick" : "");
    return cli_page_save(page, path, NULL);
}
