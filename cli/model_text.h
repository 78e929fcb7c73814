/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MODEL_TEXT_H
#define CLI_MODEL_TEXT_H

#include "unrelu/unrelu.h"

/* The model for a reader: its coordinates, its strongest correlations, its spectrum. Intervals
 * cover with probability level. */
void cli_print_model(const unrelu_gaussian *model, double level);
/* The model's warnings, on standard error. */
void cli_tell_warnings(const unrelu_gaussian *model);

#endif
