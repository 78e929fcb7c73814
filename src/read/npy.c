/* SPDX-License-Identifier: Apache-2.0 */
#include "read/array.h"
#include "read/input_file.h"

typedef struct {
    const unrelu_source *source;
    int fd;
    uint64_t position;
} file_cursor;

static unrelu_status read_next(void *context, void *bytes, size_t size, unrelu_error *err)
{
    file_cursor *c = context;
    unrelu_status status = ur_file_read_at(c->fd, c->source->label, bytes, size, c->position, err);
    c->position += size;
    return status;
}

unrelu_status ur_npy_open(unrelu_source *source, const char *path, const char *columns,
                          unrelu_error *err)
{
    uint64_t size;
    int regular;
    ur_array *a = ur_array_new(source, err);
    if (!a)
        return UNRELU_ENOMEM;
    unrelu_status status = ur_file_open_read(path, &a->fd, &size, &regular, err);
    if (status)
        return status;
    file_cursor cursor = {source, a->fd, 0};
    status = ur_npy_read(read_next, &cursor, size, source->label, &a->npy, err);
    a->base = a->npy.data;
    return status ? status : ur_array_start(source, columns, err);
}
