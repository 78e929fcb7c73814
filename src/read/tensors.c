/* SPDX-License-Identifier: Apache-2.0 */
#include "read/tensors.h"

#include "base/error.h"
#include "base/text.h"
#include "read/input_file.h"
#include "read/npz.h"
#include "read/safetensors.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct ur_tensors {
    const char *path;
    size_t count;
    const char **names;
    ur_npz *npz;           /* NULL: a .safetensors file, */
    ur_safetensors header; /* its arrays, */
    int fd;
    uint64_t data; /* and where their bytes begin */
};

static void close_file(void *thing)
{
    close(((ur_tensors *)thing)->fd);
}

/* ---- .safetensors ---- */

static unrelu_status check_length(const char *path, uint64_t length, uint64_t size,
                                  unrelu_error *err)
{
    if (length > size - UR_SAFETENSORS_LENGTH)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s claims a header of %" PRIu64 " bytes, and has %" PRIu64
                       "; it is cut short, copy it again",
                       path, length, size);
    return UNRELU_OK;
}

static unrelu_status read_header(ur_tensors *t, uint64_t size, ur_arena *arena, unrelu_error *err)
{
    unsigned char start[UR_SAFETENSORS_LENGTH];
    UR_ARENA(own);
    UR_TRY(ur_file_read_at(t->fd, t->path, start, sizeof start, 0, err));
    uint64_t length = ur_safetensors_length(start);
    UR_TRY(check_length(t->path, length, size, err));
    char *text = ur_take(&own, (size_t)length, 1);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_file_read_at(t->fd, t->path, text, (size_t)length, sizeof start, err));
    t->data = sizeof start + length;
    return ur_safetensors_parse(text, (size_t)length, size - t->data, t->path, arena, &t->header,
                                err);
}

static unrelu_status open_safetensors(ur_tensors *t, ur_arena *arena, unrelu_error *err)
{
    uint64_t size;
    int regular;
    UR_TRY(ur_file_open_read(t->path, &t->fd, &size, &regular, err));
    if (!ur_arena_adopt(arena, t, close_file))
        return ur_arena_status(arena, err);
    UR_TRY(read_header(t, size, arena, err));
    t->count = t->header.count;
    t->names = ur_take(arena, t->count, sizeof *t->names);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < t->count; i++)
        t->names[i] = t->header.list[i].name;
    return UNRELU_OK;
}

/* some at a time, so that the numbers alone take memory */
static unrelu_status read_numbers(ur_tensors *t, size_t i, double *out, unrelu_error *err)
{
    enum { BLOCK = 4096 };
    const ur_tensor *tensor = &t->header.list[i];
    size_t item = ur_safetensors_item(tensor->type);
    unsigned char raw[BLOCK * sizeof *out];
    for (size_t at = 0; at < tensor->count; at += BLOCK) {
        size_t some = tensor->count - at < BLOCK ? tensor->count - at : BLOCK;
        uint64_t from = t->data + tensor->begin + at * item;
        UR_TRY(ur_file_read_at(t->fd, t->path, raw, some * item, from, err));
        ur_safetensors_convert(tensor->type, raw, some, out + at);
    }
    return UNRELU_OK;
}

/* ---- either ---- */

static unrelu_status list_npz(ur_tensors *t, ur_arena *arena, unrelu_error *err)
{
    t->count = ur_npz_count(t->npz);
    t->names = ur_take(arena, t->count, sizeof *t->names);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < t->count; i++)
        t->names[i] = ur_npz_name(t->npz, i, arena);
    return ur_arena_status(arena, err);
}

unrelu_status ur_tensors_open(const char *path, ur_arena *arena, ur_tensors **out,
                              unrelu_error *err)
{
    ur_file_start start;
    ur_tensors *t = *out = ur_take(arena, 1, sizeof *t);
    const char *copy = ur_take_copy(arena, path);
    UR_TRY(ur_arena_status(arena, err));
    t->path = copy;
    t->fd = -1;
    UR_TRY(ur_file_look(path, &start, err));
    if (start == UR_FILE_TENSORS)
        return open_safetensors(t, arena, err);
    UR_TRY(ur_npz_open(path, arena, &t->npz, err));
    return list_npz(t, arena, err);
}

size_t ur_tensors_count(const ur_tensors *t)
{
    return t->count;
}

const char *ur_tensors_name(const ur_tensors *t, size_t i)
{
    return t->names[i];
}

const char *ur_tensors_activation(const ur_tensors *t)
{
    return t->header.activation;
}

unrelu_status ur_tensors_shape(ur_tensors *t, size_t i, size_t *ndim, size_t shape[4],
                               unrelu_error *err)
{
    if (t->npz)
        return ur_npz_shape(t->npz, t->names[i], ndim, shape, err);
    const ur_tensor *tensor = &t->header.list[i];
    if (tensor->type == UR_TENSOR_OTHER)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: '%.100s' is of type %s, and F64, F32, F16 and BF16 are read; convert "
                       "it with .float()",
                       t->path, tensor->name, tensor->type_name);
    *ndim = tensor->ndim;
    memcpy(shape, tensor->shape, sizeof tensor->shape);
    return UNRELU_OK;
}

unrelu_status ur_tensors_read(ur_tensors *t, size_t i, size_t count, ur_arena *to, double **out,
                              unrelu_error *err)
{
    if (t->npz)
        return ur_npz_doubles(t->npz, t->names[i], count, to, out, err);
    if (t->header.list[i].count != count)
        return ur_fail(err, UNRELU_EFORMAT, "%s: '%.100s' holds %zu numbers, expected %zu", t->path,
                       t->names[i], t->header.list[i].count, count);
    *out = ur_take(to, count, sizeof **out);
    UR_TRY(ur_arena_status(to, err));
    return read_numbers(t, i, *out, err);
}

int ur_is_weight(const char *name)
{
    return ur_text_ends(name, strlen(name), ".weight");
}
