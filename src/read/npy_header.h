/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a .npy array, versions 1 to 3: dtype, order and shape, checked against the
 * size of what holds it. */
#ifndef UR_NPY_HEADER_H
#define UR_NPY_HEADER_H

#include "unrelu/unrelu.h"

typedef enum {
    UR_B1,
    UR_I1,
    UR_U1,
    UR_I2,
    UR_U2,
    UR_I4,
    UR_U4,
    UR_I8,
    UR_U8,
    UR_F4,
    UR_F8,
    UR_TEXT, /* <U: code points of 4 bytes */
} ur_dtype;

typedef struct {
    ur_dtype dtype;
    char descr[24];
    size_t item; /* bytes of an element */
    int fortran;
    size_t ndim, shape[4]; /* of more than 4 dimensions the first 4 */
    size_t count;          /* elements: count * item fits behind the header */
    size_t data;           /* offset of the first element */
} ur_npy;

/* Next `size` bytes, exactly; a failure has its own sentence. */
typedef unrelu_status (*ur_read_next)(void *context, void *bytes, size_t size, unrelu_error *err);

/* Reads a header from the start of an array that is `total` bytes long in all. Elements that
 * samples cannot have (objects, complex, big-endian, ...) are refused with a remedy. */
unrelu_status ur_npy_read(ur_read_next next, void *context, uint64_t total, const char *label,
                          ur_npy *out, unrelu_error *err);

/* Elements in[0], in[in_step], ... (steps in elements) as doubles; not for UR_TEXT. */
void ur_npy_convert(ur_dtype dtype, const void *in, size_t in_step, double *out, size_t out_step,
                    size_t count);

#endif
