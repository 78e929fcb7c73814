/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "unrelu/unrelu.h"

#include "cli.h"

/* Draws n rows and writes them to path, a block at a time; returns the exit status. */
int cli_write_rows(const unrelu_gaussian *model, uint64_t seed, size_t n, const char *path,
                   const cli_shared *shared);

#endif
