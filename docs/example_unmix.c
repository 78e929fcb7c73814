/* SPDX-License-Identifier: Apache-2.0 */
/* Plant a mixture x = A ReLU(W z + b), draw samples of x, unmix them, and say how well.
 *
 *   cc example_unmix.c $(pkg-config --cflags --libs unrelu) -o example_unmix */
#include <stdio.h>
#include <stdlib.h>

#include <unrelu/unrelu.h>

enum { N = 400, D = 12, P = 8 };

static unrelu_status draw(const unrelu_mixture *truth, double *x, unrelu_error *err)
{
    unrelu_sampler *sampler = NULL;
    unrelu_status status = unrelu_mixture_sampler(truth, 1, &sampler, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_draw(sampler, 0, N, NULL, x, err);
    unrelu_sampler_free(sampler);
    return status;
}

static unrelu_status learn(const double *x, unrelu_mixture **model, unrelu_error *err)
{
    unrelu_source *samples = NULL;
    unrelu_status status = unrelu_source_memory(x, N, D, NULL, &samples, err);
    if (status == UNRELU_OK)
        status = unrelu_unmix(samples, NULL, NULL, model, err);
    unrelu_source_close(samples);
    return status;
}

int main(void)
{
    static double x[N * D];
    unrelu_error err;
    unrelu_mixture *truth = NULL, *model = NULL;
    unrelu_mixture_distance distance;
    unrelu_mixture_plant_options plant;
    unrelu_mixture_plant_options_init(&plant, sizeof plant);
    plant.d = D;
    plant.p = P;
    unrelu_status status = unrelu_mixture_plant(&plant, &truth, &err);
    if (status == UNRELU_OK)
        status = draw(truth, x, &err);
    if (status == UNRELU_OK)
        status = learn(x, &model, &err);
    if (status == UNRELU_OK)
        status = unrelu_mixture_compare(truth, model, &distance, &err);
    if (status == UNRELU_OK) {
        printf("%s: %zu units\n", unrelu_verdict_name(model->verdict), model->p);
        printf("A right to 1e-12: %s\n", distance.A_max < 1e-12 ? "yes" : "no");
        printf("error of W W': %.2f\n", distance.hidden.sigma_error);
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    unrelu_mixture_free(truth);
    unrelu_mixture_free(model);
    return status == UNRELU_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
