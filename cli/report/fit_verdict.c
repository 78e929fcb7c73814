/* SPDX-License-Identifier: Apache-2.0 */
/* The headline of a fit: which columns do not fit, and on which scale. */
#include <math.h>

#include "html.h"
#include "report.h"

enum { NAMED = 3 }; /* more columns than these are counted */

static const double FAIR = 0.05; /* p below which a column speaks against the model */

typedef struct {
    size_t tested, rejected, worst; /* worst: the column that is farthest */
    size_t first;                   /* column of the worst word */
    size_t hidden, few;             /* all below some limit; so few seen that p does not tell */
    size_t of[4];                   /* columns by the word of their fit */
    unrelu_fit_word word;           /* the worst */
} tally;

static tally count_words(const unrelu_goodness *g)
{
    tally t = {.word = UNRELU_FIT_GOOD};
    for (size_t i = 0; i < g->d; i++) {
        double count = 0, p = g->ks_p[i];
        unrelu_fit_word word = cli_report_word(g, i);
        if (word > t.word) {
            t.word = word;
            t.first = i;
        }
        t.of[word]++;
        for (size_t k = 0; k < g->bins; k++)
            count += g->counts[i * g->bins + k];
        t.hidden += isnan(p) && g->observed[i] > 0 && count == 0;
        t.few += word == UNRELU_FIT_UNKNOWN && !isnan(p);
        if (word == UNRELU_FIT_UNKNOWN)
            continue;
        if (t.tested++ == 0 || g->ks[i] > g->ks[t.worst])
            t.worst = i;
        t.rejected += p < FAIR;
    }
    return t;
}

/* "zinc", "zinc and tin", "4 of 25 columns": those of the word */
static const char *name_columns(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                                const tally *t)
{
    size_t all = t->of[t->word], done = 0;
    const char *names = "";
    if (all > NAMED || !m->names)
        return all == 1 && g->d == 1 ? "the column"
                                     : cli_text(page, "%zu of %zu columns", all, g->d);
    for (size_t i = 0; i < g->d; i++) {
        if (cli_report_word(g, i) != t->word)
            continue;
        const char *between = done == 0 ? "" : done + 1 < all ? ", " : " and ";
        names = cli_text(page, "%s%s%s", names, between, cli_escaped(page, m->names[i]));
        done++;
    }
    return names;
}

/* What the model says of a column: "log(zinc) is normal", or of the values behind a limit.
 * pairs: how many do not go together */
static cli_verdict choose(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                          const tally *t, size_t pairs)
{
    int is_one = t->of[t->word] == 1, is_plain = m->transform == UNRELU_TRANSFORM_NONE;
    const char *which = name_columns(page, m, g, t),
               *x = is_one && m->names && !is_plain ? cli_escaped(page, m->names[t->first]) : "x",
               *scale = cli_report_scale(page, m, x);
    if (t->word == UNRELU_FIT_GOOD && pairs > 0)
        return (cli_verdict){CLI_FAIR, "Each column fits by itself, but not all go together as the "
                                       "model says."};
    if (t->word == UNRELU_FIT_GOOD)
        return (cli_verdict){CLI_GOOD,
                             cli_text(page, "The samples give no reason to doubt %s.",
                                      is_plain ? "a normal law that is cut off at its limits"
                                               : cli_text(page, "that %s is normal",
                                                          cli_report_scale(page, m, "x")))};
    if (t->word == UNRELU_FIT_SLIGHT)
        return (cli_verdict){
            CLI_FAIR,
            cli_text(page, "The values of %s fit nearly: %s.", which,
                     is_plain ? "a normal law that is cut off at its limits is close, but "
                                "not quite it"
                              : cli_text(page, "%s is close to normal, but not quite", scale))};
    return (cli_verdict){CLI_BAD,
                         cli_text(page, "The values of %s do not fit: %s.", which,
                                  is_plain ? "they are not of a normal law that is cut off at its "
                                             "limits"
                                           : cli_text(page, "%s is not normal", scale))};
}

static void say_unjudged(cli_page *page, const tally *t)
{
    if (t->hidden)
        cli_html(page, " %zu column%s could not be judged: no value was seen.", t->hidden,
                 t->hidden == 1 ? "" : "s");
    if (t->few)
        cli_html(page, " %zu column%s could not be judged: fewer than 10 values were seen.", t->few,
                 t->few == 1 ? "" : "s");
}

void cli_report_verdict(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g)
{
    static const cli_verdict unknown = {CLI_FAIR, "No column could be judged."};
    tally t = count_words(g);
    if (t.tested == 0) {
        cli_html_verdict(page, &unknown);
        cli_html(page, "%s</p></div>\n",
                 t.few      ? "Fewer than 10 values were seen in each column: whether they fit the "
                              "model cannot be told."
                 : t.hidden ? "No value was seen, all are censored: whether they fit the model "
                              "cannot be told."
                            : "");
        return;
    }
    size_t pairs = cli_report_misfitting_pairs(g);
    cli_verdict verdict = choose(page, m, g, &t, pairs);
    cli_html_verdict(page, &verdict);
    cli_html(page,
             "The largest distance is %.3g, in <b>%s</b>: at some value the share of samples "
             "below it is that far from the model's. ",
             g->ks[t.worst], cli_escaped(page, m->names ? m->names[t.worst] : ""));
    if (t.tested == 1)
        cli_html(page, "Its test has p %s %.3g.", cli_html_p_sign(g->ks_p[t.worst]),
                 g->ks_p[t.worst]);
    else
        cli_html(page, "%zu of %zu columns have p &lt; 0.05; chance alone gives about %.2g.",
                 t.rejected, t.tested, FAIR * (double)t.tested);
    say_unjudged(page, &t);
    if (t.word == UNRELU_FIT_POOR)
        cli_html(page,
                 " What is said below of %s is of the nearest such law, and quantiles far "
                 "from the median deserve no trust; 'unrelu check' tries other scales.",
                 name_columns(page, m, g, &t));
    if (pairs)
        cli_html(page,
                 " And <a href=\"#pairs\">%zu pair%s of columns</a> %s not go together as the "
                 "model says.",
                 pairs, pairs == 1 ? "" : "s", pairs == 1 ? "does" : "do");
    cli_html(page, "</p></div>\n");
}
