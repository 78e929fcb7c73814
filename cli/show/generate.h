/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of 'unrelu generate' share. */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

#include <limits.h>

#include "unrelu/unrelu.h"

#include "cli.h"

typedef struct {
    cli_shared shared;
    size_t d, k, m, p, n;           /* 0: not said */
    double kappa, kappa_v, kappa_u; /* 0: not said */
    double noise;                   /* negative: not said */
    int inputs;                     /* -1: not said */
    const char *bias, *activation;
} generate_arguments;

/* DIR/name, in path of PATH_MAX characters; an exit status */
int cli_generate_path(const generate_arguments *a, const char *name, char *path);

/* These draw and write, and return an exit status. */
int cli_generate_gaussian(const generate_arguments *a);
int cli_generate_network(const generate_arguments *a);
int cli_generate_mixture(const generate_arguments *a);
int cli_generate_inputs(const generate_arguments *a);

#endif
