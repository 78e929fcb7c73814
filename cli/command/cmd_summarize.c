/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "censor.h"
#include "cli.h"
#include "files.h"
#include "show/summary_report.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
    size_t groups;
    const char *censor_at;
} summarize_arguments;

#define FIELD(name) offsetof(summarize_arguments, name)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the summary to FILE (.npz, needed)", CLI_TEXT,
     FIELD(shared.output), 0, 0, NULL},
    {"groups", 0, "G",
     "sums to keep apart (default 1); 10 give errors of eigenvalues to 'fit --rank', in a file "
     "10 times as large",
     CLI_WHOLE, FIELD(groups), 1, 1000, "a whole number from 1 to 1000"},
    {"censor-at", 0, "T[,T...]",
     "values at or below T are censored, in place of 0: one T, or one for each column", CLI_TEXT,
     FIELD(censor_at), 0, 0, NULL},
    {0},
};

static const cli_example examples[] = {
    {"unrelu summarize monday.npy -o monday.npz", "a few kilobytes that stand for monday.npy"},
    {"zcat big.csv.gz | unrelu summarize - -o big.npz", "from a stream, in one pass"},
    {0},
};

static const summarize_arguments defaults = {CLI_SHARED_DEFAULTS, .groups = 1};

static int collect(const summarize_arguments *a, const unrelu_gaussian_options *o,
                   unrelu_summary **summary)
{
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    unrelu_exec exec = cli_exec(&a->shared);
    int status = cli_open(a->shared.files[0], a->shared.columns, 1, &source);
    if (status == 0)
        status = cli_exit(unrelu_summary_collect(source, o, a->groups, &exec, summary, &err), &err);
    cli_close(&source);
    return status;
}

static int run(void *arguments)
{
    const summarize_arguments *a = arguments;
    unrelu_summary *summary = NULL;
    double *limits = NULL;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    int status = cli_require_output("summarize", &a->shared, "the summary goes");
    if (status == 0 && !cli_parse_limits(a->censor_at, &limits, &o.censor_count))
        status = CLI_EXIT_USAGE;
    o.censor_at = limits;
    if (status == 0)
        status = cli_check_output(&a->shared, ".npz");
    if (status == 0)
        status = collect(a, &o, &summary);
    if (status == 0)
        status = cli_save_summary("summarize", &a->shared, summary);
    unrelu_summary_free(summary);
    free(limits);
    return status;
}

const cli_command cli_summarize = {
    .name = "summarize",
    .files = "SAMPLES",
    .brief = "Reduce samples to a summary that can be merged and fitted",
    .doc = "One pass over SAMPLES gives a file whose size does not depend on the number of rows. "
           "'unrelu merge' adds such files, 'unrelu fit' learns from them: shards summarised "
           "apart and merged give the model that all rows together give.",
    .options = options,
    .has = CLI_HAS_THREADS | CLI_HAS_COLUMNS | CLI_HAS_JSON,
    .examples = examples,
    .least_files = 1,
    .most_files = 1,
    .size = sizeof(summarize_arguments),
    .defaults = &defaults,
    .run = run,
};
