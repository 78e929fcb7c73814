/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CENSOR_H
#define CLI_CENSOR_H

#include <stddef.h>

#include "unrelu/unrelu.h"

/* The value of --censor-at: numbers with commas between them (NULL: none). The caller frees
 * *limits. Says why and returns 0 where it cannot. */
int cli_parse_limits(const char *text, double **limits, size_t *count);

/* The value of --limit, NAME=V with commas between: one number for each column of the samples, NaN
 * where there is none. The caller frees *limit. Returns the exit status. */
int cli_parse_named_limits(const char *text, const unrelu_source *samples, double **limit);

#endif
