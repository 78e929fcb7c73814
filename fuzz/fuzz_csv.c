/* SPDX-License-Identifier: Apache-2.0 */
/* samples as comma-separated text */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_samples(fuzz_file("x.csv", bytes, size), NULL);
    return 0;
}
