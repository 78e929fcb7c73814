/* SPDX-License-Identifier: Apache-2.0 */
#include "read/input_file.h"

#include "base/error.h"
#include "base/system.h"
#include "read/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ur_file_has_size(int fd, const struct stat *info)
{
    char first;
    return S_ISREG(info->st_mode) && (info->st_size > 0 || pread(fd, &first, 1, 0) == 0);
}

unrelu_status ur_file_open_read(const char *path, int *fd, uint64_t *size, int *regular,
                                unrelu_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return ur_fail(err, UNRELU_EIO, "cannot open %s: %s", path, strerror(errno));
    const char *problem = NULL;
    if (fstat(*fd, &info) != 0)
        problem = strerror(errno);
    else if (S_ISDIR(info.st_mode))
        problem = "it is a directory, not a file";
    if (problem) {
        close(*fd);
        *fd = -1;
        return ur_fail(err, UNRELU_EIO, "cannot read %s: %s", path, problem);
    }
    *regular = ur_file_has_size(*fd, &info);
    *size = *regular ? (uint64_t)info.st_size : 0;
    return UNRELU_OK;
}

unrelu_status ur_file_read_at(int fd, const char *label, void *bytes, size_t size, uint64_t offset,
                              unrelu_error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ur_fail(err, UNRELU_EIO, "cannot read %s: %s", label, strerror(errno));
        if (got == 0)
            return ur_fail(err, UNRELU_EIO,
                           "%s ends at byte %" PRIu64 " where it was longer when it was opened: "
                           "it changed while it was read; start again when it is complete",
                           label, offset + done);
        done += (size_t)got;
    }
    return UNRELU_OK;
}

unrelu_status ur_file_look(const char *path, ur_file_start *start, unrelu_error *err)
{
    static const struct {
        const char *mark;
        size_t size;
        ur_file_start start;
    } marks[] = {{"\x93NUMPY", 6, UR_FILE_NPY},
                 {"PK\3\4", 4, UR_FILE_ZIP},
                 {"PK\5\6", 4, UR_FILE_ZIP},
                 {"\x1f\x8b", 2, UR_FILE_GZIP}};
    struct stat info;
    unsigned char bytes[512];
    uint64_t size;
    int fd, regular;
    *start = UR_FILE_PIPE;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return UNRELU_OK;
    UR_TRY(ur_file_open_read(path, &fd, &size, &regular, err));
    size_t have = size < sizeof bytes ? (size_t)size : sizeof bytes;
    ssize_t got = regular ? 0 : pread(fd, bytes, sizeof bytes, 0); /* a file of /proc */
    if (got > 0)
        have = (size_t)got;
    unrelu_status status = regular ? ur_file_read_at(fd, path, bytes, have, 0, err) : UNRELU_OK;
    close(fd);
    *start = status == UNRELU_OK && memchr(bytes, '\0', have) ? UR_FILE_BINARY : UR_FILE_TEXT;
    for (size_t i = 0; status == UNRELU_OK && i < sizeof marks / sizeof *marks; i++)
        if (have >= marks[i].size && !memcmp(bytes, marks[i].mark, marks[i].size))
            *start = marks[i].start;
    if (*start == UR_FILE_BINARY && ur_safetensors_begins(bytes, have))
        *start = UR_FILE_TENSORS;
    return status;
}

unrelu_status ur_spool_open(const char *label, int *fd, unrelu_error *err)
{
    *fd = ur_temporary_open();
    if (*fd >= 0)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EIO, "cannot keep %s in a temporary file in %s: %s", label, P_tmpdir,
                   strerror(errno));
}

unrelu_status ur_spool_write(int fd, const char *label, const void *bytes, size_t size,
                             uint64_t offset, unrelu_error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return ur_fail(err, UNRELU_EIO,
                           "cannot keep %s in a temporary file in %s: %s (after %" PRIu64
                           " bytes); save it as a plain file and give its name",
                           label, P_tmpdir, strerror(errno), offset + done);
        done += (size_t)put;
    }
    return UNRELU_OK;
}
