/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"
#include "files.h"
#include "show/models.h"
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

static void tell(const sample_arguments *a, size_t d)
{
    const cli_shared *shared = &a->shared;
    unsigned long long seed = shared->seed;
    if (strcmp(shared->output, "-") == 0)
        cli_note("seed %llu", seed);
    else
        cli_note("%s: %zu rows of %zu columns, seed %llu", shared->output, a->n, d, seed);
}

static int run(void *arguments)
{
    const sample_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    cli_model model = {0};
    if (a->n == 0)
        return cli_usage("sample: say how many samples: -n N");
    int status = cli_check_output(shared, NULL);
    if (status == 0)
        status = cli_load_model(shared->files[0], 1U << CLI_GAUSSIAN | 1U << CLI_MIXTURE, &model);
    if (status == 0)
        status = cli_sample_model(shared, &model, shared->seed, a->n, shared->output);
    if (status == 0)
        tell(a, cli_model_columns(&model));
    cli_free_model(&model);
    return status;
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
