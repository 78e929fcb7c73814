/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "chart.h"
#include "flags.h"
#include "html.h"
#include "report.h"

enum { CELLS = 1000000, EXACT = 400 }; /* of a heat map; weights in a table */

/* ---- the verdict ---- */

static const cli_verdict verdicts[] = {
    [UNRELU_VERDICT_EXACT] = {CLI_GOOD, "Exact: the network meets the labels to rounding, and each "
                                        "neuron was seen on and off."},
    [UNRELU_VERDICT_UNCERTIFIED] = {CLI_FAIR, "An exact fit, not shown to be the only one."},
    [UNRELU_VERDICT_NOISY] = {CLI_GOOD, "Learned from labels with noise."},
    [UNRELU_VERDICT_PLANTED] = {CLI_GOOD, "A network that was planted, not learned."},
    [UNRELU_VERDICT_FAILED] = {CLI_BAD, "No network was found."},
    [UNRELU_VERDICT_APPROXIMATE] =
        {CLI_FAIR, "Approximate: no network that was found meets the labels, and what this one "
                   "leaves is a function of the inputs, not noise."},
    [UNRELU_VERDICT_INCOMPLETE] = {CLI_FAIR, "Incomplete: the run was stopped before its end, and "
                                             "this is the closest that it had."},
    [UNRELU_VERDICT_AMBIGUOUS] = {CLI_GOOD, "No network was found."}, /* of mixtures only */
};

static void judge(cli_page *page, const unrelu_network *m)
{
    cli_html_verdict(page, &verdicts[m->verdict]);
    if (m->corrupted) /* rounded down: 100 % is all of them */
        cli_html(page, "It meets %.3g %% of the labels. ",
                 floor(1000 - 1000 * (double)m->corrupted / ((double)m->n * (double)m->m)) / 10);
    cli_html(page, "%s%s%s. ", cli_html_counted(page, (double)m->k, "neuron"),
             m->how_k[0] ? ": " : "", cli_escaped(page, cli_flagged(m->how_k).text));
    if (m->verdict != UNRELU_VERDICT_PLANTED)
        cli_html(page, "The residual is %.2g of the labels over %s.", m->residual,
                 cli_html_counted(page, (double)m->samples_checked, "sample"));
    if (m->corrupted)
        cli_html(page, " %s of %s labels are not the network's and are left out here.",
                 cli_html_count(page, (double)m->corrupted),
                 cli_html_count(page, (double)m->n * (double)m->m));
    if (m->V_rational && m->U_rational)
        cli_html(page, " Its weights are integers or fractions, verified in exact "
                       "arithmetic.");
    if (m->failure[0])
        cli_html(page, " %s", cli_escaped(page, cli_flagged(m->failure).text));
    cli_html(page, "</p></div>\n");
}

static void add_facts(cli_page *page, const unrelu_network *m)
{
    char activation[32];
    unrelu_activation_name(m->activation, activation, sizeof activation);
    cli_html(page, "<dl class=\"facts\">\n");
    if (m->n)
        cli_html_fact(page, "samples", cli_html_count(page, (double)m->n));
    cli_html_fact(page, "inputs", cli_html_count(page, (double)m->d));
    cli_html_fact(page, "neurons", cli_html_count(page, (double)m->k));
    cli_html_fact(page, "outputs", cli_html_count(page, (double)m->m));
    cli_html_fact(page, "activation", activation);
    if (m->method[0])
        cli_html_fact(page, "method", m->method);
    if (m->noise > 0)
        cli_html_fact(page, "standard deviation of the noise", cli_text(page, "%.3g", m->noise));
    cli_html(page, "</dl>\n");
}

/* ---- the certificate ---- */

static void add_line(cli_page *page, const char *name, const char *outcome)
{
    cli_html(page, "<tr><td class=\"wrap\">%s</td><td class=\"wrap\">%s</td></tr>\n", name,
             cli_escaped(page, outcome));
}

