/* SPDX-License-Identifier: Apache-2.0 */
#include "write/output_file.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, TRIES = 1000 };

struct ur_file {
    ur_arena arena; /* of its names */
    int fd;
    const char *path;      /* as given: for messages */
    const char *target;    /* where it goes: links followed */
    const char *directory; /* of the target; NULL where it is written directly */
    const char *temporary; /* beside the target */
    uint64_t expected, written;
    size_t used;
    unrelu_status failed;
    unrelu_error failure;
    unsigned char buffer[BUFFER];
};

static unrelu_status refuse_open(const ur_file *f, unrelu_error *err)
{
    int code = errno;
    if (code == ENOENT || code == ENOTDIR)
        return ur_fail(err, UNRELU_EIO,
                       "cannot write %s: the directory %s does not exist; make it first", f->path,
                       f->directory);
    return ur_fail(err, UNRELU_EIO, "cannot write %s in %s: %s", f->path, f->directory,
                   strerror(code));
}

/* A new file beside the target: the name carries the process, so that two runs do not meet. */
static unrelu_status open_beside(ur_file *f, mode_t mode, unrelu_error *err)
{
    const char *slash = strrchr(f->target, '/');
    f->directory =
        slash ? ur_take_text(&f->arena, "%.*s", (int)(slash - f->target + 1), f->target) : "./";
    for (int i = 0; i < TRIES; i++) {
        const char *name =
            ur_take_text(&f->arena, "%s.unrelu-%ld-%d.tmp", f->directory, (long)getpid(), i);
        UR_TRY(ur_arena_status(&f->arena, err));
        f->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (f->fd >= 0) {
            f->temporary = name;
            return UNRELU_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return refuse_open(f, err);
}

static unrelu_status open_file(ur_file *f, unrelu_error *err)
{
    struct stat info;
    if (!strcmp(f->path, "-")) {
        f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    } else if (stat(f->target, &info) != 0) {
        return open_beside(f, 0666, err);
    } else if (S_ISDIR(info.st_mode)) {
        return ur_fail(err, UNRELU_EIO, "cannot write %s: it is a directory; name a file in it",
                       f->path);
    } else if (S_ISREG(info.st_mode)) {
        UR_TRY(open_beside(f, info.st_mode & 0777, err));
        (void)!fchmod(f->fd, info.st_mode & 0777); /* whatever the umask */
        return UNRELU_OK;
    } else {
        f->fd = open(f->target, O_WRONLY | O_CLOEXEC);
    }
    return f->fd >= 0 ? UNRELU_OK
                      : ur_fail(err, UNRELU_EIO, "cannot write %s: %s", f->path, strerror(errno));
}

static void free_file(ur_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    ur_arena_end(&f->arena);
    free(f);
}

unrelu_status ur_file_open(const char *path, uint64_t expected, ur_file **out, unrelu_error *err)
{
    *out = NULL;
    if (!path || !*path)
        return ur_fail(err, UNRELU_EUSAGE, "the name of the output file is empty");
    ur_file *f = malloc(sizeof *f);
    if (!f)
        return ur_fail_memory(err, sizeof *f, "bytes of output buffer");
    memset(f, 0, offsetof(ur_file, buffer));
    f->fd = -1;
    f->expected = expected;
    char *real = realpath(path, NULL); /* a link stays, its file is replaced */
    f->path = ur_take_copy(&f->arena, path);
    f->target = real ? ur_take_copy(&f->arena, real) : f->path;
    free(real);
    unrelu_status status = ur_arena_status(&f->arena, err);
    if (!status)
        status = open_file(f, err);
    if (status)
        free_file(f);
    else
        *out = f;
    return status;
}

void ur_file_expect(ur_file *f, uint64_t expected)
{
    f->expected = expected;
}

static unrelu_status fail(ur_file *f, int code)
{
    const char *name = strcmp(f->path, "-") != 0 ? f->path : "standard output";
    char total[48] = "";
    if (f->expected)
        snprintf(total, sizeof total, " of %" PRIu64, f->expected);
    f->failed = UNRELU_EIO;
    return ur_fail(&f->failure, UNRELU_EIO, "cannot write %s: %s (wrote %" PRIu64 "%s bytes)", name,
                   strerror(code), f->written, total);
}

static void put(ur_file *f, const unsigned char *bytes, size_t size)
{
    while (size && !f->failed) {
        ssize_t done = write(f->fd, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            fail(f, done < 0 ? errno : ENOSPC);
            return;
        }
        f->written += (uint64_t)done;
        bytes += done;
        size -= (size_t)done;
    }
}

static void flush(ur_file *f)
{
    put(f, f->buffer, f->used);
    f->used = 0;
}

static unrelu_status tell(const ur_file *f, unrelu_error *err)
{
    return f->failed ? ur_fail(err, f->failed, "%s", f->failure.text) : UNRELU_OK;
}

unrelu_status ur_file_write(ur_file *f, const void *bytes, size_t size, unrelu_error *err)
{
    if (size > BUFFER - f->used)
        flush(f);
    if (size >= BUFFER) {
        put(f, bytes, size);
    } else if (size) {
        memcpy(f->buffer + f->used, bytes, size);
        f->used += size;
    }
    return tell(f, err);
}

/* The name is safe on disk only when its directory is; a file system that cannot is let be. */
static void sync_directory(const ur_file *f)
{
    int fd = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
}

unrelu_status ur_file_commit(ur_file *f, unrelu_error *err)
{
    flush(f);
    if (!f->failed && f->temporary && fsync(f->fd) != 0)
        fail(f, errno);
    if (close(f->fd) != 0 && !f->failed)
        fail(f, errno);
    f->fd = -1;
    if (!f->failed && f->temporary && rename(f->temporary, f->target) != 0)
        fail(f, errno);
    if (!f->failed && f->temporary)
        sync_directory(f);
    unrelu_status status = tell(f, err);
    if (status)
        ur_file_abort(f);
    else
        free_file(f);
    return status;
}

void ur_file_abort(ur_file *f)
{
    if (!f)
        return;
    if (f->temporary)
        unlink(f->temporary);
    free_file(f);
}
