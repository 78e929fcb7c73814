/* SPDX-License-Identifier: Apache-2.0 */
#include "censor.h"
#include "files.h"
#include "scope.h"
#include "show/models.h"

typedef struct {
    cli_shared shared;
    unrelu_gaussian_options options;
    size_t groups;
    const char *censor_at;
} summarize_arguments;

#define FIELD(name)     offsetof(summarize_arguments, name)
#define TO(kind, field) CLI_TO(kind, summarize_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the summary to FILE (.npz, needed)",
     TO(CLI_TEXT, shared.output)},
    {"groups", 0, "G",
     "sums to keep apart (default 1); 10 give errors of eigenvalues to 'fit --rank', in a file "
     "10 times as large",
     CLI_WHOLE, FIELD(groups), 1, 1000, "a whole number from 1 to 1000"},
    {"censor-at", 0, "T[,T...]",
     "values at or below T are censored, in place of 0: one T, or one for each column",
     TO(CLI_TEXT, censor_at)},
    {"activation", 0, "leaky:S|sigmoid",
     "samples are f(W z + b) of this invertible f in place of the ReLU: it is undone where they "
     "are read, and the summary keeps its name, so that 'fit' need not be told",
     CLI_TO_LIBRARY},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate gaussian -d 5 -n 1e5 -o plant", "samples"},
    {"unrelu summarize plant/x.npy -o plant.npz", "a few kilobytes that stand for them"},
    {"unrelu fit plant.npz -o model.npz", "and a fit of these alone"},
    {"unrelu summarize leaky.csv --activation leaky:0.1 -o leaky.npz", "of samples of leaky ReLUs"},
    {"cut -d, -f2,3 rain.csv | unrelu summarize - -o rain.npz", "from a pipe, in one pass"},
    {0},
};

static void start(void *arguments)
{
    summarize_arguments *a = arguments;
    a->groups = 1;
    unrelu_gaussian_options_init(&a->options, sizeof a->options);
}

static unrelu_status set(void *arguments, const char *name, const char *value, unrelu_error *err)
{
    summarize_arguments *a = arguments;
    return unrelu_gaussian_options_set(&a->options, name, value, err);
}

static int collect(const summarize_arguments *a, unrelu_summary **summary)
{
    CLI_SCOPE(cli_close) unrelu_source *source = NULL;
    unrelu_exec exec = cli_exec(&a->shared);
    CLI_TRY(cli_open(a->shared.files[0], a->shared.columns, 1, &source));
    CLI_CALL(unrelu_summary_collect(source, &a->options, a->groups, &exec, summary, &err));
    return 0;
}

static int run(void *arguments)
{
    summarize_arguments *a = arguments;
    CLI_SCOPE(cli_free_summary) unrelu_summary *summary = NULL;
    CLI_MEMORY double *limits = NULL;
    CLI_TRY(cli_require_output("summarize", &a->shared, "the summary goes"));
    CLI_TRY(cli_parse_limits(a->censor_at, &limits, &a->options.censor_count));
    a->options.censor_at = limits;
    CLI_TRY(cli_check_output(&a->shared, ".npz"));
    CLI_TRY(collect(a, &summary));
    return cli_save_summary("summarize", &a->shared, summary);
}

const cli_command cli_summarize = {
    .name = "summarize",
    .files = {"SAMPLES", 1, 1},
    .brief = "Reduce samples to a summary that can be merged and fitted",
    .doc = "One pass over SAMPLES gives a file whose size does not depend on the number of rows. "
           "'unrelu merge' adds such files, 'unrelu fit' learns from them: shards summarised "
           "apart and merged give the model that all rows together give.",
    .options = options,
    .has = CLI_HAS_THREADS | CLI_HAS_COLUMNS | CLI_HAS_JSON | CLI_HAS_RANKS | CLI_HAS_SHARDS,
    .examples = examples,
    .size = sizeof(summarize_arguments),
    .start = start,
    .set = set,
    .run = run,
};
