/* SPDX-License-Identifier: Apache-2.0 */
#include "show/models.h"

typedef struct {
    cli_shared shared;
} show_arguments;

static const cli_example examples[] = {
    {"unrelu show model.npz", "the model as 'unrelu fit', 'recover' or 'unmix' printed it"},
    {"unrelu show model.npz --level 0.99", "with wider intervals"},
    {0},
};

static const show_arguments defaults = {CLI_SHARED_DEFAULTS};

static int run(void *arguments)
{
    const cli_shared *shared = &((show_arguments *)arguments)->shared;
    cli_model model = {0};
    int status = cli_load_model(shared->files[0], CLI_ANY_MODEL, &model);
    if (status == 0) {
        cli_tell_model(&model);
        status = cli_print_model("show", shared, &model, NULL);
    }
    cli_free_model(&model);
    return status;
}

const cli_command cli_show = {
    .name = "show",
    .files = "MODEL",
    .brief = "Print a model",
    .doc = "Prints what the command that made the model printed.",
    .has = CLI_HAS_LEVEL | CLI_HAS_JSON,
    .examples = examples,
    .least_files = 1,
    .most_files = 1,
    .size = sizeof(show_arguments),
    .defaults = &defaults,
    .run = run,
};
