/* SPDX-License-Identifier: Apache-2.0 */
#include "read/npz.h"

#include "base/error.h"
#include "base/memory.h"
#include "read/archive.h"
#include "read/npy_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static unrelu_status open_array(ur_npz *npz, const char *name, array *a, unrelu_error *err)
{
    zip_int64_t index = ur_archive_find(&npz->archive, name);
    if (index < 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no array '%s'; it was not written by this program, or by another "
                       "version",
                       npz->path, name);
    snprintf(a->label, sizeof a->label, "%.512s:%.100s", npz->path, name);
    unrelu_status status = ur_member_open(&npz->archive, index, a->label, &a->member, err);
    if (!status)
        status = ur_npy_read(ur_member_next, &a->member, a->member.size, a->label, &a->npy, err);
    if (status)
        ur_member_close(&a->member);
    return status;
}

/* The elements as they lie, count * item bytes */
static unrelu_status read_elements(array *a, void *bytes, unrelu_error *err)
{
    unrelu_status status = ur_member_next(&a->member, bytes, a->npy.count * a->npy.item, err);
    return status ? status : ur_member_finish(&a->member, err);
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
    const ur_npy *npy = &a->npy;
    int in_place = npy->dtype == UR_F8 && !npy->fortran;
    if (in_place)
        return read_elements(a, out, err);
    unsigned char *raw = ur_alloc(npy->count, npy->item);
    double *turned = npy->fortran ? ur_doubles(npy->count) : NULL;
    unrelu_status status = raw && (turned || !npy->fortran)
                               ? read_elements(a, raw, err)
                               : ur_fail_memory(err, npy->count, "numbers");
    if (!status && npy->fortran) {
        ur_npy_convert(npy->dtype, raw, 1, turned, 1, npy->count);
        for (size_t i = 0; i < npy->count; i++)
            out[i] = turned[turned_index(npy, i)];
    } else if (!status) {
        ur_npy_convert(npy->dtype, raw, 1, out, 1, npy->count);
    }
    free(turned);
    free(raw);
    return status;
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
    array a = {0};
    *out = NULL;
    unrelu_status status = open_array(npz, name, &a, err);
    if (status)
        return status;
    status = check_numbers(&a, count, err);
    if (!status && !(*out = ur_doubles(count)))
        status = ur_fail_memory(err, count, "numbers");
    if (!status)
        status = read_doubles(&a, *out, err);
    if (status) {
        free(*out);
        *out = NULL;
    }
    ur_member_close(&a.member);
    return status;
}

unrelu_status ur_npz_number(ur_npz *npz, const char *name, double *out, unrelu_error *err)
{
    double *value;
    *out = 0;
    unrelu_status status = ur_npz_doubles(npz, name, 1, &value, err);
    if (!status)
        *out = *value;
    free(value);
    return status;
}

/* UTF-8 of one code point at out; 0 for what is none */
static size_t encode(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        if (point >= 0xd800 && point < 0xe000)
            return 0;
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    if (point > 0x10ffff)
        return 0;
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
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
    unsigned char *raw = ur_alloc(a->npy.count, a->npy.item);
    unrelu_status status =
        raw ? read_elements(a, raw, err) : ur_fail_memory(err, a->npy.count, "strings");
    for (size_t i = 0; i < a->npy.count && !status; i++) {
        size_t from = a->npy.fortran ? turned_index(&a->npy, i) : i;
        status = encode_element(a, raw + from * a->npy.item, &out[i], err);
    }
    free(raw);
    return status;
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
    array a = {0};
    *out = NULL;
    *count = 0;
    unrelu_status status = open_array(npz, name, &a, err);
    if (status)
        return status;
    status = check_strings(&a, dimensions, err);
    if (!status && !(*out = ur_alloc(a.npy.count, sizeof **out)))
        status = ur_fail_memory(err, a.npy.count, "strings");
    if (!status)
        status = read_strings(&a, *out, err);
    if (status) {
        ur_strings_free(*out, a.npy.count);
        *out = NULL;
    } else {
        *count = a.npy.count;
    }
    ur_member_close(&a.member);
    return status;
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
    array a = {0};
    *ndim = 0;
    unrelu_status status = open_array(npz, name, &a, err);
    if (status)
        return status;
    *ndim = a.npy.ndim;
    memcpy(shape, a.npy.shape, sizeof a.npy.shape);
    ur_member_close(&a.member);
    return UNRELU_OK;
}

/* "" too where an array of numbers happens to be called kind */
static unrelu_status read_kind(ur_npz *npz, char *kind, size_t size, unrelu_error *err)
{
    array a = {0};
    if (!ur_npz_has(npz, "kind"))
        return UNRELU_OK;
    unrelu_status status = open_array(npz, "kind", &a, err);
    ur_member_close(&a.member);
    if (status || a.npy.dtype != UR_TEXT)
        return status;
    return ur_npz_string(npz, "kind", kind, size, err);
}

static int looks_like_zip(const char *path)
{
    struct stat info;
    char magic[4] = "";
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0; /* a pipe must not be opened: what it holds would be lost */
    FILE *file = fopen(path, "rbe");
    if (!file)
        return 0;
    size_t got = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return got == 4 && (!memcmp(magic, "PK\3\4", 4) || !memcmp(magic, "PK\5\6", 4));
}

unrelu_status unrelu_file_kind(const char *path, char *kind, size_t size, unrelu_error *err)
{
    ur_npz *npz;
    if (!path || !kind || size == 0)
        return ur_fail(err, UNRELU_EUSAGE, "unrelu_file_kind needs a path and room for a kind");
    *kind = '\0';
    if (!looks_like_zip(path))
        return UNRELU_OK;
    unrelu_status status = ur_npz_open(path, &npz, err);
    if (status)
        return status;
    status = read_kind(npz, kind, size, err);
    ur_npz_close(npz);
    return status;
}
