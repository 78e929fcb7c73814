/* SPDX-License-Identifier: Apache-2.0 */
/* Two charts for each column: its values beside the fitted normal, of which the part below the
 * limit is what was hidden; and quantiles of the samples against those of the model with the band
 * in which 95 % of them lie where the model is right. Of many columns the worst are drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "chart.h"
#include "html.h"
#include "report.h"

enum { DRAWN = 12, CURVE = 81 };

static const double TWO_SIDED = 1.959964, NOISE_CENSORING = 3;

/* the normal that a column's values are compared to */
typedef struct {
    double b, s, limit;
} margin;

static margin margin_of(const unrelu_gaussian *m, size_t i)
{
    double noise = m->noise ? m->noise[i] : 0, limit = m->limit ? m->limit[i] : 0;
    return (margin){m->b[i], hypot(m->scale[i], noise),
                    m->noise ? fmax(limit, NOISE_CENSORING * noise) : limit};
}

/* Where the model has no limit and cells have, the bars start at the largest of these. */
static margin margin_beside(const unrelu_gaussian *m, const unrelu_goodness *g, size_t i)
{
    margin c = margin_of(m, i);
    if (c.limit == -INFINITY && g->censored[i] > 0)
        c.limit = g->edges[i * (g->bins + 1)];
    return c;
}

static double count_of(const unrelu_goodness *g, size_t i)
{
    double count = 0;
    for (size_t k = 0; k < g->bins; k++)
        count += g->counts[i * g->bins + k];
    return count;
}

static void set_title(json_t *chart, const char *path, const char *before, const char *axis)
{
    char title[200];
    snprintf(title, sizeof title, "%s%s", before, axis);
    cli_chart_set(chart, path, cli_page_string(title));
}

static double cdf(const margin *c, double x)
{
    return 0.5 * erfc((c->b - x) / (c->s * sqrt(2)));
}

static double pdf(const margin *c, double x)
{
    double z = (x - c->b) / c->s;
    return exp(-0.5 * z * z) / (c->s * sqrt(2 * acos(-1)));
}

/* ---- values beside the density ---- */

static json_t *bars_of(const unrelu_goodness *g, size_t i, const margin *c, double *room)
{
    size_t bins = g->bins;
    const double *edges = g->edges + i * (bins + 1), *counts = g->counts + i * bins;
    double *density = room, *expected = room + bins;
    for (size_t k = 0; k < bins; k++) {
        double width = edges[k + 1] - edges[k];
        density[k] = width > 0 ? counts[k] / (g->observed[i] * width) : 0;
        expected[k] = g->observed[i] * (cdf(c, edges[k + 1]) - cdf(c, edges[k]));
    }
    cli_chart_column columns[] = {{"from", edges},   {"to", edges + 1},      {"density", density},
                                  {"count", counts}, {"expected", expected}, {0}};
    return cli_chart_rows(bins, columns);
}

static void add_curve(json_t *rows, const margin *c, double from, double to, int hidden)
{
    for (int k = 0; k < CURVE; k++) {
        double x = from + (to - from) * k / (CURVE - 1);
        json_array_append_new(
            rows, json_pack("{s:f, s:f, s:b}", "x", x, "density", pdf(c, x), "hidden", hidden));
    }
}

/* Where one bin holds all that lies far out, the axis ends before it. */
static double right_end(const unrelu_goodness *g, size_t i)
{
    const double *edges = g->edges + i * (g->bins + 1);
    double width = edges[1] - edges[0], last = edges[g->bins] - edges[g->bins - 1];
    return last > 1.5 * width ? edges[g->bins - 1] + width : edges[g->bins];
}

static json_t *histogram_of(const unrelu_goodness *g, size_t i, const margin *c)
{
    double first = g->edges[i * (g->bins + 1)], right = right_end(g, i);
    double left = first; /* room for the hidden part, up to as much as for the rest */
    if (g->censored[i] > 0 && c->s > 0)
        left = fmin(first, fmax(c->b - 3 * c->s, c->limit - fmax(right - c->limit, 0)));
    double *room = calloc(g->bins, 2 * sizeof *room);
    json_t *chart = room ? cli_chart_load("histogram") : NULL, *curve = json_array();
    int known = c->s > 0 && isfinite(c->b), hidden = known && fmin(c->limit, right) > left;
    if (hidden)
        add_curve(curve, c, left, fmin(c->limit, right), 1);
    if (known)
        add_curve(curve, c, fmax(c->limit, left), right, 0);
    for (size_t layer = known ? 2 : 3; !hidden && layer > 0; layer--)
        cli_chart_drop(chart, layer);
    if (room)
        cli_chart_data(chart, "bars", bars_of(g, i, c, room));
    cli_chart_data(chart, "curve", curve);
    if (right > left)
        cli_chart_set(chart, "layer.0.encoding.x.scale.domain", json_pack("[f, f]", left, right));
    free(room);
    return chart;
}

/* ---- quantiles ---- */

