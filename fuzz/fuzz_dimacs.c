/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of up to a thousand variables: X is dense, and that of 10000 is 1.6 GB by right. */
#include "fuzz.h"

#include <limits.h>
#include <string.h>

enum { MOST = 1000 };

static int is_large(const uint8_t *bytes, size_t size)
{
    const uint8_t *header = size ? memmem(bytes, size, "cnf", 3) : NULL;
    char text[32];
    if (!header)
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)(size - (size_t)(header - bytes)) - 3, header + 3);
    long long variables = atoll(text);
    return variables > MOST && variables <= INT_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_hardness *instance = NULL;
    if (is_large(bytes, size))
        return 0;
    const char *path = fuzz_file("f.cnf", bytes, size);
    for (int variable = 0; variable < 2; variable++) {
        if (FUZZ_FAILED(unrelu_hardness_encode(path, variable, &instance, &err)))
            continue;
        fuzz_members(&instance->model);
        (void)FUZZ_FAILED(unrelu_hardness_pad(instance, 4, 2, &err));
        unrelu_hardness_free(instance);
    }
    return 0;
}
