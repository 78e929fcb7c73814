/* SPDX-License-Identifier: Apache-2.0 */
#include "read/npz.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "read/archive.h"
#include "read/input_file.h"
#include "read/npy_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SIZE = 640 };

struct ur_npz {
    ur_archive archive;
    char *path;
};

/* One array opened for reading; messages call it file:name. */
typedef struct {
    char label[LABEL_SIZE];
    ur_member member;
    ur_npy npy;
} array;

unrelu_status ur_npz_open(const char *path, ur_npz **out, unrelu_error *err)
{
    *out = NULL;
    ur_npz *npz = ur_alloc(1, sizeof *npz);
    if (!npz || !(npz->path = ur_string_copy(path))) {
        ur_npz_close(npz);
        return ur_fail_memory(err, 1, "archive");
    }
    unrelu_status status = ur_archive_open(path, path, &npz->archive, err);
    if (status)
        ur_npz_close(npz);
    else
        *out = npz;
    return status;
}

void ur_npz_close(ur_npz *npz)
{
    if (!npz)
        return;
    ur_archive_close(&npz->archive);
    free(npz->path);
    free(npz);
}

int ur_npz_has(const ur_npz *npz, const char *name)
{
    return ur_archive_find(&npz->archive, name) >= 0;
}

static void close_array(void *thing)
{
    ur_member_close(&((array *)thing)->member);
}

/* closed with the arena */
static unrelu_status open_array(ur_npz *npz, const char *name, ur_arena *arena, array **out,
                                unrelu_error *err)
{
    zip_int64_t index = ur_archive_find(&npz->archive, name);
    if (index < 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no array '%s'; it was not written by this program, or by another "
                       "version",
                       npz->path, name);
    array *a = *out = ur_take(arena, 1, sizeof *a);
    ur_arena_adopt(arena, a, close_array);
    UR_TRY(ur_arena_status(arena, err));
    snprintf(a->label, sizeof a->label, "%.512s:%.100s", npz->path, name);
    UR_TRY(ur_member_open(&npz->archive, index, a->label, &a->member, err));
    return ur_npy_read(ur_member_next, &a->member, a->member.size, a->label, &a->npy, err);
}

/* The elements as they lie, count * item bytes */
static unrelu_status read_elements(array *a, void *bytes, unrelu_error *err)
{
    UR_TRY(ur_member_next(&a->member, bytes, a->npy.count * a->npy.item, err));
    return ur_member_finish(&a->member, err);
}

/* where element i of C order lies in Fortran order (first index fastest) */
static size_t turned_index(const ur_npy *npy, size_t i)
{
    size_t step = npy->count, from = 0;
    for (size_t k = npy->ndim; k-- > 0; i /= npy->shape[k]) {
        step /= npy->shape[k];
        from += i % npy->shape[k] * step;
    }
    return from;
}

static unrelu_status read_doubles(array *a, double *out, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_npy *npy = &a->npy;
    if (npy->dtype == UR_F8 && !npy->fortran)
        return read_elements(a, out, err);
    unsigned char *raw = ur_take(&arena, npy->count, npy->item);
    double *numbers = npy->fortran ? ur_take(&arena, npy->count, sizeof *numbers) : out;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(read_elements(a, raw, err));
    ur_npy_convert(npy->dtype, raw, 1, numbers, 1, npy->count);
    for (size_t i = 0; npy->fortran && i < npy->count; i++)
        out[i] = numbers[turned_index(npy, i)];
    return UNRELU_OK;
}

static unrelu_status check_numbers(const array *a, size_t count, unrelu_error *err)
{
    if (a->npy.dtype == UR_TEXT)
        return ur_fail(err, UNRELU_EFORMAT, "%s holds text (dtype '%s'), expected %zu numbers",
                       a->label, a->npy.descr, count);
    if (a->npy.count != count)
        return ur_fail(err, UNRELU_EFORMAT, "%s holds %zu numbers, expected %zu", a->label,
                       a->npy.count, count);
    if (a->npy.ndim > 4)
        return ur_fail(err, UNRELU_EFORMAT, "%s has %zu dimensions, expected at most 4", a->label,
                       a->npy.ndim);
    return UNRELU_OK;
}

unrelu_status ur_npz_doubles(ur_npz *npz, const char *name, size_t count, double **out,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    *out = NULL;
    UR_TRY(open_array(npz, name, &arena, &a, err));
    UR_TRY(check_numbers(a, count, err));
    double *numbers = ur_doubles(count);
    if (!numbers)
        return ur_fail_memory(err, count, "numbers");
    unrelu_status status = read_doubles(a, numbers, err);
    if (status)
        free(numbers);
    else
        *out = numbers;
    return status;
}

unrelu_status ur_npz_number(ur_npz *npz, const char *name, double *out, unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    *out = 0;
    UR_TRY(open_array(npz, name, &arena, &a, err));
    UR_TRY(check_numbers(a, 1, err));
    return read_doubles(a, out, err);
}

