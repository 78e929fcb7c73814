/* SPDX-License-Identifier: Apache-2.0 */
/* The correlations: all of them as a heat map, the strongest with intervals. Of very many columns
 * the map has those that are correlated most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "html.h"
#include "report.h"
#include "show/model_text.h"
#include "width.h"

enum { STRONGEST = 20, MAPPED = 1000 };

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

/* the MAPPED columns with the largest sum of squares, in their own order */
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
    for (size_t i = 0; i < MAPPED; i++)
        which[i] = (size_t)sums[i][1];
    qsort(which, MAPPED, sizeof *which, by_place);
    free(sums);
    return 1;
}

/* se (shown x shown) may be NULL */
static void draw_map(cli_page *page, const unrelu_gaussian *m, const cli_report_words *words,
                     const size_t *which, size_t shown, double reach, double *values, double *se)
{
    char text[256], caption[256];
    const cli_names names = {.names = m->names, .letter = "x", .which = which};
    for (size_t k = 0; k < shown * shown; k++) {
        size_t i = which[k / shown], j = which[k % shown];
        values[k] = i == j ? NAN : m->correlation[i * m->d + j]; /* 1 would outshine all */
        if (se)
            se[k] = i == j ? NAN : m->correlation_se[i * m->d + j];
    }
    snprintf(text, sizeof text, "Heat map of the correlations of %zu %s, from -%g to %g.", shown,
             words->many, reach, reach);
    if (shown < m->d)
        snprintf(caption, sizeof caption, "The %zu of %zu %s that are correlated most.", shown,
                 m->d, words->many);
    else
        snprintf(caption, sizeof caption, "All pairs of %s.", words->many);
    cli_chart_heatmap(page, &(cli_heatmap){.frame = {"Correlations", text, caption, 600, 0},
                                           .rows = shown,
                                           .columns = shown,
                                           .values = values,
                                           .se = se,
                                           .row_names = names,
                                           .column_names = names,
                                           .largest = reach,
                                           .is_symmetric = 1,
                                           .label = "correlation"});
}

static void add_map(cli_page *page, const unrelu_gaussian *m, const cli_report_words *words,
                    double reach)
{
    size_t shown = m->d > MAPPED ? MAPPED : m->d;
    size_t *which = calloc(m->d, sizeof *which);
    double *values = calloc(shown, shown * sizeof *values);
    double *se = m->correlation_se ? calloc(shown, shown * sizeof *se) : NULL;
    int done = which && values && (se || !m->correlation_se);
    for (size_t i = 0; done && i < shown; i++)
        which[i] = i;
    if (done && shown < m->d)
        done = choose(m, which);
    cli_page_html(page, "<div class=\"card\">");
    if (done)
        draw_map(page, m, words, which, shown, reach, values, se);
    else
        cli_page_fail(page);
    cli_page_html(page, "</div>\n");
    free(which);
    free(values);
    free(se);
}

/* ---- the strongest ---- */

typedef struct {
    const unrelu_gaussian *m;
    const selection *s;
} pairs;

static void label_pair(const void *context, size_t k, int most, char *text)
{
    const pairs *p = context;
    const cli_names names = {.names = p->m->names, .letter = "x"};
    char one[CLI_NAME], two[CLI_NAME];
    cli_name_of(&names, p->s->top[k].i, one);
    cli_name_of(&names, p->s->top[k].j, two);
    cli_text_shorten(one, most);
    cli_text_shorten(two, most);
    snprintf(text, CLI_NAME, "%.250s · %.250s", one, two);
}

static void draw_strongest(cli_page *page, const unrelu_gaussian *m, const selection *s, double z,
                           double level)
{
    double reach = reach_of(m, s, z), values[STRONGEST], half[STRONGEST];
    char text[200];
    int errors = cli_has_errors(m->correlation_se, m->d * m->d);
    for (size_t k = 0; k < s->count; k++) {
        values[k] = m->correlation[s->top[k].i * m->d + s->top[k].j];
        half[k] = z * error_of(m, s->top[k].i, s->top[k].j);
    }
    snprintf(text, sizeof text, "The strongest %zu correlations", s->count);
    if (errors)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", with intervals of %g %%",
                 100 * level);
    cli_chart_estimates_by_row(page,
                               &(cli_estimates){.frame = {.title = "Strongest pairs", .text = text},
                                                .axis_title = "correlation",
                                                .count = s->count,
                                                .values = values,
                                                .half = errors ? half : NULL,
                                                .low = -reach,
                                                .high = reach,
                                                .label = label_pair,
                                                .context = &(pairs){m, s}});
}

static void add_table(cli_page *page, const unrelu_gaussian *m, const selection *s, double z,
                      const cli_report_words *words)
{
    char titles[128];
    int errors = cli_has_errors(m->correlation_se, m->d * m->d);
    snprintf(titles, sizeof titles, "<%s|<and|correlation|rows", words->one);
    if (!m->n_pair)
        titles[strlen(titles) - strlen("|rows")] = '\0';
    cli_html_table(page, "", NULL, titles);
    for (size_t k = 0; k < s->count; k++) {
        const pair *p = &s->top[k];
        cli_page_html(page, "<tr>");
        cli_html_name(page, m->names, "x", p->i);
        cli_html_name(page, m->names, "x", p->j);
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
    draw_strongest(page, m, s, z, level);
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
