/* SPDX-License-Identifier: Apache-2.0 */
#include "recovery.h"

#include <math.h>

#include "files.h"
#include "flags.h"
#include "json.h"
#include "models.h"
#include "scope.h"
#include "talk.h"

unrelu_method cli_method_of(unrelu_recover_method method)
{
    unrelu_method row = {.name = "", .theorem = ""};
    unrelu_recover_method_at((size_t)method, &row);
    return row;
}

/* has a theorem of its own */
static int is_promised(unrelu_recover_method method)
{
    unrelu_condition first;
    return unrelu_recover_condition_at((size_t)method, 0, &first);
}

static int report_failure(const cli_recovery *r, const unrelu_network *model, const char *why)
{
    const cli_sentence sentence = cli_flagged(why);
    int status = 0;
    if (r->shared->json) {
        cli_json json = cli_json_start(r->command);
        cli_json_network(&json, model);
        cli_json_text(&json, "message", sentence.text);
        cli_json_text(&json, "output", NULL);
        status = cli_json_finish(&json);
    }
    cli_error("%s", sentence.text);
    return status ? status : CLI_EXIT_DATA;
}

/* data that no network can be learned from are a failed recovery too */
static int report_data(const cli_recovery *r, size_t d, size_t m, const char *why)
{
    const unrelu_method method = cli_method_of(r->options->method);
    unrelu_network none = {
        .d = d,
        .m = m,
        .verdict = UNRELU_VERDICT_FAILED,
        .residual = NAN,
        .holdout_residual = NAN,
        .gap = NAN,
        .objective = NAN,
        .objective_bound = NAN,
        .incoherence = NAN,
        .activation = r->options->activation,
        .seed = r->options->seed,
        .method = r->certified ? "as-given" : method.name,
        .biases = "",
        .precision = "",
        .how_k = "",
        .guarantee = r->certified ? "none" : method.theorem,
        .assumption = "",
        .failure = "",
        /* a theorem promises nothing of data that its method cannot run on */
        .guarantee_holds = !r->certified && is_promised(r->options->method) ? "no" : "untested",
        .guarantee_because = why,
    };
    return report_failure(r, &none, why);
}

static int learn(const cli_recovery *r, unrelu_network **model)
{
    CLI_SCOPE(cli_close) unrelu_source *inputs = NULL;
    CLI_SCOPE(cli_close) unrelu_source *labels = NULL;
    unrelu_exec exec = cli_exec(r->shared);
    if (!r->certified)
        exec.cancelled = cli_keep_at_interrupt;
    unrelu_error err = {0};
    unrelu_status status = cli_open_source(r->inputs, r->columns, 0, &inputs, &err);
    if (status == UNRELU_OK)
        status = cli_open_source(r->labels, r->label_columns, 0, &labels, &err);
    if (status == UNRELU_OK)
        status = r->certified
                     ? unrelu_certify(r->certified, inputs, labels, r->options, &exec, model, &err)
                     : unrelu_recover(inputs, labels, r->options, &exec, model, &err);
    if (status != UNRELU_EDATA)
        return cli_exit(status, &err);
    return report_data(r, inputs ? unrelu_source_columns(inputs) : 0,
                       labels ? unrelu_source_columns(labels) : 0, err.text);
}

int cli_run_recovery(const cli_recovery *r)
{
    CLI_SCOPE(cli_free_model) cli_model model = {.kind = CLI_NETWORK};
    CLI_TRY(learn(r, &model.network));
    if (model.network->verdict == UNRELU_VERDICT_INCOMPLETE)
        cli_forget_interrupt();
    for (size_t i = 0; i < model.network->tried_count; i++)
        cli_detail("tried %s", cli_flagged(model.network->tried[i]).text);
    cli_tell_model(&model);
    if (model.network->verdict == UNRELU_VERDICT_FAILED)
        return report_failure(r, model.network, model.network->failure);
    CLI_TRY(cli_save_model(&model, r->shared->output));
    CLI_TRY(cli_print_model(r->command, r->shared, &model, r->done));
    unrelu_verdict verdict = model.network->verdict;
    return verdict == UNRELU_VERDICT_UNCERTIFIED || verdict == UNRELU_VERDICT_APPROXIMATE ||
                   verdict == UNRELU_VERDICT_INCOMPLETE
               ? CLI_EXIT_UNCERTIFIED
               : 0;
}
