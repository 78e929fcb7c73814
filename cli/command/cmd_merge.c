/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>

#include "cli.h"
#include "files.h"
#include "show/summary_report.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
} merge_arguments;

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the summary to FILE (.npz, needed)", CLI_TEXT,
     offsetof(merge_arguments, shared.output), 0, 0, NULL},
    {0},
};

static const cli_example examples[] = {
    {"unrelu merge monday.npz tuesday.npz -o week.npz", "two days in one"},
    {"unrelu fit week.npz -o model.npz", "and the model of both"},
    {0},
};

static const merge_arguments defaults = {CLI_SHARED_DEFAULTS};

/* *into += the summary in path; the first one becomes *into */
static unrelu_status add_file(unrelu_summary **into, const char *path, unrelu_error *err)
{
    unrelu_summary *next = NULL;
    unrelu_status status = unrelu_summary_load(path, &next, err);
    if (status != UNRELU_OK)
        return status;
    if (!*into) {
        *into = next;
        return UNRELU_OK;
    }
    unrelu_error why = {0};
    status = unrelu_summary_merge(*into, next, &why);
    if (status != UNRELU_OK)
        snprintf(err->text, sizeof err->text, "%s: %.*s", path, 900, why.text);
    unrelu_summary_free(next);
    return status;
}

static int run(void *arguments)
{
    const cli_shared *shared = &((merge_arguments *)arguments)->shared;
    unrelu_error err = {0};
    unrelu_summary *sum = NULL;
    int status = cli_require_output("merge", shared, "the merged summary goes");
    if (status == 0)
        status = cli_check_output(shared, ".npz");
    for (size_t i = 0; i < shared->file_count && status == 0; i++) {
        unrelu_status added =
            cli_interrupted() ? UNRELU_ECANCELLED : add_file(&sum, shared->files[i], &err);
        status = cli_exit(added, &err);
    }
    if (status == 0)
        status = cli_save_summary("merge", shared, sum);
    unrelu_summary_free(sum);
    return status;
}

const cli_command cli_merge = {
    .name = "merge",
    .files = "SUMMARY...",
    .brief = "Add summaries of shards into one",
    .doc = "All must be of the same columns and limits. Where some were made with another --groups "
           "than "
           "others, the sum keeps one group.",
    .options = options,
    .has = CLI_HAS_JSON,
    .examples = examples,
    .least_files = 1,
    .most_files = SIZE_MAX,
    .size = sizeof(merge_arguments),
    .defaults = &defaults,
    .run = run,
};
