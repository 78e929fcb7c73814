/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_STATE_DICT_H
#define UR_STATE_DICT_H

#include "network/model/network.h"

/* `method` of a network that was read so: nothing else is known of it */
#define UR_STATE_DICT "state-dict"
/* U, V, c, e of an empty model from the weights that PyTorch keeps of Sequential(Linear, ReLU,
 * Linear): "0.weight", "0.bias", "2.weight", "2.bias", or other names of two layers; a bias may be
 * missing. Files: read/tensors.h. */
/* whether a file holds such weights, and is none of ours */
unrelu_status ur_is_state_dict(const char *path, int *yes, unrelu_error *err);
unrelu_status ur_state_dict_load(const char *path, unrelu_network *model, unrelu_error *err);

#endif
