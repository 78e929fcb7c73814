/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of report pages. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "unrelu/unrelu.h"

#include "censor.h"
#include "cli.h"
#include "page.h"
#include "show/model_text.h"

/* All of a page, of the model and the samples in shared->files behind it; they return the exit
 * status. */
int cli_report_gaussian(const cli_shared *shared, const unrelu_gaussian *model,
                        const cli_limits *limits);
int cli_report_network(const cli_shared *shared, const unrelu_network *model);
int cli_report_mixture(const cli_shared *shared, const unrelu_mixture *model);

/* --- fit_verdict.c --- */
void cli_report_verdict(cli_page *page, const unrelu_gaussian *model,
                        const unrelu_goodness *goodness);

/* --- column_charts.c --- */
/* How each column fits. goodness may be NULL: then the table alone, of the model's numbers. */
void cli_report_columns(cli_page *page, const unrelu_gaussian *model,
                        const unrelu_goodness *goodness, double level);

/* --- column_tables.c --- */
unrelu_fit_word cli_report_word(const unrelu_goodness *goodness, size_t column);
/* what b and scale of a column are of: "lead", "log(lead)", ... */
const char *cli_report_scale(cli_page *page, const unrelu_gaussian *model, const char *name);
/* What the values of each column are like, hidden ones included; goodness may be NULL. */
void cli_report_answer(cli_page *page, const unrelu_gaussian *model,
                       const unrelu_goodness *goodness, double level);
/* Parameters and tests of each; goodness may be NULL. */
void cli_report_coordinates(cli_page *page, const unrelu_gaussian *model,
                            const unrelu_goodness *goodness, const cli_coordinates *words,
                            double level);

/* --- pair_plots.c --- */
/* Which pairs are looked at: all of 12 columns, of more the strongest. pairs: room for 66 x 2;
 * returns how many. */
enum { CLI_MOST_PAIRS = 66 };
size_t cli_report_choose_pairs(const unrelu_gaussian *model, size_t *pairs);
size_t cli_report_misfitting_pairs(const unrelu_goodness *goodness);
/* How these fit together, as the goodness says. */
void cli_report_pairs(cli_page *page, const unrelu_gaussian *model, const unrelu_goodness *goodness,
                      const size_t *pairs);

/* --- sigma.c --- */
void cli_report_correlations(cli_page *page, const unrelu_gaussian *model,
                             const cli_coordinates *words, double level);
/* hint: the caption where there are no standard errors */
void cli_report_spectrum(cli_page *page, const unrelu_gaussian *model, const cli_coordinates *words,
                         const char *hint, double level);

/* --- residuals.c --- */
int cli_report_residuals(cli_page *page, const unrelu_network *model, const cli_shared *shared);

#endif
