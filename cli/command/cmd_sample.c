/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "scope.h"
#include "show/models.h"
#include "spreadsheet.h"

typedef struct {
    cli_shared shared;
    size_t n;
    int spreadsheet_safe;
} sample_arguments;

#define TO(kind, field) CLI_TO(kind, sample_arguments, field)

static const cli_option options[] = {
    {"count", 'n', "N", "number of samples (needed)", CLI_WHOLE, offsetof(sample_arguments, n), 1,
     0x1p53, "a whole number of at least 1"},
    {"output", 'o', "FILE", "write to FILE: .npy, .csv or .tsv (default -: CSV on standard output)",
     TO(CLI_TEXT, shared.output)},
    CLI_SPREADSHEET_ROW(sample_arguments, spreadsheet_safe),
    {0},
};

static const cli_example examples[] = {
    {"unrelu fit water.csv --columns copper,zinc --transform log -o water.npz",
     "a model of metals in wells"},
    {"unrelu sample water.npz -n 5", "five rows of CSV on the terminal"},
    {"unrelu sample water.npz -n 1e6 --seed 2 -o new.npy", "a million rows, another stream"},
    {0},
};

static int run(void *arguments)
{
    const sample_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    unsigned long long seed = shared->seed;
    if (a->n == 0)
        return cli_usage("sample: say how many samples: -n N");
    CLI_TRY(cli_check_output(shared, NULL));
    CLI_TRY(cli_load_model(shared->files[0], 1U << CLI_GAUSSIAN | 1U << CLI_MIXTURE, &model));
    const char *const *own = cli_model_names(&model);
    CLI_MEMORY const char **safe =
        a->spreadsheet_safe ? cli_safe_names(own, cli_model_columns(&model)) : NULL;
    if (a->spreadsheet_safe && !safe)
        return cli_no_memory();
    CLI_TRY(cli_sample_model(shared, &model, shared->seed, a->n, shared->output,
                             safe ? (const char *const *)safe : own));
    if (strcmp(shared->output, "-") == 0)
        cli_note("seed %llu", seed);
    else
        cli_note("%s: %zu rows of %zu columns, seed %llu", shared->output, a->n,
                 cli_model_columns(&model), seed);
    return 0;
}

const cli_command cli_sample = {
    .name = "sample",
    .files = {"MODEL", 1, 1},
    .brief = "Draw new samples from a model",
    .doc = "MODEL is a rectified Gaussian or a mixture, whose samples carry its noise. Row i of "
           "the stream that a seed names is the same at any number of threads and for "
           "any N above i.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_RANKS,
    .examples = examples,
    .size = sizeof(sample_arguments),
    .output = "-",
    .run = run,
};
