/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "files.h"
#include "json.h"
#include "model_text.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
} show_arguments;

static const cli_example examples[] = {
    {"unrelu show model.npz", "the model as 'unrelu fit' printed it"},
    {"unrelu show model.npz --level 0.99", "with wider intervals"},
    {0},
};

static const show_arguments defaults = {CLI_SHARED_DEFAULTS};

static int run(void *arguments)
{
    const cli_shared *shared = &((show_arguments *)arguments)->shared;
    unrelu_gaussian model = {0};
    int status = cli_load_model(shared->files[0], &model);
    if (status == 0) {
        cli_tell_warnings(&model);
        if (shared->json) {
            cli_json json = cli_json_start("show");
            cli_json_model(&json, &model);
            status = cli_json_finish(&json);
        } else {
            cli_print_model(&model, shared->level);
        }
    }
    unrelu_gaussian_free(&model);
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
