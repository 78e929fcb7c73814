/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"
#include "files.h"
#include "show/models.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
} predict_arguments;

static const cli_option options[] = {
    {"output", 'o', "FILE", "write to FILE: .npy, .csv or .tsv (default -: CSV on standard output)",
     CLI_TEXT, offsetof(predict_arguments, shared.output), 0, 0, NULL},
    {"columns", 0, "LIST",
     "use these columns of INPUTS only, in this order: names or numbers and ranges from 1 on, as "
     "in lead,3,5-9",
     CLI_TEXT, offsetof(predict_arguments, shared.columns), 0, 0, NULL},
    {0},
};

static const cli_example examples[] = {
    {"unrelu predict net.npz new_x.npy -o y.npy", "the labels of new inputs"},
    {"unrelu predict net.npz new_x.csv", "as CSV on the terminal"},
    {0},
};

static const predict_arguments defaults = {.shared = {.output = "-"}};

static int predict(const cli_shared *shared, const unrelu_network *model)
{
    unrelu_error err = {0};
    unrelu_source *inputs = NULL;
    unrelu_exec exec = cli_exec(shared);
    size_t rows = 0;
    unrelu_status done = cli_open_source(shared->files[1], shared->columns, 0, &inputs, &err);
    if (done == UNRELU_OK)
        done = unrelu_network_predict_source(model, inputs, shared->output, &exec, &rows, &err);
    cli_close(&inputs);
    int status = cli_exit(done, &err);
    if (status == 0 && strcmp(shared->output, "-") != 0)
        cli_note("%s: %zu rows of %zu columns", shared->output, rows, model->m);
    return status;
}

static int run(void *arguments)
{
    const cli_shared *shared = &((predict_arguments *)arguments)->shared;
    cli_model model = {0};
    int status = cli_check_output(shared, NULL);
    if (status == 0)
        status = cli_load_model(shared->files[0], 1U << CLI_NETWORK, &model);
    if (status == 0)
        status = predict(shared, &model.network);
    cli_free_model(&model);
    return status;
}

const cli_command cli_predict = {
    .name = "predict",
    .files = "MODEL INPUTS",
    .brief = "Compute the labels that a network gives to inputs",
    .doc = "MODEL is a network that 'unrelu recover' or 'unrelu generate network' wrote, INPUTS "
           "holds an input in each row, with as many columns as the network has inputs.",
    .options = options,
    .has = CLI_HAS_THREADS,
    .examples = examples,
    .least_files = 2,
    .most_files = 2,
    .size = sizeof(predict_arguments),
    .defaults = &defaults,
    .run = run,
};
