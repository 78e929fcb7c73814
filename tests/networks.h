/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the two-layer network begin with: a planted network, inputs and labels. */
#ifndef NETWORKS_H
#define NETWORKS_H

#include "planted.h"

typedef struct {
    unrelu_network_plant_options options;
    unrelu_network *truth;
    size_t n, d, k, m;
    double *x, *a; /* (n, d), (n, m) */
} planted_network;

static inline planted_network plant_network_with(unrelu_network_plant_options o, size_t n)
{
    planted_network p = {.options = o, .n = n, .d = o.d, .k = o.k, .m = o.m};
    unrelu_error err = {0};
    must(unrelu_network_plant(&o, &p.truth, &err), &err);
    p.x = malloc(n * o.d * sizeof *p.x);
    p.a = malloc(n * o.m * sizeof *p.a);
    assert_non_null(p.x);
    assert_non_null(p.a);
    must(unrelu_network_draw(&o, p.truth, 0, n, NULL, p.x, p.a, &err), &err);
    return p;
}

static inline planted_network plant_network(size_t d, size_t k, size_t m, size_t n, double noise,
                                            uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.noise = noise;
    o.seed = seed;
    return plant_network_with(o, n);
}

static inline void planted_network_free(planted_network *p)
{
    unrelu_network_free(p->truth);
    free(p->x);
    free(p->a);
}

static inline unrelu_status try_recover(const double *x, const double *a, size_t n, size_t d,
                                        size_t m, const unrelu_recover_options *options,
                                        const unrelu_exec *exec, unrelu_network **model,
                                        unrelu_error *err)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    *model = NULL;
    unrelu_status status = unrelu_source_memory(x, n, d, NULL, &inputs, err);
    if (status == UNRELU_OK)
        status = unrelu_source_memory(a, n, m, NULL, &labels, err);
    if (status == UNRELU_OK)
        status = unrelu_recover(inputs, labels, options, exec, model, err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return status;
}

static inline unrelu_network *recover(const planted_network *p,
                                      const unrelu_recover_options *options)
{
    unrelu_network *model;
    unrelu_error err = {0};
    must(try_recover(p->x, p->a, p->n, p->d, p->m, options, NULL, &model, &err), &err);
    return model;
}

/* largest error of V over matched neurons; infinite where their number differs */
static inline double error_of_V(const unrelu_network *truth, const unrelu_network *model)
{
    unrelu_network_distance far;
    unrelu_error err = {0};
    if (model->k != truth->k || !model->V)
        return INFINITY;
    must(unrelu_network_compare(truth, model, &far, &err), &err);
    return far.V_max;
}

/* which neuron of the model is nearest to neuron j of the truth */
static inline size_t nearest(const unrelu_network *truth, const unrelu_network *model, size_t j)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t l = 0; l < model->k; l++) {
        double distance = 0;
        for (size_t i = 0; i < truth->d; i++)
            distance += pow(truth->V[j * truth->d + i] - model->V[l * truth->d + i], 2);
        if (distance < least) {
            least = distance;
            best = l;
        }
    }
    return best;
}

#endif
