/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"
#include "show/models.h"

static const cli_example examples[] = {
    {"unrelu fit water.csv --columns copper,zinc --transform log -o water.npz",
     "a model of metals in wells"},
    {"unrelu show water.npz", "as 'unrelu fit' printed it; 'recover' and 'unmix' alike"},
    {"unrelu show water.npz --level 0.99", "with wider intervals"},
    {0},
};

static int run(void *arguments)
{
    const cli_shared *shared = arguments;
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    CLI_TRY(cli_load_model(shared->files[0], CLI_ANY_MODEL, &model));
    if (model.kind == CLI_GAUSSIAN && model.gaussian->mean)
        CLI_CALL(unrelu_gaussian_answer(model.gaussian, shared->level, &err));
    cli_tell_model(&model);
    return cli_print_model("show", shared, &model, NULL);
}

const cli_command cli_show = {
    .name = "show",
    .files = {"MODEL", 1, 1},
    .brief = "Print a model",
    .doc = "Prints what the command that made the model printed.",
    .has = CLI_HAS_LEVEL | CLI_HAS_JSON,
    .examples = examples,
    .run = run,
};
