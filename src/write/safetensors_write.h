/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_SAFETENSORS_WRITE_H
#define UR_SAFETENSORS_WRITE_H

#include "unrelu/unrelu.h"

/* a matrix, or a vector (columns 0), under a name of letters, digits and points */
typedef struct {
    const char *name;
    const double *data;
    size_t rows, columns;
} ur_weight;

/* A .safetensors file of these arrays, in F64, or rounded to F32 where `single`; note: a text that
 * the header keeps as "activation". */
unrelu_status ur_safetensors_write(const char *path, const ur_weight *weights, size_t count,
                                   int single, const char *note, unrelu_error *err);
/* bytes of a number; numbers as bytes, the machine's own order */
size_t ur_number_bytes(int single);
/* count of them, out has room */
void ur_numbers_put(const double *data, size_t count, int single, unsigned char *out);
size_t ur_weight_count(const ur_weight *weight);

#endif
