/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MODEL_TEXT_H
#define CLI_MODEL_TEXT_H

#include "unrelu/unrelu.h"

#include "table.h"

/* The model for a reader: its coordinates, its strongest correlations, its spectrum. Intervals
 * cover with probability level. */
void cli_print_gaussian(const unrelu_gaussian *model, double level);
/* P(|Z| < z) = level for a standard normal Z */
double cli_half_width(double level);

/* the coordinates: what they are called, and what a value at the limit is */
typedef struct {
    const char *one, *many, *censored;
} cli_coordinates;
void cli_print_coordinates(const unrelu_gaussian *model, const cli_coordinates *names, double z);
/* The correlations of largest size, each +- z standard errors. */
void cli_print_correlations(const unrelu_gaussian *model, double z);

typedef struct {
    size_t i, j;
    double strength; /* |correlation| */
} cli_pair;
/* Up to `most` pairs, strongest first; returns how many. Those that the data do not determine are
 * left out, and counted; with se (NULL: all), a d x d matrix, those without an error too. */
size_t cli_strongest_pairs(const unrelu_gaussian *model, const double *se, size_t most,
                           cli_pair *top, size_t *few_joint);

/* whether there is any: a method may have none at all */
int cli_has_errors(const double *se, size_t count);
/* z times the i-th, or -1 where there is none of any: for cli_table_add_estimate */
double cli_half_of(const double *se, size_t count, size_t i, double z);
/* share of the values at or below the limit; NaN where the model does not know it */
double cli_censored_share(const unrelu_gaussian *model, size_t i);
/* the i-th name, or x1, x2, ... */
void cli_add_column_name(cli_table *table, const unrelu_gaussian *model, size_t i);
/* "few-joint, constant" */
const char *cli_flag_names(uint32_t flags, char *text, size_t size);

#endif
