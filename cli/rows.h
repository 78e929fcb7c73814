/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "unrelu/unrelu.h"

#include "cli.h"

/* a stream of samples of d columns */
typedef struct {
    const unrelu_sampler *sampler;
    size_t d;
    char *const *names;
} cli_rows;

/* Draws n rows and writes them to path, a block at a time; returns the exit status. */
int cli_write_rows(const cli_rows *from, size_t n, const char *path, const cli_shared *shared);

#endif
