/* SPDX-License-Identifier: Apache-2.0 */
/* a mixture: what can be read can be written, read again, and used */
#include "fuzz.h"

static void use(const unrelu_mixture *model)
{
    enum { ROWS = 3 };
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_sampler *sampler = NULL;
    unrelu_mixture_distance distance;
    double *x = calloc(ROWS * model->d + 1, sizeof *x);
    if (!x)
        return;
    if (!FUZZ_FAILED(unrelu_mixture_sampler(model, 1, &sampler, &err)))
        (void)FUZZ_FAILED(unrelu_sampler_draw(sampler, 5, ROWS, &exec, x, &err));
    (void)FUZZ_FAILED(unrelu_mixture_compare(model, model, &distance, &err));
    unrelu_sampler_free(sampler);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_mixture *model = NULL, *again = NULL;
    const char *copy = fuzz_path("copy.npz");
    if (FUZZ_FAILED(unrelu_mixture_load(fuzz_archive("m.npz", bytes, size), &model, &err)))
        return 0;
    fuzz_members(&model->model);
    if (size % FUZZ_RARELY == 0)
        use(model);
    if (size % FUZZ_RARELY == 1 && (FUZZ_FAILED(unrelu_mixture_save(model, copy, &err)) ||
                                    FUZZ_FAILED(unrelu_mixture_load(copy, &again, &err))))
        fuzz_stop("what was read cannot be written and read again", err.text);
    unrelu_mixture_free(again);
    unrelu_mixture_free(model);
    return 0;
}
