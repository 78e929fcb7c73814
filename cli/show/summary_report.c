/* SPDX-License-Identifier: Apache-2.0 */
#include "summary_report.h"

#include "json.h"
#include "talk.h"

int cli_save_summary(const char *command, const cli_shared *shared, const unrelu_summary *summary)
{
    unrelu_error err = {0};
    size_t n = unrelu_summary_rows(summary), d = unrelu_summary_columns(summary);
    int status = cli_exit(unrelu_summary_save(summary, shared->output, &err), &err);
    if (status != 0)
        return status;
    cli_note("%s: a summary of %zu rows of %zu columns", shared->output, n, d);
    if (!shared->json)
        return 0;
    cli_json json = cli_json_start(command);
    cli_json_whole(&json, "n", n);
    cli_json_whole(&json, "d", d);
    cli_json_text(&json, "output", shared->output);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}
