/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MODEL_PAIRS_H
#define CLI_MODEL_PAIRS_H

#include "unrelu/unrelu.h"

/* The correlations of largest size, each +- z standard errors. */
void cli_print_correlations(const unrelu_gaussian *model, double z);

#endif
