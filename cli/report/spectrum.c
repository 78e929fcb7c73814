/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "chart.h"
#include "flags.h"
#include "html.h"
#include "report.h"
#include "show/model_text.h"

enum { MOST = 1000 }; /* columns, where the eigenvalues are not in the model: a few seconds */

/* 0: there are none, or too many to find */
static int find_values(cli_page *page, const unrelu_gaussian *m, double *values)
{
    unrelu_status status = UNRELU_EDATA;
    if (m->eigenvalues || (m->d <= MOST && m->sigma))
        status = unrelu_gaussian_eigenvalues(m, values, NULL);
    if (status == UNRELU_ENOMEM)
        cli_page_fail(page);
    return status == UNRELU_OK;
}

static void label_number(const void *context, size_t i, int most, char *text)
{
    (void)context, (void)most;
    snprintf(text, CLI_NAME, "eigenvalue %zu", i + 1);
}

/* half: room for d doubles */
static void draw(cli_page *page, const unrelu_gaussian *m, const double *values, const double *se,
                 double z, double *half, const char *hint)
{
    char text[200];
    double low = 0, high = 0;
    for (size_t i = 0; i < m->d; i++) {
        half[i] = se && isfinite(se[i]) ? z * se[i] : 0;
        low = fmin(low, values[i] - half[i]);
        high = fmax(high, values[i] + half[i]);
    }
    snprintf(text, sizeof text,
             "The %zu eigenvalues of Sigma in decreasing order, from %.4g to %.4g.", m->d,
             values[0], values[m->d - 1]);
    cli_chart_estimates_by_number(
        page, &(cli_estimates){.frame = {"Eigenvalues", text,
                                         se ? "In decreasing order, with intervals." : hint, 0, 0},
                               .axis_title = "eigenvalue of Σ",
                               .count = m->d,
                               .values = values,
                               .half = half,
                               .low = low,
                               .high = high,
                               .label = label_number});
}

static void add_table(cli_page *page, const unrelu_gaussian *m, const double *values,
                      const double *se, double z)
{
    cli_page_html(page, "<details><summary>The numbers</summary><div class=\"tall\">");
    cli_html_table(page, "", NULL, m->k ? "number|eigenvalue|<in W" : "number|eigenvalue");
    for (size_t i = 0; i < m->d; i++) {
        cli_page_html(page, "<tr><td>%zu</td>", i + 1);
        cli_html_estimate(page, values[i], se ? z * se[i] : -1);
        if (m->k)
            cli_page_html(page, "<td class=\"l\">%s</td>", i < m->k ? "yes" : "");
        cli_page_html(page, "</tr>\n");
    }
    cli_html_table_end(page);
    cli_page_html(page, "</div></details>");
}

void cli_report_spectrum(cli_page *page, const unrelu_gaussian *m, const char *hint, double level)
{
    double z = cli_half_width(level), *values = calloc(m->d, 2 * sizeof *values);
    const double *se = cli_has_errors(m->eigenvalues_se, m->d) ? m->eigenvalues_se : NULL;
    if (m->d > 1 && values && find_values(page, m, values)) {
        cli_html_section(page, "spectrum", "Eigenvalues");
        cli_page_html(page, "<p>Of &Sigma; = W W&prime;: how much the hidden Gaussian varies along "
                            "each of its principal directions. ");
        if (m->how_k[0]) {
            cli_page_html(page, "W has %zu column%s: ", m->k, m->k == 1 ? "" : "s");
            cli_page_text(page, cli_flagged(m->how_k).text);
            cli_page_html(page, ".");
        }
        cli_page_html(page, "</p><div class=\"card\">");
        draw(page, m, values, se, z, values + m->d, hint);
        add_table(page, m, values, se, z);
        cli_page_html(page, "</div></section>\n");
    }
    if (!values)
        cli_page_fail(page);
    free(values);
}
