/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with cells that were not seen, or only bounds of them, fitted: a model that is made can
 * be written, and what was written is read back. */
#include "fuzz.h"

enum { WIDEST = 3, LONGEST = 512 }; /* larger ones take long, and say no more */

static void keep(const unrelu_gaussian *model)
{
    unrelu_error err;
    unrelu_gaussian *again = NULL;
    const char *path = fuzz_path("fit.npz");
    fuzz_members(&model->model);
    if (FUZZ_FAILED(unrelu_gaussian_save(model, path, &err)) ||
        FUZZ_FAILED(unrelu_gaussian_load(path, &again, &err)))
        fuzz_stop("what was fitted cannot be written and read again", err.text);
    unrelu_gaussian_free(again);
}

static void fit(unrelu_source *source)
{
    static const double limit[WIDEST] = {0.5, 0.5, 0.5}; /* of cells such as ND */
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_gaussian_options options;
    unrelu_gaussian *model = NULL;
    unrelu_gaussian_options_init(&options, sizeof options);
    options.limit = limit;
    options.drop = 1;
    if (!FUZZ_FAILED(unrelu_gaussian_fit(source, &options, &exec, &model, &err)))
        keep(model);
    unrelu_gaussian_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_source *source = NULL;
    const char *path = fuzz_file("x.csv", bytes, size < LONGEST ? size : LONGEST);
    if (!FUZZ_FAILED(unrelu_source_open(path, NULL, &source, &err)) &&
        unrelu_source_columns(source) <= WIDEST)
        fit(source);
    unrelu_source_close(source);
    return 0;
}
