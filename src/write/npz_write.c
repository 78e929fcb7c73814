/* SPDX-License-Identifier: Apache-2.0 */
/* A .npz is a zip of .npy members. They are stored uncompressed and dated 1980-01-01, so that
 * equal arrays give equal files; a size or offset beyond 32 bits gets a zip64 field. */
#include "write/npz_write.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "write/output_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    ZIP64_MOST = 28, /* extra field with two sizes and an offset */
    NAME_MOST = 100,
    VERSION = 20,
    VERSION_ZIP64 = 45,
    UTF8_NAME = 1 << 11,
    DATE_1980_01_01 = 0x21,
};

typedef struct member {
    struct member *next;
    char name[NAME_MOST + 8];
    char header[UR_NPY_HEADER_MOST];
    size_t header_size;
    const void *data;
    size_t size;
    uint32_t crc;
    uint64_t offset;
} member;

struct ur_npz_writer {
    ur_arena arena; /* of members and of what was copied */
    ur_file *file;  /* NULL: memory */
    const char *path;
    ur_npz_target to;
    unsigned char *bytes;
    size_t room;
    member *first, **end; /* a list, and where the next one is linked in */
    size_t count;
    uint64_t written;
    unrelu_status failed;
    unrelu_error failure;
};

unrelu_status ur_npz_writer_to(const ur_npz_target *to, ur_npz_writer **out, unrelu_error *err)
{
    *out = NULL;
    if (!to->path) {
        *to->bytes = NULL;
        *to->size = 0;
    }
    ur_npz_writer *w = ur_alloc(1, sizeof *w);
    if (!w)
        return ur_fail_memory(err, 1, "archive writer");
    w->to = *to;
    w->path = to->path ? ur_take_copy(&w->arena, to->path) : "memory";
    w->end = &w->first;
    unrelu_status status = ur_arena_status(&w->arena, err);
    if (status == UNRELU_OK && to->path)
        status = ur_file_open(to->path, 0, &w->file, err);
    if (status == UNRELU_OK)
        *out = w;
    else
        ur_npz_abort(w);
    return status;
}

unrelu_status ur_npz_writer_open(const char *path, ur_npz_writer **out, unrelu_error *err)
{
    return ur_npz_writer_to(&(ur_npz_target){.path = path}, out, err);
}

void ur_npz_abort(ur_npz_writer *w)
{
    if (!w)
        return;
    ur_file_abort(w->file);
    ur_free(w->bytes);
    ur_arena_end(&w->arena);
    ur_free(w);
}

/* ---- collecting members ---- */

size_t ur_npy_header(char out[UR_NPY_HEADER_MOST], const char *descr, size_t ndim,
                     const size_t *shape)
{
    enum { PREFIX = 10, ALIGNMENT = 64 };
    size_t room = UR_NPY_HEADER_MOST - ALIGNMENT, used = PREFIX;
    assert(ndim <= 4 && strlen(descr) < 32);
    used += (size_t)snprintf(out + used, room - used,
                             "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t k = 0; k < ndim; k++)
        used += (size_t)snprintf(out + used, room - used, "%s%zu", k ? ", " : "", shape[k]);
    used += (size_t)snprintf(out + used, room - used, "%s), }", ndim == 1 ? "," : "");
    size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out + used, ' ', total - used - 1);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)((total - PREFIX) & 0xff);
    out[9] = (char)((total - PREFIX) >> 8);
    return total;
}

static size_t count_of(size_t ndim, const size_t *shape, int *overflow)
{
    size_t count = 1;
    for (size_t k = 0; k < ndim && ndim <= 4; k++)
        count = ur_product(count, shape[k], overflow);
    return count;
}

/* data is NULL where memory ended */
static void add(ur_npz_writer *w, const char *name, const char *descr, size_t item,
                const void *data, size_t ndim, const size_t *shape)
{
    int overflow = 0;
    size_t size = ur_product(count_of(ndim, shape, &overflow), item, &overflow);
    if (overflow || ndim > 4 || strlen(name) > NAME_MOST) {
        if (!w->failed)
            w->failed = ur_fail(&w->failure, UNRELU_EINTERNAL,
                                "array '%.100s' for %.300s: bad name or shape", name, w->path);
        return;
    }
    member *m = *w->end = ur_take(&w->arena, 1, sizeof *m);
    if (!m)
        return;
    w->end = &m->next;
    w->count++;
    memcpy(m->name, name, strlen(name));
    memcpy(m->name + strlen(name), ".npy", 5);
    m->header_size = ur_npy_header(m->header, descr, ndim, shape);
    m->data = data;
    m->size = size;
}

void ur_npz_add(ur_npz_writer *w, const char *name, const double *data, size_t ndim,
                const size_t *shape)
{
    add(w, name, "<f8", sizeof *data, data, ndim, shape);
}