/* UTF-8 of one code point at out; 0 for what is none */
static size_t encode(uint32_t point, char *out)
{
    static const unsigned char mark[] = {0, 0xc0, 0xe0, 0xf0};
    size_t more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    out[0] = (char)(mark[more] | point >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* An element is padded with zero code points; one inside the text ends it. */
static unrelu_status encode_element(const array *a, const unsigned char *raw, char **out,
                                    unrelu_error *err)
{
    size_t points = a->npy.item / 4, used = 0;
    char *text = ur_alloc(points + 1, 4);
    if (!text)
        return ur_fail_memory(err, points, "characters");
    for (size_t i = 0; i < points; i++) {
        uint32_t point;
        memcpy(&point, raw + 4 * i, sizeof point);
        if (!point)
            break;
        size_t size = encode(point, text + used);
        if (!size) {
            free(text);
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: 0x%x is no Unicode character; the file is "
                           "damaged",
                           a->label, (unsigned)point);
        }
        used += size;
    }
    *out = text;
    return UNRELU_OK;
}

static unrelu_status read_strings(array *a, char **out, unrelu_error *err)
{
    UR_ARENA(arena);
    unsigned char *raw = ur_take(&arena, a->npy.count, a->npy.item);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(read_elements(a, raw, err));
    for (size_t i = 0; i < a->npy.count; i++) {
        size_t from = a->npy.fortran ? turned_index(&a->npy, i) : i;
        UR_TRY(encode_element(a, raw + from * a->npy.item, &out[i], err));
    }
    return UNRELU_OK;
}

/* <U0 takes no bytes, so that a count in the header would be free to claim any size */
static unrelu_status check_strings(const array *a, size_t dimensions, unrelu_error *err)
{
    if (a->npy.dtype != UR_TEXT)
        return ur_fail(err, UNRELU_EFORMAT, "%s holds numbers (dtype '%s'), expected text",
                       a->label, a->npy.descr);
    if (a->npy.ndim > dimensions)
        return ur_fail(err, UNRELU_EFORMAT, "%s has %zu dimensions, expected %s", a->label,
                       a->npy.ndim, dimensions == 1 ? "a list of strings" : "at most 4");
    if (a->npy.item == 0 && a->npy.count > a->member.size)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s claims %zu strings in %zu bytes; the file is "
                       "damaged",
                       a->label, a->npy.count, (size_t)a->member.size);
    return UNRELU_OK;
}

static unrelu_status load_strings(ur_npz *npz, const char *name, size_t dimensions, char ***out,
                                  size_t *count, unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    *out = NULL;
    *count = 0;
    UR_TRY(open_array(npz, name, &arena, &a, err));
    UR_TRY(check_strings(a, dimensions, err));
    char **strings = ur_alloc(a->npy.count, sizeof *strings);
    if (!strings)
        return ur_fail_memory(err, a->npy.count, "strings");
    unrelu_status status = read_strings(a, strings, err);
    if (status) {
        ur_strings_free(strings, a->npy.count);
        return status;
    }
    *out = strings;
    *count = a->npy.count;
    return UNRELU_OK;
}

unrelu_status ur_npz_strings(ur_npz *npz, const char *name, char ***out, size_t *count,
                             unrelu_error *err)
{
    return load_strings(npz, name, 1, out, count, err);
}

unrelu_status ur_npz_texts(ur_npz *npz, const char *name, size_t count, char ***out,
                           unrelu_error *err)
{
    size_t found;
    unrelu_status status = load_strings(npz, name, 4, out, &found, err);
    if (status || found == count)
        return status;
    ur_strings_free(*out, found);
    *out = NULL;
    return ur_fail(err, UNRELU_EFORMAT, "%s:%s holds %zu strings, expected %zu", npz->path, name,
                   found, count);
}

unrelu_status ur_npz_string(ur_npz *npz, const char *name, char *out, size_t size,
                            unrelu_error *err)
{
    char **strings;
    size_t count;
    *out = '\0';
    unrelu_status status = ur_npz_strings(npz, name, &strings, &count, err);
    if (!status && count != 1)
        status = ur_fail(err, UNRELU_EFORMAT, "%s:%s holds %zu strings, expected 1", npz->path,
                         name, count);
    if (!status)
        snprintf(out, size, "%s", strings[0]);
    ur_strings_free(strings, count);
    return status;
}

unrelu_status ur_npz_shape(ur_npz *npz, const char *name, size_t *ndim, size_t shape[4],
                           unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    *ndim = 0;
    UR_TRY(open_array(npz, name, &arena, &a, err));
    *ndim = a->npy.ndim;
    memcpy(shape, a->npy.shape, sizeof a->npy.shape);
    return UNRELU_OK;
}

/* "" too where an array of numbers happens to be called kind */
static unrelu_status read_kind(ur_npz *npz, char *kind, size_t size, unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    if (!ur_npz_has(npz, "kind"))
        return UNRELU_OK;
    UR_TRY(open_array(npz, "kind", &arena, &a, err));
    return a->npy.dtype == UR_TEXT ? ur_npz_string(npz, "kind", kind, size, err) : UNRELU_OK;
}

unrelu_status unrelu_file_kind(const char *path, char *kind, size_t size, unrelu_error *err)
{
    ur_npz *npz;
    ur_file_start start;
    if (!path || !kind || size == 0)
        return ur_fail(err, UNRELU_EUSAGE, "unrelu_file_kind needs a path and room for a kind");
    *kind = '\0';
    if (ur_file_look(path, &start, NULL) || start != UR_FILE_ZIP)
        return UNRELU_OK;
    UR_TRY(ur_npz_open(path, &npz, err));
    unrelu_status status = read_kind(npz, kind, size, err);
    ur_npz_close(npz);
    return status;
}
