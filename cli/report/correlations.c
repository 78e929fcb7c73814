/* SPDX-License-Identifier: Apache-2.0 */
/* The correlations: all of them as a heat map, the strongest with intervals. Of more than 250
 * columns the map has the 200 that are correlated most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model_text.h"
#include "chart.h"
#include "html.h"
#include "report.h"

enum { STRONGEST = 20, MAPPED = 250, CHOSEN = 200, LABEL = 120 };

typedef struct {
    size_t i, j;
    double strength;
} pair;

typedef struct {
    pair top[STRONGEST];
    size_t count, few_joint;
} selection;

static void insert(selection *s, pair new)
{
    size_t at = s->count;
    if (s->count < STRONGEST)
        s->count++;
    else if (new.strength <= s->top[--at].strength)
        return;
    for (; at > 0 && s->top[at - 1].strength < new.strength; at--)
        s->top[at] = s->top[at - 1];
    s->top[at] = new;
}

/* without those that the data do not determine */
static selection strongest(const unrelu_gaussian *m)
{
    selection s = {0};
    for (size_t i = 0; i < m->d; i++)
        for (size_t j = i + 1; j < m->d; j++) {
            double strength = fabs(m->correlation[i * m->d + j]);
            if (m->pair_flags && m->pair_flags[i * m->d + j] & UNRELU_FLAG_FEW_JOINT)
                s.few_joint++;
            else if (strength > 1e-12)
                insert(&s, (pair){i, j, strength});
        }
    return s;
}

static double error_of(const unrelu_gaussian *m, size_t i, size_t j)
{
    return m->correlation_se ? m->correlation_se[i * m->d + j] : NAN;
}

/* axis and colours reach 0.2, 0.5 or 1 on both sides */
static double reach_of(const unrelu_gaussian *m, const selection *s, double z)
{
    double farthest = 0;
    for (size_t k = 0; k < s->count; k++) {
        double se = error_of(m, s->top[k].i, s->top[k].j);
        farthest = fmax(farthest, s->top[k].strength + (isfinite(se) ? z * se : 0));
    }
    return farthest <= 0.2 ? 0.2 : farthest <= 0.5 ? 0.5 : 1;
}

/* ---- the map ---- */

static int by_strength(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] < y[0]) - (x[0] > y[0]);
}

static int by_place(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* the CHOSEN columns with the largest sum of squares, in their own order */
static int choose(const unrelu_gaussian *m, size_t *which)
{
    double(*sums)[2] = calloc(m->d, sizeof *sums);
    if (!sums)
        return 0;
    for (size_t i = 0; i < m->d; i++) {
        sums[i][1] = (double)i;
        for (size_t j = 0; j < m->d; j++) {
            double r = m->correlation[i * m->d + j];
            sums[i][0] += i != j && isfinite(r) ? r * r : 0;
        }
    }
    qsort(sums, m->d, sizeof *sums, by_strength);
    for (size_t i = 0; i < CHOSEN; i++)
        which[i] = (size_t)sums[i][1];
    qsort(which, CHOSEN, sizeof *which, by_place);
    free(sums);
    return 1;
}

static json_t *map_of(const unrelu_gaussian *m, size_t shown, double reach)
{
    size_t *which = calloc(m->d, sizeof *which);
    double *values = calloc(shown * shown, sizeof *values), *se = NULL;
    json_t *chart = NULL;
    if (m->correlation_se)
        se = calloc(shown * shown, sizeof *se);
    int done = which && values && (se || !m->correlation_se);
    for (size_t i = 0; done && i < shown; i++)
        which[i] = i;
    if (done && shown < m->d)
        done = choose(m, which);
    for (size_t k = 0; done && k < shown * shown; k++) {
        size_t i = which[k / shown], j = which[k % shown];
        values[k] = i == j ? NAN : m->correlation[i * m->d + j]; /* 1 would outshine all */
        if (se)
            se[k] = i == j ? NAN : m->correlation_se[i * m->d + j];
    }
    if (done)
        chart = cli_chart_heatmap(
            &(cli_heatmap){.rows = shown,
                           .columns = shown,
                           .values = values,
                           .se = se,
                           .row_names = cli_chart_names(m->names, 'x', which, shown),
                           .column_names = cli_chart_names(m->names, 'x', which, shown),
                           .largest = reach,
                           .label = "correlation"});
    free(which);
    free(values);
    free(se);
    return chart;
}

static void add_map(cli_page *page, const unrelu_gaussian *m, const cli_report_words *words,
                    double reach)
{
    char caption[256];
    size_t shown = m->d > MAPPED ? CHOSEN : m->d;
    if (shown < m->d)
        snprintf(caption, sizeof caption,
                 "The %zu of %zu %s that are correlated most. Point at a cell for its numbers.",
                 shown, m->d, words->many);
    else
        snprintf(caption, sizeof caption, "All pairs of %s. Point at a cell for its numbers%s.",
                 words->many, m->correlation_se ? " and their standard errors" : "");
    cli_page_html(page, "<div class=\"card\"><div class=\"square\" style=\"max-width: %zupx\">",
                  shown < 12 ? 120 + 50 * shown : 720);
    cli_page_chart(page, map_of(m, shown, reach), caption);
    cli_page_html(page, "</div></div>\n");
}

/* ---- the strongest ---- */

static const char *name_of(const unrelu_gaussian *m, size_t i, char *number, size_t size)
{
    snprintf(number, size, "x%zu", i + 1);
    return m->names ? m->names[i] : number;
}

static json_t *row_of(const unrelu_gaussian *m, const pair *p, size_t order, double z)
{
    char one[32], two[32];
    double r = m->correlation[p->i * m->d + p->j], se = error_of(m, p->i, p->j);
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "order", (int)order, "one",
                     cli_page_string(name_of(m, p->i, one, sizeof one)), "two",
                     cli_page_string(name_of(m, p->j, two, sizeof two)), "value", cli_chart_real(r),
                     "se", cli_chart_real(se), "low", cli_chart_real(fmax(-1, r - z * se)), "high",
                     cli_chart_real(fmin(1, r + z * se)));
}