void ur_npz_add_bytes(ur_npz_writer *w, const char *name, const uint8_t *data, size_t ndim,
                      const size_t *shape)
{
    add(w, name, "|u1", sizeof *data, data, ndim, shape);
}

void ur_npz_add_counts(ur_npz_writer *w, const char *name, const double *data, size_t ndim,
                       const size_t *shape)
{
    int overflow = 0;
    size_t count = count_of(ndim, shape, &overflow);
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = data[i] > most ? data[i] : most;
    int small = most <= UINT32_MAX;
    size_t item = small ? sizeof(uint32_t) : sizeof(int64_t);
    void *copy = ur_take(&w->arena, count, item);
    for (size_t i = 0; copy && i < count; i++)
        if (small)
            ((uint32_t *)copy)[i] = (uint32_t)data[i];
        else
            ((int64_t *)copy)[i] = (int64_t)data[i];
    add(w, name, small ? "<u4" : "<i8", item, copy, ndim, shape);
}

/* a 0-d array of 8 bytes, copied */
static void add_scalar(ur_npz_writer *w, const char *name, const char *descr, const void *value)
{
    void *copy = ur_take(&w->arena, 1, 8);
    if (copy)
        memcpy(copy, value, 8);
    add(w, name, descr, 8, copy, 0, NULL);
}

void ur_npz_add_number(ur_npz_writer *w, const char *name, double value)
{
    add_scalar(w, name, "<f8", &value);
}

void ur_npz_add_integer(ur_npz_writer *w, const char *name, int64_t value)
{
    add_scalar(w, name, "<i8", &value);
}

/* Next code point of UTF-8 text; a byte that is none becomes U+FFFD, so that any name can be
 * written. */
static uint32_t next_point(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int size = s[0] < 0x80         ? 1
               : s[0] >> 5 == 0x6  ? 2
               : s[0] >> 4 == 0xe  ? 3
               : s[0] >> 3 == 0x1e ? 4
                                   : 0;
    uint32_t point = size == 1 ? s[0] : size ? s[0] & (0x7fu >> size) : 0;
    for (int i = 1; i < size; i++) {
        if (s[i] >> 6 != 2) {
            size = 0;
            break;
        }
        point = point << 6 | (s[i] & 0x3f);
    }
    if (!size || point < least[size] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
        ++*text;
        return 0xfffd;
    }
    *text += size;
    return point;
}

void ur_npz_add_texts(ur_npz_writer *w, const char *name, const char *const *strings, size_t ndim,
                      const size_t *shape)
{
    char descr[32];
    int overflow = 0;
    size_t points = 1, count = count_of(ndim, shape, &overflow); /* <U0 is no type of numpy's */
    for (size_t i = 0; i < count; i++) {
        size_t size = 0;
        for (const char *text = strings[i]; *text; size++)
            next_point(&text);
        points = size > points ? size : points;
    }
    unsigned char *data = ur_take(&w->arena, count, 4 * points);
    for (size_t i = 0; data && i < count; i++) {
        const char *text = strings[i];
        for (unsigned char *to = data + i * 4 * points; *text; to += 4) {
            uint32_t point = next_point(&text);
            memcpy(to, &point, sizeof point);
        }
    }
    snprintf(descr, sizeof descr, "<U%zu", points);
    add(w, name, descr, 4 * points, data, ndim, shape);
}

void ur_npz_add_strings(ur_npz_writer *w, const char *name, const char *const *strings,
                        size_t count)
{
    ur_npz_add_texts(w, name, strings, 1, &count);
}

void ur_npz_add_string(ur_npz_writer *w, const char *name, const char *s)
{
    ur_npz_add_texts(w, name, &s, 0, NULL);
}

/* ---- writing the zip ---- */

typedef struct {
    unsigned char bytes[ENTRY_SIZE + NAME_MOST + 8 + ZIP64_MOST];
    size_t size;
} record;

typedef struct {
    uint64_t value;
    int bytes;
} field;

/* little-endian; those of 0 bytes are left out */
static void add_fields(record *r, size_t count, const field *fields)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < fields[i].bytes; k++)
            r->bytes[r->size++] = (unsigned char)(fields[i].value >> 8 * k);
}

