/* SPDX-License-Identifier: Apache-2.0 */
/* Named arrays of a .npz file (models and summaries), read whole. */
#ifndef UR_READ_NPZ_H
#define UR_READ_NPZ_H

#include "base/arena.h"

typedef struct ur_npz ur_npz;

/* Closed with the arena. An archive that unpacks to far more than it is (base/limits.h) is refused:
 * its arrays are read whole. */
unrelu_status ur_npz_open(const char *path, ur_arena *arena, ur_npz **out, unrelu_error *err);
/* the same of a file, or, where bytes is not NULL, of memory that lives as long as the arena, which
 * messages call `path` */
typedef struct {
    const char *path;
    const void *bytes;
    size_t size;
} ur_npz_origin;
/* Of bytes that a caller gave: NULL is no file's name, but no bytes. */
static inline ur_npz_origin ur_npz_origin_of(const char *label, const void *bytes, size_t size)
{
    return (ur_npz_origin){label, bytes ? bytes : "", bytes ? size : 0};
}
unrelu_status ur_npz_open_from(const ur_npz_origin *from, ur_arena *arena, ur_npz **out,
                               unrelu_error *err);
int ur_npz_has(const ur_npz *npz, const char *name);
size_t ur_npz_count(const ur_npz *npz);
/* of the i-th array, without .npy; in the arena */
const char *ur_npz_name(const ur_npz *npz, size_t i, ur_arena *arena);
/* whether weights of two layers are among them, as PyTorch calls them */
int ur_npz_has_layers(const ur_npz *npz);

/* What is read is taken from the arena `to`. An array of numbers (any dtype samples may have) of
 * exactly `count` elements, as doubles in C order. A missing array, another count, a string array:
 * EFORMAT with the file, the name, and both counts. */
unrelu_status ur_npz_doubles(ur_npz *npz, const char *name, size_t count, ur_arena *to,
                             double **out, unrelu_error *err);
/* a 0-d or 1-element array */
unrelu_status ur_npz_number(ur_npz *npz, const char *name, double *out, unrelu_error *err);
/* a <U array of up to `most` UTF-8 strings, each of up to `longest` characters */
unrelu_status ur_npz_strings(ur_npz *npz, const char *name, size_t most, size_t longest,
                             ur_arena *to, const char ***out, size_t *count, unrelu_error *err);
/* the same of an array of up to 4 dimensions and exactly `count` strings, in C order */
unrelu_status ur_npz_texts(ur_npz *npz, const char *name, size_t count, ur_arena *to,
                           const char ***out, unrelu_error *err);
/* a 0-d or 1-element <U array */
unrelu_status ur_npz_string(ur_npz *npz, const char *name, ur_arena *to, const char **out,
                            unrelu_error *err);
/* shape of an array: at most 4 dimensions are stored in shape */
unrelu_status ur_npz_shape(ur_npz *npz, const char *name, size_t *ndim, size_t shape[4],
                           unrelu_error *err);

#endif
