/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "compare.h"
#include "files.h"
#include "flags.h"
#include "talk.h"

static int report(const cli_shared *shared, size_t d, const unrelu_gaussian_distance *x)
{
    const cli_metric list[] = {
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
        cli_put_metrics(&json, list, sizeof list / sizeof *list);
        cli_json_text(&json, "note", cli_flagged(x->note).text);
        return cli_json_finish(&json);
    }
    cli_print_metrics(list, sizeof list / sizeof *list);
    if (x->note[0])
        cli_note("%s", cli_flagged(x->note).text);
    return 0;
}

/* the same names at other places: columns are compared in their order */
static int check_order(const unrelu_gaussian *truth, const unrelu_gaussian *model)
{
    for (size_t i = 0; i < model->d && truth->d == model->d; i++) {
        size_t j = 0;
        while (j < truth->d && strcmp(truth->names[j], model->names[i]) != 0)
            j++;
        if (j < truth->d && strcmp(truth->names[i], model->names[i]) != 0) {
            cli_error("column %zu is '%.60s' in the truth and '%.60s' in the model: they need one "
                      "order",
                      i + 1, truth->names[i], model->names[i]);
            return CLI_EXIT_FILE;
        }
    }
    return 0;
}

int cli_compare_gaussians(const cli_shared *shared)
{
    unrelu_error err = {0};
    unrelu_gaussian truth = {0}, model = {0};
    unrelu_gaussian_distance distance = {0};
    int status = cli_load_gaussian(shared->files[0], &truth);
    if (status == 0)
        status = cli_load_gaussian(shared->files[1], &model);
    if (status == 0)
        status = check_order(&truth, &model);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_compare(&truth, &model, &distance, &err), &err);
    if (status == 0)
        status = report(shared, truth.d, &distance);
    unrelu_gaussian_free(&truth);
    unrelu_gaussian_free(&model);
    return status;
}
