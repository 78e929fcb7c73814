/* SPDX-License-Identifier: Apache-2.0 */
/* Plant a rectified Gaussian, draw samples from it, learn it back, and say how well.
 *
 *   cc example.c $(pkg-config --cflags --libs unrelu) -o example && ./example */
#include <stdio.h>
#include <stdlib.h>

#include <unrelu/unrelu.h>

enum { N = 20000, D = 4 };

static unrelu_status plant_and_draw(unrelu_gaussian **truth, double *x, unrelu_error *err)
{
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    unrelu_gaussian_plant_options plant;
    unrelu_gaussian_plant_options_init(&plant, sizeof plant);
    unrelu_sampler *sampler = NULL;
    plant.d = D;
    unrelu_status status = unrelu_gaussian_plant(&plant, truth, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_sampler(*truth, 7, &sampler, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_draw(sampler, 0, N, &exec, x, err);
    unrelu_sampler_free(sampler);
    return status;
}

static unrelu_status learn(const double *x, unrelu_gaussian **model, unrelu_error *err)
{
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    unrelu_gaussian_options options;
    unrelu_gaussian_options_init(&options, sizeof options);
    unrelu_source *source = NULL;
    unrelu_status status = unrelu_source_memory(x, N, D, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit(source, &options, &exec, model, err);
    unrelu_source_close(source);
    return status;
}

int main(void)
{
    static double x[N * D];
    unrelu_error err;
    unrelu_gaussian *truth = NULL, *model = NULL;
    unrelu_gaussian_distance distance;
    unrelu_status status = plant_and_draw(&truth, x, &err);
    if (status == UNRELU_OK)
        status = learn(x, &model, &err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_compare(truth, model, &distance, &err);
    if (status == UNRELU_OK) {
        for (size_t i = 0; i < D; i++)
            printf("b[%zu] = %7.4f +- %.4f (planted %7.4f)\n", i, model->b[i], model->b_se[i],
                   truth->b[i]);
        printf("error of b %.4f, of Sigma %.4f\n", distance.b_error, distance.sigma_error);
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    unrelu_gaussian_free(truth);
    unrelu_gaussian_free(model);
    return status == UNRELU_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
