/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "report.h"
#include "scope.h"
#include "words.h"

/* ---- facts ---- */

static void add_facts(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g)
{
    double cells = 0, censored = 0;
    for (size_t i = 0; i < m->d && (g || (m->observed && m->positive)); i++) {
        cells += g ? g->observed[i] : m->observed[i];
        censored += g ? g->censored[i] : m->observed[i] - m->positive[i];
    }
    cli_html(page, "<dl class=\"facts\">\n");
    if (g)
        cli_html_fact(page, "samples here", cli_html_count(page, (double)g->n));
    if (m->method[0] && !(g && g->n == m->n))
        cli_html_fact(page, "samples learned from", cli_html_count(page, (double)m->n));
    cli_html_fact(page, "columns", cli_html_count(page, (double)m->d));
    if (cells > 0)
        cli_html_fact(page, "of the cells censored",
                      cli_text(page, "%.3g %%", 100 * (censored / cells)));
    if (m->rows_dropped)
        cli_html_fact(page, "outlying rows left out",
                      cli_html_count(page, (double)m->rows_dropped));
    cli_html(page, "</dl>\n");
}

/* ---- the page ---- */

static int write_page(const cli_shared *shared, const unrelu_gaussian *m, const unrelu_goodness *g,
                      const size_t *pairs)
{
    const cli_coordinates words = {"column", "columns", "zeros"};
    int transformed = m->transform != UNRELU_TRANSFORM_NONE;
    /* 'fit --rank' is refused where the likelihood is maximised */
    int ranked = m->method[0] && !transformed && strcmp(m->angles, "likelihood") != 0;
    cli_page opened,
        *page = cli_html_open(&opened, "Rectified Gaussian: report",
                              "Normal values, hidden below a limit (rectified Gaussian)",
                              shared->files[0]);
    if (g)
        cli_report_verdict(page, m, g);
    else {
        int doubts = m->warning_count > 0;
        cli_html_verdict(page,
                         &(cli_verdict){doubts ? CLI_FAIR : CLI_GOOD,
                                        !m->method[0] ? "A model that was planted, not learned."
                                        : doubts      ? "Learned, with warnings."
                                                      : "Learned without a warning."});
        cli_html(page,
                 "With the samples as a second file this page also shows how well the model fits "
                 "them.</p></div>\n");
    }
    cli_report_answer(page, m, g, shared->level);
    cli_html_warnings(page, m->warnings, m->warning_count);
    add_facts(page, m, g);
    cli_report_columns(page, m, g, shared->level);
    if (g)
        cli_report_pairs(page, m, g, pairs);
    cli_report_correlations(page, m, &words, shared->level);
    cli_report_spectrum(
        page, m, &words,
        ranked ? "In decreasing order. 'unrelu fit --rank auto' gives them standard errors."
               : "In decreasing order.",
        shared->level);
    if (g)
        cli_html(page,
                 "<footer><p>p is the share of simulated samples at least as far from their model, "
                 "in 999 of them (seed %llu). Where the model was learned from these samples, each "
                 "simulated one is fitted again. Beyond about 400 values above the limit, "
                 "distances are scaled from samples of that size.</p>",
                 (unsigned long long)shared->seed);
    else
        cli_html(page, "<footer>");
    if (m->method[0])
        cli_html(page, "<p>Fitted by the method %s%s.</p>", cli_escaped(page, m->method),
                 m->norms[0] ? cli_text(page, ": norms %s, angles %s", cli_escaped(page, m->norms),
                                        cli_escaped(page, m->angles))
                             : "");
    return cli_html_finish(page, shared);
}

static int study(const cli_shared *shared, const cli_limits *limits, const unrelu_gaussian *m,
                 size_t *pairs, unrelu_goodness **g)
{
    CLI_SCOPE(cli_close_limited) cli_limited samples = {0};
    unrelu_exec exec = cli_exec(shared);
    CLI_TRY(cli_open_limited(shared, shared->files[1], limits, 1, m, &samples));
    enum {
        LEAST_BINS = 10,
        MOST_BINS = 30,
        PAIR_ROWS = 150
    }; /* the latter of planted models too */
    double bins = m->n > 0 ? fmin(MOST_BINS, sqrt((double)m->n)) : MOST_BINS;
    unrelu_goodness_options options = {.size = sizeof options,
                                       .bins = (size_t)fmax(LEAST_BINS, bins),
                                       .limit = samples.limit,
                                       .limits = samples.limits,
                                       .seed = shared->seed,
                                       .pairs = pairs,
                                       .pair_rows = PAIR_ROWS,
                                       .pair_count = cli_report_choose_pairs(m, pairs)};
    CLI_CALL(unrelu_gaussian_goodness(m, samples.source, &options, &exec, g, &err));
    return 0;
}

int cli_report_gaussian(const cli_shared *shared, const unrelu_gaussian *model,
                        const cli_limits *limits)
{
    size_t pairs[2 * CLI_MOST_PAIRS];
    CLI_MADE unrelu_goodness *goodness = NULL;
    if (shared->file_count < 2)
        return write_page(shared, model, NULL, NULL);
    CLI_TRY(study(shared, limits, model, pairs, &goodness));
    return write_page(shared, model, goodness, pairs);
}
