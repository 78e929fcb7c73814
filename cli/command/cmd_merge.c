/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "files.h"
#include "scope.h"
#include "show/models.h"

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the summary to FILE (.npz, needed)",
     CLI_TO(CLI_TEXT, cli_shared, output)},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate gaussian -d 5 -n 20000 --bias 0.5 -o monday", "samples of one day"},
    {"unrelu generate gaussian -d 5 -n 30000 --bias 0.5 -o tuesday", "and of the next"},
    {"unrelu summarize monday/x.npy -o monday.npz", "a few kilobytes that stand for monday/x.npy"},
    {"unrelu summarize tuesday/x.npy -o tuesday.npz", "and for tuesday/x.npy"},
    {"unrelu merge monday.npz tuesday.npz -o week.npz", "two days in one"},
    {"unrelu fit week.npz -o model.npz", "and the model of both"},
    {0},
};

/* *into += the summary in path; the first one becomes *into */
static unrelu_status add_file(unrelu_summary **into, const char *path, unrelu_error *err)
{
    unrelu_summary *next = NULL;
    unrelu_error why = {0};
    unrelu_status status = unrelu_summary_load(path, &next, err);
    if (status == UNRELU_OK && !*into) {
        *into = next;
        return UNRELU_OK;
    }
    if (status == UNRELU_OK && (status = unrelu_summary_merge(*into, next, &why)) != UNRELU_OK)
        snprintf(err->text, sizeof err->text, "%s: %.*s", path, 900, why.text);
    unrelu_summary_free(next);
    return status;
}

static int run(void *arguments)
{
    const cli_shared *shared = arguments;
    CLI_SCOPE(cli_free_summary) unrelu_summary *sum = NULL;
    CLI_TRY(cli_require_output("merge", shared, "the merged summary goes"));
    CLI_TRY(cli_check_output(shared, ".npz"));
    for (size_t i = 0; i < shared->file_count; i++)
        CLI_CALL(cli_interrupted() ? UNRELU_ECANCELLED : add_file(&sum, shared->files[i], &err));
    return cli_save_summary("merge", shared, sum);
}

const cli_command cli_merge = {
    .name = "merge",
    .files = {"SUMMARY...", 1, SIZE_MAX},
    .brief = "Add summaries of shards into one",
    .doc = "All must be of the same columns, limits and activation. Where some were made with "
           "another --groups "
           "than others, the sum keeps one group.",
    .options = options,
    .has = CLI_HAS_JSON,
    .examples = examples,
    .run = run,
};
