/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Rows are samples; a mixture is x = A m + noise with A
 * (d x p) and m = max(0, W z + b), the hidden units. */
#ifndef UR_MIXTURE_H
#define UR_MIXTURE_H

#include "unrelu/unrelu.h"

/* streams of the random numbers of one seed, apart from those of the hidden layer */
enum {
    UR_STREAM_PLANT_A = 40,
    UR_STREAM_UNMIX =
        42, /* 41 is of the sampler's noise; starts of the facet search; and the next ones */
};

/* --- model.c --- */
/* A and the names x1, x2, ... where they are NULL; d and p are set */
unrelu_status ur_mixture_alloc(unrelu_mixture *model, unrelu_error *err);
unrelu_status ur_mixture_warn(unrelu_mixture *model, const char *code, unrelu_error *err,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
