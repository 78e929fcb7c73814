/* SPDX-License-Identifier: Apache-2.0 */
/* a network: what can be read can be written, read again, and used */
#include "fuzz.h"

static void use(const unrelu_network *model)
{
    enum { ROWS = 2 };
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_network_distance distance;
    double *x = calloc(ROWS * (model->d + model->m), sizeof *x);
    if (!x)
        return;
    for (size_t i = 0; i < ROWS * model->d; i++)
        x[i] = (double)i - 1;
    (void)FUZZ_FAILED(unrelu_network_predict(model, x, ROWS, &exec, x + ROWS * model->d, &err));
    (void)FUZZ_FAILED(unrelu_network_compare(model, model, &distance, &err));
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_network *model = NULL, *again = NULL;
    const char *copy = fuzz_path("copy.npz");
    if (FUZZ_FAILED(unrelu_network_load(fuzz_archive("m.npz", bytes, size), &model, &err)))
        return 0;
    fuzz_members(&model->model);
    if (size % FUZZ_RARELY == 0)
        use(model);
    if (size % FUZZ_RARELY == 1 && (FUZZ_FAILED(unrelu_network_save(model, copy, &err)) ||
                                    FUZZ_FAILED(unrelu_network_load(copy, &again, &err))))
        fuzz_stop("what was read cannot be written and read again", err.text);
    unrelu_network_free(again);
    unrelu_network_free(model);
    return 0;
}
