/* SPDX-License-Identifier: Apache-2.0 */
/* a rectified Gaussian: what can be read can be written, read again, and used */
#include "fuzz.h"

static void use(const unrelu_gaussian *model)
{
    enum { ROWS = 3 };
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_sampler *sampler = NULL;
    unrelu_gaussian_distance distance;
    double *room = calloc(ROWS * model->d + 2 * model->d * model->d, sizeof *room);
    if (!room)
        return;
    double *matrix = room + ROWS * model->d;
    if (!FUZZ_FAILED(unrelu_gaussian_sampler(model, 1, &sampler, &err)))
        (void)FUZZ_FAILED(unrelu_sampler_draw(sampler, 5, ROWS, &exec, room, &err));
    (void)FUZZ_FAILED(unrelu_gaussian_compare(model, model, &distance, &err));
    (void)FUZZ_FAILED(unrelu_gaussian_eigenvalues(model, room, &err));
    (void)FUZZ_FAILED(unrelu_gaussian_bound(model, 100, room, room + model->d, matrix,
                                            matrix + model->d * model->d, &err));
    unrelu_sampler_free(sampler);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_gaussian *model = NULL, *again = NULL;
    const char *copy = fuzz_path("copy.npz");
    if (FUZZ_FAILED(unrelu_gaussian_load(fuzz_archive("m.npz", bytes, size), &model, &err)))
        return 0;
    fuzz_members(&model->model);
    if (size % FUZZ_RARELY == 0)
        use(model);
    if (size % FUZZ_RARELY == 1 && (FUZZ_FAILED(unrelu_gaussian_save(model, copy, &err)) ||
                                    FUZZ_FAILED(unrelu_gaussian_load(copy, &again, &err))))
        fuzz_stop("what was read cannot be written and read again", err.text);
    unrelu_gaussian_free(again);
    unrelu_gaussian_free(model);
    return 0;
}
