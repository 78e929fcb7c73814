/* SPDX-License-Identifier: Apache-2.0 */
/* How pairs of columns fit together, which no column by itself shows: of the pairs that fit worst
 * their rows beside the fitted normal, and of all a table. */
#include <math.h>
#include <stdlib.h>

#include "chart.h"
#include "html.h"
#include "report.h"

enum { DRAWN = 4, ALL_OF = 12, STRONGEST = 40 };
/* standard errors between what was seen and what was fitted, from which on a pair is told: of 66
 * pairs that are right, with four shares about three cuts each, one is beyond 4 in 1 of 20 pages at
 * most */
static const double FAIR = 3.2, BAD = 4;

size_t cli_report_choose_pairs(const unrelu_gaussian *m, size_t *pairs)
{
    cli_pair top[STRONGEST];
    size_t few, count = 0;
    if (m->d > ALL_OF) {
        count = cli_strongest_pairs(m, NULL, STRONGEST, top, &few);
        for (size_t k = 0; k < count; k++) {
            pairs[2 * k] = top[k].i;
            pairs[2 * k + 1] = top[k].j;
        }
        return count;
    }
    for (size_t i = 0; i < m->d; i++)
        for (size_t j = i + 1; j < m->d; j++) {
            pairs[2 * count] = i;
            pairs[2 * count++ + 1] = j;
        }
    return count;
}

size_t cli_report_misfitting_pairs(const unrelu_goodness *g)
{
    size_t far = 0;
    for (size_t k = 0; k < g->pairs; k++)
        far += g->pair_misfit[k] > BAD;
    return far;
}

/* ---- one pair ---- */

static const char *quadrant(cli_page *page, const unrelu_goodness *g, size_t k, int q)
{
    return cli_text(page, "%.3g %% (fitted %.3g)", 100 * g->pair_share[4 * k + (size_t)q],
                    100 * g->pair_fitted[4 * k + (size_t)q]);
}

static void draw(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                 const size_t *pairs, size_t k)
{
    const cli_names names = {.names = m->names, .letter = "x"};
    const char *one = cli_name_of(page, &names, pairs[2 * k]);
    const char *two = cli_name_of(page, &names, pairs[2 * k + 1]);
    cli_pair_chart chart = {
        .title = {cli_report_scale(page, m, one), cli_report_scale(page, m, two)},
        .rho = g->pair_correlation[k],
        .cut = {g->pair_cut[2 * k], g->pair_cut[2 * k + 1]},
        .rows = g->pair_rows,
        .cells = g->pair_cells + 2 * g->pair_rows * k,
        .states = g->pair_states + 2 * g->pair_rows * k};
    double limit;
    for (int side = 0; side < 2; side++)
        unrelu_gaussian_margin(m, pairs[2 * k + (size_t)side], &chart.mean[side], &chart.sd[side],
                               &limit);
    const char *text = cli_text(
        page,
        "%s against %s in %.0f rows, with the fitted normal of correlation %.3g. Above both cuts "
        "lie %s of the rows, above that of %s alone %s, of %s alone %s, below both %s.",
        two, one, g->pair_observed[k], chart.rho, quadrant(page, g, k, 0), one,
        quadrant(page, g, k, 1), two, quadrant(page, g, k, 2), quadrant(page, g, k, 3));
    const char *caption =
        cli_text(page, "Upper right %s, lower right %s, upper left %s, lower left %s.",
                 quadrant(page, g, k, 0), quadrant(page, g, k, 1), quadrant(page, g, k, 2),
                 quadrant(page, g, k, 3));
    chart.frame = (cli_frame){cli_text(page, "%s and %s", one, two), text, caption, 420, 320};
    cli_html(page, "<div class=\"card\"><h3>%s &middot; %s</h3>", cli_escaped(page, one),
             cli_escaped(page, two));
    cli_chart_pair(page, &chart);
    cli_html(page, "</div>\n");
}

/* ---- all of them ---- */

