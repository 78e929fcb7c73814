/* SPDX-License-Identifier: Apache-2.0 */
#include "read/archive.h"

#include "base/error.h"
#include "base/limits.h"
#include "read/input_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* deflate emits at most 258 bytes for 2 bits: 1032 to 1 */
enum { DEFLATE_RATIO = 1032 };

/* libzip takes some hundred bytes for each */
static unrelu_status check_members(const ur_archive *archive, const char *label, unrelu_error *err)
{
    zip_int64_t members = zip_get_num_entries(archive->zip, 0);
    if (members <= UR_MEMBERS_MOST)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s has %" PRId64 " members, where at most %d are read; keep fewer arrays in a "
                   "file",
                   label, (int64_t)members, UR_MEMBERS_MOST);
}

/* libzip tells some allocations that failed as damage, and zlib's as its own error */
static int is_memory(zip_error_t *error)
{
    int code = zip_error_code_zip(error);
    return code == ZIP_ER_MEMORY || errno == ENOMEM ||
           (code == ZIP_ER_ZLIB && zip_error_code_system(error) == Z_MEM_ERROR);
}

static unrelu_status fail_memory(const char *label, unrelu_error *err)
{
    return ur_fail(err, UNRELU_ENOMEM, "not enough memory to unpack %s", label);
}

static unrelu_status refuse(zip_error_t *error, const char *label, unrelu_error *err)
{
    return is_memory(error)
               ? fail_memory(label, err)
               : ur_fail(err, UNRELU_EFORMAT,
                         "%s is not a readable .npz archive (%s); write it with numpy.savez", label,
                         zip_error_strerror(error));
}

unrelu_status ur_archive_open(const char *path, const char *label, ur_archive *out,
                              unrelu_error *err)
{
    int fd, regular, code = 0;
    memset(out, 0, sizeof *out);
    UR_TRY(ur_file_open_read(path, &fd, &out->file_size, &regular, err));
    if (!regular || out->file_size == 0) {
        close(fd);
        return ur_fail(err, UNRELU_EFORMAT, "%s %s; expected a .npz archive", label,
                       regular ? "is empty (0 bytes)" : "is not a regular file");
    }
    errno = 0;
    out->zip = zip_fdopen(fd, 0, &code);
    if (out->zip)
        return check_members(out, label, err);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    unrelu_status status = refuse(&error, label, err);
    zip_error_fini(&error);
    close(fd);
    return status;
}

unrelu_status ur_archive_of(const void *bytes, size_t size, const char *label, ur_archive *out,
                            unrelu_error *err)
{
    zip_error_t error;
    zip_error_init(&error);
    memset(out, 0, sizeof *out);
    out->file_size = size;
    errno = 0;
    zip_source_t *source = zip_source_buffer_create(bytes, size, 0, &error);
    if (source)
        out->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    unrelu_status status = out->zip ? check_members(out, label, err) : refuse(&error, label, err);
    if (source && !out->zip)
        zip_source_free(source);
    zip_error_fini(&error);
    return status;
}

void ur_archive_close(ur_archive *archive)
{
    if (archive->zip)
        zip_discard(archive->zip);
    archive->zip = NULL;
}

zip_int64_t ur_archive_find(const ur_archive *archive, const char *name)
{
    char file[512];
    int size = snprintf(file, sizeof file, "%s.npy", name);
    zip_int64_t index = -1;
    if (size > 0 && (size_t)size < sizeof file)
        index = zip_name_locate(archive->zip, file, 0);
    return index >= 0 ? index : zip_name_locate(archive->zip, name, 0);
}