/* NULL: all of them are censored */
static json_t *quantiles_of(const unrelu_goodness *g, size_t i, const margin *c)
{
    const double *sample = g->sample_quantile + i * g->points;
    const double *model = g->model_quantile + i * g->points;
    json_t *chart = cli_chart_load("quantiles"), *rows = json_array();
    for (size_t k = 0; k < g->points; k++) {
        double share = ((double)k + 0.5) / (double)g->points;
        double half = TWO_SIDED * sqrt(share * (1 - share) / g->observed[i]) / pdf(c, model[k]);
        if (isfinite(sample[k]) && model[k] > c->limit)
            json_array_append_new(rows, json_pack("{s:f, s:f, s:f, s:o, s:o}", "share", share,
                                                  "model", model[k], "sample", sample[k], "low",
                                                  cli_chart_real(fmax(c->limit, model[k] - half)),
                                                  "high", cli_chart_real(model[k] + half)));
    }
    if (json_array_size(rows) < 2) {
        json_decref(chart);
        chart = NULL;
    }
    cli_chart_data(chart, "points", rows);
    return chart;
}

/* ---- one column ---- */

static void add_numbers(cli_page *page, const unrelu_goodness *g, size_t i)
{
    cli_page_html(page, "<p class=\"note\">");
    cli_html_counted(page, g->observed[i], "value");
    cli_page_html(page, ", %.3g %% censored", 100 * g->censored[i] / g->observed[i]);
    if (isfinite(g->ks[i]))
        cli_page_html(page, " &middot; KS distance %.3g, p %s %.3g", g->ks[i],
                      cli_html_p_sign(g->ks_p[i]), g->ks_p[i]);
    if (g->ties[i] > 0.2)
        cli_page_html(page, " &middot; %.3g %% ties", 100 * g->ties[i]);
    cli_page_html(page, "</p>");
}

static void add_column(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g, size_t i)
{
    char number[32], axis[160];
    margin c = margin_beside(m, g, i);
    snprintf(number, sizeof number, "x%zu", i + 1);
    cli_page_html(page, "<div class=\"card\"><h3>");
    cli_page_text(page, m->names ? m->names[i] : number);
    cli_page_html(page, "</h3>");
    if (count_of(g, i) == 0) {
        cli_page_html(page, "<p class=\"note\">No value is above the %s.</p></div>\n",
                      g->observed[i] > g->censored[i]
                          ? "largest limit: this column could not be judged"
                          : "limit");
        return;
    }
    add_numbers(page, g, i);
    cli_page_html(page, "<div class=\"pair\">");
    json_t *histogram = histogram_of(g, i, &c), *quantiles = quantiles_of(g, i, &c);
    if (m->transform != UNRELU_TRANSFORM_NONE) {
        cli_report_axis(m, i, axis);
        set_title(histogram, "layer.0.encoding.x.title", "", axis);
        if (quantiles)
            set_title(quantiles, "layer.0.encoding.x.title", "model: ", axis);
    }
    cli_page_chart(page, histogram, NULL);
    if (quantiles)
        cli_page_chart(page, quantiles, NULL);
    cli_page_html(page, "</div></div>\n");
}

/* ---- which ---- */

typedef struct {
    double p, ks;
    size_t i;
} rank;

/* smallest p first, then the largest distance */
static int by_misfit(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    double p = isnan(x->p) ? 2 : x->p, q = isnan(y->p) ? 2 : y->p;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->ks != y->ks)
        return x->ks > y->ks ? -1 : 1;
    return x->i < y->i ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    return x->i < y->i ? -1 : 1;
}

static void add_charts(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g)
{
    rank *ranks = calloc(m->d, sizeof *ranks);
    size_t drawn = m->d < DRAWN ? m->d : DRAWN;
    for (size_t i = 0; ranks && i < m->d; i++)
        ranks[i] = (rank){g->ks_p[i], g->ks[i], i};
    if (ranks)
        qsort(ranks, m->d, sizeof *ranks, m->d > DRAWN ? by_misfit : by_place);
    cli_page_html(page, "<div class=\"grid\">\n");
    for (size_t k = 0; ranks && k < drawn; k++)
        add_column(page, m, g, ranks[k].i);
    cli_page_html(page, "</div>\n");
    free(ranks);
}

void cli_report_columns(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                        double level)
{
    const cli_report_words words = {"column", "columns", m->limit ? "censored" : "zeros"};
    cli_html_section(page, "columns", g ? "Fit of each column" : "Columns");
    if (g) {
        cli_page_html(page,
                      "<p>Bars are the values above the limit, the curve is the fitted normal, and "
                      "its dashed part is what was hidden. Points are quantiles of the samples "
                      "against those of the model: on the line where the fit is right, 95 %% of "
                      "them in the band. Quantiles that are censored are not drawn.</p>\n");
        if (m->d > DRAWN)
            cli_page_html(page,
                          "<p>These are the %d of %zu columns that fit worst; the table below "
                          "has all.</p>\n",
                          DRAWN, m->d);
        add_charts(page, m, g);
    }
    cli_report_coordinates(page, m, g, &words, level);
    cli_report_quantiles(page, m);
    cli_page_html(page, "</section>\n");
}
