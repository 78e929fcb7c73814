/* SPDX-License-Identifier: Apache-2.0 */
/* Columns in numbers: what the model says of their values, in the data's own unit, for whoever made
 * the samples; and parameters and tests, in the words of files, for whoever checks the fit. */
#include <math.h>

#include "html.h"
#include "report.h"

static const double Z_TAIL = 1.644854;       /* 5 % of a normal lie beyond, on one side */
static const double FAIR = 0.05, BAD = 0.01; /* p below these is coloured so */

const char *cli_report_scale(cli_page *page, const unrelu_gaussian *m, const char *name)
{
    switch (m->transform) {
    case UNRELU_TRANSFORM_NONE:
        return name;
    case UNRELU_TRANSFORM_LEAKY:
        return cli_text(page, "%s before the leaky ReLU", name);
    case UNRELU_TRANSFORM_SIGMOID:
        return cli_text(page, "%s before the sigmoid", name);
    default:
        return cli_text(page, "%s(%s)", unrelu_transform_name(m->transform), name);
    }
}

/* ---- the answer ---- */

unrelu_fit_word cli_report_word(const unrelu_goodness *g, size_t i)
{
    return unrelu_fit_judge(g->ks[i], g->ks_p[i], g->observed[i] - g->censored[i], g->d);
}

static void add_word(cli_page *page, unrelu_fit_word word)
{
    static const char *const classes[] = {"l", "l", "l fair", "l bad"};
    cli_html(page, "<td class=\"%s\">%s</td>", classes[word],
             word == UNRELU_FIT_UNKNOWN ? "not judged" : unrelu_fit_word_name(word));
}

static void add_counts(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g, size_t i)
{
    double all = g ? g->observed[i] : m->observed[i];
    double seen = g ? all - g->censored[i] : all * (1 - cli_censored_share(m, i));
    cli_html_real(page, seen, "%.0f");
    cli_html_real(page, 100 * (1 - seen / all), "%.1f %%");
}

static void add_limit(cli_page *page, const unrelu_gaussian *m, size_t i)
{
    if (m->limit)
        cli_html_limit(page, m->limit[i] == -INFINITY
                                 ? -INFINITY
                                 : unrelu_gaussian_untransform(m, i, m->limit[i]));
}

/* A transform is increasing: quantiles of all values, the hidden ones too, are the normal's, mapped
 * back. Means and deviations are not: the model has them, unless it is an old one. */