unrelu_status ur_archive_check_expansion(const ur_archive *archive, const char *label,
                                         unrelu_error *err)
{
    uint64_t total = 0, most = UR_EXPANSION_FREE;
    zip_int64_t members = zip_get_num_entries(archive->zip, 0);
    if (archive->file_size > UR_EXPANSION_FREE / UR_EXPANSION_MOST &&
        __builtin_mul_overflow(archive->file_size, (uint64_t)UR_EXPANSION_MOST, &most))
        return UNRELU_OK;
    for (zip_int64_t i = 0; i < members; i++) {
        zip_stat_t info;
        if (zip_stat_index(archive->zip, (zip_uint64_t)i, 0, &info) == 0 &&
            info.valid & ZIP_STAT_SIZE && __builtin_add_overflow(total, info.size, &total))
            total = UINT64_MAX;
    }
    if (total <= most)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s would unpack from %" PRIu64 " to %" PRIu64
                   " bytes, where at most %d times as many "
                   "are read (beyond %d MiB); write it with numpy.savez, which does not compress",
                   label, archive->file_size, total, UR_EXPANSION_MOST, UR_EXPANSION_FREE >> 20);
}

unrelu_status ur_member_open(const ur_archive *archive, zip_int64_t index, const char *label,
                             ur_member *out, unrelu_error *err)
{
    zip_stat_t info;
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    memset(out, 0, sizeof *out);
    if (zip_stat_index(archive->zip, (zip_uint64_t)index, 0, &info) != 0 ||
        (info.valid & needed) != needed)
        return ur_fail(err, UNRELU_EFORMAT, "%s: the archive is damaged (%s); write it again",
                       label, zip_strerror(archive->zip));
    uint64_t packed = info.comp_size, most = packed;
    if (info.comp_method != ZIP_CM_STORE &&
        __builtin_mul_overflow(packed, (uint64_t)DEFLATE_RATIO, &most))
        most = UINT64_MAX;
    if (packed > archive->file_size || info.size > most)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s claims %" PRIu64 " bytes packed into %" PRIu64 ", in a file of %" PRIu64
                       " bytes: the archive is damaged; write it again",
                       label, (uint64_t)info.size, packed, archive->file_size);
    out->label = label;
    out->size = info.size;
    out->stored = info.comp_method == ZIP_CM_STORE && (!(info.valid & ZIP_STAT_ENCRYPTION_METHOD) ||
                                                       info.encryption_method == ZIP_EM_NONE);
    errno = 0;
    out->file = zip_fopen_index(archive->zip, (zip_uint64_t)index, 0);
    if (!out->file && is_memory(zip_get_error(archive->zip)))
        return fail_memory(label, err);
    if (!out->file)
        return ur_fail(err, UNRELU_EFORMAT, "%s cannot be unpacked (%s); write it with numpy.savez",
                       label, zip_strerror(archive->zip));
    return UNRELU_OK;
}

void ur_member_close(ur_member *member)
{
    if (member->file)
        zip_fclose(member->file);
    member->file = NULL;
}

unrelu_status ur_member_next(void *context, void *bytes, size_t size, unrelu_error *err)
{
    ur_member *member = context;
    for (size_t done = 0; done < size;) {
        errno = 0;
        zip_int64_t got = zip_fread(member->file, (char *)bytes + done, size - done);
        if (got < 0 && is_memory(zip_file_get_error(member->file)))
            return fail_memory(member->label, err);
        if (got < 0)
            return ur_fail(err, UNRELU_EFORMAT, "%s cannot be unpacked (%s); write it again",
                           member->label, zip_file_strerror(member->file));
        if (got == 0)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s ends after %" PRIu64 " bytes where %" PRIu64
                           " were promised: the archive is damaged; write it again",
                           member->label, member->position, member->size);
        done += (size_t)got;
        member->position += (uint64_t)got;
    }
    return UNRELU_OK;
}

unrelu_status ur_member_finish(ur_member *member, unrelu_error *err)
{
    char rest[4096];
    zip_int64_t got;
    while ((got = zip_fread(member->file, rest, sizeof rest)) > 0) {
        member->position += (uint64_t)got;
        if (member->position > member->size)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s holds more than the %" PRIu64 " bytes that were promised: the "
                           "archive is damaged; write it again",
                           member->label, member->size);
    }
    if (got < 0)
        return ur_fail(err, UNRELU_EFORMAT, "%s cannot be unpacked (%s); write it again",
                       member->label, zip_file_strerror(member->file));
    return UNRELU_OK;
}

