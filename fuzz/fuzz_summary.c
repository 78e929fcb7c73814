/* SPDX-License-Identifier: Apache-2.0 */
/* a summary: what can be read can be merged with itself, fitted, written and read again */
#include "fuzz.h"

static void fit(const unrelu_summary *summary)
{
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_gaussian *model = NULL;
    if (!FUZZ_FAILED(unrelu_gaussian_fit_summary(summary, NULL, &exec, &model, &err)))
        fuzz_members(&model->model);
    unrelu_gaussian_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_summary *summary = NULL, *again = NULL;
    const char *path = fuzz_archive("s.npz", bytes, size), *copy = fuzz_path("copy.npz");
    if (FUZZ_FAILED(unrelu_summary_load(path, &summary, &err)))
        return 0;
    if (size % FUZZ_RARELY == 0)
        fit(summary);
    if (FUZZ_FAILED(unrelu_summary_save(summary, copy, &err)) ||
        FUZZ_FAILED(unrelu_summary_load(copy, &again, &err)))
        fuzz_stop("what was read cannot be written and read again", err.text);
    if (!FUZZ_FAILED(unrelu_summary_merge(again, summary, &err)) && size % FUZZ_RARELY == 1)
        fit(again);
    unrelu_summary_free(again);
    unrelu_summary_free(summary);
    return 0;
}
