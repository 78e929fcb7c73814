/* SPDX-License-Identifier: Apache-2.0 */
/* an instance of the hardness reduction: read, asked about an assignment, decoded */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int literals[] = {1, -2, 3};
    unrelu_error err;
    unrelu_hardness *instance = NULL;
    double residual;
    const char *path = fuzz_archive("h.npz", bytes, size);
    if (FUZZ_FAILED(unrelu_hardness_load(path, &instance, &err)))
        return 0;
    fuzz_members(&instance->model);
    double *V = calloc(instance->k * instance->d, sizeof *V);
    int *found = calloc(instance->variables + 1, sizeof *found);
    if (V && found &&
        !FUZZ_FAILED(unrelu_hardness_assign(instance, literals, sizeof literals / sizeof *literals,
                                            V, &err)) &&
        !FUZZ_FAILED(unrelu_hardness_residual(instance, V, &residual, &err)))
        (void)FUZZ_FAILED(unrelu_hardness_decode(instance, V, found, &err));
    if (!FUZZ_FAILED(unrelu_hardness_save(instance, fuzz_path("copy.npz"), &err)))
        (void)FUZZ_FAILED(unrelu_hardness_pad(instance, 3, 2, &err));
    free(found);
    free(V);
    unrelu_hardness_free(instance);
    return 0;
}
