/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>

#include "files.h"
#include "flags.h"
#include "scope.h"
#include "show/models.h"
#include "show/recovery.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    unrelu_recover_options options;
    int order, signs, exactify, bias; /* how often said */
    int intercept;
    const char *activation, *label_columns, *start;
} recover_arguments;

#define FIELD(name)     offsetof(recover_arguments, name)
#define TO(kind, field) CLI_TO(kind, recover_arguments, field)

static const char methods[] = "auto|exact|moments|ica|tensor|symmetric|lifted|facets|enumerate|one-"
                              "sparse|any-noise|sparse-noise|signless|start";

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the network to FILE (.npz)", TO(CLI_TEXT, shared.output)},
    {.doc = "Model:", .kind = CLI_HEADING},
    {"neurons", 'k', "K", "number of neurons (default: found out)", CLI_WHOLE, FIELD(options.k), 1,
     INT_MAX, "a whole number of at least 1"},
    {"activation", 0, "relu|power:C|expm1|expm1sq|leaky:S|tanh",
     "f: max(0, t) (default), max(0, t)^C, exp(t) - 1 or exp(t^2) - 1 or tanh(t) where t > 0, or "
     "max(t, S t)",
     TO(CLI_TEXT, activation)},
    {"bias", 0, "auto|none|hidden|both|output",
     "which of the biases c and e there are: none, c, both, or e (default auto: none, or both "
     "where the fit without does not do)",
     TO(CLI_LIBRARY, bias)},
    {"intercept", 0, NULL, "the same as --bias output", TO(CLI_FLAG, intercept)},
    {"noise", 0, "auto|none|gaussian",
     "whether the labels are exact or carry normal noise (default auto: exact, or noise where no "
     "network fits to rounding)",
     CLI_TO_LIBRARY},
    {"robust", 0, NULL,
     "noisy labels by Huber's objective instead of least squares: for noise with heavy tails",
     TO(CLI_FLAG, options.robust)},
    {.doc = "Method:", .kind = CLI_HEADING},
    {"method", 0, methods,
     "auto (default): exact, signless, then moments where the labels are noisy; exact: fixed "
     "points of sign "
     "patterns, any inputs; moments: score tensor, then maximum likelihood; ica, tensor, "
     "symmetric: the algorithms of the papers; lifted, facets: two more for exact labels; "
     "enumerate: any inputs, finds a network or proves that there is none; signless and "
     "one-sparse: "
     "fewer labels than neurons; any-noise: noise of any shape, independent of the inputs; "
     "sparse-noise: some cells of the labels wrong by any amount",
     CLI_TO_LIBRARY},
    {"start", 0, "NET",
     "begin from this network, a model or weights of PyTorch (.safetensors, .npz), and look for no "
     "other",
     TO(CLI_TEXT, start)},
    {"order", 0, "2|3|4", "order of the score of --method tensor (default 2)",
     TO(CLI_LIBRARY, order)},
    {"signs", 0, "regression|projection|moment",
     "how the signs of the rows of V are found after a tensor (default regression; projection: "
     "Algorithm 6 of the paper)",
     TO(CLI_LIBRARY, signs)},
    {"exactify", 0, "cca|systems|none",
     "from an approximation to the exact network: by the patterns of signs (default), by the "
     "linear systems of the paper (Algorithm 5), or not at all",
     TO(CLI_LIBRARY, exactify)},
    {"literal", 0, NULL,
     "--method one-sparse: Algorithm 7 as it is printed, and nothing else; --method tensor: "
     "Algorithm 4 as it is printed, of order 3 (or 4), for which --exactify systems is the rest; "
     "--method any-noise: Algorithm 8 as it is printed, for one neuron and few labels",
     TO(CLI_FLAG, options.literal)},
    {"pcp", 0, NULL,
     "--method sparse-noise: by principal component pursuit, as the paper does it (approximate)",
     TO(CLI_FLAG, options.pcp)},
    {"budget", 0, "N",
     "candidates after which enumerate, one-sparse, any-noise and sparse-noise give up",
     CLI_TO_LIBRARY},
    {"time-limit", 0, "SECONDS",
     "after so many seconds of the clock keep the best network so far (verdict incomplete, exit "
     "status 5), as ^C does; what is found by then depends on the machine, so that the same seed "
     "need not give the same network",
     CLI_TO_LIBRARY},
    {"certify", 0, NULL,
     "integers or fractions as data: check an exact fit again in exact arithmetic, and give its "
     "weights as fractions",
     TO(CLI_FLAG, options.certify)},
    {.doc = "Data:", .kind = CLI_HEADING},
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
    {"unrelu recover network.csv network.csv --columns 1-5 --label-columns 6-8",
     "both from one table; neurons, biases and noise are found out"},
    {"unrelu recover integers-x.csv integers-a.csv --method enumerate --certify",
     "integers: found and proven"},
    {"unrelu generate network -d 20 -k 10 -m 12 -n 1e4 -o net",
     "inputs and labels to try the rest on"},
    {"unrelu recover net/x.npy net/a.npy -o net.npz", "from two files; the network is kept"},
    {"unrelu recover net/x.npy net/a.npy --method tensor --signs projection",
     "as the paper does it"},
    {"unrelu generate network -d 10 -k 5 -m 8 -n 1e4 --noise 0.1 -o noisy", "labels with noise"},
    {"unrelu recover noisy/x.npy noisy/a.npy -k 5 --noise gaussian --json",
     "five neurons, with standard errors, as JSON"},
    {"unrelu recover noisy/x.npy noisy/a.npy --start noisy/truth.npz",
     "from weights that are close, as those that training left"},
    {"unrelu generate network -d 20 -k 4 -m 40 -n 800 -o wide", "many labels for each input"},
    {"unrelu recover wide/x.npy wide/a.npy --method sparse-noise",
     "where some of them may be wrong"},
    {0},
};

