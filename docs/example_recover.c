/* SPDX-License-Identifier: Apache-2.0 */
/* Plant a two-layer network, draw inputs and labels, recover it, and say how well.
 *
 *   cc example_recover.c $(pkg-config --cflags --libs unrelu) -o example_recover */
#include <stdio.h>
#include <stdlib.h>

#include <unrelu/unrelu.h>

enum { N = 200, D = 20, K = 10, M = 12 };

static unrelu_status learn(const double *x, const double *a, unrelu_network **model,
                           unrelu_error *err)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_status status = unrelu_source_memory(x, N, D, NULL, &inputs, err);
    if (status == UNRELU_OK)
        status = unrelu_source_memory(a, N, M, NULL, &labels, err);
    if (status == UNRELU_OK)
        status = unrelu_recover(inputs, labels, NULL, NULL, model, err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return status;
}

int main(void)
{
    static double x[N * D], a[N * M];
    unrelu_error err;
    unrelu_network *truth = NULL, *model = NULL;
    unrelu_network_distance distance;
    unrelu_network_plant_options plant;
    unrelu_network_plant_options_init(&plant, sizeof plant);
    plant.d = D;
    plant.k = K;
    plant.m = M;
    unrelu_status status = unrelu_network_plant(&plant, &truth, &err);
    if (status == UNRELU_OK)
        status = unrelu_network_draw(&plant, truth, 0, N, NULL, x, a, &err);
    if (status == UNRELU_OK)
        status = learn(x, a, &model, &err);
    if (status == UNRELU_OK && model->verdict == UNRELU_VERDICT_FAILED) {
        printf("failed: %s\n", model->failure);
    } else if (status == UNRELU_OK) {
        printf("%s: %zu neurons, residual below 1e-12: %s\n", unrelu_verdict_name(model->verdict),
               model->k, model->residual < 1e-12 ? "yes" : "no");
        status = unrelu_network_compare(truth, model, &distance, &err);
    }
    if (status == UNRELU_OK && model->verdict != UNRELU_VERDICT_FAILED)
        printf("V and U right to 1e-12: %s\n",
               distance.V_max < 1e-12 && distance.U_max < 1e-12 ? "yes" : "no");
    if (status != UNRELU_OK)
        fprintf(stderr, "%s\n", err.text);
    unrelu_network_free(truth);
    unrelu_network_free(model);
    return status == UNRELU_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
