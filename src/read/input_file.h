/* SPDX-License-Identifier: Apache-2.0 */
/* Files opened for reading at an offset, and the unlinked temporary files that pipes and
 * compressed Fortran-order arrays are spooled to. */
#ifndef UR_READ_FILE_H
#define UR_READ_FILE_H

#include "unrelu/unrelu.h"

#include <sys/stat.h>

/* Whether it is a regular file that ends where its size says. Files of /proc have the size 0 and
 * content all the same: they are read as a pipe is, to their end. */
int ur_file_has_size(int fd, const struct stat *info);
/* EIO for what is missing, a directory, or not permitted. *size is 0 for a pipe, and *regular too.
 */
unrelu_status ur_file_open_read(const char *path, int *fd, uint64_t *size, int *regular,
                                unrelu_error *err);
typedef enum {
    UR_FILE_PIPE, /* not looked at: opening it twice would lose its start */
    UR_FILE_NPY,
    UR_FILE_ZIP,
    UR_FILE_GZIP,
    UR_FILE_TENSORS, /* .safetensors */
    UR_FILE_TEXT,    /* none of these, and no NUL byte at its start */
    UR_FILE_BINARY   /* none of these */
} ur_file_start;
/* what the first bytes of a file say that it is */
unrelu_status ur_file_look(const char *path, ur_file_start *start, unrelu_error *err);
/* exactly size bytes at offset; `label` names the file in messages */
unrelu_status ur_file_read_at(int fd, const char *label, void *bytes, size_t size, uint64_t offset,
                              unrelu_error *err);
unrelu_status ur_spool_open(const char *label, int *fd, unrelu_error *err);
unrelu_status ur_spool_write(int fd, const char *label, const void *bytes, size_t size,
                             uint64_t offset, unrelu_error *err);

#endif
