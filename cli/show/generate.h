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

/* --- generate_samples.c: models that are samples and a truth --- */
typedef struct {
    char x[PATH_MAX], truth[PATH_MAX];
} cli_generate_files;

/* text: rectified, normal or a number; on failure says why and returns 0 */
int cli_generate_bias(const char *text, unrelu_bias_law *law, double *value);
/* The samples take another stream than 'unrelu sample truth.npz' with the same seed would. */
uint64_t cli_generate_seed(const generate_arguments *a);
int cli_generate_files_name(const generate_arguments *a, cli_generate_files *files);
int cli_generate_report(const generate_arguments *a, const char *kind,
                        const cli_generate_files *files);

/* These draw and write, and return an exit status. */
int cli_generate_gaussian(const generate_arguments *a);
int cli_generate_network(const generate_arguments *a);
int cli_generate_mixture(const generate_arguments *a);
int cli_generate_inputs(const generate_arguments *a);

#endif