/* ---- where a stored member lies ----
 *
 * It lies in the file as it is, so that it can be read at an offset by many threads, like a .npy.
 * Its place: end record -> central directory -> entry -> local header. Any surprise means "not
 * told": the member can always be streamed. */

enum {
    END_SIZE = 22,
    END64_LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
};

typedef struct {
    int fd;
    uint64_t size;
} zip_bytes;

static uint64_t le(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | p[bytes];
    return value;
}

static int get(const zip_bytes *z, void *out, size_t size, uint64_t offset)
{
    return offset <= z->size && size <= z->size - offset &&
           !ur_file_read_at(z->fd, "", out, size, offset, NULL);
}

/* the end record, without a comment as all writers of .npz leave it */
static int find_directory(const zip_bytes *z, uint64_t *offset, uint64_t *count)
{
    unsigned char end[END_SIZE], locator[END64_LOCATOR_SIZE], end64[END64_SIZE];
    if (z->size < END_SIZE || !get(z, end, sizeof end, z->size - END_SIZE) ||
        memcmp(end, "PK\5\6", 4) != 0)
        return 0;
    *count = le(end + 10, 2);
    *offset = le(end + 16, 4);
    if (*count != 0xffff && *offset != 0xffffffff)
        return 1;
    if (z->size < END_SIZE + END64_LOCATOR_SIZE ||
        !get(z, locator, sizeof locator, z->size - END_SIZE - END64_LOCATOR_SIZE) ||
        memcmp(locator, "PK\6\7", 4) != 0 || !get(z, end64, sizeof end64, le(locator + 8, 8)) ||
        memcmp(end64, "PK\6\6", 4) != 0)
        return 0;
    *count = le(end64 + 32, 8);
    *offset = le(end64 + 48, 8);
    return 1;
}

/* the local header's offset where it does not fit 32 bits: extra field 1 holds, in this order,
 * those of size, packed size and offset that are 0xffffffff in the entry */
static int find_offset64(const zip_bytes *z, const unsigned char *entry, uint64_t extra_at,
                         uint64_t *offset)
{
    unsigned char head[4], value[8];
    uint64_t end = extra_at + le(entry + 30, 2);
    for (uint64_t at = extra_at; at + 4 <= end; at += 4 + le(head + 2, 2)) {
        if (!get(z, head, sizeof head, at))
            return 0;
        if (le(head, 2) != 1)
            continue;
        uint64_t skip =
            8 * (uint64_t)((le(entry + 24, 4) == 0xffffffff) + (le(entry + 20, 4) == 0xffffffff));
        if (skip + 8 > le(head + 2, 2) || !get(z, value, sizeof value, at + 4 + skip))
            return 0;
        *offset = le(value, 8);
        return 1;
    }
    return 0;
}

uint64_t ur_zip_offset(int fd, uint64_t file_size, zip_int64_t index, uint64_t member_size)
{
    zip_bytes z = {fd, file_size};
    unsigned char entry[ENTRY_SIZE], local[LOCAL_SIZE];
    uint64_t at, count;
    if (index < 0 || !find_directory(&z, &at, &count) || (uint64_t)index >= count)
        return 0;
    for (zip_int64_t i = 0;; i++) {
        if (!get(&z, entry, sizeof entry, at) || memcmp(entry, "PK\1\2", 4) != 0)
            return 0;
        if (i == index)
            break;
        at += ENTRY_SIZE + le(entry + 28, 2) + le(entry + 30, 2) + le(entry + 32, 2);
    }
    uint64_t header = le(entry + 42, 4), name_size = le(entry + 28, 2);
    if (header == 0xffffffff && !find_offset64(&z, entry, at + ENTRY_SIZE + name_size, &header))
        return 0;
    if (!get(&z, local, sizeof local, header) || memcmp(local, "PK\3\4", 4) != 0 ||
        le(local + 8, 2) != 0 || le(local + 26, 2) != name_size)
        return 0;
    uint64_t data = header + LOCAL_SIZE + name_size + le(local + 28, 2);
    return data <= file_size && member_size <= file_size - data ? data : 0;
}
