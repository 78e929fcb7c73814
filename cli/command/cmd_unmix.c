/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>

#include "files.h"
#include "scope.h"
#include "show/models.h"

typedef struct {
    cli_shared shared;
    unrelu_unmix_options options;
} unmix_arguments;

#define FIELD(name)     offsetof(unmix_arguments, name)
#define TO(kind, field) CLI_TO(kind, unmix_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the model to FILE (.npz)", TO(CLI_TEXT, shared.output)},
    {.doc = "Model:", .kind = CLI_HEADING},
    {"units", 'p', "P",
     "number of hidden units (default: found out, by the rank of the samples or the gap of their "
     "singular values)",
     CLI_WHOLE, FIELD(options.p), 1, INT_MAX, "a whole number of at least 1"},
    {"method", 0, "facets|separable",
     "facets (default): the facets of the samples' cone, of about 20 P samples; separable: the "
     "paper's way, where every unit is alone in some sample, of about 2^P",
     CLI_TO_LIBRARY},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate mixture -d 12 -p 5 -n 2000 -o mix",
     "samples of five units in twelve columns"},
    {"unrelu unmix mix/x.npy -o mix.npz", "the number of hidden units is found out"},
    {"unrelu compare mix/truth.npz mix.npz", "how far it is from what 'generate' planted"},
    {"unrelu unmix mix/x.npy -p 5 --json", "five units, as JSON"},
    {"unrelu unmix mix/x.npy --method separable", "as the paper does it"},
    {0},
};

static void start(void *arguments)
{
    unmix_arguments *a = arguments;
    unrelu_unmix_options_init(&a->options, sizeof a->options);
}

static unrelu_status set(void *arguments, const char *name, const char *value, unrelu_error *err)
{
    return unrelu_unmix_options_set(&((unmix_arguments *)arguments)->options, name, value, err);
}

static int learn(const unmix_arguments *a, unrelu_mixture **model)
{
    CLI_SCOPE(cli_close) unrelu_source *source = NULL;
    unrelu_exec exec = cli_exec(&a->shared);
    unrelu_unmix_options o = a->options;
    o.seed = a->shared.seed;
    CLI_TRY(cli_open(a->shared.files[0], a->shared.columns, 1, &source));
    CLI_CALL(unrelu_unmix(source, &o, &exec, model, &err));
    return 0;
}

static int run(void *arguments)
{
    const unmix_arguments *a = arguments;
    CLI_SCOPE(cli_free_model) cli_model model = {.kind = CLI_MIXTURE};
    CLI_TRY(cli_check_output(&a->shared, ".npz"));
    CLI_TRY(learn(a, &model.mixture));
    cli_tell_model(&model);
    CLI_TRY(cli_save_model(&model, a->shared.output));
    CLI_TRY(cli_print_model("unmix", &a->shared, &model, "unmixed"));
    unrelu_verdict verdict = model.mixture->verdict;
    return verdict == UNRELU_VERDICT_UNCERTIFIED || verdict == UNRELU_VERDICT_AMBIGUOUS
               ? CLI_EXIT_UNCERTIFIED
               : 0;
}

const cli_command cli_unmix = {
    .name = "unmix",
    .files = {"SAMPLES", 1, 1},
    .brief = "Separate a mixture of rectified Gaussian units",
    .doc =
        "SAMPLES holds a sample of x = A ReLU(W z + b), z standard normal, in each row, with or "
        "without noise: a file as 'unrelu fit' reads it, no cell missing. Nothing else is "
        "observed. A (D x P), W W' and b are learned. The scale of a hidden unit and of its "
        "column of A cannot be told apart, nor can the order of the units: columns of A have unit "
        "length, units come by decreasing root mean square. Of W only W W' is determined.\n\n"
        "Where a unit is off, the samples lie on a facet of the cone that the columns of A span: A "
        "is exact, to rounding, from about 20 P samples on (b = 0; more where units are seldom "
        "off, 40 P at b = 0.7). W W' and b are estimates, given A, with errors that go as 1 / "
        "sqrt(N). Noise must be the same in every column, and at most 3 to 5 % of the root mean "
        "square of the samples. --method separable takes about 2^P samples and stands noise less "
        "well.\n\nThe verdict is computed over all samples. exact: every facet is certified and no "
        "sample is beyond one; noisy: with noise, its standard deviation sigma and the standard "
        "errors of A; ambiguous (exit status 5): another A may do as well, because there are more "
        "facets than units, or up to half of them could not be certified, W has a rank below P, "
        "the number of units is not sure or one is an outlier, and a warning says which; exact "
        "fit, uniqueness not certified (exit status 5): it fits as well, but a rule is not met, "
        "and the output says which. The model is written in all of these. Where more facets are "
        "missing, nothing is (exit status 4).",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_LEVEL | CLI_HAS_COLUMNS | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(unmix_arguments),
    .start = start,
    .set = set,
    .run = run,
};
