/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "cli.h"
#include "files.h"
#include "json.h"
#include "table.h"
#include "talk.h"

typedef struct {
    cli_shared shared;
} compare_arguments;

static const cli_example examples[] = {
    {"unrelu compare plant/truth.npz model.npz", "how far a fit is from the planted model"},
    {"unrelu compare a.npz b.npz --json", "two fits, as JSON"},
    {0},
};

static const compare_arguments defaults = {CLI_SHARED_DEFAULTS};

typedef struct {
    const char *key, *title, *means;
    double value;
} metric;

enum { METRICS = 8 };

static void list_metrics(const unrelu_gaussian_distance *x, metric *list)
{
    const metric all[METRICS] = {
        {"b_error", "error of b", "|b - b*| / |W*|_F", x->b_error},
        {"sigma_error", "error of Sigma", "|Sigma - Sigma*|_F / |W*|_F^2", x->sigma_error},
        {"correlation_rms", "error of the correlations", "root mean square over pairs",
         x->correlation_rms},
        {"kl", "KL(model || truth)", "of the Gaussians before the rectifier", x->kl},
        {"kl_reverse", "KL(truth || model)", "", x->kl_reverse},
        {"tv_bound", "total variation, at most", "by Pinsker, of the rectified ones too",
         x->tv_bound},
        {"lambda_min_truth", "smallest eigenvalue, truth", "of its correlations",
         x->lambda_min_truth},
        {"lambda_min_model", "smallest eigenvalue, model", "of its correlations",
         x->lambda_min_model},
    };
    for (size_t i = 0; i < METRICS; i++)
        list[i] = all[i];
}

static int report(const cli_shared *shared, size_t d, const unrelu_gaussian_distance *x)
{
    metric list[METRICS];
    list_metrics(x, list);
    if (shared->json) {
        cli_json json = cli_json_start("compare");
        cli_json_whole(&json, "d", d);
        for (size_t i = 0; i < METRICS; i++)
            cli_json_real(&json, list[i].key, list[i].value);
        cli_json_text(&json, "note", x->note);
        return cli_json_finish(&json);
    }
    cli_table table;
    cli_table_start(&table, 3);
    for (size_t i = 0; i < METRICS; i++) {
        cli_table_add(&table, "%s", list[i].title);
        cli_table_add(&table, "%.4g", list[i].value);
        cli_table_add(&table, "%s", list[i].means);
    }
    cli_table_print(&table, "lrl");
    if (x->note[0])
        cli_note("%s", x->note);
    return 0;
}

static int run(void *arguments)
{
    const cli_shared *shared = &((compare_arguments *)arguments)->shared;
    unrelu_error err = {0};
    unrelu_gaussian truth = {0}, model = {0};
    unrelu_gaussian_distance distance = {0};
    int status = cli_load_model(shared->files[0], &truth);
    if (status == 0)
        status = cli_load_model(shared->files[1], &model);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_compare(&truth, &model, &distance, &err), &err);
    if (status == 0)
        status = report(shared, truth.d, &distance);
    unrelu_gaussian_free(&truth);
    unrelu_gaussian_free(&model);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .files = "TRUTH MODEL",
    .brief = "Measure how far one model is from another",
    .doc = "The errors are relative to TRUTH. W is known up to a rotation only, so W W' is "
           "compared. A Kullback-Leibler divergence does not exist where Sigma is singular or "
           "indefinite: it is inf (null in JSON), with the reason.",
    .has = CLI_HAS_JSON,
    .examples = examples,
    .least_files = 2,
    .most_files = 2,
    .size = sizeof(compare_arguments),
    .defaults = &defaults,
    .run = run,
};
