/* SPDX-License-Identifier: Apache-2.0 */
/* Sigma = W W'. Its correlations: all of them as a heat map, the strongest with intervals; of very
 * many columns the map has those that are correlated most. Then the eigenvalues of both. */
#include <math.h>
#include <stdlib.h>

#include "chart.h"
#include "flags.h"
#include "html.h"
#include "report.h"
#include "talk.h"

enum {
    STRONGEST = 20,
    BESIDE = 12, /* characters of each name beside a row */
    MAPPED = 1000,
    SPECTRUM = 1000 /* columns, where the eigenvalues are not in the model: a few seconds */
};

/* axis and colours reach 0.2, 0.5 or 1 on both sides; ends of intervals may be NULL, or NaN */
static double reach_of(const cli_pair *top, const double *from, const double *to, size_t count)
{
    double farthest = 0;
    for (size_t k = 0; k < count; k++)
        farthest = fmax(farthest, /* fmax leaves NaN out */
                        fmax(top[k].strength, from ? fmax(fabs(from[k]), fabs(to[k])) : 0));
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
static void choose(const unrelu_gaussian *m, double (*sums)[2], size_t *which)
{
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
}

static void add_map(cli_page *page, const unrelu_gaussian *m, const cli_coordinates *words,
                    double reach)
{
    size_t shown = m->d > MAPPED ? MAPPED : m->d;
    size_t *which = cli_page_take(page, shown, sizeof *which);
    double(*sums)[2] = cli_page_take(page, m->d, sizeof *sums);
    double *values = cli_page_take(page, shown, shown * sizeof *values);
    double *se = m->correlation_se ? cli_page_take(page, shown, shown * sizeof *se) : NULL;
    if (!which || !sums || !values || (!se && m->correlation_se))
        return;
    for (size_t i = 0; i < shown; i++)
        which[i] = i;
    if (shown < m->d)
        choose(m, sums, which);
    for (size_t k = 0; k < shown * shown; k++) {
        size_t i = which[k / shown], j = which[k % shown];
        values[k] = i == j ? NAN : m->correlation[i * m->d + j]; /* 1 would outshine all */
        if (se)
            se[k] = i == j ? NAN : m->correlation_se[i * m->d + j];
    }
    const char *text = cli_text(page, "Heat map of the correlations of %zu %s, from -%g to %g.",
                                shown, words->many, reach, reach);
    const char *caption = shown == m->d
                              ? cli_text(page, "All pairs of %s.", words->many)
                              : cli_text(page, "The %zu of %zu %s that are correlated most.", shown,
                                         m->d, words->many);
    const cli_names names = {.names = m->names, .letter = "x", .which = which};
    cli_html(page, "<div class=\"card\">");
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
    cli_html(page, "</div>\n");
}

/* ---- the strongest ---- */

static void add_strongest(cli_page *page, const unrelu_gaussian *m, const cli_pair *top,
                          size_t count, size_t few_joint, const cli_coordinates *words,
                          double level)
{
    const cli_names names = {.names = m->names, .letter = "x"};
    double values[STRONGEST], from[STRONGEST], to[STRONGEST];
    double z = cli_half_width(level), pairs = (double)m->d * (double)(m->d - 1) / 2;
    int errors = cli_has_errors(m->correlation_se, m->d * m->d);
    const char *labels[STRONGEST], *beside[STRONGEST];
    for (size_t k = 0; k < count; k++) {
        size_t ij = top[k].i * m->d + top[k].j;
        const char *one = cli_name_of(page, &names, top[k].i);
        const char *two = cli_name_of(page, &names, top[k].j);
        values[k] = m->correlation[ij];
        cli_correlation_interval(values[k], errors ? m->correlation_se[ij] : -1, z, &from[k],
                                 &to[k]);
        labels[k] = cli_text(page, "%s · %s", one, two);
        beside[k] = cli_text(page, "%s · %s", cli_shortened(page, one, BESIDE),
                             cli_shortened(page, two, BESIDE));
    }
    double reach = reach_of(top, errors ? from : NULL, to, count);
    const char *text =
        cli_text(page, "The strongest %zu correlations%s", count,
                 errors ? cli_text(page, ", with intervals of %g %%", 100 * level) : "");
    cli_html(page, "<div class=\"card\"><h3>%s</h3><p class=\"note\">",
             (double)count < pairs ? "The strongest pairs" : "Every pair");
    if (m->correlation_se)
        cli_html(page, "Brackets and bars are intervals of %g %%, by Fisher's z. ", 100 * level);
    if (few_joint)
        cli_html(page, "%s with too few rows where both are above the limit left out.",
                 cli_html_counted(page, (double)few_joint, "pair"));
    cli_html(page, "</p><div class=\"grid\"><div>");
    cli_chart_estimates(page, &(cli_estimates){.frame = {"Strongest pairs", text, NULL, 480, 0},
                                               .axis_title = "correlation",
                                               .count = count,
                                               .values = values,
                                               .from = from,
                                               .to = to,
                                               .low = -reach,
                                               .high = reach,
                                               .labels = labels,
                                               .beside = beside});
    cli_html(page, "</div><div>");
    cli_html_table(page, "",
                   cli_text(page, "<%s|<and|correlation%s", words->one, m->n_pair ? "|rows" : ""));
    for (size_t k = 0; k < count; k++) {
        cli_html_name(page, "<tr>", m->names, "x", top[k].i);
        cli_html_name(page, "", m->names, "x", top[k].j);
        cli_html_between(page, values[k], from[k], to[k]);
        if (m->n_pair)
            cli_html_real(page, m->n_pair[top[k].i * m->d + top[k].j], "%.0f");
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div>\n</div></div></div>\n");
}

void cli_report_correlations(cli_page *page, const unrelu_gaussian *m, const cli_coordinates *words,
                             double level)
{
    cli_pair top[STRONGEST];
    size_t few_joint;
    if (m->d < 2 || !m->correlation)
        return;
    size_t count = cli_strongest_pairs(m, NULL, STRONGEST, top, &few_joint);
    cli_html(page, "<section id=\"correlations\"><h2>Correlations</h2>\n"
                   "<p>Of the Gaussian behind the rectifier, which the censored values alone "
                   "do not show. ");
    if (m->method[0] && isfinite(m->lambda_min))
        cli_html(page, "The smallest eigenvalue of the estimates is %.3g%s.", m->lambda_min,
                 m->repaired                     ? "; they were made positive semidefinite"
                 : m->lambda_min < -CLI_ROUNDING ? "; they were left so"
                                                 : ": no repair was needed");
    cli_html(page, "</p>\n");
    add_map(page, m, words, reach_of(top, NULL, NULL, count));
    if (count > 0)
        add_strongest(page, m, top, count, few_joint, words, level);
    cli_html(page, "</section>\n");
}

/* ---- the spectrum ---- */

/* 0: there are none to show */
static int find_eigenvalues(cli_page *page, const unrelu_gaussian *m, double *values)
{
    unrelu_error err = {0};
    if (!m->eigenvalues && (m->d > SPECTRUM || !m->sigma))
        return 0;
    unrelu_status status = unrelu_gaussian_eigenvalues(m, values, &err);
    if (status == UNRELU_ENOMEM)
        page->failed = cli_exit(status, &err);
    return status == UNRELU_OK;
}

/* the same of a model whose Sigma are the correlations */
static int find_correlation_eigenvalues(cli_page *page, const unrelu_gaussian *m, double *values)
{
    unrelu_gaussian standard = *m;
    standard.sigma = m->correlation;
    standard.eigenvalues = NULL;
    return find_eigenvalues(page, &standard, values);
}

static void add_correlation_spectrum(cli_page *page, const unrelu_gaussian *m, const double *values,
                                     const cli_coordinates *words)
{
    const char *text =
        cli_text(page,
                 "The %zu eigenvalues of the correlations in decreasing order, from %.4g to %.4g; "
                 "their sum is %zu, and a dashed line is at 1.",
                 m->d, values[0], values[m->d - 1], m->d);
    cli_html(page,
             "<div class=\"card\"><h3>Of the correlations</h3><p class=\"note\">The first accounts "
             "for %.3g %% of the variation of all %s, each taken in units of its own standard "
             "deviation. Without any correlation all would be 1; as many as are above 1 say how "
             "many common causes to look for.</p>",
             100 * values[0] / (double)m->d, words->many);
    cli_html_legend(page, "dot first:eigenvalue|dash second:without any correlation");
    cli_chart_estimates(page, &(cli_estimates){.frame = {"Eigenvalues of the correlations", text,
                                                         "In decreasing order.", 640, 240},
                                               .axis_title = "eigenvalue",
                                               .one = "eigenvalue",
                                               .count = m->d,
                                               .values = values,
                                               .low = fmin(0, values[m->d - 1]),
                                               .high = values[0],
                                               .level_title = "1: without any correlation",
                                               .level = 1});
    cli_html(page, "</div>\n");
}

static void add_sigma_spectrum(cli_page *page, const unrelu_gaussian *m, const double *values,
                               const char *hint, double z)
{
    const double *se = cli_has_errors(m->eigenvalues_se, m->d) ? m->eigenvalues_se : NULL;
    double *from = cli_page_take(page, m->d, 2 * sizeof *from), low = 0, high = 0;
    if (!from)
        return;
    double *to = from + m->d;
    for (size_t i = 0; i < m->d; i++) {
        double half = se && isfinite(se[i]) ? z * se[i] : 0;
        from[i] = values[i] - half;
        to[i] = values[i] + half;
        low = fmin(low, from[i]);
        high = fmax(high, to[i]);
    }
    const char *text =
        cli_text(page, "The %zu eigenvalues of Sigma in decreasing order, from %.4g to %.4g.", m->d,
                 values[0], values[m->d - 1]);
    cli_html(page, "<div class=\"card\"><h3>Of the covariances &Sigma; = W W&prime;</h3>"
                   "<p class=\"note\">Each column in its own unit. ");
    if (m->how_k[0])
        cli_html(page, "W has %zu column%s: %s.", m->k, m->k == 1 ? "" : "s",
                 cli_escaped(page, cli_flagged(m->how_k).text));
    cli_html(page, "</p>");
    cli_chart_estimates(
        page,
        &(cli_estimates){.frame = {"Eigenvalues", text,
                                   se ? "In decreasing order, with intervals." : hint, 640, 240},
                         .axis_title = "eigenvalue of Σ",
                         .one = "eigenvalue",
                         .count = m->d,
                         .values = values,
                         .from = from,
                         .to = to,
                         .low = low,
                         .high = high});
    cli_html(page, "</div>\n");
}

void cli_report_spectrum(cli_page *page, const unrelu_gaussian *m, const cli_coordinates *words,
                         const char *hint, double level)
{
    double z = cli_half_width(level), *values = cli_page_take(page, m->d, 2 * sizeof *values);
    if (!values || m->d < 2)
        return;
    double *standard = values + m->d;
    const double *se = cli_has_errors(m->eigenvalues_se, m->d) ? m->eigenvalues_se : NULL;
    int has_sigma = find_eigenvalues(page, m, values);
    int has_standard = find_correlation_eigenvalues(page, m, standard);
    if (!has_sigma)
        return;
    cli_html(page,
             "<section id=\"spectrum\"><h2>Directions in which the %s vary together</h2>\n"
             "<p>The principal components of the hidden Gaussian: how much it varies along "
             "each, which is an eigenvalue.</p>",
             words->many);
    cli_html(page, "<div class=\"grid\">");
    if (has_standard)
        add_correlation_spectrum(page, m, standard, words);
    add_sigma_spectrum(page, m, values, hint, z);
    cli_html(page, "</div><div class=\"card\"><details><summary>The numbers</summary>");
    cli_html_table(page, "",
                   cli_text(page, "number%s|eigenvalue of Σ%s",
                            has_standard ? "|of the correlations" : "", m->k ? "|<in W" : ""));
    for (size_t i = 0; i < m->d; i++) {
        cli_html(page, "<tr><td>%zu</td>", i + 1);
        if (has_standard)
            cli_html_real(page, standard[i], "%.4g");
        cli_html_estimate(page, values[i], se ? z * se[i] : -1);
        if (m->k)
            cli_html(page, "<td class=\"l\">%s</td>", i < m->k ? "yes" : "");
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div></details></div></section>\n");
}