/* ---- from arguments to options of the library --------------------------------------- */

static void start(void *arguments)
{
    recover_arguments *a = arguments;
    unrelu_recover_options_init(&a->options, sizeof a->options);
}

static unrelu_status set(void *arguments, const char *name, const char *value, unrelu_error *err)
{
    return unrelu_recover_options_set(&((recover_arguments *)arguments)->options, name, value, err);
}

static int check_options(const recover_arguments *a)
{
    if (a->order && a->options.method != UNRELU_RECOVER_TENSOR)
        return cli_usage("recover: --order is for --method tensor, and this run does not use it");
    if (a->options.literal && a->options.method != UNRELU_RECOVER_ONE_SPARSE &&
        a->options.method != UNRELU_RECOVER_TENSOR && a->options.method != UNRELU_RECOVER_ANY_NOISE)
        return cli_usage("recover: --literal is for --method one-sparse, tensor and any-noise");
    if (a->options.pcp && a->options.method != UNRELU_RECOVER_SPARSE_NOISE)
        return cli_usage("recover: --pcp is for --method sparse-noise");
    if (a->intercept && a->bias && a->options.biases != UNRELU_BIASES_OUTPUT)
        return cli_usage("recover: --intercept is --bias output, and another --bias is given too");
    if (strcmp(a->shared.files[0], "-") == 0 && strcmp(a->shared.files[1], "-") == 0)
        return cli_usage("recover: INPUTS and LABELS cannot both be standard input");
    CLI_TRY(cli_check_output(&a->shared, ".npz"));
    return cli_spare_input(&a->shared, a->start);
}

/* options that the method has no use for are told, not refused: a script may run all methods */
static void warn_of_options(const recover_arguments *a)
{
    const char signs[] = "auto|moments|tensor";
    const char exactify[] = "ica|tensor|symmetric|lifted|facets|start";
    const char *method = cli_method_of(a->options.method).name;
    if (a->signs && cli_word_index(signs, method) < 0)
        cli_warning("--signs is of no use with --method %s, which needs no signs", method);
    if (a->exactify && !a->start && cli_word_index(exactify, method) < 0)
        cli_warning("--exactify is of no use with --method %s: it is for those that end with an "
                    "approximation, %s",
                    method, "ica, tensor, symmetric, lifted and facets");
}

static int run(void *arguments)
{
    recover_arguments *a = arguments;
    CLI_SCOPE(cli_free_model) cli_model start = {.kind = CLI_NETWORK};
    a->options.seed = a->shared.seed;
    if (a->start) {
        CLI_TRY(cli_load_model(a->start, 1U << CLI_NETWORK, &start));
        a->options.start = start.network;
        a->options.activation = start.network->activation;
    }
    if (a->activation)
        CLI_CALL(unrelu_activation_parse(a->activation, &a->options.activation, &err));
    CLI_TRY(check_options(a));
    if (a->intercept)
        a->options.biases = UNRELU_BIASES_OUTPUT;
    warn_of_options(a);
    const cli_recovery recovery = {.command = "recover",
                                   .done = "recovered",
                                   .shared = &a->shared,
                                   .inputs = a->shared.files[0],
                                   .labels = a->shared.files[1],
                                   .columns = a->shared.columns,
                                   .label_columns = a->label_columns,
                                   .options = &a->options};
    return cli_run_recovery(&recovery);
}

const cli_command cli_recover = {
    .name = "recover",
    .files = {"INPUTS LABELS", 2, 2},
    .brief = "Recover a two-layer network from inputs and labels",
    .doc = "INPUTS holds an input x in each row, LABELS the label a = U f(V x + c) + e of the same "
           "row: files as 'unrelu fit' reads them. No cell may be missing. U, V and the biases are "
           "learned, up to the order of the neurons and, where f allows it, their scale: rows of V "
           "have unit length, neurons come by decreasing norm of their column of U.\n\nThe verdict "
           "is computed over all samples, apart from the solver. exact: the network fits to "
           "rounding (or to the precision that the labels have) and is the only one that does, by "
           "the rules of docs/method-network.md, which are no proof; exact fit, uniqueness not "
           "certified (exit status 5): it fits as well, but a rule is not met, the output says "
           "which, and another network might fit; noisy: the network of maximum likelihood, with "
           "standard errors and the standard deviation sigma of the noise; incomplete (exit "
           "status 5): --time-limit or ^C ended the run, and this is the closest network that it "
           "had, with what is missing; failed (exit status 4): none was found, and none is "
           "written. A second ^C ends the command at once, with nothing written.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_LEVEL | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(recover_arguments),
    .start = start,
    .set = set,
    .run = run,
};
