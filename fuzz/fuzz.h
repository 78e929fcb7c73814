/* SPDX-License-Identifier: Apache-2.0 */
/* What the targets share. A target is LLVMFuzzerTestOneInput over some bytes: libFuzzer calls it
 * (clang, UNRELU_FUZZ), or replay.c with every seed (any compiler, in the tests). What it finds out
 * by itself, beside what the sanitizers see, are failures without a sentence and internal errors.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "unrelu/unrelu.h"

/* Of what takes long, every fourth is enough: lengths change with almost every input. */
enum { FUZZ_RARELY = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* a path in a folder of this process alone, which is gone when it ends; good for ever */
const char *fuzz_path(const char *name);
/* the same, of a file with these bytes; made again in place, so that no name is looked up */
const char *fuzz_file(const char *name, const void *bytes, size_t size);
/* the archive that the lines of a text describe: archive.c says how */
const char *fuzz_archive(const char *name, const uint8_t *text, size_t size);
/* standard input is empty from now on; standard output and what stdio says on standard error is
 * not seen, and the sanitizers still are */
void fuzz_silence(void);
/* that folder is the one where relative names are looked for */
void fuzz_enter(void);
/* whatever lies in it is removed */
void fuzz_tidy(void);

/* says it, and ends the process as a finding */
_Noreturn void fuzz_stop(const char *what, const char *about);
/* Stops the process where a failure has no sentence, another code, or is a bug by its own name. */
int fuzz_failed(unrelu_status status, const unrelu_error *err);
/* a call of the library whose last argument is &err: nonzero where it failed in good order */
#define FUZZ_FAILED(call) ((err = (unrelu_error){0}), fuzz_failed((call), &err))

/* opens the file as samples, reads all of it, closes it */
void fuzz_samples(const char *path, const char *columns);
/* looks at every byte of every member */
void fuzz_members(const unrelu_model *model);
/* one thread */
unrelu_exec fuzz_exec(void);

#endif
