/* SPDX-License-Identifier: Apache-2.0 */
/* Three charts for each column: its values beside the fitted normal, of which the part below the
 * limit is what was hidden; quantiles of the samples against those of the model with the band in
 * which 95 % of them lie where the model is right; and the distribution functions of both. Of many
 * columns the worst are drawn, and a table has all. */
#include <math.h>
#include <stdlib.h>

#include "chart.h"
#include "html.h"
#include "report.h"

enum { DRAWN = 12 };

static const double TWO_SIDED = 1.959964; /* of a normal: 95 %, on two sides */
static const double TAIL = 0.1;      /* beyond which every quantile is drawn, not every other */
static const double FAR = 1.5;       /* times the first bin: a last one that holds all beyond */
static const double HIDDEN = 3;      /* deviations of the hidden part that are drawn */
static const double SAME = 0.05;     /* deviations on both sides of a value that all have: a bar */
static const double MANY_TIES = 0.2; /* share of the values, from which on they are told */

/* what the charts of a column share */
typedef struct {
    const unrelu_goodness *g;
    size_t i;
    double b, s, limit;      /* of the normal that its values are compared to */
    double left, right;      /* ends of its axis */
    const char *name, *axis; /* axis: what its values are of: "log(lead)" */
} column;

/* ---- values beside the density ---- */

static double cdf(const column *c, double x)
{
    return 0.5 * erfc((c->b - x) / (c->s * sqrt(2)));
}

static void set_ends(column *c)
{
    const unrelu_goodness *g = c->g;
    const double *edges = g->edges + c->i * (g->bins + 1);
    double first = edges[1] - edges[0], last = edges[g->bins] - edges[g->bins - 1];
    c->left = edges[0];
    /* Where one bin holds all that lies far out, the axis ends before it. */
    c->right = last > FAR * first ? edges[g->bins - 1] + first : edges[g->bins];
    if (g->censored[c->i] > 0 && c->s > 0) /* room for all of the hidden part */
        c->left = fmin(c->left, c->b - HIDDEN * c->s);
    if (c->s > 0 && edges[0] == edges[g->bins]) { /* all values are the same */
        c->left = fmin(c->left, edges[0] - c->s);
        c->right += c->s;
    }
}

static void draw_histogram(cli_page *page, const column *c)
{
    const unrelu_goodness *g = c->g;
    const double *edges = g->edges + c->i * (g->bins + 1), *counts = g->counts + c->i * g->bins;
    double *density = cli_page_take(page, g->bins, 2 * sizeof *density), n = g->observed[c->i];
    if (!density)
        return;
    double *expected = density + g->bins;
    size_t bins = g->bins;
    double value = edges[0], all = 0, around[] = {value - SAME * c->s, value + SAME * c->s};
    for (size_t k = 0; k < g->bins; k++)
        all += counts[k];
    if (edges[0] == edges[g->bins]) { /* bins without a width: all values are the same */
        edges = around;
        counts = &all;
        bins = 1;
    }
    for (size_t k = 0; k < bins; k++) {
        double width = edges[k + 1] - edges[k];
        density[k] = width > 0 ? counts[k] / (n * width) : 0;
        expected[k] = n * (cdf(c, edges[k + 1]) - cdf(c, edges[k]));
    }
    const char *text =
        cli_text(page,
                 "Histogram of the values that were seen, with the fitted normal of mean %.4g and "
                 "deviation %.4g; %.3g %% of %.0f values are censored.",
                 c->b, c->s, 100 * g->censored[c->i] / n, n);
    cli_chart_histogram(page, &(cli_histogram){.frame = {cli_text(page, "Values of %s", c->name),
                                                         text, NULL, 300, 200},
                                               .x_title = c->axis,
                                               .y_title = "density",
                                               .low = c->left,
                                               .high = c->right,
                                               .bins = bins,
                                               .edges = edges,
                                               .heights = density,
                                               .counts = counts,
                                               .expected = expected,
                                               .curve = {c->b, c->s, 1, c->limit}});
}

/* ---- quantiles ---- */

/* nothing where all of them are censored */
static void draw_quantiles(cli_page *page, const column *c)
{
    const unrelu_goodness *g = c->g;
    const double *sample = g->sample_quantile + c->i * g->points;
    const double *model = g->model_quantile + c->i * g->points;
    const char **labels = cli_page_take(page, g->points, sizeof *labels);
    double *x = cli_page_take(page, g->points, 4 * sizeof *x);
    if (!labels || !x)
        return;
    double *y = x + g->points, *low = y + g->points, *high = low + g->points;
    size_t count = 0;
    for (size_t k = 0; k < g->points; k++) {
        double share = ((double)k + 0.5) / (double)g->points, z = (model[k] - c->b) / c->s;
        double density = exp(-0.5 * z * z) / (c->s * sqrt(2 * acos(-1)));
        double half = TWO_SIDED * sqrt(share * (1 - share) / g->observed[c->i]) / density;
        int middle = share > TAIL && share < 1 - TAIL; /* where they lie close together */
        if (!isfinite(sample[k]) || !(model[k] > c->limit) || (middle && k % 2))
            continue;
        labels[count] = cli_text(page, "%.1f %%", 100 * share);
        x[count] = model[k];
        y[count] = sample[k];
        low[count] = fmax(c->limit, model[k] - half);
        high[count++] = model[k] + half;
    }
    if (count < 2)
        return;
    cli_chart_points(
        page,
        &(cli_points){.frame = {cli_text(page, "Quantiles of %s", c->name),
                                "Quantiles of the samples against those of the model, with the "
                                "band in which 95 % of them lie where the model is right.",
                                NULL, 200, 200},
                      .x_title = cli_text(page, "model: %s", c->axis),
                      .y_title = cli_text(page, "samples: %s", c->axis),
                      .x_word = "model",
                      .y_word = "samples",
                      .count = count,
                      .x = x,
                      .y = y,
                      .low = low,
                      .high = high,
                      .size = 3.5,
                      .labels = labels});
}

