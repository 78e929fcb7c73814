/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the line that says a verdict. */
#ifndef CLI_VERDICT_TEXT_H
#define CLI_VERDICT_TEXT_H

#include "unrelu/unrelu.h"

const char *cli_plural(size_t count); /* "" or "s" */
/* "sigma 0.10": two digits */
void cli_print_sigma(double sigma);
/* The message of the first of the codes (NULL ends them) that is there, or NULL. */
const char *cli_find_warning(const unrelu_warning *warnings, size_t count,
                             const char *const *codes);

#endif
