/* SPDX-License-Identifier: Apache-2.0 */
/* weights of PyTorch: the input is the header and what lies behind it; its length is put before
 * it, but for every fourth, which is the file as it is */
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { LENGTH = 8, MOST = 1 << 16 };
    static uint8_t file[LENGTH + MOST];
    const uint8_t *end = memchr(bytes, '\n', size);
    size_t header = end ? (size_t)(end - bytes) : size;
    unrelu_error err;
    unrelu_network *model = NULL;
    char kind[64];
    if (size > MOST)
        return 0;
    memset(file, 0, LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        file[i] = (uint8_t)(header >> 8 * i);
    memcpy(file + LENGTH, bytes, size);
    const char *path = size % FUZZ_RARELY == 0 ? fuzz_file("x.safetensors", bytes, size)
                                               : fuzz_file("x.safetensors", file, LENGTH + size);
    (void)FUZZ_FAILED(unrelu_file_kind(path, kind, sizeof kind, &err));
    if (FUZZ_FAILED(unrelu_network_load(path, &model, &err)))
        return 0;
    fuzz_members(&model->model);
    unrelu_network_free(model);
    return 0;
}
