/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "files.h"
#include "show/compare.h"
#include "table.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
} compare_arguments;

static const cli_example examples[] = {
    {"unrelu compare plant/truth.npz model.npz", "how far a fit is from the planted model"},
    {"unrelu compare plant/truth.npz net.npz", "and a recovered network from the planted one"},
    {"unrelu compare plant/truth.npz mix.npz", "or an unmixed model from the planted mixture"},
    {"unrelu compare a.npz b.npz --json", "two fits, as JSON"},
    {0},
};

static const compare_arguments defaults = {CLI_SHARED_DEFAULTS};

void cli_put_metrics(cli_json *json, const cli_metric *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_json_real(json, list[i].key, list[i].value);
}

void cli_print_metrics(const cli_metric *list, size_t count)
{
    cli_table table;
    cli_table_start(&table, 3);
    for (size_t i = 0; i < count; i++) {
        cli_table_add(&table, "%s", list[i].title);
        cli_table_add(&table, "%.4g", list[i].value);
        cli_table_add(&table, "%s", list[i].means);
    }
    cli_table_print(&table, "lrl");
}

void cli_put_matches(cli_json *json, size_t matched, size_t missing, size_t extra)
{
    cli_json_whole(json, "matched", matched);
    cli_json_whole(json, "missing", missing);
    cli_json_whole(json, "extra", extra);
}

void cli_print_matches(const char *what, size_t matched, size_t missing, size_t extra)
{
    printf("%zu %s%s matched", matched, what, matched == 1 ? "" : "s");
    if (missing)
        printf(", %zu of the truth missing", missing);
    if (extra)
        printf(", %zu of the model left over", extra);
    putchar('\n');
}

static int run(void *arguments)
{
    static int (*const comparers[])(const cli_shared *) = {
        [CLI_GAUSSIAN] = cli_compare_gaussians,
        [CLI_NETWORK] = cli_compare_networks,
        [CLI_MIXTURE] = cli_compare_mixtures,
    };
    const cli_shared *shared = &((compare_arguments *)arguments)->shared;
    cli_model truth = CLI_GAUSSIAN, model = CLI_GAUSSIAN;
    int status = cli_find_model(shared->files[0], CLI_ANY_MODEL, &truth);
    if (status == 0)
        status = cli_find_model(shared->files[1], CLI_ANY_MODEL, &model);
    if (status != 0)
        return status;
    if (truth != model) {
        cli_error("%s is a %s and %s a %s: only models of the same kind can be compared",
                  shared->files[0], cli_model_name(truth), shared->files[1], cli_model_name(model));
        return CLI_EXIT_FILE;
    }
    return comparers[truth](shared);
}

const cli_command cli_compare = {
    .name = "compare",
    .files = "TRUTH MODEL",
    .brief = "Measure how far one model is from another",
    .doc =
        "Both are rectified Gaussians, networks or mixtures; the errors are those of MODEL against "
        "TRUTH.\n\nOf a rectified Gaussian W is known up to a rotation only, so W W' is "
        "compared. A Kullback-Leibler divergence does not exist where Sigma is singular or "
        "indefinite: it is inf (null in JSON), with the reason.\n\nThe neurons of two networks "
        "are matched one to one, rows of V scaled to unit length where the activation allows "
        "it. Errors are of the matched neurons; where the two have different numbers of "
        "neurons, those left over are counted.\n\nThe units of two mixtures are matched by their "
        "columns of A, scaled to unit length, in the same way; W W' and b are those of the "
        "matched units, at that scale.",
    .has = CLI_HAS_JSON,
    .examples = examples,
    .least_files = 2,
    .most_files = 2,
    .size = sizeof(compare_arguments),
    .defaults = &defaults,
    .run = run,
};
