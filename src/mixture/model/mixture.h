/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Rows are samples; a mixture is x = A m + noise with A
 * (d x p) and m = max(0, W z + b), the hidden units. */
#ifndef UR_MIXTURE_H
#define UR_MIXTURE_H

#include "model/kind.h"

/* streams of the random numbers of one seed, apart from those of the hidden layer */
enum {
    UR_STREAM_PLANT_A = 40,
    UR_STREAM_UNMIX =
        42, /* 41 is of the sampler's noise; starts of the facet search; and the next ones */
};

/* --- mixture_model.c --- */
extern const ur_kind ur_mixture_kind; /* mixture_file.c */
/* an empty one; NULL and a sentence where memory ended */
unrelu_mixture *ur_mixture_new(unrelu_error *err);
/* the hidden layer becomes the model's, which frees it; also where this fails */
unrelu_status ur_mixture_hold(unrelu_mixture *model, unrelu_gaussian *hidden, unrelu_error *err);
/* A and the names x1, x2, ... where they are NULL; d and p are set */
unrelu_status ur_mixture_alloc(unrelu_mixture *model, unrelu_error *err);

#endif
