/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MODEL_TEXT_H
#define CLI_MODEL_TEXT_H

#include "unrelu/unrelu.h"

#include "table.h"

/* The model for a reader: its coordinates, its strongest correlations, its spectrum. Intervals
 * cover with probability level. */
void cli_print_model(const unrelu_gaussian *model, double level);
/* P(|Z| < z) = level for a standard normal Z */
double cli_half_width(double level);

/* whether there is any: a method may have none at all */
int cli_has_errors(const double *se, size_t count);
/* the i-th name, or x1, x2, ... */
void cli_add_column_name(cli_table *table, const unrelu_gaussian *model, size_t i);

#endif
