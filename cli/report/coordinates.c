/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all coordinates. */
#include <math.h>
#include <stdio.h>

#include "html.h"
#include "report.h"
#include "show/model_text.h"

static void add_titles(const unrelu_gaussian *m, const unrelu_goodness *g,
                       const cli_report_words *words, char *titles, size_t size)
{
    snprintf(titles, size, "<%s%s%s%s|b|scale%s%s%s", words->one, m->observed || g ? "|" : "",
             m->observed || g ? words->censored : "", m->limit ? "|limit" : "",
             m->noise ? "|noise" : "", g ? "|KS distance|p|ties" : "", m->flags ? "|<flags" : "");
}

static void add_share(cli_page *page, double share)
{
    if (isnan(share))
        cli_page_html(page, "<td>?</td>");
    else
        cli_page_html(page, "<td>%.1f %%</td>", 100 * share);
}

static void add_goodness(cli_page *page, const unrelu_goodness *g, size_t i)
{
    double p = g->ks_p[i];
    cli_html_real(page, g->ks[i], "%.4f");
    if (isnan(p))
        cli_page_html(page, "<td>?</td>");
    else
        cli_page_html(page, "<td%s>%.3g</td>",
                      p < 0.01   ? " class=\"bad\""
                      : p < 0.05 ? " class=\"fair\""
                                 : "",
                      p);
    add_share(page, g->ties[i]);
}

static void add_row(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g, size_t i,
                    double z)
{
    cli_page_html(page, "<tr>");
    cli_html_name(page, m->names, "x", i);
    if (g)
        add_share(page, g->censored[i] / g->observed[i]);
    else if (m->observed)
        add_share(page, cli_censored_share(m, i));
    if (m->limit)
        cli_html_limit(page, m->limit[i]);
    cli_html_estimate(page, m->b[i], cli_half_of(m->b_se, m->d, i, z));
    cli_html_estimate(page, m->scale[i], cli_half_of(m->scale_se, m->d, i, z));
    if (m->noise)
        cli_html_real(page, m->noise[i], "%.4g");
    if (g)
        add_goodness(page, g, i);
    if (m->flags)
        cli_html_flags(page, m->flags[i]);
    cli_page_html(page, "</tr>\n");
}

void cli_report_coordinates(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                            const cli_report_words *words, double level)
{
    char titles[160];
    double z = cli_half_width(level);
    add_titles(m, g, words, titles, sizeof titles);
    cli_page_html(page, "<div class=\"card\"><h3>All %s</h3><p class=\"note\">", words->many);
    if (cli_has_errors(m->b_se, m->d))
        cli_page_html(page, "± is the half-width of an interval of %g %%. ", 100 * level);
    cli_page_html(page, "%s</p><div class=\"tall\">", m->d > 1 ? "A click on a title sorts." : "");
    cli_html_table(page, m->d > 1 ? "sortable" : "", NULL, titles);
    for (size_t i = 0; i < m->d; i++)
        add_row(page, m, g, i, z);
    cli_html_table_end(page);
    cli_page_html(page, "</div></div>\n");
}
