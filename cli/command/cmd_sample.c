/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"
#include "files.h"
#include "rows.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
    size_t n;
} sample_arguments;

static const cli_option options[] = {
    {"count", 'n', "N", "number of samples (needed)", CLI_WHOLE, offsetof(sample_arguments, n), 1,
     0x1p53, "a whole number of at least 1"},
    {"output", 'o', "FILE", "write to FILE: .npy, .csv or .tsv (default -: CSV on standard output)",
     CLI_TEXT, offsetof(sample_arguments, shared.output), 0, 0, NULL},
    {0},
};

static const cli_example examples[] = {
    {"unrelu sample model.npz -n 5", "five rows of CSV on the terminal"},
    {"unrelu sample model.npz -n 1e6 --seed 2 -o new.npy", "a million rows, another stream"},
    {0},
};

static const sample_arguments defaults = {
    .shared = {.level = 0.95, .seed = CLI_DEFAULT_SEED, .output = "-"}};

static int write_rows(const sample_arguments *a, const cli_rows *from)
{
    const cli_shared *shared = &a->shared;
    unsigned long long seed = shared->seed;
    int status = cli_write_rows(from, a->n, shared->output, shared);
    if (status != 0)
        return status;
    if (strcmp(shared->output, "-") == 0)
        cli_note("seed %llu", seed);
    else
        cli_note("%s: %zu rows of %zu columns, seed %llu", shared->output, a->n, from->d, seed);
    return 0;
}

static int sample_gaussian(const sample_arguments *a)
{
    unrelu_error err = {0};
    unrelu_gaussian model = {0};
    unrelu_sampler *sampler = NULL;
    int status = cli_load_gaussian(a->shared.files[0], &model);
    if (status == 0)
        status = cli_exit(unrelu_sampler_new(&model, a->shared.seed, &sampler, &err), &err);
    if (status == 0)
        status = write_rows(a, &(cli_rows){sampler, model.d, model.names});
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(&model);
    return status;
}

static int sample_mixture(const sample_arguments *a)
{
    unrelu_error err = {0};
    unrelu_mixture model = {0};
    unrelu_sampler *sampler = NULL;
    int status = cli_load_mixture(a->shared.files[0], &model);
    if (status == 0)
        status = cli_exit(unrelu_sampler_new_mixture(&model, a->shared.seed, &sampler, &err), &err);
    if (status == 0)
        status = write_rows(a, &(cli_rows){sampler, model.d, model.names});
    unrelu_sampler_free(sampler);
    unrelu_mixture_free(&model);
    return status;
}

static int run(void *arguments)
{
    const sample_arguments *a = arguments;
    cli_model kind = CLI_GAUSSIAN;
    if (a->n == 0)
        return cli_usage("sample: say how many samples: -n N");
    int status = cli_check_output(&a->shared, NULL);
    if (status == 0)
        status = cli_find_model(a->shared.files[0], 1U << CLI_GAUSSIAN | 1U << CLI_MIXTURE, &kind);
    if (status != 0)
        return status;
    return kind == CLI_MIXTURE ? sample_mixture(a) : sample_gaussian(a);
}

const cli_command cli_sample = {
    .name = "sample",
    .files = "MODEL",
    .brief = "Draw new samples from a model",
    .doc = "MODEL is a rectified Gaussian or a mixture, whose samples carry its noise. Row i of "
           "the stream that a seed names is the same at any number of threads and for "
           "any N above i.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS,
    .examples = examples,
    .least_files = 1,
    .most_files = 1,
    .size = sizeof(sample_arguments),
    .defaults = &defaults,
    .run = run,
};
