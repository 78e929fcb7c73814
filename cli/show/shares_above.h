/* SPDX-License-Identifier: Apache-2.0 */
/* --exceed: shares of values above some, before censoring, of columns of a rectified Gaussian. */
#ifndef CLI_SHARES_ABOVE_H
#define CLI_SHARES_ABOVE_H

#include "unrelu/unrelu.h"

#include "json.h"

typedef struct {
    size_t column;
    double value, share, ci[2]; /* ci NaN: the errors are not known */
} cli_exceedance;

typedef struct {
    size_t count;
    cli_exceedance *of;
} cli_exceedances;

/* Those of a text "NAME=V,NAME=V"; V alone is of every column, NULL asks for none. Returns an exit
 * status, and says why where it is not 0. */
int cli_exceed(const unrelu_gaussian *model, const char *text, double level, cli_exceedances *out);
void cli_free_exceedances(cli_exceedances *some); /* for CLI_SCOPE */
void cli_print_exceedances(const unrelu_gaussian *model, const cli_exceedances *some, double level);
void cli_json_exceedances(cli_json *json, const unrelu_gaussian *model,
                          const cli_exceedances *some);

#endif
