/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"
#include "show/models.h"

typedef struct {
    cli_shared shared;
    const char *exceed, *correlations;
} show_arguments;

static const cli_option options[] = {
    {"exceed", 0, "NAME=V[,NAME=V...]",
     "of a rectified Gaussian: also the share of values above V in column NAME, before censoring, "
     "with its interval; V alone: in every column",
     CLI_TO(CLI_TEXT, show_arguments, exceed)},
    {"correlations", 0, "all|N|matrix",
     "of a rectified Gaussian: which correlations are printed: every pair, the N strongest "
     "(default 10), or all as a matrix; "
     "--json has all of them",
     CLI_TO(CLI_TEXT, show_arguments, correlations)},
    {0},
};

static const cli_example examples[] = {
    {"unrelu fit water.csv --columns copper,zinc --transform log -o water.npz",
     "a model of metals in wells"},
    {"unrelu show water.npz", "as 'unrelu fit' printed it; 'recover' and 'unmix' alike"},
    {"unrelu show water.npz --level 0.99", "with wider intervals"},
    {"unrelu show water.npz --exceed copper=10", "and the share of copper above 10"},
    {0},
};

static int run(void *arguments)
{
    const show_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    CLI_SCOPE(cli_free_exceedances) cli_exceedances exceed = {0};
    cli_shown_pairs pairs;
    CLI_TRY(cli_parse_pairs(a->correlations, &pairs));
    CLI_TRY(cli_load_model(shared->files[0], CLI_ANY_MODEL, &model));
    if (model.kind == CLI_GAUSSIAN && model.gaussian->mean)
        CLI_CALL(unrelu_gaussian_answer(model.gaussian, shared->level, &err));
    if ((a->exceed || a->correlations) && model.kind != CLI_GAUSSIAN)
        return cli_usage("--%s is for models of 'unrelu fit', and %s is of kind '%s'",
                         a->exceed ? "exceed" : "correlations", shared->files[0],
                         cli_model_name(model.kind));
    if (a->exceed)
        CLI_TRY(cli_exceed(model.gaussian, a->exceed, shared->level, &exceed));
    cli_tell_model(&model);
    return cli_print_gaussian_model("show", shared, &model, NULL, &exceed, &pairs);
}

const cli_command cli_show = {
    .name = "show",
    .files = {"MODEL", 1, 1},
    .brief = "Print a model",
    .doc = "Prints what the command that made the model printed.",
    .options = options,
    .has = CLI_HAS_LEVEL | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(show_arguments),
    .run = run,
};
