/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model_text.h"
#include "chart.h"
#include "html.h"
#include "report.h"

enum { MOST = 1000 }; /* columns, where the eigenvalues are not in the model: a few seconds */

static int find_values(const unrelu_gaussian *m, double *values)
{
    return (m->eigenvalues || (m->d <= MOST && m->sigma)) &&
           unrelu_gaussian_eigenvalues(m, values, NULL) == UNRELU_OK;
}

/* room: 4 d doubles */
static json_t *chart_of(const unrelu_gaussian *m, const double *values, const double *se, double z,
                        double *room)
{
    json_t *chart = cli_chart_load("eigenvalues");
    double *order = room, *low = room + m->d, *high = low + m->d, *errors = high + m->d;
    for (size_t i = 0; i < m->d; i++) {
        errors[i] = se ? se[i] : NAN;
        order[i] = (double)i + 1;
        low[i] = values[i] - z * errors[i];
        high[i] = values[i] + z * errors[i];
    }
    cli_chart_column columns[] = {{"order", order}, {"value", values}, {"se", errors},
                                  {"low", low},     {"high", high},    {0}};
    if (!se)
        cli_chart_drop(chart, 0);
    cli_chart_data(chart, "values", cli_chart_rows(m->d, columns));
    return chart;
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
    double z = cli_half_width(level), *values = calloc(m->d, 5 * sizeof *values);
    const double *se = cli_has_errors(m->eigenvalues_se, m->d) ? m->eigenvalues_se : NULL;
    if (m->d > 1 && values && find_values(m, values)) {
        cli_html_section(page, "spectrum", "Eigenvalues");
        cli_page_html(page, "<p>Of &Sigma; = W W&prime;: how much the hidden Gaussian varies along "
                            "each of its principal directions. ");
        if (m->how_k[0]) {
            cli_page_html(page, "W has %zu column%s: ", m->k, m->k == 1 ? "" : "s");
            cli_page_text(page, m->how_k);
            cli_page_html(page, ".");
        }
        cli_page_html(page, "</p><div class=\"card\">");
        cli_page_chart(page, chart_of(m, values, se, z, values + m->d),
                       se ? "In decreasing order, with intervals." : hint);
        add_table(page, m, values, se, z);
        cli_page_html(page, "</div></section>\n");
    }
    free(values);
}
