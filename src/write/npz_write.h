/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a .npz that numpy.load(..., allow_pickle=False) opens. Arrays are borrowed until
 * commit, which writes beside the name and renames: a reader sees the old file or the new. */
#ifndef UR_WRITE_NPZ_H
#define UR_WRITE_NPZ_H

#include "unrelu/unrelu.h"

enum { UR_NPY_HEADER_MOST = 320 };

/* of a .npy array: version 1.0, padded to 64 bytes, C order; ndim at most 4. Returns its size. */
size_t ur_npy_header(char out[UR_NPY_HEADER_MOST], const char *descr, size_t ndim,
                     const size_t *shape);

typedef struct ur_npz_writer ur_npz_writer;

/* Where an archive goes: a file, or, where path is NULL, memory that commit hands out, to be freed
 * by unrelu_free. */
typedef struct {
    const char *path;
    void **bytes;
    size_t *size;
} ur_npz_target;

unrelu_status ur_npz_writer_to(const ur_npz_target *to, ur_npz_writer **out, unrelu_error *err);
unrelu_status ur_npz_writer_open(const char *path, ur_npz_writer **out, unrelu_error *err);
/* <f8, C order; ndim 0 to 4. The first failure is kept and returned by commit, so that a
 * caller may add array after array and look once. */
void ur_npz_add(ur_npz_writer *w, const char *name, const double *data, size_t ndim,
                const size_t *shape);
void ur_npz_add_number(ur_npz_writer *w, const char *name, double value);   /* 0-d <f8, copied */
void ur_npz_add_integer(ur_npz_writer *w, const char *name, int64_t value); /* 0-d <i8, copied */
/* whole numbers from 0 to 2^53, copied: <u4, or <i8 where one does not fit */
void ur_npz_add_counts(ur_npz_writer *w, const char *name, const double *data, size_t ndim,
                       const size_t *shape);
void ur_npz_add_bytes(ur_npz_writer *w, const char *name, const uint8_t *data, size_t ndim,
                      const size_t *shape); /* |u1 */
void ur_npz_add_strings(ur_npz_writer *w, const char *name, const char *const *strings,
                        size_t count);                                     /* 1-d <U, copied */
void ur_npz_add_string(ur_npz_writer *w, const char *name, const char *s); /* 0-d <U, copied */
void ur_npz_add_texts(ur_npz_writer *w, const char *name, const char *const *strings, size_t ndim,
                      const size_t *shape);                       /* <U in C order, copied */
unrelu_status ur_npz_commit(ur_npz_writer *w, unrelu_error *err); /* closes */
void ur_npz_abort(ur_npz_writer *w);                              /* closes */

#endif