static void add_certificate(cli_page *page, const unrelu_network *m)
{
    cli_html(page, "<section id=\"certificate\"><h2>Certificate</h2>\n"
                   "<p>What was checked, and what theorem stands behind the method.</p>"
                   "<div class=\"card\">");
    cli_html_table(page, "", "<check|<outcome");
    if (isfinite(m->residual))
        add_line(page, "residual over all samples",
                 cli_text(page, "%.3g of the labels", m->residual));
    if (isfinite(m->holdout_residual))
        add_line(page, "on rows that the solver did not see",
                 cli_text(page, "%.3g of the labels", m->holdout_residual));
    if (m->k && m->verdict != UNRELU_VERDICT_NOISY)
        add_line(page, "rarest sides of a kink",
                 cli_text(page, "%zu samples on, %zu off", m->min_active, m->min_inactive));
    if (isfinite(m->gap))
        add_line(page, "gap of the neurons' patterns", cli_text(page, "%.3g", m->gap));
    if (m->starts > 1)
        add_line(page, "starts",
                 cli_text(page, "%zu of %zu reached the best fit", m->starts_agree, m->starts));
    if (m->linear_rank)
        add_line(page, "rank of the linear part", cli_text(page, "%zu", m->linear_rank));
    if (m->objective > 0 && isfinite(m->objective))
        add_line(page, "objective |A - U f(V X)|", cli_text(page, "%.6g", m->objective));
    if (m->incoherence > 0)
        add_line(page, "labels that are not the network's", cli_text(page, "%zu", m->corrupted));
    if (m->V_rational)
        add_line(page, "in exact arithmetic", "the labels are met with residual 0");
    if (m->guarantee[0])
        add_line(page, "guarantee", cli_flagged(m->guarantee).text);
    if (m->guarantee_because[0])
        add_line(
            page, "whether it holds",
            cli_text(page, "%s: %s", m->guarantee_holds, cli_flagged(m->guarantee_because).text));
    if (m->assumption[0])
        add_line(page, "assumption", cli_flagged(m->assumption).text);
    cli_html(page, "</tbody></table></div>\n</div></section>\n");
}

/* ---- neurons ---- */

