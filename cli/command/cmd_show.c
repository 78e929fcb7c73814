/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "files.h"
#include "json.h"
#include "show/mixture_text.h"
#include "show/model_text.h"
#include "show/network_text.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
} show_arguments;

static const cli_example examples[] = {
    {"unrelu show model.npz", "the model as 'unrelu fit', 'recover' or 'unmix' printed it"},
    {"unrelu show model.npz --level 0.99", "with wider intervals"},
    {0},
};

static const show_arguments defaults = {CLI_SHARED_DEFAULTS};

static int print_gaussian(const cli_shared *shared, const unrelu_gaussian *model)
{
    cli_tell_warnings(model->warnings, model->warning_count);
    if (!shared->json) {
        cli_print_model(model, shared->level);
        return 0;
    }
    cli_json json = cli_json_start("show");
    cli_json_model(&json, model);
    return cli_json_finish(&json);
}

static int print_network(const cli_shared *shared, const unrelu_network *model)
{
    cli_tell_warnings(model->warnings, model->warning_count);
    if (!shared->json) {
        cli_print_network(model, shared->level);
        return 0;
    }
    cli_json json = cli_json_start("show");
    cli_json_network(&json, model);
    return cli_json_finish(&json);
}

static int print_mixture(const cli_shared *shared, const unrelu_mixture *model)
{
    cli_tell_warnings(model->warnings, model->warning_count);
    if (!shared->json) {
        cli_print_mixture(model, shared->level);
        return 0;
    }
    cli_json json = cli_json_start("show");
    cli_json_mixture(&json, model);
    return cli_json_finish(&json);
}

static int show_gaussian(const cli_shared *shared)
{
    unrelu_gaussian model = {0};
    int status = cli_load_gaussian(shared->files[0], &model);
    if (status == 0)
        status = print_gaussian(shared, &model);
    unrelu_gaussian_free(&model);
    return status;
}

static int show_network(const cli_shared *shared)
{
    unrelu_network model = {0};
    int status = cli_load_network(shared->files[0], &model);
    if (status == 0)
        status = print_network(shared, &model);
    unrelu_network_free(&model);
    return status;
}

static int show_mixture(const cli_shared *shared)
{
    unrelu_mixture model = {0};
    int status = cli_load_mixture(shared->files[0], &model);
    if (status == 0)
        status = print_mixture(shared, &model);
    unrelu_mixture_free(&model);
    return status;
}

static int run(void *arguments)
{
    static int (*const shows[])(const cli_shared *) = {
        [CLI_GAUSSIAN] = show_gaussian,
        [CLI_NETWORK] = show_network,
        [CLI_MIXTURE] = show_mixture,
    };
    const cli_shared *shared = &((show_arguments *)arguments)->shared;
    cli_model kind = CLI_GAUSSIAN;
    int status = cli_find_model(shared->files[0], CLI_ANY_MODEL, &kind);
    return status ? status : shows[kind](shared);
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
