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
    {"unrelu compare plant/truth.npz net.npz", "and a recovered network from the planted one"},
    {"unrelu compare a.npz b.npz --json", "two fits, as JSON"},
    {0},
};

static const compare_arguments defaults = {CLI_SHARED_DEFAULTS};

typedef struct {
    const char *key, *title, *means;
    double value;
} metric;

static void put_metrics(cli_json *json, const metric *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_json_real(json, list[i].key, list[i].value);
}

static void print_metrics(const metric *list, size_t count)
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

/* ---- rectified Gaussians ------------------------------------------------------------- */

static int report_gaussians(const cli_shared *shared, size_t d, const unrelu_gaussian_distance *x)
{
    const metric list[] = {
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
    if (shared->json) {
        cli_json json = cli_json_start("compare");
        cli_json_whole(&json, "d", d);
        put_metrics(&json, list, sizeof list / sizeof *list);
        cli_json_text(&json, "note", x->note);
        return cli_json_finish(&json);
    }
    print_metrics(list, sizeof list / sizeof *list);
    if (x->note[0])
        cli_note("%s", x->note);
    return 0;
}

static int compare_gaussians(const cli_shared *shared)
{
    unrelu_error err = {0};
    unrelu_gaussian truth = {0}, model = {0};
    unrelu_gaussian_distance distance = {0};
    int status = cli_load_gaussian(shared->files[0], &truth);
    if (status == 0)
        status = cli_load_gaussian(shared->files[1], &model);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_compare(&truth, &model, &distance, &err), &err);
    if (status == 0)
        status = report_gaussians(shared, truth.d, &distance);
    unrelu_gaussian_free(&truth);
    unrelu_gaussian_free(&model);
    return status;
}

/* ---- networks ------------------------------------------------------------------------ */

static void put_counts(cli_json *json, const unrelu_network *truth, const unrelu_network *model,
                       const unrelu_network_distance *x)
{
    cli_json_whole(json, "d", truth->d);
    cli_json_whole(json, "m", truth->m);
    cli_json_whole(json, "k_truth", truth->k);
    cli_json_whole(json, "k_model", model->k);
    cli_json_whole(json, "matched", x->matched);
    cli_json_whole(json, "missing", x->missing);
    cli_json_whole(json, "extra", x->extra);
}

static void print_counts(const unrelu_network_distance *x)
{
    printf("%zu neuron%s matched", x->matched, x->matched == 1 ? "" : "s");
    if (x->missing)
        printf(", %zu of the truth missing", x->missing);
    if (x->extra)
        printf(", %zu of the model left over", x->extra);
    putchar('\n');
}

static int report_networks(const cli_shared *shared, const unrelu_network *truth,
                           const unrelu_network *model, const unrelu_network_distance *x)
{
    const metric list[] = {
        {"V_max", "error of V", "max |V - V*|", x->V_max},
        {"V_frobenius", "", "|V - V*|_F", x->V_frobenius},
        {"U_max", "error of U", "max |U - U*| / max |U*|", x->U_max},
        {"U_frobenius", "", "|U - U*|_F / |U*|_F", x->U_frobenius},
        {"c_max", "error of c", "max |c - c*|", x->c_max},
        {"c_frobenius", "", "|c - c*|", x->c_frobenius},
        {"e_max", "error of e", "max |e - e*|", x->e_max},
        {"e_frobenius", "", "|e - e*|", x->e_frobenius},
        {"function_error", "error of the labels", "relative, root mean square at 1000 inputs",
         x->function_error},
    };
    if (shared->json) {
        cli_json json = cli_json_start("compare");
        cli_json_text(&json, "kind", "network");
        put_counts(&json, truth, model, x);
        put_metrics(&json, list, sizeof list / sizeof *list);
        return cli_json_finish(&json);
    }
    print_counts(x);
    print_metrics(list, sizeof list / sizeof *list);
    return 0;
}

static int compare_networks(const cli_shared *shared)
{
    unrelu_error err = {0};
    unrelu_network truth = {0}, model = {0};
    unrelu_network_distance distance = {0};
    int status = cli_load_network(shared->files[0], &truth);
    if (status == 0)
        status = cli_load_network(shared->files[1], &model);
    if (status == 0)
        status = cli_exit(unrelu_network_compare(&truth, &model, &distance, &err), &err);
    if (status == 0)
        status = report_networks(shared, &truth, &model, &distance);
    unrelu_network_free(&truth);
    unrelu_network_free(&model);
    return status;
}

static int run(void *arguments)
{
    const cli_shared *shared = &((compare_arguments *)arguments)->shared;
    cli_model truth = CLI_GAUSSIAN, model = CLI_GAUSSIAN;
    int status = cli_find_model(shared->files[0], &truth);
    if (status == 0)
        status = cli_find_model(shared->files[1], &model);
    if (status != 0)
        return status;
    if (truth != model) {
        cli_error("%s is a %s and %s a %s: only models of the same kind can be compared",
                  shared->files[0], cli_model_name(truth), shared->files[1], cli_model_name(model));
        return CLI_EXIT_FILE;
    }
    return truth == CLI_NETWORK ? compare_networks(shared) : compare_gaussians(shared);
}

const cli_command cli_compare = {
    .name = "compare",
    .files = "TRUTH MODEL",
    .brief = "Measure how far one model is from another",
    .doc = "Both are rectified Gaussians, or both networks; the errors are relative to "
           "TRUTH.\n\nOf a rectified Gaussian W is known up to a rotation only, so W W' is "
           "compared. A Kullback-Leibler divergence does not exist where Sigma is singular or "
           "indefinite: it is inf (null in JSON), with the reason.\n\nThe neurons of two networks "
           "are matched one to one, rows of V scaled to unit length where the activation allows "
           "it. Errors are of the matched neurons; where the two have different numbers of "
           "neurons, those left over are counted.",
    .has = CLI_HAS_JSON,
    .examples = examples,
    .least_files = 2,
    .most_files = 2,
    .size = sizeof(compare_arguments),
    .defaults = &defaults,
    .run = run,
};
