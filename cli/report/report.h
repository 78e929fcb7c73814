/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of report pages. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "unrelu/unrelu.h"

#include "../cli.h"
#include "page.h"

/* All of a page, from shared->files; they return the exit status. */
/* limit, limits: the options of these names, or NULL */
int cli_report_gaussian(const cli_shared *shared, const char *limit, const char *limits);
int cli_report_network(const cli_shared *shared);
int cli_report_mixture(const cli_shared *shared);

/* "report.html: 1.2 MB" after it was saved */
int cli_report_save(cli_page *page, const cli_shared *shared);
/* the last lines of a page */
void cli_report_foot(cli_page *page, const cli_shared *shared);

/* --- columns.c --- */
/* How each column fits. goodness may be NULL: then the table alone, of the model's numbers. */
void cli_report_columns(cli_page *page, const unrelu_gaussian *model,
                        const unrelu_goodness *goodness, double level);

/* --- quantiles.c --- */
/* "log lead": what an axis of column i shows; text has room for 160 bytes */
const char *cli_report_axis(const unrelu_gaussian *model, size_t i, char *text);
/* of a transformed model: quantiles of each column in the data's own scale */
void cli_report_quantiles(cli_page *page, const unrelu_gaussian *model);

/* --- coordinates.c --- */
typedef struct {
    const char *one, *many, *censored; /* "column", "columns", "zeros" */
} cli_report_words;
void cli_report_coordinates(cli_page *page, const unrelu_gaussian *model,
                            const unrelu_goodness *goodness, const cli_report_words *words,
                            double level);

/* --- correlations.c --- */
void cli_report_correlations(cli_page *page, const unrelu_gaussian *model,
                             const cli_report_words *words, double level);

/* --- spectrum.c --- */
/* hint: the caption where there are no standard errors */
void cli_report_spectrum(cli_page *page, const unrelu_gaussian *model, const char *hint,
                         double level);

/* --- residuals.c --- */
int cli_report_residuals(cli_page *page, const unrelu_network *model, const cli_shared *shared);

#endif