/* ---- distribution functions ---- */

static void draw_distribution(cli_page *page, const column *c)
{
    const unrelu_goodness *g = c->g;
    const double *values = g->sample_quantile + c->i * g->points;
    size_t known = 0, half = g->points / 2 - 1;
    for (size_t k = 0; k < g->points; k++)
        known += isfinite(values[k]) != 0;
    if (known < 2)
        return;
    const char *middle = isfinite(values[half]) ? cli_text(page,
                                                           "half of the values are at or below "
                                                           "%.4g, by the model %.3g %%",
                                                           values[half], 100 * cdf(c, values[half]))
                                                : "more than half of the values are hidden";
    const char *text =
        cli_text(page,
                 "The share of the values of %s at or below each value, in steps, and that of the "
                 "fitted normal; %s.",
                 c->name, middle);
    cli_chart_steps(page, &(cli_steps){.frame = {cli_text(page, "Distribution of %s", c->name),
                                                 text, NULL, 500, 190},
                                       .x_title = c->axis,
                                       .low = c->left,
                                       .high = c->right,
                                       .count = g->points,
                                       .values = values,
                                       .curve = {c->b, c->s, c->limit}});
}

/* ---- one column ---- */

static void add_column(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g, size_t i)
{
    const char *name = cli_name_of(page, &(cli_names){.names = m->names, .letter = "x"}, i);
    double count = 0;
    for (size_t k = 0; k < g->bins; k++)
        count += g->counts[i * g->bins + k];
    cli_html(page, "<div class=\"card\"><h3>%s</h3>",
             cli_escaped(page, m->names ? m->names[i] : name));
    if (count == 0) {
        cli_html(page, "<p class=\"note\">No value is above the limit.</p></div>\n");
        return;
    }
    column c = {.g = g, .i = i, .name = name};
    c.axis = cli_report_scale(page, m, name);
    unrelu_gaussian_margin(m, i, &c.b, &c.s, &c.limit);
    /* Where the model has no limit and cells have, the bars start at the smallest of these. */
    if (c.limit == -INFINITY && g->censored[i] > 0)
        c.limit = g->edges[i * (g->bins + 1)];
    cli_html(page, "<p class=\"note\">%s, %.3g %% censored",
             cli_html_counted(page, g->observed[i], "value"),
             100 * g->censored[i] / g->observed[i]);
    if (isfinite(g->ks[i]))
        cli_html(page, " &middot; KS distance %.3g, p %s %.3g", g->ks[i],
                 cli_html_p_sign(g->ks_p[i]), g->ks_p[i]);
    if (g->ties[i] > MANY_TIES)
        cli_html(page, " &middot; %.3g&nbsp;%% ties", 100 * g->ties[i]);
    cli_html(page, "</p><div class=\"pair\">");
    set_ends(&c);
    draw_histogram(page, &c);
    draw_quantiles(page, &c);
    draw_distribution(page, &c);
    cli_html(page, "</div></div>\n");
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

void cli_report_columns(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                        double level)
{
    const cli_coordinates words = {"column", "columns", m->limit ? "censored" : "zeros"};
    rank *ranks = cli_page_take(page, m->d, sizeof *ranks);
    if (!ranks)
        return;
    cli_html(page, "<section id=\"columns\"><h2>%s</h2>\n", g ? "Fit of each column" : "Columns");
    if (g) {
        cli_html(page, "<p>Bars are the values that were seen, the curve is the fitted normal, "
                       "and its dashed part is what was hidden. Points are quantiles of the "
                       "samples against those of the model: on the line where the fit is right, 95 "
                       "%% of them in the band. Steps are the share of the values at or below each "
                       "value, in which a hidden value counts with what the others say of where "
                       "it may lie (the Kaplan-Meier estimate, Turnbull's where there are "
                       "intervals). What is hidden of quantiles and steps is not drawn.</p>\n");
        if (m->d > DRAWN)
            cli_html(
                page,
                "<p>These are the %d of %zu columns that fit worst; the table below has all.</p>\n",
                DRAWN, m->d);
        cli_html_legend(page,
                        "bar first:values seen|line first:share of the values at or below|line "
                        "second:fitted normal|dash second:its hidden part|dot first:quantiles|area "
                        "second:where 95 % of them lie");
        for (size_t i = 0; i < m->d; i++)
            ranks[i] = (rank){g->ks_p[i], g->ks[i], i};
        if (m->d > DRAWN)
            qsort(ranks, m->d, sizeof *ranks, by_misfit);
        cli_html(page, "<div class=\"grid\">\n");
        for (size_t k = 0; k < m->d && k < DRAWN; k++)
            add_column(page, m, g, ranks[k].i);
        cli_html(page, "</div>\n");
    }
    cli_report_coordinates(page, m, g, &words, level);
    cli_html(page, "</section>\n");
}