static json_t *chart_of(const unrelu_gaussian *m, const selection *s, double z)
{
    double reach = reach_of(m, s, z);
    json_t *chart = cli_chart_load("pairs"), *rows = json_array(), *names = json_array();
    for (size_t k = 0; k < s->count; k++) {
        char one[32], two[32], label[LABEL];
        const pair *p = &s->top[k];
        snprintf(label, sizeof label, "%.40s · %.40s", name_of(m, p->i, one, sizeof one),
                 name_of(m, p->j, two, sizeof two));
        json_array_append_new(rows, row_of(m, p, k, z));
        json_array_append_new(names, cli_page_string(label));
    }
    if (!cli_has_errors(m->correlation_se, m->d * m->d))
        cli_chart_drop(chart, 1);
    cli_chart_data(chart, "pairs", rows);
    cli_chart_param(chart, "names", names);
    cli_chart_set(chart, "encoding.x.scale.domain", json_pack("[f, f]", -reach, reach));
    cli_chart_set(chart, "height", json_integer((json_int_t)(s->count * 26 + 40)));
    return chart;
}

static void add_table(cli_page *page, const unrelu_gaussian *m, const selection *s, double z,
                      const cli_report_words *words)
{
    char titles[128], number[32];
    int errors = cli_has_errors(m->correlation_se, m->d * m->d);
    snprintf(titles, sizeof titles, "<%s|<and|correlation|rows", words->one);
    if (!m->n_pair)
        titles[strlen(titles) - strlen("|rows")] = '\0';
    cli_html_table(page, "", NULL, titles);
    for (size_t k = 0; k < s->count; k++) {
        const pair *p = &s->top[k];
        cli_page_html(page, "<tr>");
        cli_html_name(page, name_of(m, p->i, number, sizeof number));
        cli_html_name(page, name_of(m, p->j, number, sizeof number));
        cli_html_estimate(page, m->correlation[p->i * m->d + p->j],
                          errors ? z * error_of(m, p->i, p->j) : -1);
        if (m->n_pair)
            cli_html_real(page, m->n_pair[p->i * m->d + p->j], "%.0f");
        cli_page_html(page, "</tr>\n");
    }
    cli_html_table_end(page);
}

static void add_strongest(cli_page *page, const unrelu_gaussian *m, const selection *s,
                          const cli_report_words *words, double level)
{
    double z = cli_half_width(level), pairs = (double)m->d * (double)(m->d - 1) / 2;
    if (s->count == 0)
        return;
    cli_page_html(page, "<div class=\"card\"><h3>%s</h3><p class=\"note\">",
                  (double)s->count < pairs ? "The strongest pairs" : "Every pair");
    if (m->correlation_se)
        cli_page_html(page, "± and bars are intervals of %g %%. ", 100 * level);
    if (s->few_joint) {
        cli_html_counted(page, (double)s->few_joint, "pair");
        cli_page_html(page, " with too few rows where both are above the limit left out.");
    }
    cli_page_html(page, "</p><div class=\"grid\"><div>");
    cli_page_chart(page, chart_of(m, s, z), NULL);
    cli_page_html(page, "</div><div>");
    add_table(page, m, s, z, words);
    cli_page_html(page, "</div></div></div>\n");
}

void cli_report_correlations(cli_page *page, const unrelu_gaussian *m,
                             const cli_report_words *words, double level)
{
    if (m->d < 2 || !m->correlation)
        return;
    selection s = strongest(m);
    cli_html_section(page, "correlations", "Correlations");
    cli_page_html(page, "<p>Of the Gaussian behind the rectifier, which the censored values alone "
                        "do not show. ");
    if (m->method[0] && isfinite(m->lambda_min))
        cli_page_html(page, "The smallest eigenvalue of the estimates is %.3g%s.", m->lambda_min,
                      m->repaired              ? "; they were made positive semidefinite"
                      : m->lambda_min < -1e-12 ? "; they were left so"
                                               : ": no repair was needed");
    cli_page_html(page, "</p>\n");
    add_map(page, m, words, reach_of(m, &s, 0));
    add_strongest(page, m, &s, words, level);
    cli_page_html(page, "</section>\n");
}
