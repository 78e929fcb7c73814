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
#include "width.h"

enum { DRAWN = 12, AXIS = 24, SENTENCE = CLI_NAME + 200 }; /* AXIS: characters of a name */

static const double TWO_SIDED = 1.959964, TAIL = 0.1;

/* the normal that a column's values are compared to */
typedef struct {
    double b, s, limit;
} margin;

static margin margin_of(const unrelu_gaussian *m, size_t i)
{
    margin c;
    unrelu_gaussian_margin(m, i, &c.b, &c.s, &c.limit);
    return c;
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

static double cdf(const margin *c, double x)
{
    return 0.5 * erfc((c->b - x) / (c->s * sqrt(2)));
}

static double pdf(const margin *c, double x)
{
    double z = (x - c->b) / c->s;
    return exp(-0.5 * z * z) / (c->s * sqrt(2 * acos(-1)));
}

/* what both charts of a column share */
typedef struct {
    const unrelu_goodness *g;
    size_t i;
    margin c;
    const char *name, *axis; /* axis: NULL where the name says all */
    double *room;            /* 2 bins, or 5 points */
} column;

/* ---- values beside the density ---- */

/* Where one bin holds all that lies far out, the axis ends before it. */
static double right_end(const unrelu_goodness *g, size_t i)
{
    const double *edges = g->edges + i * (g->bins + 1);
    double width = edges[1] - edges[0], last = edges[g->bins] - edges[g->bins - 1];
    return last > 1.5 * width ? edges[g->bins - 1] + width : edges[g->bins];
}

/* room for the hidden part, up to as much as for the rest */
static double left_end(const column *col, double right)
{
    const unrelu_goodness *g = col->g;
    const margin *c = &col->c;
    double first = g->edges[col->i * (g->bins + 1)];
    if (!(g->censored[col->i] > 0 && c->s > 0))
        return first;
    return fmin(first, fmax(c->b - 3 * c->s, c->limit - fmax(right - c->limit, 0)));
}

static void draw_histogram(cli_page *page, const column *col)
{
    const unrelu_goodness *g = col->g;
    const margin *c = &col->c;
    const double *edges = g->edges + col->i * (g->bins + 1), *counts = g->counts + col->i * g->bins;
    double *density = col->room, *expected = density + g->bins, n = g->observed[col->i];
    double right = right_end(g, col->i);
    char title[SENTENCE], text[SENTENCE];
    for (size_t k = 0; k < g->bins; k++) {
        double width = edges[k + 1] - edges[k];
        density[k] = width > 0 ? counts[k] / (n * width) : 0;
        expected[k] = n * (cdf(c, edges[k + 1]) - cdf(c, edges[k]));
    }
    snprintf(title, sizeof title, "Values of %s", col->name);
    snprintf(text, sizeof text,
             "Histogram of the values above the limit, with the fitted normal of mean %.4g and "
             "deviation %.4g; %.3g %% of %.0f values are censored.",
             c->b, c->s, 100 * g->censored[col->i] / n, n);
    cli_chart_histogram(page, &(cli_histogram){.frame = {title, text, NULL, 300, 200},
                                               .x_title = col->axis ? col->axis : "value",
                                               .y_title = "density",
                                               .bins = g->bins,
                                               .edges = edges,
                                               .heights = density,
                                               .counts = counts,
                                               .expected = expected,
                                               .low = left_end(col, right),
                                               .high = right,
                                               .mean = c->b,
                                               .sd = c->s,
                                               .area = 1,
                                               .limit = c->limit});
}

/* ---- quantiles ---- */

static void label_quantile(const void *context, size_t i, char *text)
{
    const double *share = context;
    snprintf(text, CLI_NAME, "%.1f %%", 100 * share[i]);
}

#define QUANTILES                                                                                  \
    "Quantiles of the samples against those of the model, with the band in which 95 % of them "    \
    "lie where the model is right."

/* nothing where all of them are censored */
static void draw_quantiles(cli_page *page, const column *col)
{
    const unrelu_goodness *g = col->g;
    const margin *c = &col->c;
    const double *sample = g->sample_quantile + col->i * g->points;
    const double *model = g->model_quantile + col->i * g->points;
    double *x = col->room, *y = x + g->points, *low = y + g->points, *high = low + g->points;
    double *shares = high + g->points;
    size_t count = 0;
    for (size_t k = 0; k < g->points; k++) {
        double share = ((double)k + 0.5) / (double)g->points;
        double half =
            TWO_SIDED * sqrt(share * (1 - share) / g->observed[col->i]) / pdf(c, model[k]);
        int middle = share > TAIL && share < 1 - TAIL; /* where they lie close together */
        if (!isfinite(sample[k]) || !(model[k] > c->limit) || (middle && k % 2))
            continue;
        shares[count] = share;
        x[count] = model[k];
        y[count] = sample[k];
        low[count] = fmax(c->limit, model[k] - half);
        high[count++] = model[k] + half;
    }
    if (count < 2)
        return;
    char title[SENTENCE], axis[SENTENCE];
    snprintf(title, sizeof title, "Quantiles of %s", col->name);
    snprintf(axis, sizeof axis, "model%s%.200s", col->axis ? ": " : "", col->axis ? col->axis : "");
    cli_chart_points(page, &(cli_points){.frame = {title, QUANTILES, NULL, 200, 200},
                                         .x_title = axis,
                                         .y_title = "samples",
                                         .x_word = "model",
                                         .y_word = "samples",
                                         .count = count,
                                         .x = x,
                                         .y = y,
                                         .low = low,
                                         .high = high,
                                         .size = 3.5,
                                         .label = label_quantile,
                                         .context = shares});
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

static void add_column(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g, size_t i,
                       double *room)
{
    char name[CLI_NAME], axis[200];
    cli_name_of(&(cli_names){.names = m->names, .letter = "x"}, i, name);
    cli_page_html(page, "<div class=\"card\"><h3>");
    if (m->names)
        cli_page_text(page, m->names[i]);
    else
        cli_page_text(page, name);
    cli_page_html(page, "</h3>");
    if (count_of(g, i) == 0) {
        cli_page_html(page, "<p class=\"note\">No value is above the %s.</p></div>\n",
                      g->observed[i] > g->censored[i]
                          ? "largest limit: this column could not be judged"
                          : "limit");
        return;
    }
    snprintf(axis, sizeof axis, "%s %.*s", unrelu_transform_name(m->transform),
             (int)cli_text_cut(name, AXIS), name);
    column col = {.g = g,
                  .i = i,
                  .c = margin_beside(m, g, i),
                  .name = name,
                  .axis = m->transform != UNRELU_TRANSFORM_NONE ? axis : NULL,
                  .room = room};
    add_numbers(page, g, i);
    cli_page_html(page, "<div class=\"pair\">");
    draw_histogram(page, &col);
    draw_quantiles(page, &col);
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
    double *room = calloc(g->bins + g->points, 5 * sizeof *room);
    size_t drawn = m->d < DRAWN ? m->d : DRAWN;
    if (!ranks || !room) {
        cli_page_fail(page);
        drawn = 0;
    }
    for (size_t i = 0; drawn && i < m->d; i++)
        ranks[i] = (rank){g->ks_p[i], g->ks[i], i};
    if (drawn)
        qsort(ranks, m->d, sizeof *ranks, m->d > DRAWN ? by_misfit : by_place);
    cli_page_html(page, "<div class=\"grid\">\n");
    for (size_t k = 0; k < drawn; k++)
        add_column(page, m, g, ranks[k].i, room);
    cli_page_html(page, "</div>\n");
    free(ranks);
    free(room);
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
        cli_html_legend(page, "bar first:values above the limit|line second:fitted normal|"
                              "dash second:its hidden part|dot first:quantiles|"
                              "area second:where 95 % of them lie");
        add_charts(page, m, g);
    }
    cli_report_coordinates(page, m, g, &words, level);
    cli_report_quantiles(page, m);
    cli_page_html(page, "</section>\n");
}