void cli_report_answer(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                       double level)
{
    double z = cli_half_width(level);
    const char *scale = cli_report_scale(page, m, "x");
    int is_plain = m->transform == UNRELU_TRANSFORM_NONE, has_counts = g || m->observed;
    int has_answers = m->mean && m->mean_ci && m->ucl95;
    int has_recorded = m->rectified_mean && m->rectified_mean_ci;
    const char *moments = has_answers ? "|mean|UCL95|sd"
                          : is_plain  ? "|mean|sd"
                                      : cli_text(page, "|mean of %s|sd of %s", scale, scale);
    cli_html(page, "<div class=\"card\" id=\"answer\"><h2>What each column is like</h2>"
                   "<p class=\"note\">Of all its values, those that were hidden below a limit "
                   "included, as the model has them. ");
    if (cli_has_errors(m->b_se, m->d))
        cli_html(page, "± and brackets give intervals of %g %%. ", 100 * level);
    if (!is_plain)
        cli_html(page, "%s in the data's own unit. ", has_answers ? "All is" : "Quantiles are");
    if (has_answers)
        cli_html(page, "Below UCL95 the mean lies with 95 %%. ");
    if (has_recorded)
        cli_html(page,
                 "As recorded, a value below its limit counts as that limit, as a day without "
                 "rain does as 0. ");
    cli_html(page, "%s</p>", m->d > 1 ? "A click on a title sorts." : "");
    cli_html_table(page, m->d > 1 ? "sortable" : "",
                   cli_text(page, "<column%s%s|5 %% quantile|median|95 %% quantile%s%s%s",
                            g ? "|<fit" : "", moments, has_recorded ? "|mean as recorded" : "",
                            has_counts ? "|values seen|censored" : "", m->limit ? "|limit" : ""));
    for (size_t i = 0; i < m->d; i++) {
        cli_html_name(page, "<tr>", m->names, "x", i);
        if (g)
            add_word(page, cli_report_word(g, i));
        if (has_answers && !is_plain)
            cli_html_between(page, m->mean[i], m->mean_ci[2 * i], m->mean_ci[2 * i + 1]);
        else
            cli_html_estimate(page, m->b[i], cli_half_of(m->b_se, m->d, i, z));
        if (has_answers)
            cli_html_real(page, m->ucl95[i], "%.4g");
        if (has_answers && !is_plain)
            cli_html_real(page, m->sd[i], "%.4g");
        else
            cli_html_estimate(page, m->scale[i], cli_half_of(m->scale_se, m->d, i, z));
        for (int side = -1; side <= 1; side++)
            cli_html_real(page,
                          unrelu_gaussian_untransform(m, i, m->b[i] + side * Z_TAIL * m->scale[i]),
                          "%.4g");
        if (has_recorded)
            cli_html_between(page, m->rectified_mean[i], m->rectified_mean_ci[2 * i],
                             m->rectified_mean_ci[2 * i + 1]);
        if (has_counts)
            add_counts(page, m, g, i);
        add_limit(page, m, i);
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div></div>\n");
}

/* ---- parameters and tests ---- */

static void add_test(cli_page *page, const unrelu_goodness *g, size_t i)
{
    double p = g->ks_p[i];
    cli_html_real(page, g->ks[i], "%.4f");
    if (p < FAIR)
        cli_html(page, "<td class=\"%s\">%.3g</td>", p < BAD ? "bad" : "fair", p);
    else
        cli_html_real(page, p, "%.3g");
    cli_html_real(page, 100 * g->ties[i], "%.1f %%");
}

void cli_report_coordinates(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                            const cli_coordinates *words, double level)
{
    double z = cli_half_width(level);
    int has_shares = m->observed || g;
    const char *titles = cli_text(
        page, "<%s%s%s%s%s|b|scale%s%s%s", words->one, has_shares ? "|" : "",
        has_shares ? words->censored : "", m->lambda ? "|lambda" : "", m->limit ? "|limit" : "",
        m->noise ? "|noise" : "", g ? "|KS distance|p|ties" : "", m->flags ? "|<flags" : "");
    cli_html(page,
             "<div class=\"card\"><h3>All %s, in the words of files</h3><p class=\"note\">b and "
             "scale are the mean and the standard deviation of %s before censoring%s. ",
             words->many, cli_report_scale(page, m, "x"),
             m->limit && m->transform != UNRELU_TRANSFORM_NONE ? ", and limits are of it too" : "");
    if (cli_has_errors(m->b_se, m->d))
        cli_html(page, "± is the half-width of an interval of %g %%. ", 100 * level);
    cli_html(page, "%s</p>", m->d > 1 ? "A click on a title sorts." : "");
    cli_html_table(page, m->d > 1 ? "sortable" : "", titles);
    for (size_t i = 0; i < m->d; i++) {
        cli_html_name(page, "<tr>", m->names, "x", i);
        if (has_shares)
            cli_html_real(page,
                          100 * (g ? g->censored[i] / g->observed[i] : cli_censored_share(m, i)),
                          "%.1f %%");
        if (m->lambda)
            cli_html_real(page, m->lambda[i], "%.3g");
        if (m->limit)
            cli_html_limit(page, m->limit[i]);
        cli_html_estimate(page, m->b[i], cli_half_of(m->b_se, m->d, i, z));
        cli_html_estimate(page, m->scale[i], cli_half_of(m->scale_se, m->d, i, z));
        if (m->noise)
            cli_html_real(page, m->noise[i], "%.4g");
        if (g)
            add_test(page, g, i);
        if (m->flags)
            cli_html_flags(page, m->flags[i]);
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div></div>\n");
}
