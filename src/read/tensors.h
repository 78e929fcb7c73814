/* SPDX-License-Identifier: Apache-2.0 */
/* Named arrays of numbers in a file that other programs may have written: a .safetensors file, or
 * a .npz. */
#ifndef UR_TENSORS_H
#define UR_TENSORS_H

#include "base/arena.h"

typedef struct ur_tensors ur_tensors;

/* Names are looked at, numbers not yet. Closed with the arena. */
unrelu_status ur_tensors_open(const char *path, ur_arena *arena, ur_tensors **out,
                              unrelu_error *err);
size_t ur_tensors_count(const ur_tensors *tensors);
const char *ur_tensors_name(const ur_tensors *tensors, size_t i);
/* what the file says of the activation between two layers; NULL: nothing */
const char *ur_tensors_activation(const ur_tensors *tensors);
/* at most 4 dimensions are stored in shape; what holds no numbers is EFORMAT */
unrelu_status ur_tensors_shape(ur_tensors *tensors, size_t i, size_t *ndim, size_t shape[4],
                               unrelu_error *err);
/* all of it, `count` numbers, as doubles in C order; in the arena `to` */
unrelu_status ur_tensors_read(ur_tensors *tensors, size_t i, size_t count, ur_arena *to,
                              double **out, unrelu_error *err);

/* Whether weights of a layer are called so: "0.weight", "fc1.weight". A network has two layers. */
int ur_is_weight(const char *name);
enum { UR_LAYERS = 2 };

#endif
