/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MIXTURE_TEXT_H
#define CLI_MIXTURE_TEXT_H

#include "unrelu/unrelu.h"

/* The mixture for a reader: the verdict in one line, how it was learned, its hidden units, and A
 * where it is small. Intervals cover with probability level. */
void cli_print_mixture(const unrelu_mixture *model, double level);

/* of all entries of A, NaN among them counts; -1: there are no errors */
double cli_largest_error_of_a(const unrelu_mixture *model);

#endif
