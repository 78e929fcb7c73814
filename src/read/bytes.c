/* SPDX-License-Identifier: Apache-2.0 */
#include "read/bytes.h"

#include "base/error.h"
#include "read/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { INFLATE_BUFFER = 1 << 17 };

static unrelu_status open_standard_input(ur_bytes *b, unrelu_error *err)
{
    struct stat info;
    if (fstat(STDIN_FILENO, &info) != 0 || (b->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) < 0)
        return ur_fail(err, UNRELU_EIO, "cannot read standard input: %s", strerror(errno));
    off_t at = ur_file_has_size(b->fd, &info) ? lseek(b->fd, 0, SEEK_CUR) : -1;
    if (at >= 0) {
        b->regular = 1;
        b->base = (uint64_t)at;
        b->size = info.st_size > at ? (uint64_t)(info.st_size - at) : 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_bytes_open(ur_bytes *b, const char *path, const char *label, int gzip, int keep,
                            unrelu_error *err)
{
    *b = (ur_bytes){.label = label, .fd = -1, .spool = -1};
    UR_TRY(path ? ur_file_open_read(path, &b->fd, &b->size, &b->regular, err)
                : open_standard_input(b, err));
    if (!gzip)
        return b->regular || !keep ? UNRELU_OK : ur_spool_open(label, &b->spool, err);
    if (!b->regular)
        return ur_fail(err, UNRELU_EIO,
                       "%s is compressed and no regular file; unpack it on the way, as in "
                       "gunzip -c | unrelu ... -",
                       b->label);
    b->gz = gzdopen(b->fd, "rb");
    if (!b->gz)
        return ur_fail_memory(err, INFLATE_BUFFER, "bytes of inflate buffer");
    b->fd = -1; /* gzclose closes it */
    gzbuffer(b->gz, INFLATE_BUFFER);
    return UNRELU_OK;
}

void ur_bytes_close(ur_bytes *b)
{
    if (b->gz)
        gzclose_r(b->gz);
    if (b->fd >= 0)
        close(b->fd);
    if (b->spool >= 0)
        close(b->spool);
    b->gz = NULL;
    b->fd = b->spool = -1;
}

static unrelu_status read_gzip(ur_bytes *b, unsigned char *bytes, size_t size, size_t *got,
                               unrelu_error *err)
{
    while (*got < size) {
        size_t want = size - *got < INT_MAX ? size - *got : INT_MAX;
        int count = gzread(b->gz, bytes + *got, (unsigned)want), code = Z_OK;
        if (count > 0)
            *got += (size_t)count;
        const char *text = gzerror(b->gz, &code);
        if (code == Z_MEM_ERROR)
            return ur_fail_memory(err, INFLATE_BUFFER, "bytes of inflate buffer");
        if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
            return ur_fail(err, code == Z_ERRNO ? UNRELU_EIO : UNRELU_EFORMAT,
                           "%s cannot be unpacked after %" PRIu64 " bytes (%s): the file is "
                           "truncated or damaged; write or copy it again",
                           b->label, b->position + *got, text);
        if (count == 0)
            break;
    }
    return UNRELU_OK;
}

static unrelu_status read_pipe(ur_bytes *b, unsigned char *bytes, size_t size, size_t *got,
                               unrelu_error *err)
{
    while (*got < size) {
        ssize_t count = read(b->fd, bytes + *got, size - *got);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return ur_fail(err, UNRELU_EIO, "cannot read %s: %s", b->label, strerror(errno));
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return UNRELU_OK;
}

unrelu_status ur_bytes_read(ur_bytes *b, unsigned char *bytes, size_t size, size_t *got,
                            unrelu_error *err)
{
    *got = 0;
    if (b->gz) {
        UR_TRY(read_gzip(b, bytes, size, got, err));
    } else if (b->regular) {
        uint64_t left = b->size - b->position;
        *got = left < size ? (size_t)left : size;
        UR_TRY(ur_file_read_at(b->fd, b->label, bytes, *got, b->base + b->position, err));
    } else if (b->spool < 0) {
        UR_TRY(read_pipe(b, bytes, size, got, err));
    } else { /* what was read before comes from the spool, the rest goes from the pipe into it */
        uint64_t kept = b->spooled - b->position;
        size_t again = kept < size ? (size_t)kept : size;
        UR_TRY(ur_file_read_at(b->spool, b->label, bytes, again, b->position, err));
        *got = again;
        UR_TRY(read_pipe(b, bytes, size, got, err));
        UR_TRY(ur_spool_write(b->spool, b->label, bytes + again, *got - again, b->spooled, err));
        b->spooled += *got - again;
    }
    b->position += *got;
    return UNRELU_OK;
}

unrelu_status ur_bytes_seek(ur_bytes *b, uint64_t position, unrelu_error *err)
{
    if (b->gz && gzseek(b->gz, (z_off_t)position, SEEK_SET) < 0)
        return ur_fail(err, UNRELU_EIO, "cannot read %s again: it changed or is damaged", b->label);
    if (!b->gz && !b->regular && b->spool < 0 && position != b->position)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s was opened for a single pass and cannot be read again; save it as a "
                       "file and give its name",
                       b->label);
    b->position = position;
    return UNRELU_OK;
}

unrelu_status ur_bytes_next_line(const ur_bytes *b, uint64_t *position, unrelu_error *err)
{
    unsigned char bytes[1 << 12];
    uint64_t at = *position - 1; /* a line starts behind each line feed */
    while (at < b->size) {
        size_t size = b->size - at < sizeof bytes ? (size_t)(b->size - at) : sizeof bytes;
        UR_TRY(ur_file_read_at(b->fd, b->label, bytes, size, b->base + at, err));
        const unsigned char *feed = memchr(bytes, '\n', size);
        if (feed) {
            *position = at + (uint64_t)(feed - bytes) + 1;
            return UNRELU_OK;
        }
        at += size;
    }
    *position = b->size;
    return UNRELU_OK;
}

double ur_bytes_fraction(const ur_bytes *b, uint64_t start)
{
    if (b->gz)
        return b->size ? (double)gzoffset(b->gz) / (double)b->size : 1;
    if (b->regular)
        return b->size > start && b->position > start
                   ? (double)(b->position - start) / (double)(b->size - start)
                   : b->size <= start;
    return b->position < b->spooled ? (double)b->position / (double)b->spooled : -1;
}
