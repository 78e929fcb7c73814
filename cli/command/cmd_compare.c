/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"
#include "show/models.h"

static const cli_example examples[] = {
    {"unrelu generate gaussian -d 5 -n 20000 -o plant", "a model, and samples of it"},
    {"unrelu fit plant/x.npy -o model.npz", "learned from the samples"},
    {"unrelu compare plant/truth.npz model.npz", "how far the fit is from the planted model"},
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "networks and mixtures alike"},
    {"unrelu recover net/x.npy net/a.npy -o net.npz", "learned from inputs and labels"},
    {"unrelu compare net/truth.npz net.npz --json", "as JSON"},
    {0},
};

static int run(void *arguments)
{
    const cli_shared *shared = arguments;
    char *const *files = shared->files;
    CLI_SCOPE(cli_free_model) cli_model truth = {0};
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    CLI_TRY(cli_find_model(files[0], CLI_ANY_MODEL, &truth.kind));
    CLI_TRY(cli_find_model(files[1], CLI_ANY_MODEL, &model.kind));
    if (truth.kind != model.kind)
        return cli_refuse_file(
            "%s is a %s and %s a %s: only models of the same kind can be compared", files[0],
            cli_model_name(truth.kind), files[1], cli_model_name(model.kind));
    CLI_TRY(cli_load_model(files[0], CLI_ANY_MODEL, &truth));
    CLI_TRY(cli_load_model(files[1], CLI_ANY_MODEL, &model));
    return cli_compare_models(shared, &truth, &model);
}

const cli_command cli_compare = {
    .name = "compare",
    .files = {"TRUTH MODEL", 2, 2},
    .brief = "Measure how far one model is from another",
    .doc =
        "Both are rectified Gaussians, networks or mixtures; the errors are those of MODEL against "
        "TRUTH.\n\nOf a rectified Gaussian W is known up to a rotation only, so W W' is compared. "
        "A Kullback-Leibler divergence does not exist where Sigma is singular or indefinite: it is "
        "inf (null in JSON), with the reason.\n\nThe neurons of two networks are matched one to "
        "one, rows of V scaled to unit length where the activation allows it. Errors are of the "
        "matched neurons; where the two have different numbers of neurons, those left over are "
        "counted.\n\nThe units of two mixtures are matched by their columns of A, scaled to unit "
        "length, in the same way; W W' and b are those of the matched units, at that scale.",
    .has = CLI_HAS_JSON,
    .examples = examples,
    .run = run,
};
