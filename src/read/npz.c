/* SPDX-License-Identifier: Apache-2.0 */
#include "read/npz.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "read/archive.h"
#include "read/input_file.h"
#include "read/npy_header.h"
#include "read/tensors.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_SIZE = 640 };

struct ur_npz {
    ur_archive archive;
    const char *path;
};

/* One array opened for reading; messages call it file:name. */
typedef struct {
    char label[LABEL_SIZE];
    ur_member member;
    ur_npy npy;
} array;

static void close_npz(void *npz)
{
    ur_archive_close(&((ur_npz *)npz)->archive);
}

static unrelu_status open_any(const ur_npz_origin *from, ur_arena *arena, ur_npz **out,
                              unrelu_error *err)
{
    ur_npz *npz = *out = ur_take(arena, 1, sizeof *npz);
    ur_arena_adopt(arena, npz, close_npz);
    const char *copy = ur_take_copy(arena, from->path);
    UR_TRY(ur_arena_status(arena, err));
    npz->path = copy;
    return from->bytes ? ur_archive_of(from->bytes, from->size, copy, &npz->archive, err)
                       : ur_archive_open(copy, copy, &npz->archive, err);
}

unrelu_status ur_npz_open_from(const ur_npz_origin *from, ur_arena *arena, ur_npz **out,
                               unrelu_error *err)
{
    UR_TRY(open_any(from, arena, out, err));
    return ur_archive_check_expansion(&(*out)->archive, from->path, err);
}

unrelu_status ur_npz_open(const char *path, ur_arena *arena, ur_npz **out, unrelu_error *err)
{
    return ur_npz_open_from(&(ur_npz_origin){.path = path}, arena, out, err);
}

int ur_npz_has(const ur_npz *npz, const char *name)
{
    return ur_archive_find(&npz->archive, name) >= 0;
}

size_t ur_npz_count(const ur_npz *npz)
{
    return (size_t)zip_get_num_entries(npz->archive.zip, 0);
}

const char *ur_npz_name(const ur_npz *npz, size_t i, ur_arena *arena)
{
    static const char ending[] = ".npy";
    const char *name = zip_get_name(npz->archive.zip, i, 0);
    size_t size = name ? strlen(name) : 0;
    if (ur_text_ends(name ? name : "", size, ending))
        size -= strlen(ending);
    return ur_take_text(arena, "%.*s", (int)size, name ? name : "");
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

/* where the i-th element of the file lies in C order; in Fortran order the first index is fastest
 */
static size_t index_of(const ur_npy *npy, size_t i)
{
    size_t step = npy->count, to = 0;
    if (!npy->fortran)
        return i;
    for (size_t k = 0; k < npy->ndim; i /= npy->shape[k++]) {
        step /= npy->shape[k];
        to += i % npy->shape[k] * step;
    }
    return to;
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
        out[index_of(npy, i)] = numbers[i];
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

unrelu_status ur_npz_doubles(ur_npz *npz, const char *name, size_t count, ur_arena *to,
                             double **out, unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    *out = NULL;
    UR_TRY(open_array(npz, name, &arena, &a, err));
    UR_TRY(check_numbers(a, count, err));
    double *numbers = ur_take(to, count, sizeof *numbers);
    UR_TRY(ur_arena_status(to, err));
    UR_TRY(read_doubles(a, numbers, err));
    *out = numbers;
    return UNRELU_OK;
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

/* An element is padded with zero code points; one inside the text ends it. text has room for 4
 * bytes a point and a zero. */
static unrelu_status encode_element(const array *a, const unsigned char *raw, char *text,
                                    unrelu_error *err)
{
    size_t points = a->npy.item / 4, used = 0;
    for (size_t i = 0; i < points; i++) {
        uint32_t point;
        memcpy(&point, raw + 4 * i, sizeof point);
        if (!point)
            break;
        size_t size = encode(point, text + used);
        if (!size)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: 0x%x is no Unicode character; the file is damaged", a->label,
                           (unsigned)point);
        used += size;
    }
    text[used] = '\0';
    return UNRELU_OK;
}

/* what the header says, before anything is allocated by it */
static unrelu_status check_strings(const array *a, size_t dimensions, size_t most, size_t longest,
                                   unrelu_error *err)
{
    if (a->npy.dtype != UR_TEXT)
        return ur_fail(err, UNRELU_EFORMAT, "%s holds numbers (dtype '%s'), expected text",
                       a->label, a->npy.descr);
    if (a->npy.ndim > dimensions)
        return ur_fail(err, UNRELU_EFORMAT, "%s has %zu dimensions, expected %s", a->label,
                       a->npy.ndim, dimensions == 1 ? "a list of strings" : "at most 4");
    if (a->npy.count > most)
        return ur_fail(err, UNRELU_EFORMAT, "%s holds %zu strings, expected %zu%s", a->label,
                       a->npy.count, most, most == 1 ? "" : " at most");
    if (a->npy.item / 4 > longest)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has texts of %zu characters, where at most %zu are read; shorten them",
                       a->label, a->npy.item / 4, longest);
    return UNRELU_OK;
}

/* One at a time, and only as long as it is: an element has room for the longest of them. */
static unrelu_status read_strings(array *a, ur_arena *to, const char **strings, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t item = a->npy.item;
    unsigned char *raw = ur_take(&arena, item, 1);
    char *text = ur_take(&arena, item + 1, 1);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < a->npy.count; i++) {
        UR_TRY(ur_member_next(&a->member, raw, item, err));
        UR_TRY(encode_element(a, raw, text, err));
        strings[index_of(&a->npy, i)] = ur_take_copy(to, text);
        UR_TRY(ur_arena_status(to, err));
    }
    return ur_member_finish(&a->member, err);
}

