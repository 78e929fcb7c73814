/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of mixtures begin with: a planted mixture and samples of it. */
#ifndef MIXTURES_H
#define MIXTURES_H

#include "planted.h"

typedef struct {
    unrelu_mixture_plant_options options;
    unrelu_mixture *truth;
    size_t n;
    double *x; /* (n, d) */
} planted_mixture;

/* n x d samples of the model; the caller frees */
static inline double *draw_mixture(const unrelu_mixture *model, size_t n, uint64_t seed)
{
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    double *x = malloc(n * model->d * sizeof *x);
    assert_non_null(x);
    must(unrelu_mixture_sampler(model, seed, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, n, NULL, x, &err), &err);
    unrelu_sampler_free(sampler);
    return x;
}

static inline planted_mixture plant_mixture_with(unrelu_mixture_plant_options o, size_t n)
{
    planted_mixture p = {.options = o, .n = n};
    unrelu_error err = {0};
    must(unrelu_mixture_plant(&o, &p.truth, &err), &err);
    p.x = draw_mixture(p.truth, n, o.seed);
    return p;
}

/* k 0: p; the bias is that of every unit, in its scale */
static inline planted_mixture plant_mixture(size_t d, size_t p, size_t k, size_t n, double bias,
                                            double noise, uint64_t seed)
{
    unrelu_mixture_plant_options o;
    unrelu_mixture_plant_options_init(&o, sizeof o);
    o.d = d;
    o.p = p;
    o.k = k;
    o.bias_value = bias;
    o.noise = noise;
    o.seed = seed;
    return plant_mixture_with(o, n);
}

static inline void planted_mixture_free(planted_mixture *p)
{
    unrelu_mixture_free(p->truth);
    free(p->x);
}

static inline unrelu_status try_unmix(const double *x, size_t n, size_t d,
                                      const unrelu_unmix_options *options, const unrelu_exec *exec,
                                      unrelu_mixture **model, unrelu_error *err)
{
    unrelu_source *source = NULL;
    *model = NULL;
    unrelu_status status = unrelu_source_memory(x, n, d, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_unmix(source, options, exec, model, err);
    unrelu_source_close(source);
    return status;
}

static inline unrelu_mixture *unmix(const planted_mixture *p, const unrelu_unmix_options *options)
{
    unrelu_mixture *model;
    unrelu_error err = {0};
    must(try_unmix(p->x, p->n, p->truth->d, options, NULL, &model, &err), &err);
    return model;
}

/* largest distance of matched columns of A; infinite where their number differs */
static inline double error_of_A(const unrelu_mixture *truth, const unrelu_mixture *model)
{
    unrelu_mixture_distance far;
    unrelu_error err = {0};
    if (model->p != truth->p || !model->A)
        return INFINITY;
    must(unrelu_mixture_compare(truth, model, &far, &err), &err);
    return far.A_column;
}

#endif
