/* SPDX-License-Identifier: Apache-2.0 */
#include "write/output_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "write/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

struct ur_file {
    ur_arena arena;   /* of its names */
    const char *path; /* as given: for messages */
    int direct;       /* what is written to as it is; -1: it is written beside its name */
    ur_beside beside;
    const char *directory, *name; /* where it goes: links followed */
    int replaces;                 /* the file that `old` is of */
    struct stat old;
    uint64_t expected, written;
    size_t used;
    unrelu_status failed;
    unrelu_error failure;
    unsigned char buffer[BUFFER];
};

/* ---- where it goes ---- */

/* /dev/stdout, /dev/fd/3: which descriptor of the process it is, or -1. Opening these would write
 * over the start of a file that standard output was redirected to, or replace it. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t size = strlen(folders[i]);
        uint64_t number;
        if (!strncmp(path, folders[i], size) && ur_text_whole(path + size, &number) &&
            number < INT_MAX)
            return (int)number;
    }
    return -1;
}

int ur_file_is_direct(const char *path)
{
    struct stat info;
    return descriptor_of(path) >= 0 ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static unrelu_status refuse(const ur_file *f, int code, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EIO, "cannot write %s: %s", f->path, strerror(code));
}

static unrelu_status refuse_link(const ur_file *f, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EIO,
                   "cannot write %s: it is a symbolic link to a file that does not exist; remove "
                   "the link, or make that file first",
                   f->path);
}

/* which directory, and which name in it */
static unrelu_status find_place(ur_file *f, unrelu_error *err)
{
    char *real = f->replaces ? realpath(f->path, NULL) : NULL; /* a link stays, its file goes */
    if (f->replaces && !real)
        return refuse(f, errno, err);
    const char *target = ur_take_copy(&f->arena, real ? real : f->path);
    free(real);
    const char *slash = strrchr(target, '/');
    f->name = slash ? slash + 1 : target;
    f->directory =
        slash ? ur_take_text(&f->arena, "%.*s", (int)(slash - target + 1), target) : "./";
    return ur_arena_status(&f->arena, err);
}

static unrelu_status open_beside(ur_file *f, unrelu_error *err)
{
    UR_TRY(find_place(f, err));
    int why = ur_beside_open(&f->beside, f->directory, f->replaces ? 0600 : 0666);
    if (why == ENOENT || why == ENOTDIR)
        return ur_fail(err, UNRELU_EIO,
                       "cannot write %s: the directory %s does not exist; make it first", f->path,
                       f->directory);
    if (why != 0)
        return ur_fail(err, UNRELU_EIO, "cannot write %s in %s: %s", f->path, f->directory,
                       strerror(why));
    if (f->replaces)
        ur_beside_take_over(&f->beside, &f->old);
    return UNRELU_OK;
}

static unrelu_status open_direct(ur_file *f, int descriptor, unrelu_error *err)
{
    f->direct = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                : open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return f->direct >= 0 ? UNRELU_OK : refuse(f, errno, err);
}

static unrelu_status open_file(ur_file *f, unrelu_error *err)
{
    int descriptor = descriptor_of(f->path);
    struct stat link;
    if (descriptor >= 0)
        return open_direct(f, descriptor, err);
    if (stat(f->path, &f->old) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return refuse(f, errno, err);
        return lstat(f->path, &link) == 0 ? refuse_link(f, err) : open_beside(f, err);
    }
    if (S_ISDIR(f->old.st_mode))
        return ur_fail(err, UNRELU_EIO, "cannot write %s: it is a directory; name a file in it",
                       f->path);
    if (!S_ISREG(f->old.st_mode))
        return open_direct(f, -1, err);
    if (faccessat(AT_FDCWD, f->path, W_OK, AT_EACCESS) != 0) /* to replace it is to write it */
        return refuse(f, errno, err);
    f->replaces = 1;
    return open_beside(f, err);
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
    f->direct = -1;
    f->beside = (ur_beside){.directory = -1, .fd = -1};
    f->expected = expected;
    f->path = ur_take_copy(&f->arena, path);
    unrelu_status status = ur_arena_status(&f->arena, err);
    if (!status)
        status = open_file(f, err);
    if (status)
        ur_file_abort(f);
    else
        *out = f;
    return status;
}

/* ---- what is written ---- */

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
    int fd = f->direct >= 0 ? f->direct : f->beside.fd;
    while (size && !f->failed) {
        ssize_t done = write(fd, bytes, size);
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

/* ---- its end ---- */

static void commit_direct(ur_file *f)
{
    int why = close(f->direct) == 0 ? 0 : errno;
    f->direct = -1;
    if (why != 0 && !f->failed)
        fail(f, why);
}

static void commit_beside(ur_file *f)
{
    int why = ur_beside_commit(&f->beside, f->name);
    if (why != 0) {
        fail(f, why);
    } else if ((why = ur_beside_settle(&f->beside)) != 0) {
        f->failed = UNRELU_EIO;
        ur_fail(&f->failure, UNRELU_EIO,
                "%s is written, but its directory %s could not be synced: %s; the file may be gone "
                "after a loss of power: check the disk, and write it again",
                f->path, f->directory, strerror(why));
    }
}

unrelu_status ur_file_commit(ur_file *f, unrelu_error *err)
{
    flush(f);
    if (f->direct >= 0)
        commit_direct(f);
    else if (!f->failed)
        commit_beside(f);
    unrelu_status status = tell(f, err);
    ur_file_abort(f);
    return status;
}

void ur_file_abort(ur_file *f)
{
    if (!f)
        return;
    if (f->direct >= 0)
        close(f->direct);
    ur_beside_drop(&f->beside);
    ur_arena_end(&f->arena);
    free(f);
}

unrelu_status unrelu_file_write(const char *path, const void *bytes, size_t size, unrelu_error *err)
{
    ur_file *file;
    UR_TRY(ur_file_open(path, size, &file, err));
    unrelu_status status = ur_file_write(file, bytes, size, err);
    if (status == UNRELU_OK)
        return ur_file_commit(file, err);
    ur_file_abort(file);
    return status;
}
