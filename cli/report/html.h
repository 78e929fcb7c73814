/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a page that all reports have. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

#include "unrelu/unrelu.h"

#include "cli.h"
#include "page.h"

/* how good news are: the class of a verdict */
#define CLI_GOOD "good"
#define CLI_FAIR "fair"
#define CLI_BAD  "bad"

typedef struct {
    const char *class, *headline;
} cli_verdict;

/* Opens the page, with its head. */
cli_page *cli_html_open(cli_page *page, const char *title, const char *kind, const char *file);
void cli_html_warnings(cli_page *page, const unrelu_warning *warnings, size_t count);
/* Opens its box and a paragraph: until </p></div>. */
void cli_html_verdict(cli_page *page, const cli_verdict *verdict);
/* What the marks of charts are: "bar first:values|line second:fitted normal"; a word of page.css
 * for the shape, one for the colour. */
void cli_html_legend(cli_page *page, const char *entries);
/* The last lines of a report, after <footer>; then it is saved, and its size told. */
int cli_html_finish(cli_page *page, const cli_shared *shared);

/* ---- facts: a few numbers in large print, in <dl class="facts"> ---- */
void cli_html_fact(cli_page *page, const char *name, const char *fact);
/* "20 000" with thin blanks, and "1 column", "20 000 columns" */
const char *cli_html_count(cli_page *page, double count);
const char *cli_html_counted(cli_page *page, double count, const char *what);

/* ---- tables ---- */
/* Until </tbody></table></div>. class: "" or "sortable"; titles are split at '|', one that starts
 * with '<' is of a column that is aligned left */
void cli_html_table(cli_page *page, const char *class, const char *titles);
/* a cell with names[i], or with "x3" where there are no names; letter: "x". start: "<tr>" or "" */
void cli_html_name(cli_page *page, const char *start, const char *const *names, const char *letter,
                   size_t i);
void cli_html_real(cli_page *page, double value, const char *format); /* "?" where it is NaN */
void cli_html_limit(cli_page *page, double limit);                    /* "none" where it is -inf */
/* value and the half-width of its interval; without one where half is negative */
void cli_html_estimate(cli_page *page, double value, double half);
/* as cli_format_between */
void cli_html_between(cli_page *page, double value, double low, double high);
/* between p and its value: "=", or "&le;" where it is the smallest that 999 simulations give */
const char *cli_html_p_sign(double p);
void cli_html_flags(cli_page *page, uint32_t flags);

#endif
