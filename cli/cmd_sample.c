/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
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

static void tell(const sample_arguments *a, const unrelu_gaussian *model)
{
    unsigned long long seed = a->shared.seed;
    if (strcmp(a->shared.output, "-") == 0)
        cli_note("seed %llu", seed);
    else
        cli_note("%s: %zu rows of %zu columns, seed %llu", a->shared.output, a->n, model->d, seed);
}

static int run(void *arguments)
{
    const sample_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    unrelu_gaussian model = {0};
    if (a->n == 0)
        return cli_usage("sample: say how many samples: -n N");
    int status = cli_check_output(shared, NULL);
    if (status == 0)
        status = cli_load_gaussian(shared->files[0], &model);
    if (status == 0)
        status = cli_write_rows(&model, shared->seed, a->n, shared->output, shared);
    if (status == 0)
        tell(a, &model);
    unrelu_gaussian_free(&model);
    return status;
}

const cli_command cli_sample = {
    .name = "sample",
    .files = "MODEL",
    .brief = "Draw new samples from a model",
    .doc = "Row i of the stream that a seed names is the same at any number of threads and for "
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