static unrelu_status load_strings(ur_npz *npz, const char *name, size_t dimensions, size_t most,
                                  size_t longest, ur_arena *to, const char ***out, size_t *count,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    array *a = NULL;
    *out = NULL;
    *count = 0;
    UR_TRY(open_array(npz, name, &arena, &a, err));
    UR_TRY(check_strings(a, dimensions, most, longest, err));
    const char **strings = ur_take(to, a->npy.count, sizeof *strings);
    UR_TRY(ur_arena_status(to, err));
    UR_TRY(read_strings(a, to, strings, err));
    *out = strings;
    *count = a->npy.count;
    return UNRELU_OK;
}

unrelu_status ur_npz_strings(ur_npz *npz, const char *name, size_t most, size_t longest,
                             ur_arena *to, const char ***out, size_t *count, unrelu_error *err)
{
    return load_strings(npz, name, 1, most, longest, to, out, count, err);
}

unrelu_status ur_npz_texts(ur_npz *npz, const char *name, size_t count, ur_arena *to,
                           const char ***out, unrelu_error *err)
{
    size_t found;
    UR_TRY(load_strings(npz, name, 4, count, UR_TEXT_MOST, to, out, &found, err));
    if (found == count)
        return UNRELU_OK;
    *out = NULL;
    return ur_fail(err, UNRELU_EFORMAT, "%s:%s holds %zu strings, expected %zu", npz->path, name,
                   found, count);
}

unrelu_status ur_npz_string(ur_npz *npz, const char *name, ur_arena *to, const char **out,
                            unrelu_error *err)
{
    const char **strings;
    size_t count;
    *out = "";
    UR_TRY(ur_npz_strings(npz, name, 1, UR_TEXT_MOST, to, &strings, &count, err));
    if (count != 1)
        return ur_fail(err, UNRELU_EFORMAT, "%s:%s holds %zu strings, expected 1", npz->path, name,
                       count);
    *out = strings[0];
    return UNRELU_OK;
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

int ur_npz_has_layers(const ur_npz *npz)
{
    UR_ARENA(arena);
    size_t layers = 0;
    for (size_t i = 0; i < ur_npz_count(npz); i++)
        layers += (size_t)ur_is_weight(ur_npz_name(npz, i, &arena));
    return layers >= UR_LAYERS;
}

unrelu_status unrelu_file_kind(const char *path, char *kind, size_t size, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_file_start start;
    ur_npz *npz;
    array *a = NULL;
    const char *text = "";
    if (!path || !kind || size == 0)
        return ur_fail(err, UNRELU_EUSAGE, "unrelu_file_kind needs a path and room for a kind");
    *kind = '\0';
    if (ur_file_look(path, &start, NULL) || (start != UR_FILE_ZIP && start != UR_FILE_TENSORS))
        return UNRELU_OK;
    if (start == UR_FILE_TENSORS) {
        snprintf(kind, size, "network");
        return UNRELU_OK;
    }
    UR_TRY(open_any(&(ur_npz_origin){.path = path}, &arena, &npz,
                    err)); /* samples may be packed as they like */
    if (!ur_npz_has(npz, "kind"))
        text = ur_npz_has_layers(npz) ? "network" : "";
    else
        UR_TRY(open_array(npz, "kind", &arena, &a, err));
    if (a && a->npy.dtype == UR_TEXT) /* an array of numbers may happen to be called so */
        UR_TRY(ur_npz_string(npz, "kind", &arena, &text, err));
    snprintf(kind, size, "%s", text);
    return UNRELU_OK;
}
