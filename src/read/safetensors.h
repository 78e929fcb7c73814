/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a .safetensors file: a length of 8 bytes, then JSON of that length, which names
 * arrays of numbers with their type, their shape and where their bytes lie behind it. */
#ifndef UR_SAFETENSORS_H
#define UR_SAFETENSORS_H

#include "base/arena.h"

typedef enum {
    UR_TENSOR_F64,
    UR_TENSOR_F32,
    UR_TENSOR_F16,
    UR_TENSOR_BF16,
    UR_TENSOR_OTHER
} ur_tensor_type;

typedef struct {
    const char *name; /* as it is spelled in the file: escapes stay */
    ur_tensor_type type;
    char type_name[16];
    size_t ndim, shape[4]; /* of more than 4 dimensions the first 4 */
    size_t count;          /* of numbers; 0 where the type is another one */
    uint64_t begin, end;   /* bytes behind the header, which the file has */
} ur_tensor;

/* bytes of the length that a file begins with */
enum { UR_SAFETENSORS_LENGTH = 8 };
/* whether the first bytes of a file are those of one */
int ur_safetensors_begins(const unsigned char *bytes, size_t size);
/* the length that it begins with */
uint64_t ur_safetensors_length(const unsigned char bytes[UR_SAFETENSORS_LENGTH]);

typedef struct {
    ur_tensor *list;
    size_t count;
    const char *activation; /* of the metadata, which unrelu writes; NULL: not there */
} ur_safetensors;

/* text (size): the header; data: bytes that the file has behind it. Names and list are taken from
 * the arena. What a header must not say is EFORMAT with the byte where it says it. */
unrelu_status ur_safetensors_parse(const char *text, size_t size, uint64_t data, const char *label,
                                   ur_arena *arena, ur_safetensors *out, unrelu_error *err);

/* count numbers of the type, which is not OTHER, as doubles */
void ur_safetensors_convert(ur_tensor_type type, const unsigned char *bytes, size_t count,
                            double *out);
size_t ur_safetensors_item(ur_tensor_type type); /* bytes of a number */

#endif
