/* SPDX-License-Identifier: Apache-2.0 */
/* What 'unrelu check' found, for its text and its JSON. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "unrelu/unrelu.h"

typedef struct {
    size_t d; /* columns of the samples */
    const unrelu_source *samples;
    unrelu_gaussian model;           /* of those that can be fitted */
    double *ks, *ks_p, *ties;        /* d; one block of memory */
    unrelu_transform_advice *advice; /* d, then of all together */
    size_t *place;                   /* d: in the model; model.d where it was left out */
} cli_check_findings;

typedef enum { CLI_LOOKS_RIGHT, CLI_LOOKS_WRONG, CLI_NOT_JUDGED } cli_look;

/* p below it: wrong, where the distance is at least CLI_CHECK_DISTANCE too */
double cli_check_level(const cli_check_findings *f);
#define CLI_CHECK_DISTANCE 0.02
/* of column j of the samples in an array of the model; NaN where it was left out */
double cli_check_value(const cli_check_findings *f, const double *values, size_t j);
cli_look cli_check_look(const cli_check_findings *f, size_t j);
/* "log", "boxcox:0.31"; "" where nothing can be said */
void cli_check_transform(const unrelu_transform_advice *advice, char *text, size_t size);
/* one sentence */
void cli_check_verdict(const cli_check_findings *f, char *text, size_t size);

void cli_print_check(const cli_check_findings *f);

#endif
