/* SPDX-License-Identifier: Apache-2.0 */
/* samples as tab-separated text, some of its columns */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("x.tsv", bytes, size);
    fuzz_samples(path, NULL);
    fuzz_samples(path, "2,1");
    return 0;
}
