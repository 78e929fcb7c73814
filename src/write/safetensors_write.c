/* SPDX-License-Identifier: Apache-2.0 */
/* The length of the header in 8 bytes, the header in JSON, padded with blanks to a multiple of 8,
 * then the numbers, array after array (read/safetensors.h). */
#include "write/safetensors_write.h"

#include "base/arena.h"
#include "base/error.h"
#include "write/output_file.h"

#include <string.h>

enum { LENGTH = 8, BLOCK = 4096 };

size_t ur_number_bytes(int single)
{
    return single ? sizeof(float) : sizeof(double);
}

void ur_numbers_put(const double *data, size_t count, int single, unsigned char *out)
{
    for (size_t i = 0; i < count; i++) {
        float rounded = (float)data[i];
        if (single)
            memcpy(out + i * sizeof rounded, &rounded, sizeof rounded);
        else
            memcpy(out + i * sizeof *data, &data[i], sizeof *data);
    }
}

size_t ur_weight_count(const ur_weight *w)
{
    return w->columns > 0 ? w->rows * w->columns : w->rows;
}

static const char *describe(ur_arena *arena, const ur_weight *w, size_t from, int single)
{
    const char *shape = w->columns > 0 ? ur_take_text(arena, "%zu,%zu", w->rows, w->columns)
                                       : ur_take_text(arena, "%zu", w->rows);
    return ur_take_text(
        arena, "\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}", w->name,
        single ? "F32" : "F64", shape, from, from + ur_weight_count(w) * ur_number_bytes(single));
}

static const char *make_header(ur_arena *arena, const ur_weight *weights, size_t count, int single,
                               const char *note)
{
    size_t from = 0;
    const char *text =
        ur_take_text(arena, "{\"__metadata__\":{\"format\":\"pt\",\"activation\":\"%s\"}", note);
    for (size_t i = 0; i < count; i++) {
        text = ur_take_text(arena, "%s,%s", text, describe(arena, &weights[i], from, single));
        from += ur_weight_count(&weights[i]) * ur_number_bytes(single);
    }
    size_t size = strlen(text) + 1;
    return ur_take_text(arena, "%s}%*s", text, (int)((LENGTH - size % LENGTH) % LENGTH), "");
}

static unrelu_status put_header(ur_file *file, const char *header, unrelu_error *err)
{
    unsigned char length[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        length[i] = (unsigned char)((uint64_t)strlen(header) >> 8 * i);
    UR_TRY(ur_file_write(file, length, sizeof length, err));
    return ur_file_write(file, header, strlen(header), err);
}

static unrelu_status put_weight(ur_file *file, const ur_weight *w, int single, unrelu_error *err)
{
    unsigned char bytes[BLOCK * sizeof(double)];
    size_t count = ur_weight_count(w);
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;
        ur_numbers_put(w->data + at, some, single, bytes);
        UR_TRY(ur_file_write(file, bytes, some * ur_number_bytes(single), err));
    }
    return UNRELU_OK;
}

unrelu_status ur_safetensors_write(const char *path, const ur_weight *weights, size_t count,
                                   int single, const char *note, unrelu_error *err)
{
    ur_file *file;
    UR_ARENA(arena);
    const char *header = make_header(&arena, weights, count, single, note);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_file_open(path, 0, &file, err));
    put_header(file, header, NULL); /* the commit tells the first failure */
    for (size_t i = 0; i < count; i++)
        put_weight(file, &weights[i], single, NULL);
    return ur_file_commit(file, err);
}
