/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with cells that were not seen, or only bounds of them, fitted: a model that is made can
 * be written, what was written is read back, and the samples are judged and filled by it. */
#include "fuzz.h"

enum { WIDEST = 3, LONGEST = 512 }; /* larger ones take long, and say no more */

static const double limit[WIDEST] = {0.5, 0.5, 0.5}; /* of cells such as ND */

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

static void judge(unrelu_gaussian *model, unrelu_source *source)
{
    enum { RUNS = 5 };
    double ks[WIDEST], ks_p[WIDEST], ties[WIDEST];
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_goodness_options options;
    unrelu_goodness_options_init(&options, sizeof options);
    options.runs = RUNS;
    options.limit = limit;
    (void)FUZZ_FAILED(unrelu_columns_distance(source, &options, &exec, ks, ks_p, ties, &err));
    if (!FUZZ_FAILED(unrelu_gaussian_judge(model, source, &options, &exec, &err)))
        fuzz_members(&model->model);
}

/* how: means, medians, or draws with and without those of parameters */
static void fill(const unrelu_gaussian *model, unrelu_source *source, size_t how)
{
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_impute_report report;
    unrelu_impute_options options;
    unrelu_impute_options_init(&options, sizeof options);
    options.limit = limit;
    options.median = how == 1;
    options.draws = how < 2 ? 0 : 2;
    options.fixed_parameters = how == 2;
    (void)FUZZ_FAILED(unrelu_gaussian_impute(model, source, &options, fuzz_path("filled.csv"),
                                             &exec, &report, &err));
}

static void answer(unrelu_gaussian *model)
{
    double share, ci[2];
    unrelu_error err;
    if (!FUZZ_FAILED(unrelu_gaussian_answer(model, 0.8, &err)))
        fuzz_members(&model->model);
    if (!FUZZ_FAILED(unrelu_gaussian_exceed(model, 0, 0.7, 0.8, &share, ci, &err)) &&
        !(share >= 0 && share <= 1))
        fuzz_stop("a share is none", fuzz_path("x.csv"));
}

/* choice: of what the options leave open */
static void fit(unrelu_source *source, size_t choice)
{
    static const unrelu_errors errors[] = {UNRELU_ERRORS_AUTO, UNRELU_ERRORS_MODEL,
                                           UNRELU_ERRORS_ROBUST};
    enum { ERRORS = sizeof errors / sizeof *errors, FILLS = 4 };
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_gaussian_options options;
    unrelu_gaussian *model = NULL;
    unrelu_gaussian_options_init(&options, sizeof options);
    options.limit = limit;
    options.drop = 1;
    options.errors = errors[choice % ERRORS];
    if (!FUZZ_FAILED(unrelu_gaussian_fit(source, &options, &exec, &model, &err))) {
        keep(model);
        answer(model);
        if (choice / ERRORS % FUZZ_RARELY == 0)
            judge(model, source);
        if (choice / ERRORS % FUZZ_RARELY == 1)
            fill(model, source, choice / ERRORS / FUZZ_RARELY % FILLS);
    }
    unrelu_gaussian_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unrelu_error err;
    unrelu_source *source = NULL;
    const char *path = fuzz_file("x.csv", bytes, size < LONGEST ? size : LONGEST);
    if (!FUZZ_FAILED(unrelu_source_open(path, NULL, &source, &err)) &&
        unrelu_source_columns(source) <= WIDEST)
        fit(source, size);
    unrelu_source_close(source);
    return 0;
}
