/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "files.h"
#include "flags.h"
#include "talk.h"

static void put_counts(cli_json *json, const unrelu_mixture *truth, const unrelu_mixture *model,
                       const unrelu_mixture_distance *x)
{
    cli_json_whole(json, "d", truth->d);
    cli_json_whole(json, "p_truth", truth->p);
    cli_json_whole(json, "p_model", model->p);
    cli_put_matches(json, x->matched, x->missing, x->extra);
}

static int report(const cli_shared *shared, const unrelu_mixture *truth,
                  const unrelu_mixture *model, const unrelu_mixture_distance *x)
{
    const unrelu_gaussian_distance *hidden = &x->hidden;
    const cli_metric list[] = {
        {"A_max", "error of A", "max |A - A*|", x->A_max},
        {"A_column", "", "largest length of a column of A - A*", x->A_column},
        {"A_frobenius", "", "|A - A*|_F", x->A_frobenius},
        {"b_max", "error of b", "max |b - b*|", x->b_max},
        {"b_error", "", "|b - b*| / |W*|_F", hidden->b_error},
        {"sigma_max", "error of Sigma = W W'", "max |Sigma - Sigma*|", x->sigma_max},
        {"sigma_error", "", "|Sigma - Sigma*|_F / |W*|_F^2", hidden->sigma_error},
        {"correlation_rms", "error of the correlations", "root mean square over pairs",
         hidden->correlation_rms},
        {"kl", "KL(model || truth)", "of W z + b", hidden->kl},
        {"kl_reverse", "KL(truth || model)", "", hidden->kl_reverse},
        {"tv_bound", "total variation, at most", "by Pinsker, of the hidden units",
         hidden->tv_bound},
    };
    if (shared->json) {
        cli_json json = cli_json_start("compare");
        cli_json_text(&json, "kind", "mixture");
        put_counts(&json, truth, model, x);
        cli_put_metrics(&json, list, sizeof list / sizeof *list);
        cli_json_text(&json, "note", cli_flagged(hidden->note).text);
        return cli_json_finish(&json);
    }
    cli_print_matches("unit", x->matched, x->missing, x->extra);
    cli_print_metrics(list, sizeof list / sizeof *list);
    if (hidden->note[0])
        cli_note("%s", cli_flagged(hidden->note).text);
    return 0;
}

int cli_compare_mixtures(const cli_shared *shared)
{
    unrelu_error err = {0};
    unrelu_mixture truth = {0}, model = {0};
    unrelu_mixture_distance distance = {0};
    int status = cli_load_mixture(shared->files[0], &truth);
    if (status == 0)
        status = cli_load_mixture(shared->files[1], &model);
    if (status == 0)
        status = cli_exit(unrelu_mixture_compare(&truth, &model, &distance, &err), &err);
    if (status == 0)
        status = report(shared, &truth, &model, &distance);
    unrelu_mixture_free(&truth);
    unrelu_mixture_free(&model);
    return status;
}
