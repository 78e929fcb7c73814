/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "scope.h"
#include "show/models.h"
#include "spreadsheet.h"

typedef struct {
    cli_shared shared;
    int spreadsheet_safe;
} predict_arguments;

#define TO(kind, field) CLI_TO(kind, predict_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write to FILE: .npy, .csv or .tsv (default -: CSV on standard output)",
     TO(CLI_TEXT, shared.output)},
    {"columns", 0, "LIST",
     "use these columns of INPUTS only, in this order where they have none of the network's names: "
     "names or numbers and ranges from 1 on, as in lead,3,5-9",
     TO(CLI_TEXT, shared.columns)},
    CLI_SPREADSHEET_ROW(predict_arguments, spreadsheet_safe),
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "inputs and labels of a network"},
    {"unrelu recover net/x.npy net/a.npy -o net.npz", "the network"},
    {"unrelu generate inputs -d 20 -n 1000 -o new.npy", "other inputs"},
    {"unrelu predict net.npz new.npy -o labels.npy", "and their labels, in a file"},
    {"unrelu predict net.npz new.npy", "or as CSV on the terminal"},
    {0},
};

static int predict(const cli_shared *shared, const unrelu_network *model, size_t *rows)
{
    CLI_SCOPE(cli_close) unrelu_source *inputs = NULL;
    unrelu_exec exec = cli_exec(shared);
    CLI_TRY(cli_open(shared->files[1], shared->columns, 0, &inputs));
    CLI_CALL(unrelu_network_predict_source(model, inputs, shared->output, &exec, rows, &err));
    return 0;
}

static int run(void *arguments)
{
    const predict_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    size_t rows = 0;
    CLI_TRY(cli_check_output(shared, NULL));
    CLI_TRY(cli_load_model(shared->files[0], 1U << CLI_NETWORK, &model));
    const char *const *own = model.network->label_names; /* NULL: y1, y2, ... need nothing */
    CLI_MEMORY const char **safe =
        a->spreadsheet_safe && own ? cli_safe_names(own, model.network->m) : NULL;
    if (a->spreadsheet_safe && own && !safe)
        return cli_no_memory();
    if (safe)
        model.network->label_names = (const char *const *)safe;
    CLI_TRY(predict(shared, model.network, &rows));
    if (strcmp(shared->output, "-") != 0)
        cli_note("%s: %zu rows of %zu columns", shared->output, rows, model.network->m);
    return 0;
}

const cli_command cli_predict = {
    .name = "predict",
    .files = {"MODEL INPUTS", 2, 2},
    .brief = "Compute the labels that a network gives to inputs",
    .doc = "MODEL is a network that 'unrelu recover' or 'unrelu generate network' wrote, INPUTS "
           "holds an input in each row. Its columns are found by the names of the inputs that the "
           "network was learned from, in any order, and others are left out; a file with none of "
           "these names has as many columns as the network has inputs, in their order.",
    .options = options,
    .has = CLI_HAS_THREADS,
    .examples = examples,
    .output = "-",
    .size = sizeof(predict_arguments),
    .run = run,
};
