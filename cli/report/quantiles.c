/* SPDX-License-Identifier: Apache-2.0 */
/* A transformed model in the data's own scale: a transform is increasing, so that quantiles of the
 * hidden values are the normal's, mapped back. Means are not. */
#include <math.h>
#include <stdio.h>

#include "html.h"
#include "report.h"

static const double TAIL = 1.644854; /* of 5 % */

static void add_row(cli_page *page, const unrelu_gaussian *m, size_t i)
{
    cli_page_html(page, "<tr>");
    cli_html_name(page, m->names, "x", i);
    if (m->lambda)
        cli_html_real(page, m->lambda[i], "%.3g");
    if (m->limit)
        cli_html_limit(page, m->limit[i] == -INFINITY ? -INFINITY
                                                      : unrelu_gaussian_back(m, i, m->limit[i]));
    for (int side = -1; side <= 1; side++)
        cli_html_real(page, unrelu_gaussian_back(m, i, m->b[i] + side * TAIL * m->scale[i]),
                      "%.4g");
    cli_page_html(page, "</tr>\n");
}

void cli_report_quantiles(cli_page *page, const unrelu_gaussian *m)
{
    char titles[128];
    if (m->transform == UNRELU_TRANSFORM_NONE)
        return;
    snprintf(titles, sizeof titles, "<column%s%s|5 %% quantile|median|95 %% quantile",
             m->lambda ? "|lambda" : "", m->limit ? "|limit" : "");
    cli_page_html(page, "<div class=\"card\" id=\"quantiles\"><h3>In the data's own scale</h3>"
                        "<p class=\"note\">What the model says of all values, the hidden ones "
                        "too: quantiles of each normal, mapped back.</p><div class=\"tall\">");
    cli_html_table(page, m->d > 1 ? "sortable" : "", NULL, titles);
    for (size_t i = 0; i < m->d; i++)
        add_row(page, m, i);
    cli_html_table_end(page);
    cli_page_html(page, "</div></div>\n");
}
