/* SPDX-License-Identifier: Apache-2.0 */
/* Models for a reader. Intervals cover with probability level. */
#ifndef CLI_MODEL_TEXT_H
#define CLI_MODEL_TEXT_H

#include "unrelu/unrelu.h"

#include "table.h"

/* which correlations are shown */
typedef struct {
    size_t most; /* the strongest so many */
    int all, is_matrix;
} cli_shown_pairs;
/* "all", "matrix" or a number; NULL: the default. Returns the exit status. */
int cli_parse_pairs(const char *text, cli_shown_pairs *out);

/* its coordinates, its correlations, its spectrum; pairs NULL: the strongest */
void cli_print_gaussian(const unrelu_gaussian *model, double level, const cli_shown_pairs *pairs);
/* the verdict in one line, how it was learned, its neurons */
void cli_print_network(const unrelu_network *model, double level);
/* the verdict in one line, how it was learned, its hidden units, and A where it is small */
void cli_print_mixture(const unrelu_mixture *model, double level);

/* ---- numbers of models ---- */
/* correlations, and eigenvalues of theirs below 0, that are smaller are rounding */
#define CLI_ROUNDING 1e-12
/* P(|Z| < z) = level for a standard normal Z */
double cli_half_width(double level);

/* whether there is any: a method may have none at all */
int cli_has_errors(const double *se, size_t count);
/* z times the i-th, or -1 where there is none of any: for cli_table_add_estimate */
double cli_half_of(const double *se, size_t count, size_t i, double z);
/* The interval of a correlation by Fisher's z, which never leaves [-1, 1] and covers at small n:
 * tanh(atanh rho -+ z se / (1 - rho^2)). NaN where se is; of no width at 1 and -1, and -1 wide, so
 * that it is not shown, where se is negative, for there is none. */
void cli_correlation_interval(double rho, double se, double z, double *low, double *high);
/* share of the values at or below the limit; NaN where the model does not know it */
double cli_censored_share(const unrelu_gaussian *model, size_t i);
/* of column j of U */
double cli_norm_of_u(const unrelu_network *model, size_t j);
/* the largest standard error of row j of V; NaN where one is not known */
double cli_error_of_v(const unrelu_network *model, size_t j);
/* of all entries of A, NaN among them counts; -1: there are no errors */
double cli_largest_error_of_a(const unrelu_mixture *model);

/* ---- pieces of text ---- */
const char *cli_plural(size_t count); /* "" or "s" */
/* "sigma 0.10": two digits */
void cli_print_sigma(double sigma);
/* the message of the first of the codes (NULL ends them) that is there, or nothing */
void cli_print_reason(const unrelu_warning *warnings, size_t count, const char *const *codes);

/* the coordinates: what they are called, and what a value at the limit is */
typedef struct {
    const char *one, *many, *censored;
} cli_coordinates;
void cli_print_coordinates(const unrelu_gaussian *model, const cli_coordinates *names, double z);
/* The correlations of largest size, each with its interval, or as asked for. */
void cli_print_correlations(const unrelu_gaussian *model, double z, const cli_shown_pairs *pairs);

typedef struct {
    size_t i, j;
    double strength; /* |correlation| */
} cli_pair;
/* Up to `most` pairs, strongest first; returns how many. Those that the data do not determine are
 * left out, and counted; with se (NULL: all), a d x d matrix, those without an error too. */
size_t cli_strongest_pairs(const unrelu_gaussian *model, const double *se, size_t most,
                           cli_pair *top, size_t *few_joint);

/* the i-th name, or x1, x2, ... */
void cli_add_column_name(cli_table *table, const unrelu_gaussian *model, size_t i);
/* "few-joint, constant" */
const char *cli_flag_names(uint32_t flags, char *text, size_t size);

#endif
