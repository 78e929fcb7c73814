/* SPDX-License-Identifier: Apache-2.0 */
#include "write/beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- names ---- */

static const char PREFIX[] = ".unrelu-", SUFFIX[] = ".tmp";
enum { DIGITS = 16, TRIES = 100 }; /* of 64 random bits; a second try is never seen */

static int choose_name(ur_beside *b)
{
    uint64_t bits;
    if (getentropy(&bits, sizeof bits) != 0)
        return errno;
    snprintf(b->name, sizeof b->name, "%s%0*" PRIx64 "%s", PREFIX, DIGITS, bits, SUFFIX);
    return 0;
}

static int is_ours(const char *name)
{
    size_t prefix = sizeof PREFIX - 1;
    return strncmp(name, PREFIX, prefix) == 0 &&
           strspn(name + prefix, "0123456789abcdef") == DIGITS &&
           strcmp(name + prefix + DIGITS, SUFFIX) == 0;
}

/* ---- what others left ---- */

static void take_away(int directory, const char *name, time_t now)
{
    struct stat info;
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode) ||
        info.st_uid != geteuid() || now - info.st_mtime <= UR_BESIDE_LEFT_SECONDS)
        return;
    int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    close(fd);
}

/* Nothing of this may fail a write. The time is that of the file system, as the new file has it. */
static void sweep(const ur_beside *b)
{
    struct stat fresh;
    int fd = openat(b->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory && fd >= 0)
        close(fd);
    if (!directory)
        return;
    if (fstat(b->fd, &fresh) == 0)
        for (struct dirent *entry; (entry = readdir(directory));)
            if (is_ours(entry->d_name))
                take_away(b->directory, entry->d_name, fresh.st_mtime);
    closedir(directory);
}

/* ---- open ---- */

static int open_directory(ur_beside *b, const char *path)
{
    *b = (ur_beside){.directory = -1, .fd = -1};
    b->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#ifdef O_PATH
    if (b->directory < 0 && errno == EACCES) /* that can be written to, and not be listed */
        b->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#endif
    return b->directory >= 0 ? 0 : errno;
}

static int open_named(ur_beside *b, mode_t mode)
{
    int why = EEXIST;
    for (int i = 0; i < TRIES && why == EEXIST; i++) {
        if ((why = choose_name(b)) != 0)
            break;
        b->fd = openat(b->directory, b->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       mode);
        why = b->fd >= 0 ? 0 : errno;
    }
    if (why == 0)
        flock(b->fd, LOCK_EX | LOCK_NB); /* a file system that cannot has the age alone */
    else
        b->name[0] = '\0';
    return why;
}

enum { LINK = sizeof "/proc/self/fd/" + 12 };

static int open_unnamed(ur_beside *b, mode_t mode)
{
#if defined(O_TMPFILE) && !defined(UR_POSIX_ONLY)
    char link[LINK];
    b->fd = openat(b->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    snprintf(link, sizeof link, "/proc/self/fd/%d", b->fd);
    if (b->fd >= 0 && access(link, F_OK) == 0) /* by which it gets its name later */
        return 0;
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
#else
    (void)b, (void)mode;
#endif
    return ENOTSUP;
}

int ur_beside_open_named(ur_beside *b, const char *path, mode_t mode)
{
    int why = open_directory(b, path);
    if (why == 0 && (why = open_named(b, mode)) == 0)
        sweep(b);
    return why;
}

int ur_beside_open(ur_beside *b, const char *path, mode_t mode)
{
    int why = open_directory(b, path);
    if (why == 0 && open_unnamed(b, mode) != 0) /* not every file system can */
        why = open_named(b, mode);
    if (why == 0)
        sweep(b);
    return why;
}

/* ---- commit ---- */

void ur_beside_take_over(const ur_beside *b, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(b->fd, old->st_uid, old->st_gid) != 0 && fchown(b->fd, (uid_t)-1, old->st_gid) != 0)
        mode &= ~(mode_t)070 | (mode & 007) << 3;
    (void)!fchmod(b->fd, mode); /* where that may not be done (vfat), there are no modes */
}

static int give_name(ur_beside *b)
{
    char link[LINK];
    int why = EEXIST;
    snprintf(link, sizeof link, "/proc/self/fd/%d", b->fd);
    for (int i = 0; i < TRIES && why == EEXIST; i++) {
        if ((why = choose_name(b)) != 0)
            break;
        why = linkat(AT_FDCWD, link, b->directory, b->name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    }
    if (why != 0)
        b->name[0] = '\0';
    return why;
}

int ur_beside_commit(ur_beside *b, const char *name)
{
    int why = fsync(b->fd) == 0 ? 0 : errno;
    if (why == 0 && !b->name[0])
        why = give_name(b);
    if (close(b->fd) != 0 && why == 0)
        why = errno;
    b->fd = -1;
    if (why == 0 && renameat(b->directory, b->name, b->directory, name) != 0)
        why = errno;
    if (why == 0)
        b->name[0] = '\0';
    return why;
}

/* A file system that cannot sync a directory is let be, and so is one that cannot be listed. */
int ur_beside_settle(const ur_beside *b)
{
    if (fsync(b->directory) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EBADF)
        return 0;
    return errno;
}

void ur_beside_drop(ur_beside *b)
{
    if (b->name[0])
        unlinkat(b->directory, b->name, 0);
    if (b->fd >= 0)
        close(b->fd);
    if (b->directory >= 0)
        close(b->directory);
    *b = (ur_beside){.directory = -1, .fd = -1};
}
