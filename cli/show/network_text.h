/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_NETWORK_TEXT_H
#define CLI_NETWORK_TEXT_H

#include "unrelu/unrelu.h"

/* The network for a reader: the verdict in one line, how it was learned, its neurons. Intervals
 * cover with probability level. */
void cli_print_network(const unrelu_network *model, double level);

/* of column j of U */
double cli_norm_of_u(const unrelu_network *model, size_t j);
/* the largest standard error of row j of V; NaN where one is not known */
double cli_error_of_v(const unrelu_network *model, size_t j);

#endif
