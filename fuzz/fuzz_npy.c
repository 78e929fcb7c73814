/* SPDX-License-Identifier: Apache-2.0 */
/* samples as one array */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_samples(fuzz_file("x.npy", bytes, size), NULL);
    return 0;
}
