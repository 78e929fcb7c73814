/* SPDX-License-Identifier: Apache-2.0 */
/* The zip archive behind a .npz: its members by name, and one member as a stream of bytes. */
#ifndef UR_ARCHIVE_H
#define UR_ARCHIVE_H

#include "unrelu/unrelu.h"

#include <zip.h>

typedef struct {
    zip_t *zip;
    uint64_t file_size;
} ur_archive;

typedef struct {
    zip_file_t *file;
    const char *label;
    uint64_t size;     /* of the member, unpacked */
    uint64_t position; /* bytes handed out */
    int stored;        /* neither compressed nor encrypted */
} ur_member;

/* label: how messages name the file */
unrelu_status ur_archive_open(const char *path, const char *label, ur_archive *out,
                              unrelu_error *err);
/* the same of bytes that live as long as the archive is open */
unrelu_status ur_archive_of(const void *bytes, size_t size, const char *label, ur_archive *out,
                            unrelu_error *err);
void ur_archive_close(ur_archive *archive); /* a zeroed one is fine */
/* index of NAME.npy (or NAME itself), or -1 */
zip_int64_t ur_archive_find(const ur_archive *archive, const char *name);

/* refuses what unpacks to more than UR_EXPANSION_MOST times the file */
unrelu_status ur_archive_check_expansion(const ur_archive *archive, const char *label,
                                         unrelu_error *err);

/* Opens a member and refuses one that claims to unpack to more than its bytes in the file can
 * hold: what is allocated later is bounded by the file. label must outlive the member. */
unrelu_status ur_member_open(const ur_archive *archive, zip_int64_t index, const char *label,
                             ur_member *out, unrelu_error *err);
void ur_member_close(ur_member *member); /* a zeroed one is fine */
/* a ur_read_next on a ur_member */
unrelu_status ur_member_next(void *member, void *bytes, size_t size, unrelu_error *err);
/* reads to the end, so that the checksum is looked at */
unrelu_status ur_member_finish(ur_member *member, unrelu_error *err);

/* Where the bytes of stored member `index` lie in the file, by the central directory; 0 where
 * that cannot be told (the caller then streams). libzip does not tell. */
uint64_t ur_zip_offset(int fd, uint64_t file_size, zip_int64_t index, uint64_t member_size);

#endif
