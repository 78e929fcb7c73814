/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CENSOR_H
#define CLI_CENSOR_H

#include <stddef.h>

/* The value of --censor-at: numbers with commas between them (NULL: none). The caller frees
 * *limits. Says why and returns 0 where it cannot. */
int cli_parse_limits(const char *text, double **limits, size_t *count);

#endif
