/* SPDX-License-Identifier: Apache-2.0 */
/* A new file in the directory of another that it shall replace. Where the system can (Linux,
 * O_TMPFILE) it has no name while it is written, so that a writer that is killed leaves nothing;
 * elsewhere it has a random one that is made for it alone (O_EXCL), and is locked. What a killed
 * writer left under such a name is taken away by the next one. Those that return an int return 0 or
 * an errno. */
#ifndef UR_WRITE_BESIDE_H
#define UR_WRITE_BESIDE_H

#include <sys/stat.h>

typedef struct {
    int directory; /* descriptors; -1: none */
    int fd;
    char name[32]; /* in the directory; "": it has none */
} ur_beside;

/* A file left behind is taken away once it was not written to for so many seconds. Its lock tells
 * a living writer on this machine, its age one on another, whose locks may not be seen here. */
enum { UR_BESIDE_LEFT_SECONDS = 600 };

/* path: of the directory. The file is empty, for writing, and has the mode, less the umask. To be
 * dropped also where it fails. The second always has a name. */
int ur_beside_open(ur_beside *b, const char *path, mode_t mode);
int ur_beside_open_named(ur_beside *b, const char *path, mode_t mode);
/* Gives it the owner and the permissions of a file where that may be done. It is never open to more
 * users than that one: where the group cannot be kept, the new one may do no more than all others.
 */
void ur_beside_take_over(const ur_beside *b, const struct stat *old);
/* Safe on disk, closed, and under this name, which it takes from what had it. */
int ur_beside_commit(ur_beside *b, const char *name);
/* After that: the name is safe on disk too. Where this fails the file is there, whole. */
int ur_beside_settle(const ur_beside *b);
/* Closes; removes the file where it was not committed. */
void ur_beside_drop(ur_beside *b);

#endif
