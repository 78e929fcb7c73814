/* SPDX-License-Identifier: Apache-2.0 */
/* A file that appears under its name whole or not at all: written beside it (beside.h), synced,
 * renamed, with the owner and the permissions of the file that it replaces. A symbolic link to a
 * file is followed, and that file is replaced; one to nothing is refused. What is not a regular
 * file (a terminal, /dev/null, a pipe) is written to as it is, and so is /dev/stdout, whatever that
 * is. Everything that the library and the command write goes this way. */
#ifndef UR_WRITE_FILE_H
#define UR_WRITE_FILE_H

#include "unrelu/unrelu.h"

typedef struct ur_file ur_file;

/* "-", /dev/stdout, or what is there and neither a regular file nor a directory */
int ur_file_is_direct(const char *path);

/* expected: bytes that will be written, for messages; 0: not known. path "-": standard output */
unrelu_status ur_file_open(const char *path, uint64_t expected, ur_file **out, unrelu_error *err);
void ur_file_expect(ur_file *file, uint64_t expected);
/* after a failure all later writes and the commit fail with the same sentence */
unrelu_status ur_file_write(ur_file *file, const void *bytes, size_t size, unrelu_error *err);
unrelu_status ur_file_commit(ur_file *file, unrelu_error *err); /* closes, also on failure */
void ur_file_abort(ur_file *file);                              /* closes, leaves nothing behind */

#endif