static uint64_t low32(uint64_t value)
{
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static uint64_t member_size(const member *m)
{
    return (uint64_t)m->header_size + m->size;
}

/* the local header of a member, or its entry in the directory */
static void make_header(record *r, const member *m, int entry)
{
    uint64_t size = member_size(m), name = strlen(m->name);
    int large = size >= UINT32_MAX, distant = entry && m->offset >= UINT32_MAX;
    uint64_t extra = large || distant ? 4 + 16 * (uint64_t)large + 8 * (uint64_t)distant : 0;
    uint64_t version = extra ? VERSION_ZIP64 : VERSION, mark = entry ? 0x02014b50 : 0x04034b50;
    int two = entry ? 2 : 0, four = entry ? 4 : 0; /* bytes of what the directory alone has */
    const field before[] = {{mark, 4},
                            {version, two},
                            {version, 2},
                            {UTF8_NAME, 2},
                            {0, 2}, /* stored */
                            {0, 2}, /* midnight */
                            {DATE_1980_01_01, 2},
                            {m->crc, 4},
                            {low32(size), 4},
                            {low32(size), 4},
                            {name, 2},
                            {extra, 2},
                            {0, two}, /* comment */
                            {0, two}, /* disk */
                            {0, two},
                            {0, four},
                            {low32(m->offset), four}};
    const field wide[] = {{1, 2}, {extra - 4, 2}}, sizes[] = {{size, 8}, {size, 8}};
    r->size = 0;
    add_fields(r, sizeof before / sizeof *before, before);
    memcpy(r->bytes + r->size, m->name, name);
    r->size += name;
    add_fields(r, extra ? 2 : 0, wide);
    add_fields(r, large ? 2 : 0, sizes);
    add_fields(r, 1, &(field){m->offset, distant ? 8 : 0});
}

static void make_end(record *r, uint64_t count, uint64_t start, uint64_t size)
{
    uint64_t few = count < UINT16_MAX ? count : UINT16_MAX;
    int large = count >= UINT16_MAX || start >= UINT32_MAX || size >= UINT32_MAX;
    const field end64[] = {{0x06064b50, 4},    {44, 8},         {VERSION_ZIP64, 2},
                           {VERSION_ZIP64, 2}, {0, 4},          {0, 4},
                           {count, 8},         {count, 8},      {size, 8},
                           {start, 8},         {0x07064b50, 4}, {0, 4},
                           {start + size, 8},  {1, 4}};
    const field end[] = {{0x06054b50, 4},   {0, 4}, {few, 2}, {few, 2}, {low32(size), 4},
                         {low32(start), 4}, {0, 2}};
    r->size = 0;
    add_fields(r, large ? sizeof end64 / sizeof *end64 : 0, end64);
    add_fields(r, sizeof end / sizeof *end, end);
}

/* behind what there is already; w->written is below w->room */
static unrelu_status append(ur_npz_writer *w, const void *bytes, size_t size)
{
    size_t used = (size_t)w->written;
    if (size > w->room - used) {
        size_t more = size > w->room ? size : w->room; /* twice as much, at least */
        unsigned char *grown =
            more > SIZE_MAX - w->room ? NULL : ur_resize(w->bytes, w->room + more);
        if (!grown)
            return ur_fail_memory(&w->failure, w->room, "bytes of an archive, and more");
        w->bytes = grown;
        w->room += more;
    }
    if (size > 0)
        memcpy(w->bytes + used, bytes, size);
    return UNRELU_OK;
}

static void put(ur_npz_writer *w, const void *bytes, size_t size)
{
    if (!w->failed)
        w->failed =
            w->file ? ur_file_write(w->file, bytes, size, &w->failure) : append(w, bytes, size);
    w->written += size;
}

static unrelu_status hand_over(ur_npz_writer *w, unrelu_error *err)
{
    ur_file *file = w->file;
    w->file = NULL;
    if (file)
        return ur_file_commit(file, err);
    *w->to.bytes = w->bytes;
    *w->to.size = (size_t)w->written;
    w->bytes = NULL;
    return UNRELU_OK;
}

static void write_member(ur_npz_writer *w, member *m)
{
    record local;
    m->offset = w->written;
    m->crc = (uint32_t)crc32_z(0, (const unsigned char *)m->header, m->header_size);
    if (m->size)
        m->crc = (uint32_t)crc32_z(m->crc, m->data, m->size);
    make_header(&local, m, 0);
    put(w, local.bytes, local.size);
    put(w, m->header, m->header_size);
    put(w, m->data, m->size);
}

unrelu_status ur_npz_commit(ur_npz_writer *w, unrelu_error *err)
{
    record r;
    uint64_t total = 22; /* what the whole archive takes, for the message of a full disk */
    for (const member *m = w->first; m; m = m->next)
        total += member_size(m) + LOCAL_SIZE + ENTRY_SIZE + 2 * strlen(m->name);
    if (w->file)
        ur_file_expect(w->file, total);
    if (!w->failed)
        w->failed = ur_arena_status(&w->arena, &w->failure);
    for (member *m = w->first; m && !w->failed; m = m->next)
        write_member(w, m);
    uint64_t start = w->written;
    for (const member *m = w->first; m; m = m->next) {
        make_header(&r, m, 1);
        put(w, r.bytes, r.size);
    }
    make_end(&r, w->count, start, w->written - start);
    put(w, r.bytes, r.size);
    unrelu_status status = w->failed;
    if (status)
        ur_fail(err, status, "%s", w->failure.text);
    else
        status = hand_over(w, err);
    ur_npz_abort(w);
    return status;
}