static void add_neurons(cli_page *page, const unrelu_network *m, double level)
{
    double *norm = cli_page_take(page, m->k, sizeof *norm);
    for (size_t j = 0; norm && j < m->k; j++)
        norm[j] = cli_norm_of_u(m, j);
    const cli_frame frames[] = {
        {"Weight in the outputs", "The norm of each neuron's column of U.", NULL, 480, 230},
        {"How often it is on", "The share of the samples where a neuron is on.", NULL, 480, 230}};
    const cli_bars charts[] = {
        {frames[0], "norm in U", "neuron", "first", m->k, norm, 0},
        {frames[1], "share of the samples", "neuron", "third", m->k, m->active, 1}};
    double z = cli_half_width(level);
    cli_html(page, "<section id=\"neurons\"><h2>Neurons</h2>\n"
                   "<p>In the order of their weight in the outputs. One that is almost always "
                   "on or off shows its kink in few samples.</p>\n<div class=\"grid\">");
    for (int i = 0; i < 2; i++)
        if (charts[i].values) {
            cli_html(page, "<div class=\"card\"><h3>%s</h3>", charts[i].frame.title);
            cli_chart_bars(page, &charts[i]);
            cli_html(page, "</div>");
        }
    cli_html(page, "</div>\n<div class=\"card\"><h3>All neurons</h3><p class=\"note\">");
    if (cli_has_errors(m->c_se, m->k))
        cli_html(page, "± is the half-width of an interval of %g %%. ", 100 * level);
    cli_html(page, "A click on a title sorts.</p>");
    cli_html_table(page, "sortable",
                   cli_text(page, "<neuron|norm of U|bias c%s%s", m->active ? "|on" : "",
                            m->V_se ? "|largest se in V" : ""));
    for (size_t j = 0; j < m->k; j++) {
        cli_html(page, "<tr><td class=\"l\">%zu</td>", j + 1);
        cli_html_real(page, cli_norm_of_u(m, j), "%.6g");
        cli_html_estimate(page, m->c ? m->c[j] : 0, cli_half_of(m->c_se, m->k, j, z));
        if (m->active)
            cli_html_real(page, 100 * m->active[j], "%.2f %%");
        if (m->V_se)
            cli_html_real(page, cli_error_of_v(m, j), "%.2g");
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div></div>\n</section>\n");
}

/* ---- weights ---- */

static const char *const matrices[] = {"U: neurons to outputs", "V: inputs to neurons"};

/* V (k x d) or U (m x k) */
static void add_map(cli_page *page, const unrelu_network *m, int inputs)
{
    const cli_names neurons = {.letter = ""}, columns = {.names = m->input_names, .letter = "x"},
                    labels = {.names = m->label_names, .letter = "a"};
    cli_heatmap map = {.frame = {matrices[inputs], NULL, NULL, 470, 0},
                       .rows = inputs ? m->k : m->m,
                       .columns = inputs ? m->d : m->k,
                       .values = inputs ? m->V : m->U,
                       .se = inputs ? m->V_se : m->U_se,
                       .row_names = inputs ? neurons : labels,
                       .column_names = inputs ? columns : neurons,
                       .label = "weight",
                       .row_title = inputs ? "neuron" : NULL,
                       .column_title = inputs ? NULL : "neuron"};
    map.largest = cli_largest(map.values, map.rows * map.columns);
    map.frame.text =
        cli_text(page, "Heat map of %zu rows and %zu columns; the largest weight is %.3g.",
                 map.rows, map.columns, map.largest);
    cli_html(page, "<div class=\"card\"><h3>%s</h3>", map.frame.title);
    cli_chart_heatmap(page, &map);
    cli_html(page, "</div>");
}

/* of V or of U, with a column for each neuron */
static void add_exact_table(cli_page *page, const unrelu_network *m, int inputs)
{
    const char *const *names = inputs ? m->input_names : m->label_names;
    const char *titles = inputs ? "<input" : "<output";
    for (size_t j = 0; j < m->k; j++)
        titles = cli_text(page, "%s|%zu", titles, j + 1);
    cli_html(page, "<div class=\"card\"><h3>%s</h3>", matrices[inputs]);
    cli_html_table(page, "", titles);
    for (size_t i = 0; i < (inputs ? m->d : m->m); i++) {
        cli_html_name(page, "<tr>", names, inputs ? "x" : "a", i);
        for (size_t j = 0; j < m->k; j++)
            cli_html(page, "<td>%s</td>",
                     cli_escaped(page, inputs ? m->V_rational[j * m->d + i]
                                              : m->U_rational[i * m->k + j]));
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div></div>\n");
}

/* ---- the page ---- */

int cli_report_network(const cli_shared *shared, const unrelu_network *m)
{
    int status = 0, weights = m->k > 0 && m->U && m->V;
    cli_page opened,
        *page = cli_html_open(&opened, "Network: report", "Two-layer network a = U f(V x + c) + e",
                              shared->files[0]);
    judge(page, m);
    cli_html_warnings(page, m->warnings, m->warning_count);
    add_facts(page, m);
    if (m->verdict != UNRELU_VERDICT_PLANTED)
        add_certificate(page, m);
    if (shared->file_count == 3)
        status = cli_report_residuals(page, m, shared);
    if (weights)
        add_neurons(page, m, shared->level);
    if (weights && m->k * m->d <= CELLS && m->k * m->m <= CELLS) {
        cli_html(page, "<section id=\"weights\"><h2>Weights</h2>\n"
                       "<p>Rows of V (what a neuron looks for in the inputs) and columns of U "
                       "(what it adds to the outputs).</p><div class=\"grid\">");
        add_map(page, m, 1);
        add_map(page, m, 0);
        cli_html(page, "</div></section>\n");
    }
    if (weights && m->V_rational && m->U_rational && m->d + m->m <= EXACT / m->k) {
        cli_html(page,
                 "<section id=\"exact\"><h2>Exact weights</h2>\n"
                 "<p>Verified in exact arithmetic: with these weights every label is met "
                 "with residual 0%s. A column is a neuron.</p>\n",
                 m->corrupted ? ", but for those that are not the network's" : "");
        add_exact_table(page, m, 1);
        add_exact_table(page, m, 0);
        cli_html(page, "</section>\n");
    }
    cli_html(page, "<footer>");
    if (shared->file_count == 1)
        cli_html(page, "<p>With the inputs and the labels as two more files this page also "
                       "shows the residuals.</p>");
    if (status == 0)
        return cli_html_finish(page, shared);
    cli_page_drop(page);
    return status;
}
