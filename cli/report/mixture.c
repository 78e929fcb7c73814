/* SPDX-License-Identifier: Apache-2.0 */
#include "chart.h"
#include "flags.h"
#include "html.h"
#include "report.h"

enum { CELLS = 1000000, TABLE_UNITS = 12, TABLE_ROWS = 200 };

static const cli_verdict verdicts[] = {
    [UNRELU_VERDICT_EXACT] = {CLI_GOOD, "Exact: every facet is certified."},
    [UNRELU_VERDICT_UNCERTIFIED] = {CLI_FAIR, "An exact fit, not shown to be the only one."},
    [UNRELU_VERDICT_NOISY] = {CLI_GOOD, "Learned from samples with noise."},
    [UNRELU_VERDICT_AMBIGUOUS] = {CLI_FAIR,
                                  "Ambiguous: the samples have more facets than there are units."},
    [UNRELU_VERDICT_PLANTED] = {CLI_GOOD, "A model that was planted, not learned."},
    [UNRELU_VERDICT_FAILED] = {CLI_FAIR, "No model was found."},
    [UNRELU_VERDICT_APPROXIMATE] = {CLI_FAIR, "No model was found."}, /* of networks only */
    [UNRELU_VERDICT_INCOMPLETE] = {CLI_FAIR, "No model was found."},  /* the same */
};

static void add_facts(cli_page *page, const unrelu_mixture *m)
{
    double error = cli_largest_error_of_a(m);
    cli_html(page, "<dl class=\"facts\">\n");
    if (m->verdict != UNRELU_VERDICT_PLANTED) {
        cli_html_fact(page, "samples", cli_html_count(page, (double)m->n));
        cli_html_fact(page, "residual", cli_text(page, "%.2g", m->residual));
        cli_html_fact(page, "facets found", cli_html_count(page, (double)m->facets));
        cli_html_fact(page, "samples on the rarest facet",
                      cli_html_count(page, (double)m->min_off));
        cli_html_fact(page,
                      m->noise > 0 ? "units below 0, at most, in deviations of the noise"
                                   : "units below 0, at most, relative to their sample",
                      cli_text(page, "%.2g", m->negative));
    }
    if (m->noise > 0)
        cli_html_fact(page, "standard deviation of the noise", cli_text(page, "%.3g", m->noise));
    if (error >= 0)
        cli_html_fact(page, "largest standard error in A", cli_text(page, "%.2g", error));
    cli_html(page, "</dl>\n");
}

static void add_matrix(cli_page *page, const unrelu_mixture *m)
{
    size_t rows = m->d * m->p <= CELLS ? m->d : CELLS / m->p;
    const char *text = cli_text(
        page, "Heat map of A: %zu columns of the samples by %zu hidden units.", rows, m->p);
    const char *caption = cli_text(page, "A, the first %zu of %zu rows.", rows, m->d);
    cli_html(page, "<section id=\"matrix\"><h2>The mixing matrix A</h2>\n"
                   "<p>Column j of A is what hidden unit j puts into the samples, at unit length; "
                   "units are in the order of their size.</p><div class=\"card\">");
    cli_chart_heatmap(page,
                      &(cli_heatmap){.frame = {"The mixing matrix A", text,
                                               rows < m->d ? caption : "Every entry of A.", 600, 0},
                                     .rows = rows,
                                     .columns = m->p,
                                     .values = m->A,
                                     .se = m->A_se,
                                     .row_names = {.names = m->names, .letter = "x"},
                                     .column_names = {.names = m->hidden->names, .letter = "u"},
                                     .largest = cli_largest(m->A, rows * m->p),
                                     .label = "entry of A",
                                     .column_title = "hidden unit"});
    if (m->p <= TABLE_UNITS && m->d <= TABLE_ROWS) {
        const char *titles = "<column";
        for (size_t j = 0; j < m->p; j++)
            titles = cli_text(page, "%s|u%zu", titles, j + 1);
        cli_html(page, "<details><summary>The numbers</summary>");
        cli_html_table(page, "", titles);
        for (size_t i = 0; i < m->d; i++) {
            cli_html_name(page, "<tr>", m->names, "x", i);
            for (size_t j = 0; j < m->p; j++)
                cli_html_real(page, m->A[i * m->p + j], "%.4f");
            cli_html(page, "</tr>\n");
        }
        cli_html(page, "</tbody></table></div></details>");
    }
    cli_html(page, "</div></section>\n");
}

int cli_report_mixture(const cli_shared *shared, const unrelu_mixture *m)
{
    const cli_coordinates words = {"unit", "units", "off"};
    cli_page opened, *page = cli_html_open(&opened, "Mixture: report",
                                           "Mixture x = A ReLU(W z + b)", shared->files[0]);
    cli_html_verdict(page, &verdicts[m->verdict]);
    cli_html(page, "%s in %s%s%s.</p></div>\n", cli_html_counted(page, (double)m->p, "hidden unit"),
             cli_html_counted(page, (double)m->d, "column"), m->how_p[0] ? ": " : "",
             cli_escaped(page, cli_flagged(m->how_p).text));
    cli_html_warnings(page, m->warnings, m->warning_count);
    add_facts(page, m);
    add_matrix(page, m);
    cli_html(page,
             "<section id=\"hidden\"><h2>The hidden layer</h2>\n"
             "<p>The units are ReLU(W z + b): b and scale of each, before the rectifier.%s</p>",
             m->hidden->b_se ? " Standard errors are given A." : "");
    cli_report_coordinates(page, m->hidden, NULL, &words, shared->level);
    cli_html(page, "</section>\n");
    cli_report_correlations(page, m->hidden, &words, shared->level);
    cli_report_spectrum(page, m->hidden, &words, "In decreasing order.", shared->level);
    cli_html(page, "<footer>");
    return cli_html_finish(page, shared);
}
