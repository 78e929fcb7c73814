/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a learned mixture over their standard errors, unit by unit. */
#ifndef UNITS_H
#define UNITS_H

#include "mixtures.h"

/* the unit of the model whose column of A is nearest to that of unit j of the truth */
static inline size_t nearest_unit(const unrelu_mixture *truth, const unrelu_mixture *model,
                                  size_t j)
{
    size_t p = truth->p, best = 0;
    double least = INFINITY;
    for (size_t k = 0; k < model->p; k++) {
        double far = 0;
        for (size_t i = 0; i < truth->d; i++) {
            double away = truth->A[i * p + j] - model->A[i * model->p + k];
            far += away * away;
        }
        if (far < least) {
            least = far;
            best = k;
        }
    }
    return best;
}

/* z: error over standard error */
typedef struct {
    double sum, square, in, of; /* in: |z| below 1.96 */
} z_scores;

static inline void z_add(z_scores *z, double away, double se)
{
    double t = away / se;
    z->sum += t;
    z->square += t * t;
    z->in += fabs(t) <= 1.959963984540054;
    z->of++;
}

static inline double z_rms(const z_scores *z)
{
    return sqrt(z->square / z->of);
}

static inline void z_add_A(z_scores *z, const unrelu_mixture *truth, const unrelu_mixture *model)
{
    for (size_t j = 0; j < truth->p; j++) {
        size_t k = nearest_unit(truth, model, j);
        for (size_t i = 0; i < truth->d; i++) {
            size_t at = i * model->p + k;
            z_add(z, model->A[at] - truth->A[i * truth->p + j], model->A_se[at]);
        }
    }
}

static inline void z_add_b(z_scores *z, const unrelu_mixture *truth, const unrelu_mixture *model)
{
    for (size_t j = 0; j < truth->p; j++) {
        size_t k = nearest_unit(truth, model, j);
        z_add(z, model->hidden->b[k] - truth->hidden->b[j], model->hidden->b_se[k]);
    }
}

static inline void z_add_sigma(z_scores *z, const unrelu_mixture *truth,
                               const unrelu_mixture *model)
{
    size_t p = truth->p;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t at = nearest_unit(truth, model, i) * model->p + nearest_unit(truth, model, j);
            z_add(z, model->hidden->sigma[at] - truth->hidden->sigma[i * p + j],
                  model->hidden->sigma_se[at]);
        }
}

#endif
