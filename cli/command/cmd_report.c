/* SPDX-License-Identifier: Apache-2.0 */
#include "censor.h"
#include "files.h"
#include "report/report.h"
#include "scope.h"
#include "show/models.h"

typedef struct {
    cli_shared shared;
    cli_limits limits;
} report_arguments;

#define TO(kind, field) CLI_TO(kind, report_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the page to FILE (.html, needed)", TO(CLI_TEXT, shared.output)},
    CLI_LIMIT_ROWS(report_arguments),
    CLI_READ_ROWS(report_arguments),
    {0},
};

static const cli_example examples[] = {
    {"unrelu fit water.csv --columns copper,zinc --transform log -o water.npz",
     "a model of metals in wells"},
    {"unrelu report water.npz water.csv --columns copper,zinc -o water.html",
     "what was learned, and how well it fits"},
    {"unrelu report water.npz -o model.html", "without the samples"},
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "inputs and labels of a network"},
    {"unrelu recover net/x.npy net/a.npy -o net.npz", "the network"},
    {"unrelu report net.npz net/x.npy net/a.npy -o net.html", "with its residuals"},
    {0},
};

static int check(const report_arguments *a, cli_kind_of_model kind)
{
    const cli_shared *shared = &a->shared;
    const char *limits = a->limits.named ? "--limit" : a->limits.file ? "--limits" : NULL;
    if (limits && (kind != CLI_GAUSSIAN || shared->file_count < 2))
        return cli_usage("report: %s is of the cells of SAMPLES of a rectified Gaussian: %s",
                         limits, kind == CLI_GAUSSIAN ? "give that file too" : "leave it out");
    if (a->limits.file && strcmp(a->limits.file, shared->output) == 0)
        return cli_usage("-o %s is the file of limits, which would be lost: give another name",
                         a->limits.file);
    if (kind == CLI_GAUSSIAN && shared->file_count > 2)
        return cli_usage("report: a rectified Gaussian has one file of samples, not two: MODEL "
                         "SAMPLES");
    if (kind == CLI_NETWORK && shared->file_count == 2)
        return cli_usage("report: the samples of a network are two files: MODEL INPUTS LABELS");
    if (kind == CLI_MIXTURE && shared->file_count > 1)
        return cli_usage("report: a mixture is reported without samples: its units are not seen in "
                         "them; leave out '%s'",
                         shared->files[1]);
    return 0;
}

static int run(void *arguments)
{
    const report_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    CLI_TRY(cli_require_output("report", shared, "the page goes"));
    CLI_TRY(cli_check_output(shared, ".html"));
    CLI_TRY(cli_find_model(shared->files[0], CLI_ANY_MODEL, &model.kind));
    CLI_TRY(check(a, model.kind));
    CLI_TRY(cli_load_model(shared->files[0], CLI_ANY_MODEL, &model));
    if (model.kind == CLI_GAUSSIAN && model.gaussian->mean)
        CLI_CALL(unrelu_gaussian_answer(model.gaussian, shared->level, &err));
    return model.kind == CLI_NETWORK   ? cli_report_network(shared, model.network)
           : model.kind == CLI_MIXTURE ? cli_report_mixture(shared, model.mixture)
                                       : cli_report_gaussian(shared, model.gaussian, &a->limits);
}

const cli_command cli_report = {
    .name = "report",
    .files = {"MODEL [SAMPLES | INPUTS LABELS]", 1, 3},
    .brief = "Write a page with charts about a model",
    .doc =
        "One HTML file that works offline and prints well, with the verdict in words, charts and "
        "the same numbers in tables.\n\nOf a rectified Gaussian: the fit of each column, where "
        "SAMPLES is given (values beside the fitted normal, quantiles, a Kolmogorov-Smirnov test "
        "by simulation; of more than 12 columns the worst are drawn, and a table has all) and of "
        "pairs of them (rows beside the ellipses of the fitted normal, and the share of rows in "
        "each "
        "quadrant), the correlations, the strongest pairs, the eigenvalues. SAMPLES has the "
        "columns of the model, "
        "by name or in their order; a cell '<0.25', or 'ND' with --limit, is below a limit of its "
        "own, and every value that was seen is compared and drawn, with the weight that the "
        "Kaplan-Meier estimate gives it. Of a model with --transform the charts are of transformed "
        "values, and a table has quantiles in the data's "
        "own scale.\n\nOf a network: its certificate, neurons and weights, and the residuals where "
        "INPUTS and LABELS are given. Of a mixture: A and the hidden layer.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_LEVEL | CLI_HAS_COLUMNS,
    .examples = examples,
    .size = sizeof(report_arguments),
    .run = run,
};
