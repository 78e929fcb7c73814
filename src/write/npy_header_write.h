/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_WRITE_NPY_HEADER_H
#define UR_WRITE_NPY_HEADER_H

#include <stddef.h>

enum { UR_NPY_HEADER_MOST = 320 };

/* A version 1.0 header padded to 64 bytes, C order; ndim at most 4. Returns its size. */
size_t ur_npy_header(char out[UR_NPY_HEADER_MOST], const char *descr, size_t ndim,
                     const size_t *shape);

#endif
