/* SPDX-License-Identifier: Apache-2.0 */
/* A file that appears under its name whole or not at all: written beside it, synced, renamed.
 * What is not a regular file (a terminal, /dev/null, a pipe) is written to as it is. */
#ifndef UR_WRITE_FILE_H
#define UR_WRITE_FILE_H

#include "unrelu/unrelu.h"

typedef struct ur_file ur_file;

/* expected: bytes that will be written, for messages; 0: not known. path "-": standard output */
unrelu_status ur_file_open(const char *path, uint64_t expected, ur_file **out, unrelu_error *err);
void ur_file_expect(ur_file *file, uint64_t expected);
/* after a failure all later writes and the commit fail with the same sentence */
unrelu_status ur_file_write(ur_file *file, const void *bytes, size_t size, unrelu_error *err);
unrelu_status ur_file_commit(ur_file *file, unrelu_error *err); /* closes, also on failure */
void ur_file_abort(ur_file *file);                              /* closes, leaves nothing behind */

#endif