typedef struct {
    double misfit;
    size_t k;
} rank;

static int by_misfit(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    double p = isnan(x->misfit) ? -1 : x->misfit, q = isnan(y->misfit) ? -1 : y->misfit;
    if (p != q)
        return p > q ? -1 : 1;
    return x->k < y->k ? -1 : 1;
}

static void add_table(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                      const size_t *pairs, const rank *ranks)
{
    cli_html(page, "<div class=\"card\"><details><summary>The numbers</summary>");
    cli_html_table(page, g->pairs > 1 ? "sortable" : "",
                   "<column|<and|rows|both above|first alone|second alone|neither|difference");
    for (size_t r = 0; r < g->pairs; r++) {
        size_t k = ranks[r].k;
        cli_html_name(page, "<tr>", m->names, "x", pairs[2 * k]);
        cli_html_name(page, "", m->names, "x", pairs[2 * k + 1]);
        cli_html_real(page, g->pair_observed[k], "%.0f");
        for (int q = 0; q < 4; q++)
            cli_html(page, "<td>%s</td>", quadrant(page, g, k, q));
        double z = g->pair_misfit[k];
        if (z > FAIR)
            cli_html(page, "<td class=\"%s\">%.2g</td>", z > BAD ? "bad" : "fair", z);
        else
            cli_html_real(page, z, "%.2g");
        cli_html(page, "</tr>\n");
    }
    cli_html(page, "</tbody></table></div></details></div>\n");
}

void cli_report_pairs(cli_page *page, const unrelu_gaussian *m, const unrelu_goodness *g,
                      const size_t *pairs)
{
    rank *ranks = g->pairs ? cli_page_take(page, g->pairs, sizeof *ranks) : NULL;
    size_t far = cli_report_misfitting_pairs(g);
    if (!ranks)
        return;
    for (size_t k = 0; k < g->pairs; k++)
        ranks[k] = (rank){g->pair_misfit[k], k};
    qsort(ranks, g->pairs, sizeof *ranks, by_misfit);
    if (isnan(ranks[0].misfit))
        return;
    cli_html(page, "<section id=\"pairs\"><h2>Fit of pairs</h2>\n<p>");
    if (far)
        cli_html(page,
                 "%s not go together as the model says: the share of rows in some quadrant is more "
                 "than %g standard errors from the fitted one. ",
                 far == 1 ? "One pair does" : cli_text(page, "%zu pairs do", far), BAD);
    else
        cli_html(page, "%s against how the model has columns go together. ",
                 g->pairs == 1 ? "The two columns do not speak"
                               : cli_text(page, "None of the %zu pairs that were looked at speaks",
                                          g->pairs));
    cli_html(page,
             "Points are rows in which both values were seen; lines start at what is known "
             "of a value that was not, and go to where it lies. One of two points lies "
             "within the inner ellipse where the model is right, and 19 of 20 within the "
             "outer one, hidden values included. Dotted lines part the rows into four, at "
             "the quarters, the medians or the three quarters, whichever fit worst; below each "
             "chart is their share, and that of the fitted normal.</p>\n");
    if (g->pairs > DRAWN)
        cli_html(page,
                 "<p>These are the %d that fit worst of %s; the numbers below are of all of "
                 "these.</p>\n",
                 DRAWN,
                 m->d > ALL_OF ? cli_text(page, "the %zu strongest pairs", g->pairs)
                               : cli_text(page, "%zu pairs", g->pairs));
    cli_html_legend(page, "dot first:both seen|line first:one or both hidden|line second:half of "
                          "the fitted normal|dash second:95 % of it|cut:where rows are parted");
    cli_html(page, "<div class=\"grid\">\n");
    for (size_t r = 0; r < g->pairs && r < DRAWN; r++)
        if (!isnan(ranks[r].misfit))
            draw(page, m, g, pairs, ranks[r].k);
    cli_html(page, "</div>\n");
    add_table(page, m, g, pairs, ranks);
    cli_html(page, "</section>\n");
}
