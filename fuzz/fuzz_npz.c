/* SPDX-License-Identifier: Apache-2.0 */
/* archives byte by byte: as samples, as an array of a name, and what kind of model they claim to
 * be. What lies behind their checksums is what the targets of models try. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char kind[64], member[160];
    unrelu_error err;
    const char *path = fuzz_file("x.npz", bytes, size);
    snprintf(member, sizeof member, "%s:x", path);
    fuzz_samples(path, NULL);
    fuzz_samples(member, NULL);
    (void)FUZZ_FAILED(unrelu_file_kind(path, kind, sizeof kind, &err));
    return 0;
}
