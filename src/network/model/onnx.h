/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_ONNX_H
#define UR_ONNX_H

#include "network/model/network.h"

/* The network as an ONNX graph from x (rows, d) to y (rows, m), the number of rows being open. */
unrelu_status ur_onnx_write(const char *path, const ur_weights *weights, int single,
                            unrelu_error *err);

#endif
