/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a text file in order and again from any place: a plain file, a gzip file, or a
 * pipe, which is kept in an unlinked temporary file as it is read. */
#ifndef UR_BYTES_H
#define UR_BYTES_H

#include "unrelu/unrelu.h"

typedef struct gzFile_s *ur_gzip;

typedef struct {
    const char *label;
    int fd;
    ur_gzip gz;        /* NULL: not compressed */
    int regular;       /* can be read at an offset */
    uint64_t base;     /* where the text starts: standard input may stand inside a file */
    uint64_t size;     /* bytes of a regular file, compressed or not */
    uint64_t position; /* bytes handed out */
    int spool;         /* fd of what a pipe delivered so far, or -1 */
    uint64_t spooled;
} ur_bytes;

/* path NULL: standard input. keep: a pipe's bytes are wanted again. label must outlive it. To be
 * closed also where it fails. */
unrelu_status ur_bytes_open(ur_bytes *b, const char *path, const char *label, int gzip, int keep,
                            unrelu_error *err);
void ur_bytes_close(ur_bytes *b);
/* *got < size at the end only */
unrelu_status ur_bytes_read(ur_bytes *b, unsigned char *bytes, size_t size, size_t *got,
                            unrelu_error *err);
unrelu_status ur_bytes_seek(ur_bytes *b, uint64_t position, unrelu_error *err);
/* *position: of the first line that starts there or behind, or the end, of a regular file */
unrelu_status ur_bytes_next_line(const ur_bytes *b, uint64_t *position, unrelu_error *err);
/* share of what lies behind `start` that was handed out; negative where not known */
double ur_bytes_fraction(const ur_bytes *b, uint64_t start);

#endif
