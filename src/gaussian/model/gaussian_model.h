/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_GAUSSIAN_MODEL_H
#define UR_GAUSSIAN_MODEL_H

#include "model/kind.h"
#include "model/sampler.h"

/* --- gaussian_model.c --- */
/* and what another model lists of one that is a part of it (gaussian_file.c) */
extern const ur_kind ur_gaussian_kind, ur_gaussian_part;
/* an empty one; NULL and a sentence where memory ended */
/* how the samples of the model were read; index (d): its columns in the source */
unrelu_status ur_gaussian_set_reading(unrelu_gaussian *m, const unrelu_source *source,
                                      const size_t *index, unrelu_error *err);
unrelu_gaussian *ur_gaussian_new(unrelu_error *err);
/* Takes b, scale, sigma and correlation from the model's arena; with `errors` also their standard
 * errors, counts and flags. */
unrelu_status ur_gaussian_allocate(unrelu_gaussian *model, size_t d, int errors, unrelu_error *err);
/* Sets transform, lambda and activation where the transform undoes one. */
unrelu_status ur_gaussian_set_activation(unrelu_gaussian *model, unrelu_transform inverse,
                                         double slope, unrelu_error *err);
/* what a sampler draws, for a model that passed the check */
unrelu_status ur_gaussian_check_sampled(const unrelu_gaussian *model, unrelu_error *err);
ur_sampled ur_gaussian_sampled(const unrelu_gaussian *model);

/* --- gaussian_plant.c: columns are x1, x2, ... for the letter x --- */
unrelu_status ur_gaussian_plant(const unrelu_gaussian_plant_options *options, char letter,
                                unrelu_gaussian **model, unrelu_error *err);

/* --- repair.c --- */
void ur_gaussian_set_sigma(unrelu_gaussian *model); /* from scale and correlation */
typedef struct ur_repair {
    size_t pairs;  /* that moved by more than their standard error */
    size_t worst;  /* i d + j of the one that moved by most of them, */
    double errors; /* by how many, */
    double from;   /* and what its correlation was before */
} ur_repair;
/* sets lambda_min; where it is negative and that is allowed, the correlation is repaired. Sets
 * sigma. */
unrelu_status ur_gaussian_repair(unrelu_gaussian *model, int allowed, ur_repair *moved,
                                 unrelu_error *err);

/* --- gaussian_file.c --- */
/* What a file of any kind holds of a rectified Gaussian: its arrays, W, flags, repair. Not kind,
 * names, n, seed, method, noise, limit and warnings, which belong to the model as a whole. */
unrelu_status ur_gaussian_put(ur_npz_writer *w, const unrelu_gaussian *m, unrelu_error *err);
/* And back into m, where d alone is set. b and sigma must be there; scale and correlation follow
 * from sigma where they are missing. */
unrelu_status ur_gaussian_get(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err);

#endif
