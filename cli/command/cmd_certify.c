/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "files.h"
#include "scope.h"
#include "show/models.h"
#include "show/recovery.h"

typedef struct {
    cli_shared shared;
    unrelu_recover_options options;
    const char *activation, *label_columns;
} certify_arguments;

#define TO(kind, field) CLI_TO(kind, certify_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the network with its verdict to FILE (.npz)",
     TO(CLI_TEXT, shared.output)},
    {"activation", 0, "relu|power:C|expm1|expm1sq|leaky:S|tanh",
     "f, where NET does not say it (default: relu)", TO(CLI_TEXT, activation)},
    {"bias", 0, "auto|none|hidden|both|output",
     "which of the biases c and e a network of these labels may have (default auto: those of NET; "
     "none: inputs need no column of ones to span their space)",
     CLI_TO_LIBRARY},
    {"certify", 0, NULL,
     "integers or fractions as data: check an exact fit again in exact arithmetic, and give its "
     "weights as fractions",
     TO(CLI_FLAG, options.certify)},
    {"columns", 0, "LIST",
     "use these columns of INPUTS only: names or numbers and ranges from 1 on, as in lead,3,5-9",
     TO(CLI_TEXT, shared.columns)},
    {"log-probabilities", 0, NULL,
     "labels are natural logarithms of probabilities of classes, as log_softmax gives them: logits "
     "are learned as differences to the last class",
     TO(CLI_FLAG, options.log_probabilities)},
    {"label-columns", 0, "LIST", "use these columns of LABELS only", TO(CLI_TEXT, label_columns)},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "a network, inputs and labels"},
    {"unrelu certify net/truth.npz net/x.npy net/a.npy", "are its weights the only ones?"},
    {"unrelu export net/truth.npz -o net.safetensors", "as PyTorch saves weights"},
    {"unrelu certify net.safetensors net/x.npy net/a.npy --json", "the same of these, as JSON"},
    {0},
};

static void start(void *arguments)
{
    certify_arguments *a = arguments;
    unrelu_recover_options_init(&a->options, sizeof a->options);
}

static unrelu_status set(void *arguments, const char *name, const char *value, unrelu_error *err)
{
    return unrelu_recover_options_set(&((certify_arguments *)arguments)->options, name, value, err);
}

static int run(void *arguments)
{
    certify_arguments *a = arguments;
    char *const *files = a->shared.files;
    CLI_SCOPE(cli_free_model) cli_model net = {0};
    if (strcmp(files[1], "-") == 0 && strcmp(files[2], "-") == 0)
        return cli_usage("certify: INPUTS and LABELS cannot both be standard input");
    CLI_TRY(cli_check_output(&a->shared, ".npz"));
    CLI_TRY(cli_load_model(files[0], 1U << CLI_NETWORK, &net));
    a->options.activation = net.network->activation;
    if (a->activation)
        CLI_CALL(unrelu_activation_parse(a->activation, &a->options.activation, &err));
    const cli_recovery recovery = {.command = "certify",
                                   .done = "looked at",
                                   .shared = &a->shared,
                                   .inputs = files[1],
                                   .labels = files[2],
                                   .columns = a->shared.columns,
                                   .label_columns = a->label_columns,
                                   .options = &a->options,
                                   .certified = net.network};
    return cli_run_recovery(&recovery);
}

const cli_command cli_certify = {
    .name = "certify",
    .files = {"NET INPUTS LABELS", 3, 3},
    .brief = "Say whether a network from anywhere is the one behind inputs and labels",
    .doc =
        "NET is a model of 'unrelu recover', or weights of PyTorch (.safetensors or .npz); INPUTS "
        "and LABELS are files as 'unrelu recover' reads them. The weights stay as they are; the "
        "verdicts and exit statuses are those of 'unrelu recover'. exact: the network meets every "
        "label to rounding, and by the rules of docs/method-network.md no other network does; "
        "exact fit, uniqueness not certified (5): a rule is not met; noisy: what the weights leave "
        "is noise, and they are within their errors of the likeliest ones; approximate (5): it is "
        "not, or other weights close to these do better ('unrelu recover --start NET' finds "
        "them).\n\nWith fewer labels than neurons give rows that the network was not fitted to: "
        "a network can be made to meet the rows of its training without being the one behind them.",
    .options = options,
    .has = CLI_HAS_THREADS | CLI_HAS_LEVEL | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(certify_arguments),
    .start = start,
    .set = set,
    .run = run,
};
