/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas. X is dense, and that of a header of twelve bytes is 1.6 GB by right: what goes beyond
 * LIMIT is refused with the number of bytes, and all that was taken is given back. */
#include "fuzz.h"

#include <string.h>

/* bytes: twice the reader's buffer, and instances of up to 90 variables */
enum { LIMIT = 1 << 17 };
/* by which the system may round allocations up: a page each, of a few */
enum { SLACK = 1 << 14 };

static int failed(unrelu_status status, const unrelu_error *err)
{
    if (status != UNRELU_ENOMEM)
        return fuzz_failed(status, err);
    if (err->code != status || !strstr(err->text, "bytes were wanted"))
        fuzz_stop("memory is refused without a number", err->text);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err = {0};
    unrelu_hardness *instance = NULL;
    unrelu_memory_limit(LIMIT);
    const char *path = fuzz_file("f.cnf", bytes, size);
    for (int variable = 0; variable < 2; variable++) {
        if (failed(unrelu_hardness_encode(path, variable, &instance, &err), &err))
            continue;
        if (unrelu_memory_used() > LIMIT + SLACK)
            fuzz_stop("the limit is not kept", path);
        fuzz_members(&instance->model);
        (void)failed(unrelu_hardness_pad(instance, 4, 2, &err), &err);
        unrelu_hardness_free(instance);
    }
    if (unrelu_memory_used() > 0)
        fuzz_stop("memory is not given back", path);
    return 0;
}
