/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "files.h"
#include "talk.h"

static void put_counts(cli_json *json, const unrelu_network *truth, const unrelu_network *model,
                       const unrelu_network_distance *x)
{
    cli_json_whole(json, "d", truth->d);
    cli_json_whole(json, "m", truth->m);
    cli_json_whole(json, "k_truth", truth->k);
    cli_json_whole(json, "k_model", model->k);
    cli_put_matches(json, x->matched, x->missing, x->extra);
}

static int report(const cli_shared *shared, const unrelu_network *truth,
                  const unrelu_network *model, const unrelu_network_distance *x)
{
    const cli_metric list[] = {
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
        cli_put_metrics(&json, list, sizeof list / sizeof *list);
        return cli_json_finish(&json);
    }
    cli_print_matches("neuron", x->matched, x->missing, x->extra);
    cli_print_metrics(list, sizeof list / sizeof *list);
    return 0;
}

int cli_compare_networks(const cli_shared *shared)
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
        status = report(shared, &truth, &model, &distance);
    unrelu_network_free(&truth);
    unrelu_network_free(&model);
    return status;
}
