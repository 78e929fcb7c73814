/* SPDX-License-Identifier: Apache-2.0 */
/* How far one model is from another of its kind, printed as text or JSON. They return an exit
 * status. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli.h"
#include "models.h"

int cli_compare_gaussians(const cli_shared *shared, const cli_model *truth, const cli_model *model);
int cli_compare_networks(const cli_shared *shared, const cli_model *truth, const cli_model *model);
int cli_compare_mixtures(const cli_shared *shared, const cli_model *truth, const cli_model *model);

#endif
