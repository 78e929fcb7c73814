/* SPDX-License-Identifier: Apache-2.0 */
/* A stored member of a zip lies in the file as it is, so that it can be read at an offset by
 * many threads, like a .npy. Its place: end record -> central directory -> entry -> local
 * header. Any surprise means "not told": the member can always be streamed. */
#include "read/archive.h"
#include "read/input_file.h"

#include <string.h>

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
